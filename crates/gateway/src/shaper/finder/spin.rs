//! Round trips of a QUIC connection in the mesh, by its latency spin bit (RFC 9000, section 17.4).
//!
//! The client sends the opposite of the bit that it has seen last, the server the same. So the bit of packets into the mesh turns
//! once a round trip. The mesh end turns the bit of its own packets as soon as it has seen that. The time between both turns is the
//! mesh's part of the round trip (RFC 9312, section 3.8.2). Ends may send any bit instead, and some always do.

use meshpace_units::{Instant, Span};

/// Turns of both directions that have to come in turn before one counts: of random bits one in thousands does.
const SOUND: u8 = 8;

/// The bit of both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spin {
    into: Option<bool>,
    out: Option<bool>,
    /// When the bit that goes into the mesh turned, until the other does.
    turned: Option<Instant>,
    sound: u8,
}

impl Spin {
    /// A packet leaves for the mesh.
    pub fn leaves(&mut self, now: Instant, bit: bool) {
        if self.into.replace(bit).is_some_and(|before| before != bit) && self.turned.replace(now).is_some() {
            self.sound = 0;
        }
    }

    /// A packet comes from the mesh: the round trip that ends with it.
    pub fn comes(&mut self, now: Instant, bit: bool) -> Option<Span> {
        if self.out.replace(bit).is_none_or(|before| before == bit) {
            return None;
        }
        let Some(turned) = self.turned.take() else {
            self.sound = 0;
            return None;
        };
        self.sound = self.sound.saturating_add(1);
        (self.sound > SOUND).then(|| now.saturating_since(turned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// A client in the mesh, `mesh` ms of round trip there and 20 ms beyond; a packet each way every ms. The round trips found.
    fn client(mesh: u64, greases: impl Fn(u64) -> Option<bool>) -> Vec<u64> {
        let mut spin = Spin::default();
        let mut found = Vec::new();
        let mut up = Vec::new();
        for n in 0..2_000_usize {
            // What the server reflects is what the client sent one wired round trip ago.
            let down = n.checked_sub(20).is_some_and(|then| up[then]);
            spin.leaves(ms(n as u64), down);
            let seen = n.checked_sub(mesh as usize + 20).is_some_and(|then| up[then]);
            let bit = greases(n as u64).unwrap_or(!seen);
            found.extend(spin.comes(ms(n as u64), bit).map(|rtt| rtt.as_micros() / 1_000));
            up.push(bit);
        }
        found
    }

    #[test]
    fn the_meshs_part_of_a_round_trip_is_found() {
        let found = client(30, |_| None);
        assert!(found.len() > 25, "{found:?}");
        assert!(found.iter().all(|rtt| *rtt == 30), "{found:?}");
    }

    #[test]
    fn bits_that_do_not_spin_tell_nothing() {
        assert_eq!(client(30, |_| Some(true)), []);
        let random = |n: u64| Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1);
        assert_eq!(client(30, random), []);
    }

    /// One packet overtakes another: the next few turns do not count.
    #[test]
    fn what_came_out_of_turn_costs_a_few_turns() {
        let mut spin = Spin::default();
        let mut found = 0;
        for n in 0..40 {
            let bit = n % 2 == 1;
            spin.leaves(ms(100 * n), bit);
            if n == 20 {
                spin.leaves(ms(100 * n + 1), !bit);
                spin.leaves(ms(100 * n + 2), bit);
            }
            found += u32::from(spin.comes(ms(100 * n + 50), bit).is_some());
        }
        // The first turn of each direction is none; eight before the first that counts, twice.
        assert_eq!(found, 40 - 1 - 8 - 8);
    }
}
