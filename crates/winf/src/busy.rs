//! For which share of the last while the medium was not free.

use alloc::collections::VecDeque;
use meshpace_units::{Instant, Span};

/// The union of times at which the medium was used or reserved, as far back as a window reaches.
#[derive(Clone, Debug)]
pub struct Busy {
    window: Option<Span>,
    /// The first time that anything is known of.
    began: Option<Instant>,
    /// Disjoint, in order.
    times: VecDeque<(Instant, Instant)>,
    /// The longest time that was added.
    longest: Span,
    /// What has left the list without leaving the window, which has no end.
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
        Self { window, began: None, times: VecDeque::new(), longest: Span::ZERO, before: Span::ZERO }
    }

    /// Somebody begins to listen: what is idle from now on is known to be.
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
        let mut at = self.times.len();
        while let Some((begun, ended)) = at.checked_sub(1).and_then(|last| self.times.get(last).copied()) {
            if ended < from {
                break;
            }
            at -= 1;
            if begun <= to {
                (from, to) = (from.min(begun), to.max(ended));
                self.times.remove(at);
            }
        }
        if self.times.len() == self.times.capacity() {
            // Every node has such a list: doubling would leave up to half of it empty.
            self.times.reserve_exact(ROOM);
        }
        self.times.insert(at, (from, to));
        self.forget();
    }

    fn forget(&mut self) {
        let Some(latest) = self.times.back().map(|last| last.1) else { return };
        while self.times.len() > 1 {
            let Some(&(begun, ended)) = self.times.front() else { return };
            match self.window {
                // Nothing lies further ahead than it is long.
                Some(window) if latest.saturating_since(ended) > window + self.longest => {}
                None if self.times.len() > KEPT => self.before += ended - begun,
                _ => return,
            }
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
        let overlap = |(from, to): &(Instant, Instant)| (*to).min(now).saturating_since((*from).max(since));
        let busy = self.before + self.times.iter().map(overlap).sum::<Span>();
        Some((busy.as_secs_f64() / total.as_secs_f64()).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
