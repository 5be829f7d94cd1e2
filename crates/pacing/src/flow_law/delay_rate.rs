//! Rate by delay, ours (docs/law.md).

use super::{FlowLaw, FlowLawPart, FlowPace, Progress, RoundTrip};
use crate::{DelayRate, DelayRateConfig};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::num::NonZeroU32;
use meshpace_keys::Key;
use meshpace_units::{Bytes, Instant, Span};

pub(super) static PART: FlowLawPart = FlowLawPart::new(
    "delay-rate",
    "A rate at which a certain number of the flow's packets waits on the way, by the delay alone.",
    "docs/law.md",
    |values| {
        let rate = DelayRate::new(DelayRateConfig::from_values(values));
        Box::new(Law { rate, unit: NonZeroU32::MIN, segment: None, blind: 0.0, seen: Instant::ZERO })
    },
)
.keys(&[&KEYS]);

/// The sender's and the gateway's are one.
static KEYS: [Key; DelayRateConfig::KEYS.len()] = DelayRateConfig::KEYS;

/// So many packets that were delivered, and so long, without a round trip: what its receiver says hides them all, as one does that
/// repeats its acknowledgements, so that everything is sent again. So such a rate does not last.
const BLIND: (f64, Span) = (64.0, Span::from_secs(1));

/// The law, and what a packet carries.
#[derive(Clone, Copy, Debug)]
struct Law {
    rate: DelayRate,
    unit: NonZeroU32,
    segment: Option<Bytes>,
    /// Packets delivered since the latest round trip, and when that was; or since the rate was cut for want of one.
    blind: f64,
    seen: Instant,
}

impl Law {
    fn pace(&self) -> FlowPace {
        FlowPace::trains(self.rate.spacing(), self.unit)
    }
}

impl FlowLaw for Law {
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        self.segment = Some(trip.segment);
        (self.blind, self.seen) = (0.0, trip.now);
        self.rate.set_answered(trip.answered);
        self.rate.on_round_trip(trip.now, trip.rtt).then(|| self.pace())
    }

    /// What a packet carries is known from the first round trip on.
    fn on_progress(&mut self, progress: &Progress) -> Option<FlowPace> {
        let segment = self.segment.filter(|segment| segment.0 > 0)?;
        let arrived = progress.acked.0 as f64 / segment.0 as f64;
        self.rate.on_arrived(arrived);
        self.blind += arrived;
        let (packets, time) = BLIND;
        if self.blind < packets || progress.now.saturating_since(self.seen) < time {
            return None;
        }
        (self.blind, self.seen) = (0.0, progress.now);
        self.rate.on_timeout(progress.now);
        Some(self.pace())
    }

    fn on_unit(&mut self, now: Instant, packets: NonZeroU32) -> Option<FlowPace> {
        self.unit = packets;
        self.rate.set_unit(now, packets.get());
        Some(self.pace())
    }

    fn take_parameters(&mut self, fresh: &dyn FlowLaw) -> bool {
        let fresh = (fresh as &dyn Any).downcast_ref::<Self>();
        if let Some(fresh) = fresh {
            self.rate.set_config(*fresh.rate.config());
        }
        fresh.is_some()
    }

    fn boxed(&self) -> Box<dyn FlowLaw> {
        Box::new(*self)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let base = self.rate.base().map(|base| ("least round trip, s", base));
        let queue = self.rate.queue().map(|queue| ("queueing delay, s", queue));
        base.into_iter().chain(queue).chain([("rate, packets/s", self.rate.rate())]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkRates, Route};
    use meshpace_keys::Values;
    use meshpace_units::Rate;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// A packet is delivered every 20 ms. Its round trip, if one is measured, is 30 ms. The spacings answered.
    fn spacings(law: &mut dyn FlowLaw, from: u64, packets: u64, measured: bool) -> Vec<Span> {
        let route = Route { hops: Some(2), rates: LinkRates::Uniform(Rate::bits_per_sec(11_000_000)) };
        let mut all = Vec::new();
        for n in 0..packets {
            let now = ms(from + 20 * n);
            let progress = Progress { now, acked: Bytes(1460), again: 0, marked: false };
            let trip = RoundTrip {
                now,
                rtt: Span::from_millis(30),
                segment: Bytes(1460),
                route: &route,
                sharing: 1,
                answered: None,
            };
            let paces = [law.on_progress(&progress), if measured { law.on_round_trip(&trip) } else { None }];
            all.extend(paces.into_iter().flatten().filter_map(|pace| pace.spacing));
        }
        all
    }

    #[test]
    fn a_rate_that_nothing_is_measured_at_falls() {
        let mut law = (PART.build)(&Values::defaults(PART.about.keys()));
        let rate = *spacings(&mut *law, 0, 50, true).last().expect("it answers");
        // 64 packets in 1.28 s.
        assert_eq!(spacings(&mut *law, 1_000, 63, false), []);
        let slower = |spacing: Span, times: i32| spacing.as_secs_f64() / 0.7_f64.powi(times);
        for times in 1..=3 {
            let found = spacings(&mut *law, 1_000 + 1_280 * times as u64, 64, false);
            assert_eq!(found.len(), 1);
            assert!((found[0].as_secs_f64() / slower(rate, times) - 1.0).abs() < 1e-6, "{found:?}");
        }
        // One round trip, and it is as it was: no rate falls for want of those.
        spacings(&mut *law, 6_000, 1, true);
        assert_eq!(spacings(&mut *law, 6_020, 63, false), []);
    }
}
