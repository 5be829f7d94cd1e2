//! What is taken off the rate while too much waits, so that the rate and the queue do not swing.
//!
//! The law changes its rate by how long packets wait, and the queue grows by how far the rate is above what the mesh carries: two sums, one
//! of the other, which swing for ever (on a link of one rate by a quarter up and down within three seconds, and the queue from nothing to
//! four times what it should be). A part that goes by the wait itself, and not by its sum, damps that: proportional control beside integral
//! (RFC 8033, section 4.2; Hollot et al., INFOCOM 2001). Here it is the part of the rate that sends what waits too much within so many
//! round trips.

/// Round trips, the wait in them included, in which what waits too much is sent. A change of the rate shows after one: within one, the rate
/// would swing faster (crates/gateway/tests/shaper/autorate.rs: half a round trip carries 93 % of a link that changes, one to four 99 %).
const ROUNDS: f64 = 2.0;

/// The share of the law's rate at which packets leave while they wait for `queue` in place of `wanted`, over a way that takes `base` without
/// that; all in seconds. More than half, as no queue is longer than the round trip that it is in; and no more than all, as a rate beyond the
/// law's would fill the queue before that shows.
pub(super) fn share(queue: f64, wanted: f64, base: f64) -> f64 {
    if queue <= wanted { 1.0 } else { 1.0 - (queue - wanted) / (ROUNDS * (base + queue)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_too_much_is_sent_within_two_round_trips() {
        assert_eq!([share(0.0, 0.04, 0.02), share(0.04, 0.04, 0.02)], [1.0, 1.0]);
        // In 120 ms a tenth less than all leaves, which is what takes 12 ms.
        assert!((share(0.04, 0.028, 0.02) - 0.9).abs() < 1e-9);
        assert!((share(0.22, 0.04, 0.02) - (1.0 - 0.18 / 0.48)).abs() < 1e-9);
        assert!((share(9.0, 0.0, 0.0) - 0.5).abs() < 1e-9);
    }
}
