//! Rate by delay, ours (docs/law.md).

use super::{FlowLaw, FlowLawPart, FlowPace, Progress, RoundTrip};
use crate::{DelayRate, DelayRateConfig};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use meshpace_keys::Key;
use meshpace_units::Bytes;

pub(super) static PART: FlowLawPart = FlowLawPart::new(
    "delay-rate",
    "A rate at which a certain number of the flow's packets waits on the way, by the delay alone.",
    "docs/law.md",
    |values| Box::new(Law { rate: DelayRate::new(DelayRateConfig::from_values(values)), segment: None }),
)
.keys(&[&KEYS]);

/// The sender's and the gateway's are one.
static KEYS: [Key; DelayRateConfig::KEYS.len()] = DelayRateConfig::KEYS;

/// The law, and what a packet carries.
#[derive(Clone, Copy, Debug)]
struct Law {
    rate: DelayRate,
    segment: Option<Bytes>,
}

impl FlowLaw for Law {
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        self.segment = Some(trip.segment);
        self.rate.on_round_trip(trip.now, trip.rtt).then(|| FlowPace::every(self.rate.spacing()))
    }

    /// What a packet carries is known from the first round trip on.
    fn on_progress(&mut self, progress: &Progress) -> Option<FlowPace> {
        let segment = self.segment.filter(|segment| segment.0 > 0)?;
        self.rate.on_arrived(progress.acked.0 as f64 / segment.0 as f64);
        None
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
