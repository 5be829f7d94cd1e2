//! Policers: where many are lost and the bandwidth between losses stays the same, that bandwidth is what is let through, and it
//! is used for a while (tcp_bbr.c, "long-term" sampling).

use super::model::Model;
use crate::control::Ack;
use meshpace_units::Instant;

/// Round trips of an interval at least, and four times as many at most.
const ROUNDS: u32 = 4;
/// Losses of an interval, of what is delivered: 50 of 256.
const LOSSES: f64 = 50.0 / 256.0;
/// Two intervals agree within an eighth.
const AGREES: f64 = 1.0 / 8.0;
/// Or within 4 kbit/s.
const AGREES_BITS: f64 = 4_000.0;
/// Round trips for which the bandwidth is used.
const USED_ROUNDS: u32 = 48;

/// What an acknowledgement says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    now: Instant,
    delivered: u64,
    lost: u64,
    loses: bool,
    app_limited: bool,
    round: bool,
    /// The bandwidth is being probed, which the use of a policer's ends with.
    probing: bool,
}

impl Sample {
    /// Of an acknowledgement that found `loses` bytes lost.
    pub(super) fn of(ack: &Ack<'_>, model: &Model, loses: u64, probing: bool) -> Self {
        Self {
            now: ack.now,
            delivered: model.delivered(),
            lost: model.lost(),
            loses: loses > 0,
            app_limited: ack.rate.is_some_and(|sample| sample.app_limited),
            round: model.round_began(),
            probing,
        }
    }

    /// A timeout counts as a loss at the end of a round.
    pub(super) fn of_a_timeout(now: Instant, model: &Model) -> Self {
        let (delivered, lost) = (model.delivered(), model.lost());
        Self { now, delivered, lost, loses: true, app_limited: false, round: true, probing: false }
    }
}

/// Where an interval began.
#[derive(Clone, Copy, Debug)]
struct Interval {
    since: Instant,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

/// Whether there seems to be a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    interval: Option<Interval>,
    /// Of the interval before, bit/s.
    before: Option<f64>,
    /// The rate that the policer lets through, bit/s, and the round trips for which it has been used.
    used: Option<(f64, u32)>,
}

impl Policer {
    /// The bandwidth that is let through, bit/s; `None` where there seems to be no policer.
    pub(super) fn rate(&self) -> Option<f64> {
        self.used.map(|(rate, _)| rate)
    }

    /// True if the bandwidth has been used for long enough, and is no longer.
    pub(super) fn on_sample(&mut self, sample: &Sample) -> bool {
        if let Some((_, rounds)) = &mut self.used {
            *rounds += u32::from(sample.probing && sample.round);
            let over = *rounds >= USED_ROUNDS;
            if over {
                *self = Self::default();
            }
            return over;
        }
        let begins =
            Interval { since: sample.now, delivered: sample.delivered, lost: sample.lost, rounds: 0 };
        // The first loss shows that the policer's bucket is empty.
        if self.interval.is_none() && !sample.loses {
            return false;
        }
        let interval = self.interval.get_or_insert(begins);
        interval.rounds += u32::from(sample.round);
        if sample.app_limited || interval.rounds > 4 * ROUNDS {
            *self = Self::default();
            return false;
        }
        let interval = *interval;
        if interval.rounds < ROUNDS || !sample.loses {
            return false;
        }
        let (delivered, lost) = (sample.delivered - interval.delivered, sample.lost - interval.lost);
        let seconds = sample.now.saturating_since(interval.since).as_secs_f64();
        if delivered == 0 || (lost as f64) < LOSSES * delivered as f64 || seconds < 1e-3 {
            return false;
        }
        let rate = delivered as f64 * 8.0 / seconds;
        match self.before {
            Some(before) if (rate - before).abs() <= (AGREES * before).max(AGREES_BITS) => {
                self.used = Some((f64::midpoint(rate, before), 0));
            }
            _ => (self.before, self.interval) = (Some(rate), Some(begins)),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    /// Round trips of 100 ms, in each of which `delivered` arrive and `lost` are found lost; bytes.
    fn after(rounds: &[(u64, u64)]) -> (Policer, Option<usize>) {
        let (mut policer, mut sum, mut over) = (Policer::default(), (0, 0), None);
        for (n, (delivered, lost)) in rounds.iter().enumerate() {
            sum = (sum.0 + delivered, sum.1 + lost);
            let sample = Sample {
                now: Instant::ZERO + Span::from_millis(100 * n as u64),
                delivered: sum.0,
                lost: sum.1,
                loses: *lost > 0,
                app_limited: false,
                round: true,
                probing: true,
            };
            if policer.on_sample(&sample) {
                over = Some(n);
            }
        }
        (policer, over)
    }

    #[test]
    fn two_intervals_with_losses_and_the_same_bandwidth_are_a_policer() {
        // 12,500 bytes a round trip of 100 ms are 1 Mbit/s; a quarter as much is lost.
        // Four round trips an interval, the one in which the first loss is found among them (lt_rtt_cnt).
        let lossy = [(12_500, 3_125); 8];
        assert_eq!(after(&lossy[..7]).0.rate(), None);
        assert_eq!(after(&lossy).0.rate(), Some(1e6));
        let few_losses = [(12_500, 2_400); 16];
        assert_eq!(after(&few_losses).0.rate(), None, "19 % is less than 50/256");
        let mut faster = [(12_500, 3_125); 8];
        faster[4..].fill((15_000, 3_750));
        assert_eq!(after(&faster).0.rate(), None, "a fifth more is another bandwidth");
    }

    #[test]
    fn an_interval_ends_with_a_loss_and_not_after_more_than_16_round_trips() {
        // Losses in the first, then none until the 16th round trip of the interval, or the 17th.
        let quiet = |rounds: usize| {
            let mut all = alloc::vec![(12_500, 0); rounds + 5];
            (all[0].1, all[rounds - 1].1) = (5_000, 60_000);
            all[rounds..].fill((12_500, 3_125));
            after(&all).0.rate()
        };
        assert_eq!(quiet(16), Some(1e6));
        assert_eq!(quiet(17), None, "too long: sampling begins anew with the next loss");
    }

    #[test]
    fn after_48_round_trips_it_looks_again() {
        let (policer, over) = after(&[(12_500, 3_125); 60]);
        assert_eq!((over, policer.rate()), (Some(7 + 48), None));
    }
}
