//! The receiver's reorder buffer: packets of one neighbour go up in the order of their numbers (IEEE 802.11-2020, 10.25.6.6).
//!
//! A missing packet holds back the packets behind it. It does so until it comes, or the neighbour reports that it has given the packet
//! up, or a packet comes that lies so far ahead that the window moves past it. Nor does a packet wait longer than [`HELD_AT_MOST`]: the
//! standard leaves it to the receiver, and Linux's `ieee80211_sta_reorder_release` (net/mac80211/rx.c, 6.1) says when.

use meshpace_units::{Instant, Span};
use std::collections::VecDeque;

/// Sequence numbers: 12 bits.
const NUMBERS: u16 = 1 << 12;

/// How long a packet waits for those before it: `HT_RX_REORDER_BUF_TIMEOUT` of Linux 6.1, a tenth of a second.
pub const HELD_AT_MOST: Span = Span::from_millis(100);

/// A packet that waits.
#[derive(Clone, Debug)]
struct Held<T> {
    packet: T,
    /// Of an A-MSDU the packets behind the first.
    rest: Vec<T>,
    arrived: Instant,
}

/// What arrived from a neighbour and waits for packets before it.
#[derive(Clone, Debug)]
pub struct Reorder<T> {
    /// The number that is awaited (WinStart).
    start: u16,
    /// Numbers that may wait (WinSize).
    window: usize,
    /// By number from `start` on; the first is missing.
    held: VecDeque<Option<Held<T>>>,
}

impl<T> Reorder<T> {
    /// Nothing has come, and packet 1 is awaited: a neighbour's numbers begin with it. At most `window` numbers are held.
    #[must_use]
    pub const fn new(window: usize) -> Self {
        Self { start: 1, window, held: VecDeque::new() }
    }

    /// A packet has arrived `now` for the first time. The packets that can be passed up now are appended to `out`, in order. The packet is
    /// given back if it is too late, because packets behind it were passed up already.
    pub fn arrived(&mut self, now: Instant, seq: u16, packet: T, out: &mut Vec<T>) -> Option<T> {
        let place = self.place(seq, out);
        let Some(place) = place else { return Some(packet) };
        self.put(place, Held { packet, rest: Vec::new(), arrived: now }, out);
        None
    }

    /// The packets of an A-MSDU have arrived, which go up together; true: they are too late.
    pub fn arrived_together(
        &mut self,
        now: Instant,
        seq: u16,
        mut packets: impl Iterator<Item = T>,
        out: &mut Vec<T>,
    ) -> bool {
        let (Some(place), Some(packet)) = (self.place(seq, out), packets.next()) else { return true };
        self.put(place, Held { packet, rest: packets.collect(), arrived: now }, out);
        false
    }

    /// Where a packet is to be held, the window having moved if it must; `None`: it is too late.
    fn place(&mut self, seq: u16, out: &mut Vec<T>) -> Option<usize> {
        let ahead = usize::from(seq.wrapping_sub(self.start) % NUMBERS);
        if ahead >= usize::from(NUMBERS) / 2 {
            return None;
        }
        if ahead >= self.window {
            let moved = ahead + 1 - self.window;
            self.advance(moved, out);
        }
        Some(usize::from(seq.wrapping_sub(self.start) % NUMBERS))
    }

    fn put(&mut self, place: usize, held: Held<T>, out: &mut Vec<T>) {
        while self.held.len() <= place {
            self.held.push_back(None);
        }
        self.held[place] = Some(held);
        self.release(out);
    }

    /// A packet arrives which has not come before: true if it goes up at once, since it is the one that is awaited and nothing waits.
    /// Else it has to be [taken in](Reorder::arrived).
    #[inline]
    #[must_use]
    pub fn passes(&mut self, seq: u16) -> bool {
        let passes = seq == self.start && self.held.is_empty();
        if passes {
            self.start = (seq + 1) % NUMBERS;
        }
        passes
    }

    /// Nothing before this number need be waited for.
    pub fn starts_at(&mut self, start: u16, out: &mut Vec<T>) {
        let ahead = usize::from(start.wrapping_sub(self.start) % NUMBERS);
        if ahead < usize::from(NUMBERS) / 2 {
            self.advance(ahead, out);
            self.release(out);
        }
    }

    /// Packets that have waited long enough go up, with the packets behind them up to the next missing one: packets before them are
    /// not waited for any longer.
    pub fn handle_timeout(&mut self, now: Instant, out: &mut Vec<T>) {
        while self.deadline().is_some_and(|deadline| deadline <= now) {
            let missing = self.held.iter().take_while(|place| place.is_none()).count();
            self.advance(missing, out);
            self.release(out);
        }
    }

    /// When [`Reorder::handle_timeout`] wants to be called; `None`: nothing waits.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let first = self.held.iter().flatten().next()?;
        Some(first.arrived + HELD_AT_MOST)
    }

    /// Packets that wait.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.iter().flatten().map(|held| 1 + held.rest.len()).sum()
    }

    /// The window moves on, whatever is missing in it.
    fn advance(&mut self, by: usize, out: &mut Vec<T>) {
        let gone = self.held.drain(..by.min(self.held.len())).flatten();
        for Held { packet, rest, .. } in gone {
            out.push(packet);
            out.extend(rest);
        }
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

    /// The packets that go up when these numbers arrive, each named by its number.
    fn up(reorder: &mut Reorder<u16>, seqs: &[u16]) -> Vec<u16> {
        up_at(at(0), reorder, seqs)
    }

    fn up_at(now: Instant, reorder: &mut Reorder<u16>, seqs: &[u16]) -> Vec<u16> {
        let mut out = Vec::new();
        seqs.iter().for_each(|seq| assert_eq!(reorder.arrived(now, *seq, *seq, &mut out), None));
        out
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
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
        assert_eq!(reorder.arrived(at(0), 5, 5, &mut Vec::new()), Some(5), "too late");
    }

    /// ```text
    /// 0 ms: 2 3 5 (1 and 4 missing) | 40 ms: 8 | 100 ms: 2 3, and 5 as it is as old | 140 ms: 8
    /// ```
    #[test]
    fn what_waits_goes_up_after_a_tenth_of_a_second() {
        let mut reorder = Reorder::new(64);
        assert_eq!(reorder.deadline(), None);
        assert_eq!(up(&mut reorder, &[3, 2, 5]), []);
        assert_eq!(up_at(at(40), &mut reorder, &[8]), []);
        assert_eq!(reorder.deadline(), Some(at(100)));
        let mut out = Vec::new();
        reorder.handle_timeout(at(99), &mut out);
        assert_eq!(out, []);
        reorder.handle_timeout(at(100), &mut out);
        assert_eq!((&out[..], reorder.deadline()), (&[2, 3, 5][..], Some(at(140))));
        assert_eq!(reorder.arrived(at(120), 4, 4, &mut Vec::new()), Some(4), "too late");
        assert_eq!(up_at(at(120), &mut reorder, &[6]), [6], "the next one is awaited");
        reorder.handle_timeout(at(140), &mut out);
        assert_eq!((&out[..], reorder.deadline()), (&[2, 3, 5, 8][..], None));
    }

    #[test]
    fn packets_of_an_mpdu_go_up_together() {
        let mut reorder = Reorder::new(64);
        let mut out = Vec::new();
        assert!(!reorder.arrived_together(at(0), 2, [20, 21, 22].into_iter(), &mut out));
        assert_eq!((&out[..], reorder.held()), (&[][..], 3));
        assert!(!reorder.arrived_together(at(0), 1, [10, 11].into_iter(), &mut out));
        assert_eq!((&out[..], reorder.held()), (&[10, 11, 20, 21, 22][..], 0));
        assert!(reorder.arrived_together(at(0), 2, [20, 21].into_iter(), &mut out), "too late");
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
            // The same with the question before.
            let (mut asked, mut passed) = (Reorder::new(64), Vec::new());
            for at in &order {
                let seq = ((at + 1) % usize::from(NUMBERS)) as u16;
                late += usize::from(reorder.arrived(Instant::ZERO, seq, *at, &mut out).is_some());
                prop_assert!(reorder.held() < 64);
                if asked.passes(seq) {
                    passed.push(*at);
                } else {
                    asked.arrived(Instant::ZERO, seq, *at, &mut passed);
                }
                prop_assert_eq!((out.last(), out.len(), reorder.held()), (passed.last(), passed.len(), asked.held()));
            }
            prop_assert_eq!(&out, &passed);
            prop_assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(out.len() + reorder.held() + late, order.len());
        }
    }
}
