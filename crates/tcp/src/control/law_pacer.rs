//! A one-token pacer whose interval follows a rate law: what the parts on the k-hop delay share.

use super::limiter::Waiting;
use super::{Ack, Departure, Pace, PacingView, Sent};
use meshpace_pacing::{AdaptiveConfig, Departures, Pacer, RateLaw};
use meshpace_units::{Bytes, Instant, Span};

/// A rate law and the pacer that follows it.
#[derive(Clone, Debug)]
pub(super) struct LawPacer {
    law: RateLaw,
    pacer: Pacer,
    waiting: Waiting,
}

impl LawPacer {
    pub(super) const fn new(law: AdaptiveConfig) -> Self {
        let law = RateLaw::new(law);
        let pacer = Pacer::new(law.interval());
        Self { law, pacer, waiting: Waiting::Permission }
    }

    /// The same, and so what is to leave waits.
    pub(super) const fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// The same, and what is held back leaves so.
    pub(super) fn leaving(mut self, departures: Departures) -> Self {
        self.pacer = Pacer::of(departures, self.law.interval());
        self
    }

    /// A round trip of the law's part of the path. Without a route there is no telling what it was over.
    pub(super) fn on_round_trip(&mut self, rtt: Span, ack: &Ack<'_>) {
        let Some(route) = ack.route else { return };
        if let Ok(interval) = self.law.on_round_trip(rtt, Bytes(u64::from(ack.mss)), route) {
            self.pacer.set_interval(ack.now, Some(interval));
        }
    }

    /// Nothing is held back from now on, until a round trip says otherwise.
    pub(super) fn lift(&mut self, now: Instant) {
        self.pacer.set_interval(now, None);
    }

    pub(super) fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    pub(super) fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, self.waiting)
    }

    pub(super) fn view(&self) -> PacingView {
        view(&self.law, self.pacer.interval())
    }
}

/// Data take the token, whether they waited for it or went past (schemes.md section 2, edge cases); a SYN does not.
pub(super) fn take_token(pacer: &mut Pacer, departure: &Departure) {
    if matches!(departure.sent, Sent::Data { .. }) {
        pacer.on_departure(departure.token);
    }
}

/// A pacer withholds permission, never segments (schemes.md 1.5), unless it is to queue as WiFu's does.
pub(super) fn gate(pacer: &Pacer, now: Instant, waiting: Waiting) -> Option<Pace> {
    let interval = pacer.interval()?;
    Some(Pace { release: pacer.release_at(now), interval, discipline: waiting.discipline() })
}

pub(super) fn view(law: &RateLaw, interval: Option<Span>) -> PacingView {
    PacingView {
        interval,
        k_hop_delay: law.k_hop_delay(),
        variation: law.k_hop_delay().map(|_| law.variation()),
        samples: law.samples(),
        rejected: law.rejected(),
        ..PacingView::default()
    }
}
