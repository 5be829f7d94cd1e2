//! RCP's sender: the rate that the routers on the way have for every flow, and no window.

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::{EXPLICIT_HEADER, HEADER, WindowPart};
use super::{
    Ack, Asks, Control, Departure, Feedback, Outstanding, Pace, PacingView, Reaction, Recovery, Window,
};
use alloc::boxed::Box;
use meshpace_explicit::{SmoothedRtt, rcp};
use meshpace_keys::Need;
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "rcp",
    "The least rate of the routers on the way, and no window (RCP); what is lost is sent again at that rate.",
    "schemes.md 12; Dukkipati, McKeown",
    |values, surroundings| {
        Box::new(Rcp {
            pacer: Pacer::new(Some(FIRST)),
            recovery: Recovery::new(&surroundings.rules),
            scratch: Window::new(surroundings.rules),
            rtt: SmoothedRtt::default(),
            header: values.count(EXPLICIT_HEADER) as u8,
        })
    },
)
.keys(&[&HEADER])
.needs(&[Need { key: "relay", words: super::part::RCP_RELAYS }]);

/// The interval before the first rate: the pacers' (schemes.md 1.5). The SYN has asked, so the rate is there before the data.
const FIRST: Span = Span::from_millis(50);

#[derive(Clone, Debug)]
struct Rcp {
    pacer: Pacer,
    /// When to send what again; it goes with a window, which nobody reads.
    recovery: Recovery,
    scratch: Window,
    rtt: SmoothedRtt,
    /// Bytes of the header on the air.
    header: u8,
}

impl Control for Rcp {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, relays: Some(self.header), ..Asks::default() }
    }

    fn on_connected(&mut self, _: bool, _: u32) {
        self.recovery.on_connected();
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.newest {
            self.rtt.on_sample(rtt);
        }
        let header = ack.feedback.and_then(|feedback| feedback.read(rcp::KIND, rcp::Header::from_bytes));
        if let Some(header) = header {
            // Nobody limited it: nothing on the way is a router of RCP.
            let interval = Span::try_from_secs_f64(f64::from(ack.mss) / header.rate);
            self.pacer.set_interval(ack.now, interval.filter(|_| header.rate.is_finite()).or(Some(FIRST)));
        }
        self.recovery.resend(&mut self.scratch, ack)
    }

    fn on_timeout(&mut self, _: Instant, out: &Outstanding) {
        self.recovery.on_timeout(out);
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn request(&self, _: u32) -> Option<Feedback> {
        let header = rcp::Header { rtt: self.rtt.seconds(), rate: f64::INFINITY };
        Feedback::new(rcp::KIND, &header.to_bytes())
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
