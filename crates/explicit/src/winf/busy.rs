//! For which share of the last while the medium was not free.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use meshpace_units::{Instant, Span};

/// A stretch of busy time and the idle time before it, in 6 bytes: a node that listens on a busy medium has some 260 of them a second.
///
/// From the lowest bit on: the length, the gap, 0; or a gap without a stretch, 1. All in ns.
#[derive(Clone, Copy, Debug)]
struct Stretch([u8; 6]);

const LENGTH_BITS: u32 = 24;
const GAP_BITS: u32 = 23;
const IDLE_BITS: u32 = LENGTH_BITS + GAP_BITS;

impl Stretch {
    /// As much of both as fits: of a gap that is too long its first 39 hours and nothing behind it.
    fn new(gap: Span, length: Span) -> Self {
        let most = |bits: u32| (1 << bits) - 1;
        let bits = if gap.as_nanos() > most(GAP_BITS) {
            gap.as_nanos().min(most(IDLE_BITS)) | 1 << IDLE_BITS
        } else {
            gap.as_nanos() << LENGTH_BITS | length.as_nanos().min(most(LENGTH_BITS))
        };
        let [bytes @ .., _, _] = bits.to_le_bytes();
        Self(bytes)
    }

    /// The gap, and the length of the stretch.
    fn spans(self) -> (Span, Span) {
        let [a, b, c, d, e, f] = self.0;
        let bits = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
        let lowest = |bits: u64, count: u32| Span::from_nanos(bits & ((1 << count) - 1));
        if bits >> IDLE_BITS == 0 {
            (lowest(bits >> LENGTH_BITS, GAP_BITS), lowest(bits, LENGTH_BITS))
        } else {
            (lowest(bits, IDLE_BITS), Span::ZERO)
        }
    }
}

/// The union of times at which the medium was used or reserved, as far back as a window reaches.
#[derive(Clone, Debug)]
pub struct Busy {
    window: Option<Span>,
    /// The first time that anything is known of.
    began: Option<Instant>,
    /// Disjoint, in order. What is too long for one stretch takes several.
    times: VecDeque<Stretch>,
    /// Where the first stretch with its gap begins, and where the last one ends.
    first: Instant,
    last: Instant,
    /// The longest time that was added.
    longest: Span,
    /// Busy time that has left the list and not the window, where the window has no end.
    before: Span,
}

/// Times kept beyond a window: reservations that overlap come close to each other.
const KEPT: usize = 4096;
/// Places by which the list grows.
const ROOM: usize = 16;

impl Busy {
    /// Over so long a window; `None`: since the start.
    #[must_use]
    pub const fn new(window: Option<Span>) -> Self {
        Self {
            window,
            began: None,
            times: VecDeque::new(),
            first: Instant::ZERO,
            last: Instant::ZERO,
            longest: Span::ZERO,
            before: Span::ZERO,
        }
    }

    /// The station begins to listen: from now on idle time is known to be idle.
    pub fn begin(&mut self, now: Instant) {
        self.began = Some(self.began.map_or(now, |began| began.min(now)));
    }

    /// Used or reserved from `from`, which has come, to `to`, which may lie ahead.
    pub fn add(&mut self, from: Instant, to: Instant) {
        self.begin(from);
        if to <= from {
            return;
        }
        self.longest = self.longest.max(to - from);
        let (mut from, mut to) = (from, to);
        let mut later = Vec::new();
        while let Some((begun, ended)) = self.latest().filter(|(_, ended)| *ended >= from) {
            self.pop_latest();
            if begun <= to {
                (from, to) = (from.min(begun), to.max(ended));
            } else {
                later.push((begun, ended));
            }
        }
        self.push(from, to);
        later.into_iter().rev().for_each(|(begun, ended)| self.push(begun, ended));
        self.forget();
    }

    /// The last stretch.
    fn latest(&self) -> Option<(Instant, Instant)> {
        self.times.back().map(|stretch| (self.last - stretch.spans().1, self.last))
    }

    fn pop_latest(&mut self) {
        if let Some(stretch) = self.times.pop_back() {
            let (gap, length) = stretch.spans();
            self.last = self.last - length - gap;
        }
    }

    /// Behind all that there are.
    fn push(&mut self, from: Instant, to: Instant) {
        if self.times.is_empty() {
            (self.first, self.last) = (from, from);
        }
        while self.last < to {
            let stretch = Stretch::new(from.saturating_since(self.last), to - from.max(self.last));
            if self.times.len() == self.times.capacity() {
                // Every node has such a list: doubling would leave up to half of it empty.
                self.times.reserve_exact(ROOM);
            }
            self.times.push_back(stretch);
            let (gap, length) = stretch.spans();
            self.last = self.last + gap + length;
        }
    }

    fn forget(&mut self) {
        while let Some(stretch) = self.times.front().filter(|_| self.times.len() > 1) {
            let (gap, length) = stretch.spans();
            let ended = self.first + gap + length;
            match self.window {
                // Nothing lies further ahead than it is long.
                Some(window) if self.last.saturating_since(ended) > window + self.longest => {}
                None if self.times.len() > KEPT => self.before += length,
                _ => return,
            }
            self.first = ended;
            self.times.pop_front();
        }
    }

    /// Share of the window before `now` that was busy, 0 to 1; `None` before anything is known.
    #[must_use]
    pub fn share(&self, now: Instant) -> Option<f64> {
        let began = self.began?;
        let since = match self.window {
            Some(window) if now.saturating_since(began) > window => {
                now.checked_since(Instant::ZERO + window).map_or(began, |past| Instant::ZERO + past)
            }
            _ => began,
        };
        let total = now.checked_since(since).filter(|total| !total.is_zero())?;
        let mut at = self.first;
        let overlap = |stretch: &Stretch| {
            let (gap, length) = stretch.spans();
            let from = at + gap;
            at = from + length;
            at.min(now).saturating_since(from.max(since))
        };
        let busy = self.before + self.times.iter().map(overlap).sum::<Span>();
        Some((busy.as_secs_f64() / total.as_secs_f64()).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn is(share: Option<f64>, expected: f64) {
        assert!(share.is_some_and(|share| (share - expected).abs() < 1e-12), "{share:?}, not {expected}");
    }

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn what_overlaps_counts_once_in_any_order() {
        let mut busy = Busy::new(Some(Span::from_secs(1)));
        assert_eq!(busy.share(ms(5)), None);
        busy.begin(ms(0));
        for (from, to) in [(10, 20), (15, 18), (40, 60), (5, 12), (55, 70), (30, 30)] {
            busy.add(ms(from), ms(to));
        }
        is(busy.share(ms(100)), 0.45); // 5 to 20, 40 to 70
        is(busy.share(ms(50)), 0.5);
        busy.add(ms(0), ms(80));
        is(busy.share(ms(80)), 1.0);
    }

    #[test]
    fn a_window_forgets_and_no_window_does_not() {
        let mut window = Busy::new(Some(Span::from_millis(100)));
        let mut all = Busy::new(None);
        for second in 0..10_000_u64 {
            // 10 ms of each second, in the first half of the time.
            let at = ms(second * 1000);
            if second < 5000 {
                window.add(at, at + Span::from_millis(10));
                all.add(at, at + Span::from_millis(10));
            }
        }
        assert!(
            window.times.len() < 5 && all.times.len() <= KEPT,
            "{} {}",
            window.times.len(),
            all.times.len()
        );
        is(window.share(ms(4_999_050)), 0.1);
        is(window.share(ms(4_999_900)), 0.0);
        is(all.share(ms(10_000_000)), 0.005);
    }

    proptest! {
        #[test]
        fn it_is_the_union_of_what_was_added(
            // Where each begins after the one before or before it, how long it is, and when somebody asks: to the nanosecond, and beyond
            // what fits in a stretch (8 ms of gap, 17 ms of length).
            steps in prop::collection::vec(
                (prop_oneof![0..2_000_000u64, 0..20_000_000_000u64], 0..20_000_000u64, prop_oneof![0..5_000_000u64, 0..90_000_000u64], 0..30_000_000u64),
                1..60,
            ),
            window in prop::option::of(1..30_000_000_000u64),
        ) {
            let mut busy = Busy::new(window.map(Span::from_nanos));
            let mut added: Vec<(u64, u64)> = Vec::new();
            let (mut now, mut began) = (0, u64::MAX);
            for (ahead, back, length, later) in steps {
                now += ahead;
                let from = now.saturating_sub(back);
                busy.add(Instant::from_nanos(from), Instant::from_nanos(from + length));
                began = began.min(from);
                added.push((from, from + length));
                let asked = now + later;
                let since = window.map_or(began, |window| began.max(asked.saturating_sub(window)));
                let mut sorted = added.clone();
                sorted.sort_unstable();
                let (mut sum, mut counted) = (0, since);
                for (from, to) in sorted {
                    let (from, to) = (from.max(counted), to.min(asked));
                    sum += to.saturating_sub(from);
                    counted = counted.max(to);
                }
                let expected = (asked > since).then(|| {
                    (Span::from_nanos(sum).as_secs_f64() / Span::from_nanos(asked - since).as_secs_f64()).min(1.0)
                });
                prop_assert_eq!(busy.share(Instant::from_nanos(asked)), expected);
            }
        }
    }
}
