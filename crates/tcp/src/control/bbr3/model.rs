//! The model of the path: bandwidth, rounds, whether the pipe is full, and how much more is acknowledged at once than the
//! bandwidth explains (draft-ietf-ccwg-bbr-06, sections 5.3.1.2 and 5.5).

use super::Seen;
use crate::control::filter::Filter;
use meshpace_units::Instant;

/// By how much the bandwidth must have grown to count as growing.
const GROWS: f64 = 1.25;
/// Round trips without growth after which the pipe is full.
const PATIENCE: u32 = 3;
/// Round trips that an excess of acknowledgements is remembered once Startup is over (ExtraAckedFilterLen).
pub(super) const AGGREGATION_ROUNDS: u64 = 10;

/// The greatest bandwidth of this cycle and the one before, bytes a second (max_bw_filter; section 5.5.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    before: f64,
    now: f64,
}

impl MaxBandwidth {
    pub(super) const fn get(&self) -> f64 {
        self.before.max(self.now)
    }

    /// A sample limited by the application counts only if it is no less than the known bandwidth
    /// (UpdateMaxBw).
    pub(super) fn update(&mut self, rate: f64, app_limited: bool) {
        if rate > 0.0 && (rate >= self.get() || !app_limited) {
            self.now = self.now.max(rate);
        }
    }

    /// A cycle is over (AdvanceMaxBwFilter); one without a sample says nothing.
    pub(super) fn advance(&mut self) {
        if self.now > 0.0 {
            (self.before, self.now) = (self.now, 0.0);
        }
    }
}

/// Packet-timed round trips (section 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// One began with the latest acknowledgement.
    pub(super) started: bool,
    end: u64,
}

impl Rounds {
    /// True if a round began: something that left after `end` was delivered is acknowledged.
    pub(super) fn update(&mut self, prior_delivered: u64, delivered: u64) -> bool {
        self.started = prior_delivered >= self.end;
        if self.started {
            self.begin(delivered);
            self.count += 1;
        }
        self.started
    }

    /// StartRound.
    pub(super) const fn begin(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// Whether more pace brings more bandwidth (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// It was full at some time (full_bw_reached).
    pub(super) reached: bool,
    /// It is, since somebody looked (full_bw_now).
    pub(super) now: bool,
    base: f64,
    rounds: u32,
}

impl FullPipe {
    /// Looks anew, for more than `base` (ResetFullBW).
    pub(super) const fn reset(&mut self, base: f64) {
        (self.now, self.base, self.rounds) = (false, base, 0);
    }

    /// CheckFullBWReached.
    pub(super) fn check(&mut self, round_started: bool, seen: &Seen) {
        if self.now || !round_started || seen.app_limited {
            return;
        }
        if seen.rate >= self.base * GROWS {
            self.reset(seen.rate);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= PATIENCE;
        self.reached |= self.now;
    }
}

/// Acknowledgements that come in lumps (extra_acked; section 5.5.9).
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    since: Instant,
    acked: f64,
    greatest: Filter,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { since: Instant::ZERO, acked: 0.0, greatest: Filter::maximum(1) }
    }
}

impl Aggregation {
    /// Counting begins anew: nothing was on its way.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.since = now;
    }

    /// `acked` bytes came at `bandwidth` bytes a second; `window`: bytes; the greatest excess of `rounds` round trips counts.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        acked: f64,
        bandwidth: f64,
        window: f64,
        round: u64,
        rounds: u64,
    ) {
        let mut expected = bandwidth * now.saturating_since(self.since).as_secs_f64();
        if self.acked <= expected {
            (self.since, self.acked, expected) = (now, 0.0, 0.0);
        }
        self.acked += acked;
        let extra = (self.acked - expected).min(window).max(0.0);
        self.greatest.set_window(rounds);
        self.greatest.update(round, extra as u64);
    }

    /// Bytes.
    pub(super) fn extra(&self) -> f64 {
        self.greatest.best().unwrap_or(0) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    #[test]
    fn the_greatest_bandwidth_is_of_two_cycles() {
        let mut greatest = MaxBandwidth::default();
        greatest.update(100.0, false);
        greatest.update(80.0, false);
        assert_eq!(greatest.get(), 100.0);
        greatest.advance();
        greatest.update(80.0, false);
        assert_eq!(greatest.get(), 100.0, "the cycle before");
        greatest.update(90.0, true);
        greatest.advance();
        assert_eq!(greatest.get(), 80.0, "less than is known, and limited by the application");
        greatest.advance();
        assert_eq!(greatest.get(), 80.0, "a cycle without samples");
        greatest.update(200.0, true);
        assert_eq!(greatest.get(), 200.0, "more than is known");
    }

    #[test]
    fn three_round_trips_without_a_quarter_more_fill_the_pipe() {
        let mut full = FullPipe::default();
        let mut check = |rate: f64, started: bool, app_limited: bool| {
            full.check(started, &Seen { rate, app_limited, ..Seen::default() });
            (full.now, full.reached)
        };
        assert_eq!(check(100.0, true, false), (false, false));
        assert_eq!(check(125.0, true, false), (false, false), "a quarter more");
        assert_eq!(check(130.0, true, false), (false, false));
        assert_eq!(check(130.0, true, true), (false, false), "of the application");
        assert_eq!(check(130.0, false, false), (false, false), "in the midst of a round");
        assert_eq!(check(150.0, true, false), (false, false));
        assert_eq!(check(120.0, true, false), (true, true));
        full.reset(120.0);
        assert_eq!((full.now, full.reached), (false, true));
    }

    #[test]
    fn lumps_of_ten_are_ten_more_for_as_many_round_trips_as_are_said() {
        // 10,000 bytes a second, acknowledged each 100 ms at once.
        let mut aggregation = Aggregation::default();
        let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
        (1..=5).for_each(|n| aggregation.on_ack(at(100 * n), 1_000.0, 10_000.0, 4_000.0, n, 10));
        assert_eq!(aggregation.extra(), 1_000.0);
        // Then one by one, ten a round trip.
        let mut smooth = |rounds: core::ops::Range<u64>| {
            for n in 10 * rounds.start..10 * rounds.end {
                aggregation.on_ack(at(10 * n + 10), 100.0, 10_000.0, 4_000.0, n / 10, 10);
            }
            aggregation.extra()
        };
        assert_eq!(smooth(6..14), 1_000.0);
        assert!(smooth(14..30) <= 200.0);
        aggregation.on_ack(at(10_000), 9_000.0, 10_000.0, 4_000.0, 30, 1);
        assert_eq!(aggregation.extra(), 4_000.0, "no more than the window");
    }
}
