//! ns-2's estimator: one segment timed at a time, in whole ticks, with integer arithmetic (ns2-behaviour.md 6.8, 6.9).

use super::AckTiming;
use meshpace_units::{Instant, Span};

/// Parameters of ns-2's estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickConfig {
    /// `tcpTick_`.
    pub tick: Span,
    /// Phase of the tick clock, below one tick; ns-2 draws it uniformly for each agent, here the driver does.
    pub boot_offset: Span,
    /// `rtxcur_init_`: the timeout before the first sample.
    pub initial: Span,
    /// `minrto_`, applied before the back-off factor.
    pub min: Span,
    /// `maxrto_`.
    pub max: Span,
    /// The largest back-off factor: 64 in ns-2 before some time in 2007 (schemes.md 16); `None`: it doubles until the timeout
    /// is at `max`.
    pub backoff_max: Option<u32>,
}

impl TickConfig {
    /// ns-2.35's defaults (schemes.md 16), phase zero.
    pub const NS2: Self = Self {
        tick: Span::from_millis(10),
        boot_offset: Span::ZERO,
        initial: Span::from_secs(3),
        min: Span::from_millis(200),
        max: Span::from_secs(60),
        backoff_max: None,
    };
}

/// The factor keeps doubling up to here even if the timeout is at its ceiling.
const FREE_BACKOFF: u32 = 64;
/// Beyond this factor the smoothed value is folded into the variation and forgotten.
const CLOBBER_BACKOFF: u32 = 8;

#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    config: TickConfig,
    /// 8 x srtt, in ticks; 0 before the first sample and after a long back-off.
    srtt: i64,
    /// 4 x rttvar, in ticks.
    rttvar: i64,
    /// srtt + 4 rttvar as of the last sample, in ticks.
    base: Option<i64>,
    backoff: u32,
    timed: Option<Timed>,
    latest: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    sent: Instant,
}

impl Ticks {
    pub(super) const fn new(config: TickConfig) -> Self {
        Self { config, srtt: 0, rttvar: 0, base: None, backoff: 1, timed: None, latest: None }
    }

    pub(super) const fn start_timing(&mut self, now: Instant, end: u64) {
        if self.timed.is_none() {
            self.timed = Some(Timed { end, sent: now });
        }
    }

    pub(super) const fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// A covered timed segment ends the back-off; it is a sample unless the acknowledgement is partial.
    pub(super) fn on_new_ack(&mut self, timing: &AckTiming) {
        let Some(timed) = self.timed.filter(|timed| timing.una >= timed.end) else { return };
        self.timed = None;
        self.backoff = 1;
        if !timing.partial {
            self.on_sample(timed.sent, timing.now);
        }
    }

    fn on_sample(&mut self, sent: Instant, now: Instant) {
        let tick = self.config.tick.as_nanos();
        let rtt = now - sent;
        let phase = (sent.as_nanos() + self.config.boot_offset.as_nanos()) % tick;
        let measured = (((rtt.as_nanos() + phase) / tick) as i64).max(1);
        if self.srtt == 0 {
            self.srtt = measured << 3;
            self.rttvar = measured << 1;
        } else {
            let delta = measured - (self.srtt >> 3);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> 2)).max(1);
        }
        self.base = Some(((self.rttvar << 3) + self.srtt) >> 3);
        self.latest = Some(self.config.tick * measured.unsigned_abs());
    }

    pub(super) fn back_off(&mut self) {
        if self.backoff < FREE_BACKOFF || self.rto() < self.config.max {
            self.backoff = self.backoff.saturating_mul(2).min(self.config.backoff_max.unwrap_or(u32::MAX));
        }
        if self.backoff > CLOBBER_BACKOFF {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
    }

    pub(super) fn rto(&self) -> Span {
        let base = self.base.map_or(self.config.initial, |ticks| self.config.tick * ticks.unsigned_abs());
        (base.max(self.config.min) * u64::from(self.backoff)).min(self.config.max).max(self.config.tick * 2)
    }

    pub(super) const fn latest(&self) -> Option<Span> {
        self.latest
    }

    pub(super) fn srtt(&self) -> Option<Span> {
        (self.srtt > 0).then(|| self.config.tick * self.srtt.unsigned_abs() / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    fn sample(ticks: &mut Ticks, sent: Instant, now: Instant) {
        ticks.start_timing(sent, 10);
        ticks.on_new_ack(&AckTiming { now, una: 10, nxt: 0, partial: false, rtt: None });
    }

    #[test]
    fn integer_estimator() {
        let mut ticks = Ticks::new(TickConfig::NS2);
        assert_eq!(ticks.rto(), Span::from_secs(3));
        // 300 ms = 30 ticks: S = 240, V = 60, base = (480 + 240) / 8 = 90 ticks.
        sample(&mut ticks, ms(0), ms(300));
        assert_eq!((ticks.srtt, ticks.rttvar, ticks.rto()), (240, 60, Span::from_millis(900)));
        // 410 ms: delta 11: S = 251, V = 60 + 11 - 15 = 56, base = (448 + 251) >> 3 = 87.
        sample(&mut ticks, ms(1000), ms(1410));
        assert_eq!((ticks.srtt, ticks.rttvar, ticks.rto()), (251, 56, Span::from_millis(870)));
        assert_eq!(ticks.latest(), Some(Span::from_millis(410)));
    }

    #[test]
    fn ticks_have_a_phase() {
        let mut ticks = Ticks::new(TickConfig { boot_offset: Span::from_millis(4), ..TickConfig::NS2 });
        // Sent 1 ms after a tick of the plain clock, 5 ms after one of this agent's: 24 + 5 ms are two ticks.
        sample(&mut ticks, ms(11), ms(35));
        assert_eq!(ticks.srtt >> 3, 2);
        // 26 + 5 ms are three.
        let mut ticks = Ticks::new(ticks.config);
        sample(&mut ticks, ms(11), ms(37));
        assert_eq!(ticks.srtt >> 3, 3);
        // At least one tick.
        let mut ticks = Ticks::new(ticks.config);
        sample(&mut ticks, ms(10), ms(12));
        assert_eq!((ticks.srtt >> 3, ticks.rto()), (1, Span::from_millis(200)));
    }

    #[test]
    fn a_long_back_off_forgets_the_smoothed_value() {
        let mut ticks = Ticks::new(TickConfig::NS2);
        sample(&mut ticks, ms(0), ms(100)); // 10 ticks: S 80, V 20, base 30 ticks
        for (factor, folded) in [(2, false), (4, false), (8, false), (16, true)] {
            ticks.back_off();
            assert_eq!(ticks.rto(), Span::from_millis(300 * factor));
            assert_eq!(ticks.srtt == 0, folded, "factor {factor}");
        }
        assert_eq!(ticks.rttvar, 20 + 10);
        for _ in 0..4 {
            ticks.back_off();
        }
        assert_eq!(ticks.rto(), Span::from_secs(60));
        // The next sample starts anew: RTO = 3 x rtt.
        sample(&mut ticks, ms(0), ms(200));
        assert_eq!((ticks.srtt, ticks.rttvar, ticks.rto()), (160, 40, Span::from_millis(600)));
    }

    #[test]
    fn the_factor_has_a_limit_where_one_is_set() {
        // ns-2 before 28 March 2007: 64 times 6 s before the first round trip (schemes.md 16).
        let old = TickConfig {
            initial: Span::from_secs(6),
            max: Span::from_secs(100_000),
            backoff_max: Some(64),
            ..TickConfig::NS2
        };
        let mut ticks = Ticks::new(old);
        for _ in 0..20 {
            ticks.back_off();
        }
        assert_eq!(ticks.rto(), Span::from_secs(384));
        let mut ticks = Ticks::new(TickConfig { backoff_max: None, ..old });
        for _ in 0..20 {
            ticks.back_off();
        }
        assert_eq!(ticks.rto(), Span::from_secs(100_000));
    }

    #[test]
    fn a_partial_acknowledgement_ends_the_back_off_without_a_sample() {
        let mut ticks = Ticks::new(TickConfig::NS2);
        sample(&mut ticks, ms(0), ms(100));
        ticks.back_off();
        ticks.start_timing(ms(200), 20);
        ticks.on_new_ack(&AckTiming { now: ms(900), una: 19, nxt: 0, partial: true, rtt: None });
        assert_eq!(ticks.rto(), Span::from_millis(600), "the timed segment is not covered yet");
        ticks.on_new_ack(&AckTiming { now: ms(900), una: 20, nxt: 0, partial: true, rtt: None });
        assert_eq!((ticks.rto(), ticks.srtt), (Span::from_millis(300), 80));
    }
}
