//! What acknowledgements do to the sending half.

use super::{Resend, Sender};
use crate::congestion::Reaction;
use crate::pace::{AckSample, Gate};
use crate::rto::AckTiming;
use meshpace_units::{Instant, Span};

/// An acknowledgement that passed the checks of RFC 9293, section 3.10.7.4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckEvent {
    pub(crate) now: Instant,
    /// The acknowledged position.
    pub(crate) ack: u64,
    /// It could be a duplicate: no data, SYN or FIN, and it left the peer's window as it was (RFC 5681, section 2).
    pub(crate) pure: bool,
    /// Links that it crossed.
    pub(crate) hops: Option<u32>,
    /// TCP-GAP's option.
    pub(crate) rtt_wired: Option<Span>,
    /// Time since the departure that ns-2's timestamp echoes.
    pub(crate) echoed: Option<Span>,
    /// Time since the departure that RFC 7323's timestamp echoes.
    pub(crate) timestamp: Option<Span>,
}

impl Sender {
    /// Handles an acknowledgement that is not above what was sent.
    pub(crate) fn on_ack(&mut self, event: &AckEvent) {
        if event.ack > self.una {
            self.on_new_ack(event);
            return;
        }
        let duplicate = event.ack == self.una && event.pure && self.outstanding() && self.una > 0;
        if matches!(self.gate, Gate::Agent(_)) {
            self.sample(event, None, None); // the agent samples duplicates, too
        }
        if duplicate {
            self.counters.duplicate_acks += 1;
            let reaction = self.congestion.on_duplicate(&self.state());
            self.react(event.now, reaction);
            self.burst = self.congestion.burst();
        }
    }

    fn on_new_ack(&mut self, event: &AckEvent) {
        let now = event.now;
        let acked = (event.ack - self.una) as f64 / f64::from(self.mss);
        let partial = self.congestion.is_partial(event.ack);
        let trips = self.log.acknowledge(now, event.ack);
        let segment = self.una > 0; // the SYN is no data segment: its round trip says nothing about a data packet's
        self.sample(event, trips.oldest.filter(|_| segment), trips.newest.filter(|_| segment));

        self.una = event.ack;
        self.nxt = self.nxt.max(self.una);
        self.limited = 0;
        self.retries = 0;
        self.resend = None;
        self.last_activity = now;
        let reaction = self.congestion.on_new_ack(acked, &self.state());
        // ns-2 restarts the timer of a partial acknowledgement before the back-off may end, of any other after the
        // round-trip update (ns2-behaviour.md 6.5, 6.10).
        self.react(now, reaction);
        let rtt = trips.oldest.or(event.timestamp);
        self.estimator.on_new_ack(&AckTiming { now, una: self.una, partial, rtt });
        if !self.needs_timer() {
            self.timer = None;
        } else if !partial {
            self.restart_timer(now);
        }
        self.burst = self.congestion.burst();
    }

    fn sample(&mut self, event: &AckEvent, oldest: Option<Span>, newest: Option<Span>) {
        let sample = AckSample {
            now: event.now,
            oldest,
            newest,
            echoed: event.echoed,
            hops: event.hops,
            rtt_wired: event.rtt_wired,
            mss: self.mss,
        };
        self.gate.on_ack(&sample);
    }

    fn react(&mut self, now: Instant, reaction: Reaction) {
        match reaction {
            Reaction::Continue => {}
            Reaction::GoBack => {
                self.on_fast_retransmit(now);
                self.go_back();
                self.resend = Some(Resend::Fast);
            }
            Reaction::FastRetransmit => {
                self.on_fast_retransmit(now);
                self.resend = Some(Resend::Fast);
            }
            Reaction::ResendHole { restart_timer } => {
                if restart_timer {
                    self.restart_timer(now);
                }
                self.resend = Some(Resend::Hole);
            }
        }
    }

    /// The timer restarts without back-off and timing stops (ns2-behaviour.md 6.4).
    fn on_fast_retransmit(&mut self, now: Instant) {
        self.counters.fast_retransmits += 1;
        self.restart_timer(now);
        self.estimator.stop_timing();
        self.gate.on_loss();
    }
}
