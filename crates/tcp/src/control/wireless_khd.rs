//! TCP-GAP's wireless sender: the k-hop delay of what the gateway's option leaves of a round trip.

use super::khd::{INITIAL_INTERVAL, LAW};
use super::law_pacer::LawPacer;
use super::part::{BACKS_OFF, PacingPart};
use super::{Ack, Asks, Control, Departure, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use meshpace_pacing::{AdaptiveConfig, WirelessPart, WirelessSample};
use meshpace_units::Instant;

pub(super) static PART: PacingPart = PacingPart::new(
    "wireless-khd",
    "By the k-hop delay of the wireless part, as the gateway's option tells it; at senders in the mesh only (TCP-GAP).",
    "schemes.md 3.2; ElRakabawy, Klemm, Lindemann 2007",
    |values, surroundings| {
        let law = AdaptiveConfig::from_values(values);
        surroundings.from_mesh.then(|| Box::new(WirelessKhd::new(law)) as Box<dyn Control>)
    },
)
.keys(&[&LAW, &INITIAL_INTERVAL, &BACKS_OFF]);

/// TCP-GAP's wireless sender: round trips less the gateway's measured wired part (schemes.md 3.2).
#[derive(Clone, Debug)]
pub struct WirelessKhd {
    pacer: LawPacer,
    part: WirelessPart,
}

impl WirelessKhd {
    /// With this law.
    #[must_use]
    pub fn new(law: AdaptiveConfig) -> Self {
        Self { pacer: LawPacer::new(law), part: WirelessPart::default() }
    }
}

impl Control for WirelessKhd {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, route: true, ..Asks::default() }
    }

    /// The sample is the oldest newly acknowledged segment, the one that the gateway timed, too (schemes.md 3.2).
    /// Duplicates tell nothing of the gateway.
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if ack.is_new() {
            match self.part.on_ack(ack.oldest, ack.rtt_wired) {
                WirelessSample::RoundTrip(rtt) => self.pacer.on_round_trip(rtt, ack),
                WirelessSample::NoGateway => self.pacer.lift(ack.now),
                WirelessSample::Nothing => {}
            }
        }
        Reaction::Continue
    }

    fn on_departure(&mut self, departure: &Departure) {
        self.pacer.on_departure(departure);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        self.pacer.pace(now)
    }

    fn pacing(&self) -> PacingView {
        self.pacer.view()
    }
}
