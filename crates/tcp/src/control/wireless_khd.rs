//! TCP-GAP's wireless sender: the k-hop delay of what the gateway's option leaves of a round trip.

use super::khd::{INITIAL_INTERVAL, LAW};
use super::law_pacer::LawPacer;
use super::part::{BACKS_OFF, PacingPart};
use super::{Ack, Asks, Control, Departure, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_pacing::{AdaptiveConfig, Departures, HopSource, WirelessPart, WirelessSample};
use meshpace_units::Instant;

pub(super) static PART: PacingPart = PacingPart::new(
    "wireless-khd",
    "By the k-hop delay of the wireless part, as the gateway's option tells it; at senders in the mesh only (TCP-GAP).",
    "schemes.md 3.2; ElRakabawy, Klemm, Lindemann 2007",
    |values, surroundings| {
        let law = AdaptiveConfig::from_values(values);
        let (hops, departures) = (values.word("gap_h"), values.word("gap_pacer"));
        surroundings.from_mesh.then(|| Box::new(WirelessKhd::new(law, hops).leaving(departures)) as Box<dyn Control>)
    },
)
.keys(&[&LAW, &INITIAL_INTERVAL, &HOPS, &PACER, &BACKS_OFF]);

static PACER: [Key; 1] = [Departures::KEY];

static HOPS: [Key; 1] = [Key::word(
    "gap_h",
    HopSource::WORDS,
    HopSource::Ack.word(),
    "Where a sender in the mesh has its hops to the gateway from: counted by the acknowledgement, or the gateway's routing table \
     (schemes.md 1.2). A live endpoint is told them.",
)];

/// TCP-GAP's wireless sender: round trips less the gateway's measured wired part (schemes.md 3.2).
#[derive(Clone, Debug)]
pub struct WirelessKhd {
    pacer: LawPacer,
    part: WirelessPart,
    hops: HopSource,
}

impl WirelessKhd {
    /// With this law, and the hops from there.
    #[must_use]
    pub fn new(law: AdaptiveConfig, hops: HopSource) -> Self {
        Self { pacer: LawPacer::new(law), part: WirelessPart::default(), hops }
    }

    /// The same, and what is held back leaves so.
    #[must_use]
    pub fn leaving(self, departures: Departures) -> Self {
        Self { pacer: self.pacer.leaving(departures), ..self }
    }
}

impl Control for WirelessKhd {
    fn asks(&self) -> Asks {
        let gateway_route = self.hops == HopSource::Route;
        Asks { round_trips: true, route: true, gateway_route, ..Asks::default() }
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
