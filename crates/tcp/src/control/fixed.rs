//! One segment every interval, whatever is measured.

use super::law_pacer::{permission, take_token};
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
        Some(Box::new(Fixed::new(interval.unwrap_or_else(|| panic!("fixed_rate lets {rate:?} pass")))))
    },
)
.keys(&[&KEYS, &BACKS_OFF]);

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
}

impl Fixed {
    /// One segment every `interval`.
    #[must_use]
    pub const fn new(interval: Span) -> Self {
        Self { pacer: Pacer::new(Some(interval)) }
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
        permission(&self.pacer, now)
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
