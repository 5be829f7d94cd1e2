//! TCP-AP: the k-hop delay of the whole path.

use super::law_pacer::LawPacer;
use super::part::{KEEPS_RTO, PacingPart};
use super::{Ack, Asks, Control, Departure, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_pacing::AdaptiveConfig;
use meshpace_units::Instant;

pub(super) static PART: PacingPart = PacingPart::new(
    "khd",
    "By the k-hop delay of the whole path (TCP-AP).",
    "schemes.md 2, profile paper; ElRakabawy, Klemm, Lindemann 2005",
    |values, _| Some(Box::new(Khd::new(AdaptiveConfig::from_values(values)))),
)
.keys(&[&LAW, &INITIAL_INTERVAL, &KEEPS_RTO]);

/// The keys of the law as the papers have it.
pub(super) static LAW: [Key; AdaptiveConfig::KEYS] = AdaptiveConfig::PAPER.keys();
pub(super) static INITIAL_INTERVAL: [Key; 1] = [AdaptiveConfig::INITIAL_INTERVAL_KEY];

/// TCP-AP on the whole path; the hops come with the acknowledgements (schemes.md section 2, profile `paper`).
#[derive(Clone, Debug)]
pub struct Khd {
    pacer: LawPacer,
}

impl Khd {
    /// With this law.
    #[must_use]
    pub const fn new(law: AdaptiveConfig) -> Self {
        Self { pacer: LawPacer::new(law) }
    }
}

impl Control for Khd {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, route: true, ..Asks::default() }
    }

    /// The sample is the most recently sent of the newly acknowledged segments (schemes.md 1.3, rule 3).
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.newest {
            self.pacer.on_round_trip(rtt, ack);
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
