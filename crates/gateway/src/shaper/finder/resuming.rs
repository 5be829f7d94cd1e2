//! Where the rate goes when whoever talks has done so.
//!
//! Beside a call hardly any packet waits, for which the rate is a half of what it was and less. What the mesh carried before it carries again
//! afterwards: the law would take ten seconds and more to find that out.

use meshpace_units::{Instant, Span};

/// A call that begins so soon after one goes on with it: what was found in between is no rate of a mesh without calls.
const SAME: Span = Span::from_secs(10);

/// The rate before the call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resuming {
    before: Option<f64>,
    talks: bool,
    ended: Option<Instant>,
}

impl Resuming {
    /// Whether somebody talks now, at this rate. The rate to begin at again, if the call has just ended.
    pub fn hears(&mut self, now: Instant, talks: bool, rate: f64) -> Option<f64> {
        match (core::mem::replace(&mut self.talks, talks), talks) {
            (false, true) => {
                if self.ended.is_none_or(|ended| now.saturating_since(ended) >= SAME) {
                    self.before = Some(rate);
                }
                None
            }
            (true, false) => {
                self.ended = Some(now);
                self.before
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_resumed_once_after_each_call() {
        let at = |seconds| Instant::ZERO + Span::from_secs(seconds);
        let mut resuming = Resuming::default();
        assert_eq!(resuming.hears(at(0), false, 90.0), None);
        assert_eq!(resuming.hears(at(1), true, 100.0), None);
        assert_eq!(resuming.hears(at(2), true, 40.0), None);
        assert_eq!(resuming.hears(at(30), false, 30.0), Some(100.0));
        assert_eq!(resuming.hears(at(31), false, 100.0), None);
        // It goes on: what was found in between does not count.
        assert_eq!(resuming.hears(at(35), true, 60.0), None);
        assert_eq!(resuming.hears(at(40), false, 30.0), Some(100.0));
        // Another one.
        assert_eq!(resuming.hears(at(51), true, 80.0), None);
        assert_eq!(resuming.hears(at(60), false, 30.0), Some(80.0));
    }
}
