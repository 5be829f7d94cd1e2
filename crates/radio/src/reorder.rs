//! The receiver's reorder buffer: packets of one neighbour go up in the order of their numbers (IEEE 802.11-2020, 10.25.6.6).
//!
//! One that is missing holds those behind it back, until it comes, or the neighbour tells that it has given it up, or a packet comes
//! that lies so far ahead that the window moves past it.

use std::collections::VecDeque;

/// Sequence numbers: 12 bits.
const NUMBERS: u16 = 1 << 12;

/// What arrived from a neighbour and waits for packets before it.
#[derive(Clone, Debug)]
pub struct Reorder<T> {
    /// The number that is awaited (WinStart).
    start: u16,
    /// Numbers that may wait (WinSize).
    window: usize,
    /// By number from `start` on; the first is missing.
    held: VecDeque<Option<T>>,
}

impl<T> Reorder<T> {
    /// Nothing has come, and packet 1 is awaited: a neighbour's numbers begin with it. At most `window` numbers are held.
    #[must_use]
    pub const fn new(window: usize) -> Self {
        Self { start: 1, window, held: VecDeque::new() }
    }

    /// A packet has arrived, which has not come before. What can go up now is appended to `out`, in order; the packet is given back if
    /// it is too late: what came after it went up already.
    pub fn arrived(&mut self, seq: u16, packet: T, out: &mut Vec<T>) -> Option<T> {
        let ahead = usize::from(seq.wrapping_sub(self.start) % NUMBERS);
        if ahead >= usize::from(NUMBERS) / 2 {
            return Some(packet);
        }
        if ahead >= self.window {
            let moved = ahead + 1 - self.window;
            self.advance(moved, out);
        }
        let place = usize::from(seq.wrapping_sub(self.start) % NUMBERS);
        while self.held.len() <= place {
            self.held.push_back(None);
        }
        self.held[place] = Some(packet);
        self.release(out);
        None
    }

    /// Nothing before this number need be waited for.
    pub fn starts_at(&mut self, start: u16, out: &mut Vec<T>) {
        let ahead = usize::from(start.wrapping_sub(self.start) % NUMBERS);
        if ahead < usize::from(NUMBERS) / 2 {
            self.advance(ahead, out);
            self.release(out);
        }
    }

    /// Packets that wait.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.iter().flatten().count()
    }

    /// The window moves on, whatever is missing in it.
    fn advance(&mut self, by: usize, out: &mut Vec<T>) {
        out.extend(self.held.drain(..by.min(self.held.len())).flatten());
        self.start = (usize::from(self.start) + by) as u16 % NUMBERS;
    }

    /// What is not waiting for anything goes up.
    fn release(&mut self, out: &mut Vec<T>) {
        while let Some(Some(_)) = self.held.front() {
            self.advance(1, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What goes up when these numbers arrive, each packet named by its number.
    fn up(reorder: &mut Reorder<u16>, seqs: &[u16]) -> Vec<u16> {
        let mut out = Vec::new();
        seqs.iter().for_each(|seq| assert_eq!(reorder.arrived(*seq, *seq, &mut out), None));
        out
    }

    /// ```text
    /// 1 | 3 4 (2 missing) | 2 lets 2 3 4 go | 6, and the neighbour says that 5 was given up
    /// ```
    #[test]
    fn a_missing_packet_holds_back_what_is_behind_it() {
        let mut reorder = Reorder::new(64);
        assert_eq!(up(&mut reorder, &[1]), [1]);
        assert_eq!(up(&mut reorder, &[4, 3]), []);
        assert_eq!(reorder.held(), 2);
        assert_eq!(up(&mut reorder, &[2]), [2, 3, 4]);
        assert_eq!(up(&mut reorder, &[6, 8]), []);
        let mut out = Vec::new();
        reorder.starts_at(6, &mut out);
        assert_eq!((out, reorder.held()), (vec![6], 1));
        assert_eq!(reorder.arrived(5, 5, &mut Vec::new()), Some(5), "too late");
    }

    #[test]
    fn the_window_moves_past_what_never_comes() {
        let mut reorder = Reorder::new(64);
        assert_eq!(up(&mut reorder, &[2, 64]), []);
        // 65 lies 64 ahead of 1: the window begins at 2 now.
        assert_eq!(up(&mut reorder, &[65]), [2]);
        assert_eq!(up(&mut reorder, &[1_000]), [64, 65]);
        assert_eq!(reorder.held(), 1);
    }

    #[test]
    fn a_request_for_what_is_past_changes_nothing() {
        let mut reorder = Reorder::new(64);
        up(&mut reorder, &[1, 2, 3]);
        let mut out = Vec::new();
        reorder.starts_at(2, &mut out);
        assert_eq!(up(&mut reorder, &[4]), [4]);
        assert!(out.is_empty());
    }

    proptest! {
        /// Whatever arrives in whatever order within a window, numbers going round, goes up in order, each packet once; what is
        /// held is less than a window.
        #[test]
        fn what_goes_up_is_in_order(lost in prop::collection::vec(0..20u8, 6_000), swaps in prop::collection::vec(0..40usize, 6_000)) {
            let mut order: Vec<usize> = (0..lost.len()).filter(|at| lost[*at] > 0).collect();
            for (at, swap) in swaps.iter().enumerate().take(order.len()) {
                // Never more than a window out of place, together.
                let with = (at / 40 * 40 + swap).min(order.len() - 1);
                order.swap(at, with);
            }
            let mut reorder = Reorder::new(64);
            let (mut out, mut late) = (Vec::new(), 0);
            for at in &order {
                let seq = ((at + 1) % usize::from(NUMBERS)) as u16;
                late += usize::from(reorder.arrived(seq, *at, &mut out).is_some());
                prop_assert!(reorder.held() < 64);
            }
            prop_assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(out.len() + reorder.held() + late, order.len());
        }
    }
}
