//! TCP-AP as WiFu had it: the n-hop delay whatever the path's length, behind a limiter that queues.

use super::law_pacer::LawPacer;
use super::limiter::Waiting;
use super::part::{BACKS_OFF, PacingPart};
use super::{Ack, Asks, Control, Departure, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_pacing::AdaptiveConfig;
use meshpace_units::Instant;

pub(super) static PART: PacingPart = PacingPart::new(
    "wifu-khd",
    "By the n-hop delay of the whole path, however short, with what WiFu's rate limiter left out and held back.",
    "schemes.md 2.1, 5, profile byu-literal; Lee 2012",
    |values, _| {
        let waiting: Waiting = values.word("ap_queue");
        Some(Box::new(WifuKhd::new(AdaptiveConfig::from_values(values), waiting)))
    },
)
.keys(&[&LAW, &COUNTS, &QUEUE, &BACKS_OFF]);

static LAW: [Key; AdaptiveConfig::KEYS - 2] = AdaptiveConfig::WIFU.keys_but_bounds();
static COUNTS: [Key; 1] = [AdaptiveConfig::COUNTS_DATA_KEY];
static QUEUE: [Key; 1] = [Waiting::All.key()];

/// WiFu's delay estimator and rate limiter (schemes.md 2.1).
#[derive(Clone, Debug)]
pub struct WifuKhd {
    pacer: LawPacer,
}

impl WifuKhd {
    /// With this law; so segments wait.
    #[must_use]
    pub const fn new(law: AdaptiveConfig, waiting: Waiting) -> Self {
        Self { pacer: LawPacer::new(law).waiting(waiting) }
    }
}

impl Control for WifuKhd {
    fn asks(&self) -> Asks {
        Asks { route: true, ..Asks::default() }
    }

    /// Every acknowledgement of new data is a sample, by the departure that it echoes: the timestamp is renewed when a packet
    /// leaves the limiter (schemes.md 5, "Timestamps"). That of the SYN is none: there is no data packet in it.
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.echoed.filter(|_| ack.is_new() && ack.out.una > 1) {
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
