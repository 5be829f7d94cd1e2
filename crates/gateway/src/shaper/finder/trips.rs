//! Round trips in the mesh of everything that tells one: of which connection, and of whose host.

use super::flight::Flight;
use super::in_mesh::InMesh;
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

/// A round trip that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trip {
    pub host: IpAddr,
    pub rtt: Span,
    pub by: By,
    /// Of a segment that was acknowledged alone.
    pub is_single: bool,
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
    flight: Flight,
}

/// The connections.
#[derive(Debug)]
pub(super) struct Trips {
    flows: BTreeMap<FlowKey, Flow>,
    most: usize,
    looked: Instant,
    in_mesh: InMesh,
}

impl Trips {
    pub const fn new(most: usize) -> Self {
        Self { flows: BTreeMap::new(), most, looked: Instant::ZERO, in_mesh: InMesh::new() }
    }

    /// A packet leaves for a host, and is gone after `lasts`. If it left before, so long ago.
    pub fn leaves(&mut self, now: Instant, host: IpAddr, sign: Sign, lasts: Span) -> Option<Span> {
        let (Sign::Segment(key, ..) | Sign::Spin(key, _)) = sign;
        if !self.flows.contains_key(&key) && !self.has_room(now) {
            return None;
        }
        let flow = self.flows.entry(key).or_insert_with(|| {
            let kind = match sign {
                Sign::Segment(..) => Kind::Segments(Box::new(Segments::new())),
                Sign::Spin(..) => Kind::Spin(Spin::default()),
            };
            Flow { host, left: now, kind, flight: Flight::default() }
        });
        (flow.host, flow.left) = (host, now);
        match (&mut flow.kind, sign) {
            (Kind::Segments(segments), Sign::Segment(_, start, end)) => {
                flow.flight.leaves(now, start, end);
                let again = segments.leaves(now, start, end);
                self.in_mesh.count(key, host, flow.flight.counts(now, lasts));
                again
            }
            (Kind::Spin(spin), Sign::Spin(_, bit)) => {
                spin.leaves(now, bit);
                None
            }
            // Ports do not change their protocol within seconds.
            _ => None,
        }
    }

    /// A packet came from the mesh: whose round trip it ends, and by what. What its connection has left there is gone after `lasts`.
    pub fn comes(&mut self, now: Instant, echo: Echo, lasts: Span) -> Option<Trip> {
        let (Echo::Ack(key, _) | Echo::Spin(key, _)) = echo else { return None };
        let flow = self.flows.get_mut(&key)?;
        if let Echo::Ack(_, ack) = echo {
            flow.flight.acknowledged(now, ack);
            self.in_mesh.count(key, flow.host, flow.flight.counts(now, lasts));
        }
        let (rtt, by, is_single) = match (&mut flow.kind, echo) {
            (Kind::Segments(segments), Echo::Ack(_, ack)) => {
                let answered = segments.acknowledged(now, ack)?;
                (answered.rtt, By::Tcp, answered.is_single)
            }
            (Kind::Spin(spin), Echo::Spin(_, bit)) => (spin.comes(now, bit)?, By::Spin, false),
            _ => return None,
        };
        Some(Trip { host: flow.host, rtt, by, is_single })
    }

    /// Whether one more connection may be followed. The others are timed all the same, and it is not, until one has been silent.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.flows.len() >= self.most && now.saturating_since(self.looked) >= LOOKS {
            self.looked = now;
            self.flows.retain(|key, flow| {
                let stays = now.saturating_since(flow.left) < SILENT;
                if !stays {
                    self.in_mesh.discount(key);
                }
                stays
            });
        }
        self.flows.len() < self.most
    }

    /// A connection's host.
    pub fn host(&self, key: &FlowKey) -> Option<IpAddr> {
        self.flows.get(key).map(|flow| flow.host)
    }

    /// Bytes that a host's connections have in the mesh.
    pub fn in_mesh(&mut self, now: Instant, host: IpAddr) -> u64 {
        self.in_mesh.of(now, host)
    }

    /// When less counts, if nothing is acknowledged before.
    pub fn ends(&self) -> Option<Instant> {
        self.in_mesh.ends()
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

    const LASTS: Span = Span::from_millis(100);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    #[test]
    fn a_host_has_in_the_mesh_what_its_connections_have() {
        let mut trips = Trips::new(9);
        let hosts: [IpAddr; 2] = [1, 2].map(|last| Ipv4Addr::new(10, 0, 0, last).into());
        let segment = |port, n: u32| Sign::Segment(key(port), Seq(100 * n), Seq(100 * n + 100));
        for (port, host, at) in [(1, 0, 0), (2, 0, 10), (3, 1, 20)] {
            for n in 0..3 {
                trips.leaves(ms(at), hosts[host], segment(port, n), LASTS);
            }
        }
        assert_eq!(hosts.map(|host| trips.in_mesh(ms(20), host)), [600, 300]);
        trips.comes(ms(30), Echo::Ack(key(2), Seq(300)), LASTS);
        assert_eq!((trips.in_mesh(ms(30), hosts[0]), trips.ends()), (300, Some(ms(100))));
        // Nothing of the first was answered for so long; its host moves.
        assert_eq!(hosts.map(|host| trips.in_mesh(ms(100), host)), [0, 300]);
        trips.leaves(ms(110), hosts[0], segment(3, 3), LASTS);
        assert_eq!(hosts.map(|host| trips.in_mesh(ms(110), host)), [400, 0]);
        assert_eq!(hosts.map(|host| trips.in_mesh(ms(120), host)), [0, 0]);
    }

    #[test]
    fn connections_are_bounded_and_the_silent_ones_go() {
        let mut trips = Trips::new(2);
        let host: IpAddr = Ipv4Addr::new(10, 0, 0, 1).into();
        let segment = |port| Sign::Segment(key(port), Seq(0), Seq(100));
        let ack = |port| Echo::Ack(key(port), Seq(100));
        assert!((1..=3).all(|port| trips.leaves(ms(2_000), host, segment(port), LASTS).is_none()));
        let timed = [1, 2, 3].map(|port| trips.comes(ms(2_040), ack(port), LASTS).is_some());
        assert_eq!(timed, [true, true, false]);
        trips.leaves(ms(11_000), host, Sign::Segment(key(2), Seq(100), Seq(200)), LASTS);
        trips.leaves(ms(12_500), host, segment(3), LASTS);
        assert_eq!(
            trips.comes(ms(12_540), ack(3), LASTS),
            Some(Trip { host, rtt: Span::from_millis(40), by: By::Tcp, is_single: true }),
            "1 was silent"
        );
        assert!(trips.comes(ms(12_540), ack(1), LASTS).is_none());
    }

    #[test]
    fn what_answers_another_protocol_ends_nothing() {
        let mut trips = Trips::new(2);
        trips.leaves(
            ms(0),
            Ipv4Addr::new(10, 0, 0, 1).into(),
            Sign::Segment(key(1), Seq(0), Seq(100)),
            LASTS,
        );
        assert!(trips.comes(ms(9), Echo::Spin(key(1), true), LASTS).is_none());
    }
}
