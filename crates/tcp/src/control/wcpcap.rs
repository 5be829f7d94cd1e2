//! WCPCap's source: the share of the air that its flow was given, and no window.

use super::part::{EXPLICIT_HEADER, HEADER, OWN_RECOVERY, SenderPart, WindowPart};
use super::rated::{RateSource, Rated};
use super::{Ack, Feedback};
use meshpace_explicit::wcpcap::{Header, KIND};
use meshpace_keys::Need;
use meshpace_units::Span;

pub(super) static PART: WindowPart = WindowPart::new(
    "wcpcap",
    "The flow's max-min share of the air, and no window (wcpcap-airtime, a surrogate for WCPCap); what is lost is sent again at that \
     rate.",
    "schemes.md 13; after Rangwala et al. 2008",
    |values, surroundings| {
        let source = Wcpcap { interval: FIRST };
        let header = values.count(EXPLICIT_HEADER) as u8;
        SenderPart::Whole(Rated::boxed(source, surroundings.rules, header))
    },
)
.keys(&[&HEADER])
.brings(&[OWN_RECOVERY])
.needs(&[Need { key: "relay", words: super::part::WCPCAP_RELAYS }])
.reconstructed("the model: wcpcap-airtime, max-min shares of the air (schemes.md 13)");

/// The interval before the first share: the pacers' (schemes.md 1.5). The SYN has asked, so the share is there before the data.
const FIRST: Span = Span::from_millis(50);

#[derive(Clone, Debug)]
struct Wcpcap {
    interval: Span,
}

impl RateSource for Wcpcap {
    fn request(&self, _: Option<f64>) -> Option<Feedback> {
        Feedback::new(KIND, &Header::default().to_bytes())
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let header = ack.feedback.and_then(|feedback| feedback.read(KIND, Header::from_bytes));
        let share = header.and_then(|header| header.rate);
        self.interval = share.and_then(|share| Span::try_from_secs_f64(1.0 / share)).unwrap_or(self.interval);
    }
}
