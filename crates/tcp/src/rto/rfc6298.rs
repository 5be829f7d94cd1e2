//! The estimator of RFC 6298.

use super::backoff::Backoff;
use meshpace_units::Span;

/// Parameters of RFC 6298.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmoothedConfig {
    /// The timeout before the first sample (section 2, rule 2.1).
    pub initial: Span,
    /// The smallest timeout, before back-off (rule 2.4).
    pub min: Span,
    /// The largest timeout, at least 60 s (rule 2.5).
    pub max: Span,
    /// The largest back-off factor; `None`: it doubles until the timeout is at `max`.
    pub backoff_max: Option<u32>,
    /// Clock granularity G: the least that the variation adds.
    pub granularity: Span,
}

impl SmoothedConfig {
    /// The RFC's own values.
    pub const RFC: Self = Self {
        initial: Span::from_secs(1),
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        backoff_max: None,
        granularity: Span::from_millis(1),
    };

    /// What Linux uses (schemes.md 16, "RTO min / max / initial").
    pub const LINUX: Self = Self { min: Span::from_millis(200), max: Span::from_secs(120), ..Self::RFC };
}

#[derive(Clone, Debug)]
pub(crate) struct Smoothed {
    estimate: Option<Estimate>,
    backoff: Backoff,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Span,
    rttvar: Span,
}

impl Smoothed {
    pub(super) const fn new(config: SmoothedConfig) -> Self {
        Self { estimate: None, backoff: Backoff::new(config) }
    }

    pub(super) fn on_sample(&mut self, rtt: Span) {
        self.backoff.on_sample(rtt);
        self.estimate = Some(match self.estimate {
            None => Estimate { srtt: rtt, rttvar: rtt / 2 },
            Some(Estimate { srtt, rttvar }) => {
                let error = srtt.saturating_sub(rtt) + rtt.saturating_sub(srtt);
                // In this order: rule 2.3 updates the variation with the old srtt.
                Estimate { rttvar: weigh(rttvar, 3, error, 4), srtt: weigh(srtt, 7, rtt, 8) }
            }
        });
    }

    pub(super) fn back_off(&mut self) {
        self.backoff.back_off(self.estimated());
    }

    pub(super) const fn on_connected(&mut self, syn_lost: bool) {
        self.backoff.on_connected(syn_lost);
    }

    pub(super) fn rto(&self) -> Span {
        self.backoff.timeout(self.estimated())
    }

    fn estimated(&self) -> Option<Span> {
        let SmoothedConfig { min, granularity, .. } = self.backoff.config;
        self.estimate.map(|Estimate { srtt, rttvar }| (srtt + (rttvar * 4).max(granularity)).max(min))
    }

    pub(super) const fn latest(&self) -> Option<Span> {
        self.backoff.latest()
    }

    pub(super) fn srtt(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.srtt)
    }
}

/// `(old * weight + new) / (weight + 1 = parts)`, without overflow.
fn weigh(old: Span, weight: u64, new: Span, parts: u64) -> Span {
    let sum = u128::from(old.as_nanos()) * u128::from(weight) + u128::from(new.as_nanos());
    Span::from_nanos((sum / u128::from(parts)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    #[test]
    fn rules_of_section_2() {
        let mut rto = Smoothed::new(SmoothedConfig { min: MS(0), ..SmoothedConfig::RFC });
        assert_eq!(rto.rto(), MS(1000));
        rto.on_sample(MS(100));
        assert_eq!(rto.rto(), MS(300)); // 100 + 4 * 50
        rto.on_sample(MS(180));
        // rttvar = 3/4 * 50 + 1/4 * 80 = 57.5, srtt = 7/8 * 100 + 1/8 * 180 = 110: 110 + 230.
        assert_eq!((rto.srtt(), rto.rto()), (Some(MS(110)), MS(340)));
        rto.back_off();
        rto.back_off();
        assert_eq!(rto.rto(), MS(1360));
        rto.on_sample(MS(110)); // a fresh sample ends the back-off: rttvar = 43.125
        assert_eq!(rto.rto(), Span::from_micros(282_500));
    }

    #[test]
    fn bounds() {
        let mut rto = Smoothed::new(SmoothedConfig::LINUX);
        rto.on_sample(MS(1));
        assert_eq!(rto.rto(), MS(200));
        for _ in 0..100 {
            rto.back_off();
        }
        assert_eq!(rto.rto(), Span::from_secs(120));
        let mut rto = Smoothed::new(SmoothedConfig { backoff_max: Some(6), ..SmoothedConfig::LINUX });
        for _ in 0..100 {
            rto.back_off();
        }
        assert_eq!(rto.rto(), Span::from_secs(6), "1 s, at most six times");
        let mut rto = Smoothed::new(SmoothedConfig::RFC);
        rto.back_off();
        rto.on_connected(true);
        assert_eq!(rto.rto(), Span::from_secs(3), "rule 5.7");
    }

    proptest! {
        #[test]
        fn stays_within_its_bounds(steps in proptest::collection::vec((0u64..u64::MAX / 8, any::<bool>()), 0..200)) {
            let mut rto = Smoothed::new(SmoothedConfig::RFC);
            for (nanos, timeout) in steps {
                if timeout { rto.back_off() } else { rto.on_sample(Span::from_nanos(nanos)) }
                prop_assert!((Span::from_secs(1)..=Span::from_secs(60)).contains(&rto.rto()));
            }
        }
    }
}
