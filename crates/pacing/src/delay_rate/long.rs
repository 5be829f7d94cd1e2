//! Paths that hold many packets, and wires (docs/law.md, "Wired paths").
//!
//! Over a mesh an empty path holds some sixty packets at most, of which a step up of 2.5 % is no more than what may wait. Where it holds
//! thousands, a step overshoots by dozens; the answer is a cut by a quarter, and another one before that shows. There the number that may
//! wait grows with the root of what the path holds, and the rate goes by what arrives: while a queue stands that is the path's rate. So it
//! does where a queue stays empty to what clocks tell apart, as a wire's alone does: nothing of such a queue is the medium's jitter.

use super::SHORTEST_QUEUE;
use libm::sqrt;

/// From so many packets or trains on that an empty path holds it is long. A mesh with 802.11n behind 120 ms of wire holds 256 packets, and
/// less of what one access carries.
pub(super) const LONG: f64 = 256.0;
/// A path is a wire once its queue was empty for so many steps in a row, and for so many steps after it was the last time. Over a mesh one
/// such step is a matter of chance.
const EMPTY: u32 = 4;
const WIRE: u32 = 1_000;
/// Of what is too much (or too little) in the queue, this share goes (or comes) in a round trip. A step shows one round trip later what
/// it did; from 1 on the rate would circle.
const SHARE: f64 = 0.5;

/// What is known of a path's kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Kind {
    /// Steps with an empty queue, up to now.
    empty: u32,
    /// Steps that it counts as a wire still.
    wire: u32,
}

impl Kind {
    /// A step ends: the queue was so long, seconds.
    pub(super) fn on_step(&mut self, queue: f64) {
        self.empty = if queue <= SHORTEST_QUEUE { self.empty.saturating_add(1) } else { 0 };
        self.wire = if self.empty >= EMPTY { WIRE } else { self.wire.saturating_sub(1) };
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

/// The rate with which a queue comes to `waits` packets, where `arrives` is what comes out of it, packets a second: a part of what is too
/// much goes in a round trip of `rtt` seconds. `queue` is in seconds.
pub(super) fn towards(waits: f64, arrives: f64, queue: f64, rtt: f64) -> f64 {
    arrives * (1.0 + SHARE * (waits / arrives - queue) / rtt)
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
        assert_eq!(towards(10.0, 1_000.0, 0.01, 0.1), 1_000.0);
        // 30 packets wait, 20 too many: in 100 ms 10 fewer are sent than leave.
        assert_eq!(towards(10.0, 1_000.0, 0.03, 0.1), 900.0);
        assert_eq!(towards(10.0, 1_000.0, 0.0, 0.1), 1_050.0);
    }

    #[test]
    fn a_wire_is_known_by_a_queue_that_stays_empty() {
        let mut kind = Kind::default();
        for queue in [1e-5, 1e-5, 1e-5, 2e-5, 1e-5, 1e-5, 1e-5] {
            kind.on_step(queue);
        }
        assert!(!kind.is_clear(3.0));
        kind.on_step(1e-5);
        assert!(kind.is_clear(3.0));
        (1..1_000).for_each(|_| kind.on_step(0.1));
        assert!(kind.is_clear(3.0));
        kind.on_step(0.1);
        assert!(!kind.is_clear(3.0));
        kind.on_step(0.1);
        assert!(kind.is_clear(256.1));
    }
}
