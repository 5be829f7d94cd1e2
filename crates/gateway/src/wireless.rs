//! What the wireless round trips of a flow towards the mesh make of its pace.

use meshpace_pacing::{AdaptiveConfig, RateLaw, Route};
use meshpace_units::{Bytes, Span};

/// A flow's rate law, and its smoothed wireless round trip.
///
/// Whoever times the round trips hands them in: [`crate::Gateway`], or a data path of its own.
#[derive(Clone, Debug)]
pub struct WirelessLaw {
    /// The law, with its history.
    pub law: RateLaw,
    /// Smoothed round trip, by an eighth of each (RFC 6298, section 2.3); `None` before the first.
    pub smoothed: Option<Span>,
}

impl WirelessLaw {
    /// A law without samples.
    #[must_use]
    pub fn new(config: &AdaptiveConfig) -> Self {
        Self { law: RateLaw::new(*config), smoothed: None }
    }

    /// Applies other parameters from the next round trip on; what those so far made stays.
    pub fn set_config(&mut self, config: &AdaptiveConfig) {
        self.law.set_config(*config);
    }

    /// Takes a round trip of a `segment`'s payload over `route`; true if there is a new pace. A sample that the law rejects
    /// leaves the pace as it is; the law counts it.
    pub fn on_round_trip(&mut self, rtt: Span, segment: Bytes, route: &Route) -> bool {
        self.smooth(rtt);
        self.law.on_round_trip(rtt, segment, route).is_ok()
    }

    /// Takes a round trip that another law judges.
    pub(crate) fn smooth(&mut self, rtt: Span) {
        self.smoothed = Some(self.smoothed.map_or(rtt, |old| (old * 7 + rtt) / 8));
    }
}
