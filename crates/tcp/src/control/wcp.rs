//! WCP's source: a rate that grows each control interval and is halved where a link on the way is near congestion.

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::{EXPLICIT_HEADER, HEADER, WindowPart};
use super::{
    Ack, Asks, Control, Departure, Feedback, Outstanding, Pace, PacingView, Reaction, Recovery, Window,
};
use alloc::boxed::Box;
use meshpace_explicit::SmoothedRtt;
use meshpace_explicit::wcp::{Config, Header, KIND, Source};
use meshpace_keys::{Key, Need};
use meshpace_pacing::Pacer;
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
        let pacer = Pacer::new(interval(&source));
        Box::new(Wcp {
            source,
            pacer,
            recovery: Recovery::new(&surroundings.rules),
            scratch: Window::new(surroundings.rules),
            rtt: SmoothedRtt::default(),
            header: values.count(EXPLICIT_HEADER) as u8,
        })
    },
)
.keys(&[&KEYS, &HEADER])
.needs(&[
    Need { key: "relay", words: super::part::WCP_RELAYS },
    // A mark on a segment that is not acknowledged by itself would be lost.
    Need { key: "ack_policy", words: &["every"] },
]);

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

fn interval(source: &Source) -> Option<Span> {
    Span::try_from_secs_f64(1.0 / source.rate())
}

#[derive(Clone, Debug)]
struct Wcp {
    source: Source,
    pacer: Pacer,
    /// When to send what again; it goes with a window, which nobody reads.
    recovery: Recovery,
    scratch: Window,
    rtt: SmoothedRtt,
    /// Bytes of the header on the air.
    header: u8,
}

impl Wcp {
    fn follow(&mut self, now: Instant) {
        let interval = interval(&self.source);
        if interval != self.pacer.interval() {
            self.pacer.set_interval(now, interval);
        }
    }
}

impl Control for Wcp {
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
        let header = ack.feedback.and_then(|feedback| feedback.read(KIND, Header::from_bytes));
        self.source.on_ack(ack.now, header.as_ref());
        self.follow(ack.now);
        self.recovery.resend(&mut self.scratch, ack)
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.source.on_silence(now);
        self.follow(now);
        self.recovery.on_timeout(out);
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
        let now = departure.now;
        self.source.on_departure(now);
        self.follow(now);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn request(&self, _: u32) -> Option<Feedback> {
        let header = Header { rtt: self.rtt.seconds(), ..Header::default() };
        Feedback::new(KIND, &header.to_bytes())
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
