//! Losses found by duplicate acknowledgements, and which of them have been answered already.

use crate::control::{Outstanding, Rules};

/// Duplicate acknowledgements that signal a loss unless the rules say otherwise (RFC 5681, section 3.2).
pub(super) const DUPLICATE_THRESHOLD: u32 = 3;

/// Counts duplicates, and remembers the last loss action, so that one window of data is not answered twice.
#[derive(Clone, Debug)]
pub struct Losses {
    /// Duplicates that signal a loss.
    threshold: u32,
    duplicates: u32,
    /// What had been sent at the last loss action: no second fast retransmit below it (RFC 6582, section 3.2, step 1).
    recover: Option<u64>,
    /// First unacknowledged position at the last timeout.
    timed_out: Option<u64>,
}

impl Default for Losses {
    fn default() -> Self {
        Self::after(DUPLICATE_THRESHOLD)
    }
}

impl Losses {
    /// So many duplicates signal a loss.
    #[must_use]
    pub const fn after(threshold: u32) -> Self {
        Self { threshold, duplicates: 0, recover: None, timed_out: None }
    }

    /// Duplicates that signal a loss.
    #[must_use]
    pub const fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Duplicates in a row.
    #[must_use]
    pub const fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// True if everything before `una` is less than what had been sent at the last loss action.
    #[must_use]
    pub fn is_partial(&self, una: u64) -> bool {
        self.recover.is_some_and(|recover| una < recover)
    }

    /// The row of duplicates has ended.
    pub const fn on_new_ack(&mut self) {
        self.duplicates = 0;
    }

    /// One more duplicate; true if it is the one that signals a loss. Not twice in one window of data, unless the very
    /// first segment after the SYN is the lost one (ns2-behaviour.md 6.3).
    pub fn on_duplicate(&mut self, out: &Outstanding) -> bool {
        self.duplicates += 1;
        let fresh = self.recover.is_none_or(|recover| out.una > recover) || out.una == 1;
        let loss = self.duplicates == self.threshold && fresh;
        if loss {
            self.recover = Some(out.max);
        }
        loss
    }

    /// The retransmission timer expired; true if it did so for the same segment before.
    pub fn on_timeout(&mut self, out: &Outstanding) -> bool {
        let again = self.timed_out == Some(out.una);
        (self.duplicates, self.recover, self.timed_out) = (0, Some(out.max), Some(out.una));
        again
    }

    /// Segments that limited transmit adds to the window: one for each of the first two duplicates (RFC 3042).
    #[must_use]
    pub fn extension(&self, rules: &Rules, new_data: bool) -> u32 {
        let applies = rules.limited_transmit && (new_data || rules.whole_segments);
        if applies && self.duplicates < self.threshold { self.duplicates } else { 0 }
    }
}
