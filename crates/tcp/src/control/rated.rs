//! A sender with a rate and no window: what those of explicit rates (RCP, WCP) share.

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::recovery::FastRecovery;
use super::{
    Ack, Asks, Control, Departure, Feedback, Outstanding, Pace, PacingView, Progress, Reaction, Recovery,
    Rules, Window,
};
use alloc::boxed::Box;
use core::fmt::Debug;
use meshpace_explicit::SmoothedRtt;
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};

/// Where the rate comes from.
pub trait RateSource: Clone + Debug + Send + Sync + 'static {
    /// What a segment asks of the relays; `rtt`: the smoothed round trip in seconds, `None` before the first.
    fn request(&self, rtt: Option<f64>) -> Option<Feedback>;

    /// The time between two segments; `None`: they are not held back.
    fn interval(&self) -> Option<Span>;

    /// Whether it goes by the wireless way ([`Ack::route`]).
    fn asks_route(&self) -> bool {
        false
    }

    /// An acknowledgement arrived, with what relays said in [`Ack::feedback`].
    fn on_ack(&mut self, ack: &Ack<'_>);

    /// The retransmission timer expired.
    fn on_timeout(&mut self, _now: Instant) {}

    /// A SYN or a segment with payload left.
    fn on_departure(&mut self, _now: Instant) {}
}

/// Paces at the rate of its source, and sends again at that rate what is lost.
#[derive(Clone, Debug)]
pub struct Rated<S> {
    source: S,
    pacer: Pacer,
    /// When to send what again; it goes with a window, which is not read.
    recovery: FastRecovery,
    scratch: Window,
    rtt: SmoothedRtt,
    /// Bytes of the header on the air.
    header: u8,
}

impl<S: RateSource> Rated<S> {
    /// Of this source, within the rules of a TCP profile; `header`: bytes that what relays are asked takes on the air.
    pub fn boxed(source: S, rules: Rules, header: u8) -> Box<dyn Control> {
        Box::new(Self {
            pacer: Pacer::new(source.interval()),
            source,
            recovery: FastRecovery::new(&rules),
            scratch: Window::new(rules),
            rtt: SmoothedRtt::default(),
            header,
        })
    }

    fn follow(&mut self, now: Instant) {
        let interval = self.source.interval();
        if interval != self.pacer.interval() {
            self.pacer.set_interval(now, interval);
        }
    }
}

impl<S: RateSource> Control for Rated<S> {
    fn asks(&self) -> Asks {
        let route = self.source.asks_route();
        Asks { round_trips: true, route, relays: Some(self.header), ..Asks::default() }
    }

    fn on_connected(&mut self, _: bool, mss: u32) {
        self.recovery.on_connected(mss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.newest {
            self.rtt.on_sample(rtt);
        }
        self.source.on_ack(ack);
        self.follow(ack.now);
        match self.recovery.on_ack(&mut self.scratch, ack) {
            Progress::Open | Progress::Hold | Progress::Undo => Reaction::Continue,
            Progress::Repair(reaction) => reaction,
            Progress::Loss { inflation } => {
                let cwnd = self.scratch.cut_threshold(inflation, &ack.out);
                self.recovery.begin(&mut self.scratch, cwnd, &ack.out)
            }
        }
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.source.on_timeout(now);
        self.follow(now);
        self.recovery.on_timeout(now, out);
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
        self.source.on_departure(departure.now);
        self.follow(departure.now);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn request(&self, _: u32) -> Option<Feedback> {
        self.source.request(self.rtt.seconds())
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
