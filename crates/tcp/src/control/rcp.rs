//! RCP's sender: the rate that the routers on the way have for every flow, and no window.

use super::part::{EXPLICIT_HEADER, HEADER, OWN_RECOVERY, SenderPart, WindowPart};
use super::rated::{RateSource, Rated};
use super::{Ack, Feedback};
use meshpace_explicit::rcp::{Header, KIND};
use meshpace_keys::Need;
use meshpace_units::Span;

pub(super) static PART: WindowPart = WindowPart::new(
    "rcp",
    "The least rate of the routers on the way, and no window (RCP); what is lost is sent again at that rate.",
    "schemes.md 12; Dukkipati, McKeown",
    |values, surroundings| {
        let source = Rcp { interval: FIRST };
        let header = values.count(EXPLICIT_HEADER) as u8;
        SenderPart::Whole(Rated::boxed(source, surroundings.rules, header))
    },
)
.keys(&[&HEADER])
.brings(&[OWN_RECOVERY])
.needs(&[Need { key: "relay", words: super::part::RCP_RELAYS }]);

/// The interval before the first rate: the pacers' (schemes.md 1.5). The SYN has asked, so the rate is there before the data.
const FIRST: Span = Span::from_millis(50);

#[derive(Clone, Debug)]
struct Rcp {
    interval: Span,
}

impl RateSource for Rcp {
    fn request(&self, rtt: Option<f64>) -> Option<Feedback> {
        Feedback::new(KIND, &Header { rtt, rate: f64::INFINITY }.to_bytes())
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(header) = ack.feedback.and_then(|feedback| feedback.read(KIND, Header::from_bytes)) else {
            return;
        };
        // No router limited it: no queue on the way speaks RCP.
        let interval = Span::try_from_secs_f64(f64::from(ack.mss) / header.rate);
        self.interval = interval.filter(|_| header.rate.is_finite()).unwrap_or(FIRST);
    }
}
