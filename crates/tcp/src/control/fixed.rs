//! One segment every interval, whatever is measured.

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::{BACKS_OFF, PacingPart};
use super::{Ack, Control, Departure, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use meshpace_keys::Key;
use meshpace_pacing::Pacer;
use meshpace_units::{Bytes, Instant, Rate, Span};

pub(super) static PART: PacingPart = PacingPart::new(
    "fixed",
    "At a fixed rate, whatever is measured.",
    "schemes.md 2.1; Lee 2012",
    |values, _| {
        let (rate, mtu) = (values.rate("fixed_rate"), values.bytes("fixed_mtu"));
        let interval = rate.time_to_send(mtu);
        let interval = interval.unwrap_or_else(|| panic!("fixed_rate lets {rate:?} pass"));
        Some(Box::new(Fixed::new(interval).waiting(values.word("ap_queue"))))
    },
)
.keys(&[&KEYS, &QUEUE, &BACKS_OFF]);

static QUEUE: [Key; 1] = [Waiting::Permission.key()];

static KEYS: [Key; 2] = [
    // BYU's estimate of the right rate for 5 flows on 9 hops (schemes.md section 5, "Measured").
    Key::rate(
        "fixed_rate",
        100_000_000_000,
        Rate::bits_per_sec(250_000),
        "The fixed rate; default: BYU's estimate for 5 flows on 9 hops (schemes.md 2.1, 5).",
    ),
    Key::size(
        "fixed_mtu",
        (1, 65_535),
        Bytes(1500),
        "Bytes that every packet counts as, whatever its size (schemes.md 2.1).",
    ),
];

/// One segment every interval (schemes.md 2.1).
#[derive(Clone, Debug)]
pub struct Fixed {
    pacer: Pacer,
    waiting: Waiting,
}

impl Fixed {
    /// One segment every `interval`.
    #[must_use]
    pub const fn new(interval: Span) -> Self {
        Self { pacer: Pacer::new(Some(interval)), waiting: Waiting::Permission }
    }

    /// The same, and so what is to leave waits.
    #[must_use]
    pub const fn waiting(self, waiting: Waiting) -> Self {
        Self { waiting, ..self }
    }
}

impl Control for Fixed {
    fn on_ack(&mut self, _: &Ack<'_>) -> Reaction {
        Reaction::Continue
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, self.waiting)
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
