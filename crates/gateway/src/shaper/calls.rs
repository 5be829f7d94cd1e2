//! Which packets wait for no turn: a call's.
//!
//! Turns go by bytes, and a packet waits while the one before it takes its time at the rate. A call's packets are short, and over a few hops a
//! call sends more than a flow's share beside downloads of its own host: each packet would wait for its turn. So a short packet leaves at once, and
//! what comes behind it waits the longer, while such packets take no more than a part of their host's share. If somebody cuts bulk into short
//! packets, other flows of the same host lose by it, and no other host does.

use super::aggregate::Aggregate;
use super::finder::ACK;
use super::meter::Meter;
use super::{Held, Shaper, ShaperConfig, of};
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_codel::FlowHash;
use meshpace_units::{Bytes, Instant, Rate};

/// Which packets are a call's, and what calls may have.
#[derive(Clone, Copy, Debug)]
pub struct CallRule {
    /// A packet of a call is longer than an acknowledgement.
    pub longer_than: Bytes,
    /// It is no longer than this: G.711 sends 360 bytes every 40 ms, headers included (RFC 3551, section 4.5.14).
    pub longest: Bytes,
    /// What calls of a host have of its share at the most.
    pub part: (u64, u64),
    /// So much of that may leave at once.
    pub at_once: Bytes,
    /// And so much of the rate, of all hosts together.
    pub at_once_of_all: Bytes,
}

/// The rule of every shaper.
pub const CALLS: CallRule = CallRule {
    longer_than: ACK,
    longest: Bytes(400),
    part: (3, 4),
    at_once: Bytes(1_500),
    at_once_of_all: Bytes(3_000),
};

/// What a host's calls had of its share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls(Meter);

impl Calls {
    /// A packet leaves that costs so much, of a host that may have this rate.
    fn leaves(&mut self, now: Instant, share: Rate, cost: u64) {
        let (part, of) = CALLS.part;
        let share = Rate::bits_per_sec(share.as_bits_per_sec() / of * part);
        let ahead = share.time_to_send(CALLS.at_once).unwrap_or_default();
        self.0.charge(now, share, cost, ahead);
    }
}

/// Whether a packet waits for no turn, where the next turn is at `free_at`. Then those of its flow that wait go with it.
pub(super) fn passes<P>(
    aggregate: &Aggregate<P>,
    config: &ShaperConfig,
    free_at: Instant,
    now: Instant,
    flow: FlowHash,
    size: Bytes,
) -> bool {
    if size <= CALLS.longer_than || size > CALLS.longest {
        return false;
    }
    let ahead = config.rate.time_to_send(Bytes(config.cost(CALLS.at_once_of_all, &aggregate.terms)));
    let waiting = aggregate.queues.of(flow);
    ahead.is_some_and(|ahead| free_at <= now + ahead)
        && aggregate.calls.0.is_ready(now)
        && aggregate.held_by_cap(now).is_none()
        && waiting
            .is_none_or(|waiting| waiting.longest() <= CALLS.longest && waiting.bytes() <= CALLS.at_once)
}

impl<P> Shaper<P> {
    /// Packets of a host leave, which wait for no turn.
    pub(super) fn pass(&mut self, now: Instant, host: IpAddr, packets: Vec<(Held<P>, Bytes)>) {
        let aggregate = of(&mut self.hosts, host);
        let all = self.weights - aggregate.weight() + aggregate.shares();
        let share = Rate::bits_per_sec(self.config.rate.as_bits_per_sec() / all * aggregate.shares());
        for next in packets {
            let aggregate = of(&mut self.hosts, host);
            aggregate.calls.leaves(now, share, self.config.cost(next.1, &aggregate.terms));
            let left = self.leaves(now, host, next, now, true);
            self.leaving.push_back(left);
        }
        let aggregate = of(&mut self.hosts, host);
        if !aggregate.turn.is_listed() {
            self.idle.insert((aggregate.seen, host));
            self.forget_idle();
        }
    }
}
