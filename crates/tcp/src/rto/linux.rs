//! Linux's estimator: RFC 6298 with the variation held up for a round trip, and its least where the timeout's is elsewhere
//! (net/ipv4/tcp_input.c, tcp_rtt_estimator).

use super::SmoothedConfig;
use super::backoff::Backoff;
use meshpace_units::Span;

#[derive(Clone, Debug)]
pub(crate) struct Linux {
    estimate: Option<Estimate>,
    /// The `min` of its configuration is the least of the variation, not of the timeout.
    backoff: Backoff,
}

/// The kernel's names; `mdev`, `mdev_max` and `rttvar` are four mean deviations.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Span,
    mdev: Span,
    /// The greatest of this round trip.
    mdev_max: Span,
    rttvar: Span,
    /// What had been sent when the round trip began.
    round_end: u64,
}

impl Linux {
    pub(super) const fn new(config: SmoothedConfig) -> Self {
        Self { estimate: None, backoff: Backoff::new(config) }
    }

    /// A round trip, with everything before `una` acknowledged and everything before `nxt` sent.
    pub(super) fn on_sample(&mut self, rtt: Span, una: u64, nxt: u64) {
        self.backoff.on_sample(rtt);
        let least = self.backoff.config.min;
        let Some(estimate) = &mut self.estimate else {
            let mdev = rtt * 2; // so that the timeout is three round trips
            let rttvar = mdev.max(least);
            self.estimate = Some(Estimate { srtt: rtt, mdev, mdev_max: rttvar, rttvar, round_end: nxt });
            return;
        };
        let Estimate { srtt, mdev, mdev_max, rttvar, round_end } = estimate;
        let (longer, shorter) = (rtt.saturating_sub(*srtt), srtt.saturating_sub(rtt));
        let error = longer.max(shorter);
        *mdev = match error.checked_sub(*mdev / 4) {
            // A round trip that suddenly is short widens the variation by an eighth of what one that is long does.
            Some(wider) if !shorter.is_zero() => *mdev + wider / 8,
            Some(wider) => *mdev + wider,
            None => mdev.saturating_sub(*mdev / 4 - error),
        };
        *srtt = (*srtt + longer / 8).saturating_sub(shorter / 8);
        if *mdev > *mdev_max {
            *mdev_max = *mdev;
            *rttvar = (*rttvar).max(*mdev);
        }
        if una > *round_end {
            *rttvar = rttvar.saturating_sub(rttvar.saturating_sub(*mdev_max) / 4);
            (*round_end, *mdev_max) = (nxt, least);
        }
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
        self.estimate.map(|estimate| estimate.srtt + estimate.rttvar)
    }

    pub(super) const fn latest(&self) -> Option<Span> {
        self.backoff.latest()
    }

    pub(super) fn srtt(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    #[test]
    fn the_least_is_the_variations() {
        let mut rto = Linux::new(SmoothedConfig::LINUX);
        assert_eq!(rto.rto(), MS(1_000));
        rto.on_sample(MS(80), 1, 100);
        assert_eq!(rto.rto(), MS(80 + 200), "two round trips are less than 200 ms");
        let mut slow = Linux::new(SmoothedConfig::LINUX);
        slow.on_sample(MS(400), 1, 100);
        assert_eq!(slow.rto(), MS(400 + 800));
    }

    #[test]
    fn the_variation_holds_for_a_round_trip_and_falls_by_a_quarter_of_what_it_is_too_great() {
        let mut rto = Linux::new(SmoothedConfig::LINUX);
        rto.on_sample(MS(400), 1, 100);
        // The error is 0: mdev is 800 - 200. The round trip goes on.
        rto.on_sample(MS(400), 50, 150);
        assert_eq!(rto.rto(), MS(1_200));
        // It ends; its greatest was the first's 800: nothing falls yet. In the next one 337.5 is the greatest.
        rto.on_sample(MS(400), 101, 200);
        assert_eq!(rto.rto(), MS(1_200));
        rto.on_sample(MS(400), 201, 300);
        assert_eq!(rto.rto(), Span::from_micros(400_000 + 800_000 - (800_000 - 337_500) / 4));
    }

    #[test]
    fn a_short_round_trip_widens_it_by_an_eighth() {
        let after = |rtt| {
            let mut rto = Linux::new(SmoothedConfig::LINUX);
            rto.on_sample(MS(400), 1, 100);
            rto.on_sample(rtt, 50, 150);
            rto.rto()
        };
        // 400 more: mdev is 800 + 200, srtt 450. 400 less, or nearly: 800 + 200 / 8, srtt 350.
        assert_eq!(after(MS(800)), MS(450 + 1_000));
        assert_eq!(after(MS(0)), MS(350 + 825));
    }

    #[test]
    fn it_backs_off_and_a_sample_ends_that() {
        let mut rto = Linux::new(SmoothedConfig::LINUX);
        rto.on_sample(MS(100), 1, 100);
        rto.back_off();
        rto.back_off();
        assert_eq!(rto.rto(), MS(1_200));
        rto.on_sample(MS(100), 50, 150);
        assert_eq!(rto.rto(), MS(300));
        for _ in 0..50 {
            rto.back_off();
        }
        assert_eq!(rto.rto(), Span::from_secs(120));
    }

    proptest! {
        #[test]
        fn it_is_at_least_a_round_trip_and_200_ms(trips in proptest::collection::vec((1u64..3_000, 1u64..4_000), 1..100)) {
            let (mut rto, mut una) = (Linux::new(SmoothedConfig::LINUX), 1);
            for (trip, step) in trips {
                una += step;
                rto.on_sample(MS(trip), una, una + 2_000);
                prop_assert!(rto.rto() >= rto.srtt().unwrap() + MS(200) && rto.rto() <= Span::from_secs(120));
            }
        }
    }
}
