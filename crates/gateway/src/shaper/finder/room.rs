//! How many packets may wait in the mesh, of all hosts and of each.
//!
//! A queue keeps the channel busy while the rate varies. Up to three hops, a chain is one channel that one node uses at a time
//! (schemes.md 2): packets that wait there only cost time. On longer chains packets that follow each other are in the air at once,
//! and the more there are, the more they collide: there fewer packets carry more. A connection that is alone delays only itself.
//!
//! While somebody talks, hardly any wait, however few keep the channel busy. No rate is as exact: so what is in the mesh is counted, and a host of which enough is
//! there has its turn with the next acknowledgement.

use super::{Finder, LOOKS, Path, WAITING};
use core::net::IpAddr;
use meshpace_units::{Instant, Rate, Span};

/// Up to so many hops a chain is one channel.
const ONE_CHANNEL: u32 = 3;
/// So many packets of a connection wait that is alone, on such a way and on a longer one; of the former for no longer than this, seconds.
const ALONE: (f64, f64) = (14.0, 2.0);
const ALONE_FOR: f64 = 0.12;
/// This many packets a second that wait for no turn are a call, or several calls.
const CALLS: f64 = 10.0;
/// Beside others that part of what may wait does, and this part on each hop: where frames carry many packets, the queues of the mesh share by
/// flow what the shaper should share by host, and the more of it, the more waits there. Over one hop it all waits in the gateway's own
/// radio, which shares by station. (docs/hosts.md, "Radios that aggregate")
const BESIDE_OTHERS: (f64, f64) = (0.6, 0.15);
/// Unused rate lets in packets that wait later: where packets wait so many times as long as they should, the rate is at most so many times the
/// traffic that went into the mesh. Beside others it is so from the first of these on, so that what waits does so at the shaper, which shares.
const UNUSED: [(f64, f64); 2] = [(super::SHORT, 1.05), (super::LONG, super::ABOVE)];
/// Beside it what comes in this time may wait, seconds, and this part of a packet at least.
const BESIDE_CALLS: (f64, f64) = (0.008, 0.3);
/// A receiver that waits for a second segment before it acknowledges waits no shorter (Linux, TCP_ATO_MIN in include/net/tcp.h).
const TIMER: Span = Span::from_millis(40);
/// A host has one packet in the mesh at least.
const LEAST: f64 = 1.0;
/// A packet that left and is not acknowledged counts as being in the mesh for twice a round trip, but for this span at
/// least and at the most.
const LASTS: (Span, Span) = (Span::from_millis(50), Span::from_secs(1));
/// Where hosts share the air: a host that is further away than others has a claim while it has less than this share of its part, and this
/// share of its packets is lost.
const CLAIMS: (f64, f64) = (0.7, 0.03);
/// Then packets count as waiting so many times longer than they should.
const CLAIMED: f64 = 2.0;
/// The same holds where more hosts than these are heard, and more than this share of all packets is lost: a download of many has a packet or
/// two under way, and each that is lost costs its sender a timer that doubles (bench/hosts.py, `crowd`).
const MANY: (usize, f64) = (8, 0.01);

impl Finder {
    /// Whether somebody talks.
    pub(super) fn is_beside_calls(&self, now: Instant) -> bool {
        self.calls.rate(now) >= CALLS
    }

    /// Whether the receiver's timer may have sent the acknowledgement of a single segment, beside a call: hosts have a packet or two in the mesh then,
    /// so that hardly any acknowledgement answers two.
    pub(super) fn may_be_a_timers(&self, now: Instant, host: IpAddr, rtt: Span) -> bool {
        let path = self.paths.get(&host).filter(|_| self.is_beside_calls(now));
        path.is_some_and(|path| rtt >= path.base() + TIMER)
    }

    /// Packets that may wait in the mesh.
    pub(super) fn waits(&self, now: Instant) -> f64 {
        if self.is_beside_calls(now) {
            let (time, least) = BESIDE_CALLS;
            return (self.law.rate() * time).max(least);
        }
        let times = self.uplink.times();
        let waiting = match self.hops {
            Some(hops) if times == 1.0 && self.company.is_alone(now) => {
                if hops <= ONE_CHANNEL {
                    ALONE.0.min(self.usual * ALONE_FOR).max(WAITING)
                } else {
                    ALONE.1
                }
            }
            _ => WAITING,
        };
        let stands = self.find.stands.as_secs_f64() * self.stands(now);
        (self.usual * stands).max(waiting) * times
    }

    /// Which part of what may wait does.
    fn stands(&self, now: Instant) -> f64 {
        let (least, hop) = BESIDE_OTHERS;
        match self.hops {
            Some(hops) if hops > 1 && !self.company.is_alone(now) => least.max(hop * f64::from(hops)),
            _ => 1.0,
        }
    }

    /// The rate is at most so many times what was carried lately, while packets wait so many times as long as they should.
    pub(super) fn above(&self, now: Instant, times: f64) -> Option<f64> {
        let [beside, always] = UNUSED;
        // Where frames carry one packet each, four wait, and hardly any of them anywhere but where they should.
        let many = self.usual * self.find.stands.as_secs_f64() * self.stands(now) > WAITING;
        let (from, above) =
            if !many || self.company.is_alone(now) || self.is_beside_calls(now) { always } else { beside };
        (times > from).then_some(above)
    }

    /// The rate at which packets went into the mesh lately, in costs.
    #[must_use]
    pub fn carried(&self, now: Instant) -> Rate {
        super::rate_of(self.pace.rate(now))
    }

    /// How long what left for a host counts as being in the mesh.
    pub(super) fn lasts(&self, host: IpAddr) -> Span {
        let (least, most) = LASTS;
        self.paths.get(&host).map_or(least, |path| ((path.base() + path.queue()) * 2).clamp(least, most))
    }

    /// Until when a host's packets stay here, at the latest, while somebody talks: enough of them are in the mesh. That is what an empty way
    /// holds at its pace, and its part of those that may wait.
    pub fn holds(&mut self, now: Instant, host: IpAddr, price: f64) -> Option<Instant> {
        if !self.is_beside_calls(now) {
            return None;
        }
        let path = self.paths.get(&host).filter(|path| path.has_a_say(now))?;
        let (pace, base) = (path.pace(now), path.base().as_secs_f64());
        let part = (pace * price / self.pace.rate(now)).min(1.0);
        let room = pace * base + (self.waits(now) * part / price).max(LEAST);
        let there = super::in_packets(self.trips.in_mesh(now, host));
        (there >= room).then(|| self.trips.ends().unwrap_or(now).max(now + LOOKS))
    }

    /// How long packets count as waiting, seconds, while a far host has less than its part of the air and loses packets, or many hosts lose
    /// some: in the air of near ones they are lost and do not wait.
    pub(super) fn claimed(&self, now: Instant, wanted: f64) -> f64 {
        let heard = || self.paths.values().filter(|path| path.is_heard(now));
        let nearest = heard().map(|path| path.price()).fold(f64::INFINITY, f64::min);
        let part = self.pace.rate(now) / heard().count().max(1) as f64;
        let (less, lost) = CLAIMS;
        let claims = heard().any(|path| {
            let has = path.pace(now) * path.price();
            path.price() > nearest && has < less * part && path.loses(now) > lost
        });
        let sum = |of: fn(&Path, Instant) -> f64| heard().map(|path| of(path, now)).sum::<f64>();
        let (many, part) = MANY;
        let are_lost = heard().count() > many && sum(Path::losses) > part * sum(Path::pace);
        if claims || are_lost { CLAIMED * wanted } else { 0.0 }
    }
}
