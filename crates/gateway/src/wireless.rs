//! A flow's law at a gateway, what it last answered, and the round trips towards the mesh.

use alloc::boxed::Box;
use core::num::NonZeroU32;
use meshpace_pacing::{FlowLaw, FlowPace, LawMaker, Progress, RoundTrip};
use meshpace_units::{Instant, Span};

/// A flow's law and its pace, and its smoothed wireless round trip.
///
/// The caller times the round trips: [`crate::Gateway`], or a data path of its own.
#[derive(Clone, Debug)]
pub struct WirelessLaw {
    law: Box<dyn FlowLaw>,
    /// The law's latest answer; before the first one packet in the initial interval.
    pub pace: FlowPace,
    /// Smoothed round trip, by an eighth of each (RFC 6298, section 2.3); `None` before the first.
    pub smoothed: Option<Span>,
}

impl WirelessLaw {
    /// A new flow's, which has this interval before the law's first answer; `None` does not pace until then.
    #[must_use]
    pub fn new(law: &LawMaker, initial_interval: Option<Span>) -> Self {
        let pace = FlowPace { spacing: initial_interval, ..FlowPace::UNPACED };
        Self { law: law.law(), pace, smoothed: None }
    }

    /// The law.
    #[must_use]
    pub fn law(&self) -> &dyn FlowLaw {
        &*self.law
    }

    /// Goes by another law or other parameters from what comes next on; the pace stays until then.
    pub fn set_law(&mut self, law: &LawMaker) {
        law.renew(&mut self.law);
    }

    /// Hands a round trip to the law; true if there is a new pace.
    pub fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> bool {
        self.smoothed = Some(self.smoothed.map_or(trip.rtt, |old| (old * 7 + trip.rtt) / 8));
        let answer = self.law.on_round_trip(trip);
        self.answered(answer)
    }

    /// Tells the law what became of the flow's packets; true if there is a new pace.
    pub fn on_progress(&mut self, progress: &Progress) -> bool {
        let answer = self.law.on_progress(progress);
        self.answered(answer)
    }

    /// Tells the law how many packets one access to the medium carries; true if there is a new pace.
    pub fn on_unit(&mut self, now: Instant, packets: NonZeroU32) -> bool {
        let answer = self.law.on_unit(now, packets);
        self.answered(answer)
    }

    fn answered(&mut self, answer: Option<FlowPace>) -> bool {
        self.pace = answer.unwrap_or(self.pace);
        answer.is_some()
    }
}
