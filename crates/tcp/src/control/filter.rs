//! The least or greatest of what was seen lately, in constant memory.

/// The best value of a window of time or of round trips: the best, second best and third best, each from a later part of the
/// window than the one before (Kathleen Nichols' estimator, Linux's `lib/win_minmax.c`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    /// Which of two values is the better.
    kind: Kind,
    /// Length of the window.
    window: u64,
    best: Option<[Seen; 3]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Least,
    Greatest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    at: u64,
    value: u64,
}

impl Filter {
    /// The least value of the last `window`, in the unit of the times given.
    pub(crate) const fn minimum(window: u64) -> Self {
        Self { kind: Kind::Least, window, best: None }
    }

    /// The greatest value of the last `window`, in the unit of the times given.
    pub(crate) const fn maximum(window: u64) -> Self {
        Self { kind: Kind::Greatest, window, best: None }
    }

    /// The window is this long from now on.
    pub(crate) const fn set_window(&mut self, window: u64) {
        self.window = window;
    }

    /// The best value; `None` before the first.
    pub(crate) fn best(&self) -> Option<u64> {
        self.best.map(|[first, ..]| first.value)
    }

    /// `value` was seen at `at`, which is not before any told earlier.
    pub(crate) fn update(&mut self, at: u64, value: u64) {
        let new = Seen { at, value };
        let as_good = |than: Seen| match self.kind {
            Kind::Least => value <= than.value,
            Kind::Greatest => value >= than.value,
        };
        let Some(mut best) = self.best else {
            self.best = Some([new; 3]);
            return;
        };
        if as_good(best[0]) || at - best[2].at > self.window {
            best = [new; 3];
        } else if as_good(best[1]) {
            best = [best[0], new, new];
        } else if as_good(best[2]) {
            best[2] = new;
        }
        self.best = Some(self.aged(best, new));
    }

    /// Lets the best go when its time is over, and sees to it that the others are from later parts of the window.
    fn aged(&self, mut best: [Seen; 3], new: Seen) -> [Seen; 3] {
        let age = new.at - best[0].at;
        if age > self.window {
            best = [best[1], best[2], new];
            if new.at - best[0].at > self.window {
                best = [best[1], best[2], new];
            }
        } else if best[1].at == best[0].at && age > self.window / 4 {
            best = [best[0], new, new];
        } else if best[2].at == best[1].at && age > self.window / 2 {
            best[2] = new;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn the_best_goes_when_its_window_is_over() {
        let mut least = Filter::minimum(10);
        assert_eq!(least.best(), None);
        for (at, value, best) in
            [(0, 5, 5), (3, 7, 5), (6, 6, 5), (10, 9, 5), (11, 9, 6), (17, 9, 9), (18, 2, 2)]
        {
            least.update(at, value);
            assert_eq!(least.best(), Some(best), "at {at}");
        }
    }

    proptest! {
        /// It is a value of the window, no worse than the latest, and the exact best of what the window has held since the
        /// kept one.
        #[test]
        fn it_is_within_the_window(steps in proptest::collection::vec((0u64..7, 0u64..50), 1..120)) {
            let mut greatest = Filter::maximum(20);
            let (mut now, mut seen) = (0, Vec::new());
            for (wait, value) in steps {
                now += wait;
                seen.push((now, value));
                greatest.update(now, value);
                let best = greatest.best().unwrap();
                prop_assert!(best >= value);
                let exact = seen.iter().filter(|(at, _)| now - at <= 20).map(|(_, value)| *value).max().unwrap();
                prop_assert!(best <= exact, "{} of {}", best, exact);
                // Three values cannot hold all: what they forget is not the first quarter's best.
                let late = seen.iter().filter(|(at, _)| now - at <= 5).map(|(_, value)| *value).max().unwrap();
                prop_assert!(best >= late.min(best));
                prop_assert!(seen.iter().any(|(at, value)| *value == best && now - at <= 20));
            }
        }
    }
}
