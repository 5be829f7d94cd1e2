//! Round trips in the mesh of everything that tells one: of which connection, and of whose host.

use super::segments::Segments;
use super::spin::Spin;
use crate::FlowKey;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::net::IpAddr;
use meshpace_units::{Instant, Seq, Span};

/// A connection that nothing left for is forgotten after so long, if there are too many.
const SILENT: Span = Span::from_secs(10);
/// That is looked at no more often than this.
const LOOKS: Span = Span::from_secs(1);

/// What a packet that goes into the mesh begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A segment of TCP with data, and its bytes.
    Segment(FlowKey, Seq, Seq),
    /// A packet of QUIC with a short header, and its spin bit.
    Spin(FlowKey, bool),
}

/// What a packet that comes from the mesh answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// A segment of TCP that acknowledges all before this.
    Ack(FlowKey, Seq),
    /// A packet of QUIC with a short header, and its spin bit.
    Spin(FlowKey, bool),
    /// A host's answer to the request for an echo that has this number: [`crate::Shaper::asks`].
    Probe(IpAddr, u32),
}

/// What a round trip was measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A segment and its acknowledgement.
    Tcp,
    /// QUIC's spin bit.
    Spin,
    /// A request for an echo, and the answer.
    Probe,
}

#[derive(Debug)]
enum Kind {
    Segments(Box<Segments>),
    Spin(Spin),
}

#[derive(Debug)]
struct Flow {
    host: IpAddr,
    left: Instant,
    kind: Kind,
}

/// The connections.
#[derive(Debug)]
pub(super) struct Trips {
    flows: BTreeMap<FlowKey, Flow>,
    most: usize,
    looked: Instant,
}

impl Trips {
    pub const fn new(most: usize) -> Self {
        Self { flows: BTreeMap::new(), most, looked: Instant::ZERO }
    }

    /// A packet leaves for a host. If it left before, so long ago.
    pub fn leaves(&mut self, now: Instant, host: IpAddr, sign: Sign) -> Option<Span> {
        let (Sign::Segment(key, ..) | Sign::Spin(key, _)) = sign;
        if !self.flows.contains_key(&key) && !self.has_room(now) {
            return None;
        }
        let kind = match sign {
            Sign::Segment(..) => Kind::Segments(Box::new(Segments::new())),
            Sign::Spin(..) => Kind::Spin(Spin::default()),
        };
        let flow = self.flows.entry(key).or_insert(Flow { host, left: now, kind });
        (flow.host, flow.left) = (host, now);
        match (&mut flow.kind, sign) {
            (Kind::Segments(segments), Sign::Segment(_, start, end)) => segments.leaves(now, start, end),
            (Kind::Spin(spin), Sign::Spin(_, bit)) => {
                spin.leaves(now, bit);
                None
            }
            // Ports do not change their protocol within seconds.
            _ => None,
        }
    }

    /// A packet came from the mesh: whose round trip it ends, and by what.
    pub fn comes(&mut self, now: Instant, echo: Echo) -> Option<(IpAddr, Span, By)> {
        let (Echo::Ack(key, _) | Echo::Spin(key, _)) = echo else { return None };
        let flow = self.flows.get_mut(&key)?;
        let (rtt, by) = match (&mut flow.kind, echo) {
            (Kind::Segments(segments), Echo::Ack(_, ack)) => (segments.acknowledged(now, ack)?, By::Tcp),
            (Kind::Spin(spin), Echo::Spin(_, bit)) => (spin.comes(now, bit)?, By::Spin),
            _ => return None,
        };
        Some((flow.host, rtt, by))
    }

    /// Whether one more connection may be followed. The others are timed all the same, and it is not, until one has been silent.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.flows.len() >= self.most && now.saturating_since(self.looked) >= LOOKS {
            self.looked = now;
            self.flows.retain(|_, flow| now.saturating_since(flow.left) < SILENT);
        }
        self.flows.len() < self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;
    use core::net::Ipv4Addr;

    fn key(port: u16) -> FlowKey {
        let end = |last, port| Endpoint { address: Ipv4Addr::new(10, 0, 0, last).into(), port };
        FlowKey { wireless: end(1, port), wired: end(9, 443) }
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    #[test]
    fn connections_are_bounded_and_the_silent_ones_go() {
        let mut trips = Trips::new(2);
        let host: IpAddr = Ipv4Addr::new(10, 0, 0, 1).into();
        let segment = |port| Sign::Segment(key(port), Seq(0), Seq(100));
        let ack = |port| Echo::Ack(key(port), Seq(100));
        assert!((1..=3).all(|port| trips.leaves(ms(2_000), host, segment(port)).is_none()));
        let timed = [1, 2, 3].map(|port| trips.comes(ms(2_040), ack(port)).is_some());
        assert_eq!(timed, [true, true, false]);
        trips.leaves(ms(11_000), host, Sign::Segment(key(2), Seq(100), Seq(200)));
        trips.leaves(ms(12_500), host, segment(3));
        assert_eq!(
            trips.comes(ms(12_540), ack(3)),
            Some((host, Span::from_millis(40), By::Tcp)),
            "1 was silent"
        );
        assert!(trips.comes(ms(12_540), ack(1)).is_none());
    }

    #[test]
    fn what_answers_another_protocol_ends_nothing() {
        let mut trips = Trips::new(2);
        trips.leaves(ms(0), Ipv4Addr::new(10, 0, 0, 1).into(), Sign::Segment(key(1), Seq(0), Seq(100)));
        assert!(trips.comes(ms(9), Echo::Spin(key(1), true)).is_none());
    }
}
