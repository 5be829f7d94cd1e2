//! WCP's source: a rate that grows each control interval and is halved where a link on the way is near congestion.

use super::part::{EXPLICIT_HEADER, HEADER, OWN_RECOVERY, SenderPart, WindowPart};
use super::rated::{RateSource, Rated};
use super::{Ack, Feedback};
use meshpace_explicit::wcp::{Config, Header, KIND, Source};
use meshpace_keys::{Key, Need};
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "wcp",
    "A rate by additive increase and multiplicative decrease on marks of the neighbourhood, and no window (WCP); losses do not \
     change it. Its constants are from memory.",
    "schemes.md 13; Rangwala et al. 2008",
    |values, surroundings| {
        let source = Source::new(Config {
            increase: values.real("wcp_alpha"),
            initial: values.real("wcp_initial"),
            least: values.real("wcp_least"),
            hold: values.real("wcp_hold"),
        });
        let header = values.count(EXPLICIT_HEADER) as u8;
        SenderPart::Whole(Rated::boxed(source, surroundings.rules, header))
    },
)
.keys(&[&KEYS, &HEADER])
.brings(&[OWN_RECOVERY])
.needs(&[
    Need { key: "relay", words: super::part::WCP_RELAYS },
    // A mark on a segment that is not acknowledged by itself would be lost.
    Need { key: "ack_policy", words: &["every"] },
])
.reconstructed("the constants, from memory (schemes.md 13)");

static KEYS: [Key; 4] = [
    Key::number(
        "wcp_alpha",
        (0.001, 1000.0),
        Config::REMEMBERED.increase,
        "Packets/s that the rate grows by each control interval; from memory (schemes.md 13.1).",
    ),
    Key::number(
        "wcp_initial",
        (0.01, 10_000.0),
        Config::REMEMBERED.initial,
        "The first rate, packets/s (schemes.md 13, decided).",
    ),
    Key::number(
        "wcp_least",
        (0.001, 1000.0),
        Config::REMEMBERED.least,
        "The lowest rate, packets/s (schemes.md 13, decided).",
    ),
    Key::number(
        "wcp_hold",
        (0.1, 100.0),
        Config::REMEMBERED.hold,
        "Control intervals between two cuts, and of silence before one; from memory (schemes.md 13.2).",
    ),
];

impl RateSource for Source {
    fn request(&self, rtt: Option<f64>) -> Option<Feedback> {
        Feedback::new(KIND, &Header { rtt, ..Header::default() }.to_bytes())
    }

    fn interval(&self) -> Option<Span> {
        Span::try_from_secs_f64(1.0 / self.rate())
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let header = ack.feedback.and_then(|feedback| feedback.read(KIND, Header::from_bytes));
        Self::on_ack(self, ack.now, header.as_ref());
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_silence(now);
    }

    fn on_departure(&mut self, now: Instant) {
        Self::on_departure(self, now);
    }
}
