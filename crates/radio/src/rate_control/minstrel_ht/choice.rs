//! What a station knows of a neighbour, and which modes it takes for it.

use super::groups::Rate;
use super::sampling::Samples;
use super::statistics::{FrameLength, Share, Statistics, percent};
use super::{Common, SAMPLE_INTERVAL, UPDATE_INTERVAL};
use crate::rate_control::{Exchange, Series, Stage};
use crate::standard::Mode;
use meshpace_units::Instant;

/// The modes of most throughput, best first (`MAX_THR_RATES`).
pub(super) type Best = [Rate; 4];

/// What every frame costs beside its payload, us: a data frame without payload and an acknowledgement at 6 Mbit/s, each with SIFS
/// (`overhead`: `ieee80211_frame_duration` of 0 and of 10 bytes are 48 and 60).
const OVERHEAD: u32 = 48 + 60;
/// With RTS and CTS before it (`overhead_rtscts`).
const OVERHEAD_RTS: u32 = OVERHEAD + 2 * 60;

/// What is known of a neighbour.
#[derive(Debug)]
pub(super) struct Neighbour {
    /// By group.
    statistics: Vec<[Statistics; super::groups::MOST]>,
    length: FrameLength,
    best: Best,
    most_probable: Rate,
    /// By group: its modes of most throughput, and its most probable one.
    group_best: Vec<(Best, Rate)>,
    samples: Samples,
    updated: Instant,
    sample_at: Instant,
    series: Series,
}

impl Neighbour {
    /// Before anything went there: all attempts go in the most robust mode.
    pub fn new(now: Instant, common: &Common) -> Self {
        let groups = usize::from(common.groups.count());
        let first = Rate::default();
        let mut this = Self {
            statistics: vec![<[Statistics; super::groups::MOST]>::default(); groups],
            length: FrameLength::ONE,
            best: [first; 4],
            most_probable: first,
            group_best: (0..groups)
                .map(|group| ([Rate { group: group as u8, index: 0 }; 4], first))
                .collect(),
            samples: Samples::new(groups),
            updated: now,
            sample_at: now,
            series: Series::all_in(common.groups.mode(first)),
        };
        this.update(now, common);
        this.set_series(common);
        this
    }

    /// The mode of most throughput.
    pub fn fastest(&self, common: &Common) -> &'static Mode {
        common.groups.mode(self.best[0])
    }

    /// The modes of most throughput, and the most probable one.
    #[cfg(test)]
    pub fn chosen(&self) -> (Best, Rate) {
        (self.best, self.most_probable)
    }

    /// What is known of a mode.
    pub fn of(&self, rate: Rate) -> &Statistics {
        &self.statistics[usize::from(rate.group)][usize::from(rate.index)]
    }

    fn of_mut(&mut self, rate: Rate) -> &mut Statistics {
        &mut self.statistics[usize::from(rate.group)][usize::from(rate.index)]
    }

    /// The modes of a frame that goes out now.
    pub fn series(&mut self, now: Instant, common: &Common) -> Series {
        if now < self.sample_at {
            return self.series;
        }
        self.sample_at = now + SAMPLE_INTERVAL;
        let sample = self.samples.take();
        sample.map_or(self.series, |rate| self.series.trying(common.groups.mode(rate)))
    }

    /// An exchange has ended (`minstrel_ht_tx_status`).
    pub fn ended(&mut self, now: Instant, exchange: &Exchange, common: &Common) {
        self.length.note(exchange.sent.into());
        if let Some(rate) = common.groups.find(exchange.mode) {
            let statistics = self.of_mut(rate);
            statistics.attempts += u32::from(exchange.sent);
            statistics.successes += u32::from(exchange.acknowledged);
        }
        let mut changed = false;
        for place in 0..2 {
            changed |= self.flees(place, common);
        }
        if now > self.updated + UPDATE_INTERVAL {
            changed = true;
            self.update(now, common);
        }
        if changed {
            self.set_series(common);
        }
    }

    /// So many streams have ceased to arrive all of a sudden: fewer are taken without waiting for the end of the interval
    /// (`minstrel_downgrade_rate`).
    fn flees(&mut self, place: usize, common: &Common) -> bool {
        let rate = self.best[place];
        let known = self.of(rate);
        if known.attempts <= 30 || known.successes >= known.attempts / 4 {
            return false;
        }
        if let Some(below) = common.groups.below(rate.group) {
            self.best[place] = self.group_best[usize::from(below)].0[place];
        }
        true
    }

    /// MPDUs of a frame to reckon with (`minstrel_ht_avg_ampdu_len`).
    fn frame_length(&self, common: &Common) -> u32 {
        if !self.length.is_unknown() {
            return self.length.whole();
        }
        match common.groups.duration(self.best[0]) {
            400_001.. => 2,
            250_001.. => 4,
            150_001.. => 8,
            _ => 16,
        }
    }

    /// Packets over some time that a mode brings over if such a share of them arrives (`minstrel_ht_get_tp_avg`): at 90 % collisions are taken to
    /// lose the rest.
    pub fn throughput(&self, rate: Rate, probability: Share, common: &Common) -> u64 {
        if probability < percent(10) {
            return 0;
        }
        let each = 1_000 * OVERHEAD / self.frame_length(common).max(1) + common.groups.duration(rate);
        let probability = probability.min(percent(90)) as u64;
        (100 * (probability * 1_000_000 / u64::from(each))) >> 12
    }

    /// The interval is over (`minstrel_ht_update_stats`).
    fn update(&mut self, now: Instant, common: &Common) {
        self.length.fold();
        let mut best = [Rate::default(); 4];
        for group in 0..common.groups.count() {
            let mut of_group = [Rate { group, index: 0 }; 4];
            let mut highest = 0;
            // From the fastest on: what was never tried is taken to arrive as often as what is faster.
            for rate in common.groups.within(group).rev() {
                let known = self.of_mut(rate);
                known.fold();
                let assumed = known.probability.max(highest);
                if known.used {
                    highest = assumed;
                } else {
                    known.probability = assumed;
                }
                if self.throughput(rate, self.of(rate).probability, common) > 0 {
                    self.sort_in(rate, &mut best, common);
                    self.sort_in(rate, &mut of_group, common);
                }
            }
            self.group_best[usize::from(group)].0 = of_group;
        }
        self.best = best;
        self.find_most_probable(common);
        let samples = std::mem::take(&mut self.samples);
        self.samples = samples.refilled(self, common);
        (self.updated, self.sample_at) = (now, now);
    }

    /// Throughput, then the share that arrives.
    fn worth(&self, rate: Rate, common: &Common) -> (u64, Share) {
        let probability = self.of(rate).probability;
        (self.throughput(rate, probability, common), probability)
    }

    /// Puts a mode before those of a list that are worth less, from the end on (`minstrel_ht_sort_best_tp_rates`).
    fn sort_in(&self, rate: Rate, list: &mut Best, common: &Common) {
        let worth = self.worth(rate, common);
        let beaten = list.iter().rev().take_while(|known| worth > self.worth(**known, common)).count();
        let place = list.len() - beaten;
        if beaten > 0 {
            list[place..].rotate_right(1);
            list[place] = rate;
        }
    }

    /// The most probable mode, of each group and of all, then with fewer streams than the fastest if there is one
    /// (`minstrel_ht_set_best_prob_rate`, `minstrel_ht_prob_rate_reduce_streams`).
    fn find_most_probable(&mut self, common: &Common) {
        let fastest = self.best[0];
        let mut of_all = Rate::default();
        for group in 0..common.groups.count() {
            let mut of_group = Rate { group, index: 0 };
            for rate in common.groups.within(group) {
                let (throughput, probability) = self.worth(rate, common);
                let faster = common.groups.duration(rate) < common.groups.duration(fastest);
                if faster && probability < self.of(fastest).probability {
                    continue;
                }
                for place in [&mut of_all, &mut of_group] {
                    let (others, other) = self.worth(*place, common);
                    // What mostly arrives competes by throughput.
                    if probability > percent(75) && throughput > others
                        || probability <= percent(75) && probability > other
                    {
                        *place = rate;
                    }
                }
            }
            self.group_best[usize::from(group)].1 = of_group;
        }
        self.most_probable = of_all;
        let mut highest = 0;
        for group in 0..common.groups.count() {
            let rate = self.group_best[usize::from(group)].1;
            let throughput = self.worth(rate, common).0;
            if throughput > highest && common.groups.of(rate).streams < common.groups.of(fastest).streams {
                (self.most_probable, highest) = (rate, throughput);
            }
        }
    }

    /// The shortest and the longest duration of a packet among the two fastest modes and the most probable one; and that of the fastest.
    pub fn durations(&self, common: &Common) -> (u32, u32, u32) {
        let [fastest, second, probable] =
            [self.best[0], self.best[1], self.most_probable].map(|rate| common.groups.duration(rate));
        (fastest.min(second).min(probable), fastest.max(second).max(probable), fastest)
    }

    /// The attempts of frames from now on (`minstrel_ht_update_rates`).
    fn set_series(&mut self, common: &Common) {
        let [first, second, third, _] = self.best;
        let rates = [first, second, third, self.most_probable];
        let mut place = 0;
        self.series = Series::new(rates.map(|rate| {
            let tries = self.tries(rate, common)[usize::from(place > 0)];
            place += 1;
            Stage { mode: common.groups.mode(rate), tries }
        }));
    }

    /// Attempts of a frame in a mode, as the first stage and as another (`minstrel_ht_set_rate`).
    fn tries(&mut self, rate: Rate, common: &Common) -> [u8; 2] {
        let tries = match self.of(rate).tries {
            Some(tries) => tries,
            None => self.count_tries(rate, common),
        };
        if self.of(rate).probability < percent(20) { [2, 2] } else { tries }
    }

    /// As many attempts as 6 ms have room for, two at the least (`minstrel_calc_retransmit`, `segment_size`).
    fn count_tries(&mut self, rate: Rate, common: &Common) -> [u8; 2] {
        const SLOT: u32 = 9;
        const MOST: u32 = 6_000;
        if self.of(rate).probability < percent(10) {
            return [1, 1];
        }
        let mut window = 15;
        let mut contention = || {
            let time = SLOT * window / 2;
            window = (2 * window + 1).min(1_023);
            time
        };
        let data = common.groups.duration(rate) * self.frame_length(common) / 1_000;
        let begun = contention() + contention();
        let [mut first, mut others] = [OVERHEAD, OVERHEAD_RTS].map(|overhead| begun + 2 * (overhead + data));
        let mut tries = [2, 2];
        loop {
            let waits = contention();
            first += waits + OVERHEAD + data;
            others += waits + OVERHEAD_RTS + data;
            tries[1] += u8::from(others < MOST);
            if first >= MOST {
                break;
            }
            tries[0] += 1;
            if u32::from(tries[0]) >= common.tries {
                break;
            }
        }
        self.of_mut(rate).tries = Some(tries);
        tries
    }
}
