//! Fairness by time window: the mean of Jain's index over consecutive whole windows of the measured interval, among
//! the flows that are active all through the window.

use super::{Moments, jain};
use meshpace_units::{Instant, Span};

/// Windows of several lengths side by side.
pub struct FairnessWindows {
    lengths: Vec<Length>,
}

struct Length {
    length: Span,
    began: Instant,
    bytes_before: Vec<u64>,
    index: Moments,
}

impl FairnessWindows {
    /// Windows of these lengths for so many flows.
    pub fn new(lengths: &[Span], flows: usize) -> Self {
        let start = |length: &Span| Length {
            length: *length,
            began: Instant::ZERO,
            bytes_before: vec![0; flows],
            index: Moments::default(),
        };
        Self { lengths: lengths.iter().map(start).collect() }
    }

    /// Number of lengths.
    pub fn count(&self) -> usize {
        self.lengths.len()
    }

    /// Starts a window of length number `which`; returns when it ends.
    pub fn start(&mut self, which: usize, now: Instant, bytes: impl Iterator<Item = u64>) -> Instant {
        let this = &mut self.lengths[which];
        this.began = now;
        this.bytes_before.clear();
        this.bytes_before.extend(bytes);
        now + this.length
    }

    /// A window ends: `flows` gives each flow's bytes so far, and whether it was active from the given instant on.
    pub fn end(&mut self, which: usize, flows: impl Iterator<Item = (u64, Option<Instant>)>) {
        let this = &mut self.lengths[which];
        let began = this.began;
        let active = this.bytes_before.iter().zip(flows).filter_map(|(before, (bytes, since))| {
            since.is_some_and(|since| since <= began).then_some((bytes - before) as f64)
        });
        let goodputs: Vec<f64> = active.collect();
        if goodputs.len() > 1 {
            if let Some(index) = jain(goodputs) {
                this.index.add(index);
            }
        }
    }

    /// Length and mean index of each; `None` where no window had two active flows.
    pub fn results(&self) -> impl Iterator<Item = (Span, Option<f64>)> + '_ {
        self.lengths.iter().map(|this| (this.length, this.index.mean()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_shows_in_short_windows_only() {
        // Two flows take turns of one second.
        let lengths = [Span::from_secs(1), Span::from_secs(2)];
        let mut windows = FairnessWindows::new(&lengths, 2);
        let mut bytes = [0u64, 0];
        let all = |bytes: [u64; 2]| bytes.map(|b| (b, Some(Instant::ZERO))).into_iter();
        for second in 0..4u64 {
            bytes[(second % 2) as usize] += 1000;
            windows.end(0, all(bytes));
            windows.start(0, Instant::from_nanos(second), bytes.into_iter());
            if second % 2 == 1 {
                windows.end(1, all(bytes));
                windows.start(1, Instant::from_nanos(second), bytes.into_iter());
            }
        }
        let results: Vec<_> = windows.results().map(|r| r.1).collect();
        assert_eq!(results, [Some(0.5), Some(1.0)]);
    }

    #[test]
    fn a_single_flow_has_no_fairness() {
        let mut windows = FairnessWindows::new(&[Span::from_secs(1)], 2);
        windows.end(0, [(5, Some(Instant::ZERO)), (5, None)].into_iter());
        assert_eq!(windows.results().next(), Some((Span::from_secs(1), None)));
    }
}
