//! The modes of a frame's attempts, one after another: multi-rate retry.

use crate::standard::Mode;

/// A mode, and how many attempts go in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The mode.
    pub mode: &'static Mode,
    /// Attempts, one at least.
    pub tries: u8,
}

/// The modes of a frame's attempts. What follows the last stage goes in its mode, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    stages: [Stage; Self::MOST],
    alone: bool,
}

impl Series {
    /// Stages at the most, as Linux has it (`IEEE80211_TX_RATE_TABLE_SIZE`, include/net/mac80211.h, Linux 6.1).
    pub const MOST: usize = 4;

    /// These stages.
    #[must_use]
    pub const fn new(stages: [Stage; Self::MOST]) -> Self {
        Self { stages, alone: false }
    }

    /// All attempts in one mode.
    #[must_use]
    pub const fn all_in(mode: &'static Mode) -> Self {
        Self::new([Stage { mode, tries: 1 }; Self::MOST])
    }

    /// The first attempt in this mode, by a frame with one MPDU alone; what follows as before, from the second stage on.
    #[must_use]
    pub const fn trying(mut self, mode: &'static Mode) -> Self {
        self.stages[0] = Stage { mode, tries: 1 };
        self.alone = true;
        self
    }

    /// One after another.
    #[must_use]
    pub const fn stages(&self) -> &[Stage; Self::MOST] {
        &self.stages
    }

    /// The frame has one MPDU.
    #[must_use]
    pub const fn is_alone(&self) -> bool {
        self.alone
    }

    /// The mode of the next attempt, so many having failed.
    #[must_use]
    pub fn mode(&self, failed: u32) -> &'static Mode {
        let mut left = failed;
        let stage = self.stages.iter().find(|stage| {
            let here = left < u32::from(stage.tries);
            left = left.saturating_sub(stage.tries.into());
            here
        });
        stage.unwrap_or(&self.stages[Self::MOST - 1]).mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Standard;

    #[test]
    fn attempts_go_down_the_stages_and_stay_at_the_last() {
        let data = Standard::named("802.11n").expect("a row").data;
        let stage = |at: usize, tries| Stage { mode: &data[at], tries };
        let series = Series::new([stage(7, 2), stage(5, 1), stage(4, 3), stage(0, 1)]);
        let indices =
            |series: &Series| (0..9).map(|failed| series.mode(failed).number() - 8).collect::<Vec<_>>();
        assert_eq!(indices(&series), [7, 7, 5, 4, 4, 4, 0, 0, 0]);
        let trying = series.trying(&data[6]);
        assert_eq!(indices(&trying), [6, 5, 4, 4, 4, 0, 0, 0, 0]);
        assert!(trying.is_alone() && !series.is_alone());
    }
}
