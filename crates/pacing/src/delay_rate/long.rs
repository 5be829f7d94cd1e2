//! Paths that hold many packets, and wires (docs/law.md, "Wired paths").
//!
//! Over a mesh an empty path holds some sixty packets at most. A step up of 2.5 % adds no more packets than may wait. Where it holds
//! thousands, a step overshoots by dozens; the answer is a cut by a quarter, and another one before that shows. There the number that may
//! wait grows with the root of what the path holds, and the rate goes by what arrives: while a queue stands that is the path's rate. So it
//! does where a queue stays empty to what clocks tell apart, as a wire's alone does: nothing of such a queue is the medium's jitter.

use super::{JITTER, SHORTEST_QUEUE};
use libm::sqrt;

/// From so many packets or trains on that an empty path holds it is long. A mesh with 802.11n behind 120 ms of wire holds 256 packets, and
/// less of what one access carries.
pub(super) const LONG: f64 = 256.0;
/// A path becomes a wire once its queue was empty for this many steps in a row. It stays a wire for this many steps after the last empty
/// step. Over a mesh one such step is a matter of chance.
const EMPTY: u32 = 4;
/// Or once so many round trips in a row had no more than hosts' jitter in them. Over one idle hop of 802.11g, whose back-offs are the
/// shortest, two of five have no more: all of 24 by chance once in 10^9.
const PROMPT: u32 = 24;
const WIRE: u32 = 1_000;
/// Of what is too much (or too little) in the queue, this share goes (or comes) in a round trip. A step shows one round trip later what
/// it did; from 1 on the rate would circle.
pub(super) const SHARE: f64 = 0.5;
/// At a host: once so many of its own packets wait, and more than may, the queue is drained by what arrives until it is as long as it may
/// be. The start on a slow path leaves such a queue, many of the path's round trips long, and the effect of a step shows only after all
/// of them. So each step takes away less than for short queues; otherwise the rate would be far below the path's when the queue is gone.
const FULL: f64 = 8.0;
pub(super) const DRAIN: f64 = 0.25;
/// At a host: over a path whose round trip is shorter there is no radio in the way, whose packets alone take longer (seconds); what comes
/// within hosts' jitter may wait there.
const INSIDE: f64 = 2.5e-4;

/// What is known of a path's kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Kind {
    /// Steps with an empty queue, up to now.
    empty: u32,
    /// Round trips with no more than jitter in them, up to now.
    prompt: u32,
    /// Steps that it counts as a wire still.
    wire: u32,
    /// Far too many packets waited, and more than may wait still do.
    drains: bool,
}

impl Kind {
    /// A step ends, in which the queue was empty, or was not.
    pub(super) fn on_step(&mut self, empty: bool) {
        self.empty = if empty { self.empty.saturating_add(1) } else { 0 };
        let is_wire = self.empty >= EMPTY || self.prompt >= PROMPT;
        self.wire = if is_wire { WIRE } else { self.wire.saturating_sub(1) };
    }

    /// A round trip had no more than jitter in it, or had.
    pub(super) fn on_round_trip(&mut self, prompt: bool) {
        self.prompt = if prompt { self.prompt.saturating_add(1) } else { 0 };
    }

    /// So many packets of this sender wait, and so many may; true while the queue drains.
    pub(super) fn drains(&mut self, wait: f64, may_wait: f64) -> bool {
        self.drains = wait >= FULL.max(may_wait) || self.drains && wait > may_wait;
        self.drains
    }

    /// The rate is to go by what arrives, where an empty path holds so many packets or trains.
    pub(super) fn is_clear(self, holds: f64) -> bool {
        holds > LONG || self.wire > 0
    }
}

/// By how many times more may wait where an empty path holds so much.
pub(super) fn scale(holds: f64) -> f64 {
    if holds > LONG { sqrt(holds / LONG) } else { 1.0 }
}

/// The rate with which a queue comes to `waits` packets, where `arrives` is what comes out of it, packets a second: a share of what is too
/// much goes in a round trip of `rtt` seconds. `queue` is in seconds.
pub(super) fn towards(share: f64, waits: f64, arrives: f64, queue: f64, rtt: f64) -> f64 {
    arrives * (1.0 + share * (waits / arrives - queue) / rtt)
}

/// The queue in seconds that no clock of a host tells from none, over a path whose empty round trip is `base`.
pub(super) fn shortest_queue(on_host: bool, base: f64) -> f64 {
    if on_host && base < INSIDE { JITTER } else { SHORTEST_QUEUE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_grows_with_the_root_of_what_the_path_holds() {
        assert_eq!([1.0, 256.0, 1024.0, 25_600.0].map(scale), [1.0, 1.0, 2.0, 10.0]);
    }

    #[test]
    fn a_queue_of_the_right_length_stays_and_half_of_another_goes() {
        assert_eq!(towards(SHARE, 10.0, 1_000.0, 0.01, 0.1), 1_000.0);
        // 30 packets wait, 20 too many: in 100 ms 10 fewer are sent than leave.
        assert_eq!(towards(SHARE, 10.0, 1_000.0, 0.03, 0.1), 900.0);
        assert_eq!(towards(SHARE, 10.0, 1_000.0, 0.0, 0.1), 1_050.0);
        assert_eq!(towards(DRAIN, 10.0, 1_000.0, 0.03, 0.1), 950.0);
    }

    #[test]
    fn far_too_long_a_queue_drains_until_it_is_as_long_as_it_may_be() {
        let mut kind = Kind::default();
        let found = [7.9, 8.0, 3.0, 1.5, 1.4, 7.9].map(|wait| kind.drains(wait, 1.4));
        assert_eq!(found, [false, true, true, true, false, false]);
        assert!(!kind.drains(9.9, 10.0) && kind.drains(10.0, 10.0));
    }

    #[test]
    fn within_a_machine_hosts_jitter_is_no_queue() {
        let found =
            [(true, 2.4e-4), (true, 2.5e-4), (false, 2.4e-4)].map(|(host, base)| shortest_queue(host, base));
        assert_eq!(found, [2e-4, 1e-5, 1e-5]);
    }

    #[test]
    fn a_wire_is_known_by_a_queue_that_stays_empty() {
        let mut kind = Kind::default();
        for empty in [true, true, true, false, true, true, true] {
            kind.on_step(empty);
        }
        assert!(!kind.is_clear(3.0));
        kind.on_step(true);
        assert!(kind.is_clear(3.0));
        (1..1_000).for_each(|_| kind.on_step(false));
        assert!(kind.is_clear(3.0));
        kind.on_step(false);
        assert!(!kind.is_clear(3.0));
        kind.on_step(false);
        assert!(kind.is_clear(256.1));
    }

    #[test]
    fn or_by_round_trips_that_are_as_prompt_as_hosts_are() {
        let mut kind = Kind::default();
        (1..PROMPT).for_each(|_| kind.on_round_trip(true));
        kind.on_step(false);
        assert!(!kind.is_clear(3.0));
        kind.on_round_trip(false);
        (0..PROMPT).for_each(|_| kind.on_round_trip(true));
        kind.on_step(false);
        assert!(kind.is_clear(3.0));
    }
}
