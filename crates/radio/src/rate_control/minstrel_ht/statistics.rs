//! Counters of a mode and the statistics made of them: whole numbers, as in the kernel, so that both agree to the bit.

/// A share in 4,096th (`MINSTREL_SCALE`), which its filter may leave above or below by a few.
pub(super) type Share = i32;

/// All.
pub(super) const ALL: Share = 1 << SCALE;
const SCALE: u32 = 12;

/// So many hundredths.
pub(super) const fn percent(hundredths: i32) -> Share {
    (hundredths << SCALE) / 100
}

/// What is known of a mode toward a neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    /// MPDUs sent and arrived since the latest look.
    pub attempts: u32,
    pub successes: u32,
    /// It has been used.
    pub used: bool,
    /// How much arrives, smoothed (`prob_avg`); of a mode that was never used, what is assumed.
    pub probability: Share,
    /// The one before (`prob_avg_1`).
    before: Share,
    /// Attempts of a frame in it, first stage and others; `None`: to be worked out (`retry_count`, `retry_count_rtscts`).
    pub tries: Option<[u8; 2]>,
}

impl Statistics {
    /// The interval is over: what was counted goes into the probability (`minstrel_ht_calc_rate_stats`).
    pub fn fold(&mut self) {
        if self.attempts > 0 {
            let share = (u64::from(self.successes) << SCALE) / u64::from(self.attempts);
            self.add(share as Share);
            self.used = true;
        }
        (self.attempts, self.successes, self.tries) = (0, 0, None);
    }

    /// A low-pass filter of second order with a period of 16 intervals (`minstrel_filter_avg_add`): of the kernel's `a = exp(-pi sqrt(2) / 16)`
    /// come the weights `2 a cos(2 pi sqrt(2) / 16)` and `-a^2` of the latest two, and the rest for what is new.
    fn add(&mut self, share: Share) {
        const LATEST: i32 = 0x1499;
        const BEFORE: i32 = -0x092e;
        const NEW: i32 = ALL - LATEST - BEFORE;
        // 0 stands for never.
        let share = share.max(1);
        let latest = self.probability;
        if latest == 0 {
            (self.before, self.probability) = (share, share);
            return;
        }
        let sum = NEW * share + LATEST * latest + BEFORE * self.before;
        let filtered = sum >> SCALE;
        (self.before, self.probability) = (latest, if filtered < 0 { 1 } else { filtered.min(ALL) });
    }
}

/// MPDUs of a frame on the average, in 4,096th (`avg_ampdu_len`).
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameLength {
    average: u32,
    mpdus: u32,
    frames: u32,
}

impl FrameLength {
    /// One MPDU a frame, before there was any.
    pub const ONE: Self = Self { average: ALL as u32, mpdus: 0, frames: 0 };

    /// A frame of so many.
    pub fn note(&mut self, mpdus: u32) {
        self.mpdus += mpdus;
        self.frames += 1;
    }

    /// The interval is over: a fourth of the difference goes into the average (`EWMA_LEVEL`: 96 of 128 stay).
    pub fn fold(&mut self) {
        if let Some(latest) = (self.mpdus << SCALE).checked_div(self.frames) {
            let (latest, average) = (i64::from(latest), i64::from(self.average));
            self.average = (average + 32 * (latest - average) / 128) as u32;
        }
        (self.mpdus, self.frames) = (0, 0);
    }

    /// Whole MPDUs; 0: too few to say.
    pub const fn whole(&self) -> u32 {
        self.average >> SCALE
    }

    /// True if nothing is known.
    pub const fn is_unknown(&self) -> bool {
        self.average == 0
    }
}
