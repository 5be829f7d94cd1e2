//! A gateway law of the driver's own, in place of the configured one.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use meshpace_pacing::Route;
use meshpace_units::{Bytes, Instant, Span};

/// A wireless round trip of a flow towards the mesh, as [`crate::WirelessLaw`] gets it: of the latest segment that an
/// acknowledgement covers, if that passed once (schemes.md 1.3, rules 2 and 3).
#[derive(Clone, Copy, Debug)]
pub struct WirelessTrip<'a> {
    /// When the acknowledgement came.
    pub now: Instant,
    /// From the segment's departure here, so without its wait.
    pub rtt: Span,
    /// The largest payload that the flow has shown.
    pub segment: Bytes,
    /// The way to the flow's mesh host.
    pub route: &'a Route,
}

/// What a law makes of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// The pace stays as it is.
    AsBefore,
    /// Nothing is held back.
    Unpaced,
    /// One packet in this time.
    Every(Span),
}

/// The law of one flow towards the mesh. Queue, repair and goodput control are the gateway's; of the law's interval and
/// goodput control's cap the slower holds (schemes.md 3.4).
pub trait OwnLaw: fmt::Debug + Send + Sync {
    /// A round trip was measured. Equal calls must give equal answers.
    fn on_round_trip(&mut self, trip: &WirelessTrip<'_>) -> Spacing;
}

/// Makes the law of a flow when its first data go towards the mesh.
#[derive(Clone)]
pub struct OwnLawFactory(pub Arc<dyn Fn() -> Box<dyn OwnLaw> + Send + Sync>);

impl fmt::Debug for OwnLawFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnLawFactory")
    }
}

/// A flow's law and what it last said.
#[derive(Debug)]
pub(crate) struct OwnPace {
    law: Box<dyn OwnLaw>,
    pub interval: Option<Span>,
}

impl OwnPace {
    /// With this interval before its first answer.
    pub fn new(law: Box<dyn OwnLaw>, initial: Option<Span>) -> Self {
        Self { law, interval: initial }
    }

    /// True if there is a new pace.
    pub fn on_round_trip(&mut self, trip: &WirelessTrip<'_>) -> bool {
        self.interval = match self.law.on_round_trip(trip) {
            Spacing::AsBefore => return false,
            Spacing::Unpaced => None,
            Spacing::Every(interval) => Some(interval),
        };
        true
    }
}
