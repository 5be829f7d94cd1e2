//! What acknowledgements do to the sending half.

use super::sent::Reported;
use super::{Resend, RoundTrips, Sender};
use crate::control::{Ack, AckKind, Discipline, Feedback, Reaction, SackRanges};
use crate::rto::AckTiming;
use meshpace_pacing::Route;
use meshpace_units::{Instant, Span};

/// An acknowledgement that passed the checks of RFC 9293, section 3.10.7.4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckEvent<'a> {
    pub(crate) now: Instant,
    /// The acknowledged position.
    pub(crate) ack: u64,
    /// It could be a duplicate: no data, SYN or FIN, and it left the peer's window as it was (RFC 5681, section 2).
    pub(crate) pure: bool,
    /// The wireless way, as far as the driver knows it.
    pub(crate) route: Option<&'a Route>,
    /// What the packet brought for the control.
    pub(crate) feedback: Option<&'a Feedback>,
    /// What the receiver's acknowledgement policy wrote for it.
    pub(crate) report: Option<&'a Feedback>,
    /// TCP-GAP's option.
    pub(crate) rtt_wired: Option<Span>,
    /// Time since the departure that ns-2's timestamp echoes; where there is none, RFC 7323's.
    pub(crate) echoed: Option<Span>,
    /// Time since the departure that RFC 7323's timestamp echoes.
    pub(crate) timestamp: Option<Span>,
    /// Selectively acknowledged positions.
    pub(crate) sack: Option<&'a SackRanges>,
    /// It echoes a mark.
    pub(crate) ecn_echo: bool,
}

impl Sender {
    /// Handles an acknowledgement that is not above what was sent.
    pub(crate) fn on_ack(&mut self, event: &AckEvent<'_>) {
        if event.ack > self.una {
            self.on_new_ack(event);
            return;
        }
        let duplicate = event.ack == self.una && event.pure && self.outstanding() && self.una > 0;
        let kind = if duplicate { AckKind::Duplicate } else { AckKind::Other };
        self.counters.duplicate_acks += u64::from(duplicate);
        let reported = self.reported(event);
        let sample = reported.map(|reported| reported.last);
        let reaction = self.tell(event, kind, 0, RoundTrips::default(), sample);
        self.react(event.now, reaction);
        if let Some(Reported { trip, before_first, .. }) = reported.filter(|_| event.ack == self.una) {
            self.estimator.on_report(trip, self.una, self.nxt);
            // What left before the first was sent again shows that the path works: it has its time from now on (Linux's
            // tcp_clean_rtx_queue).
            if before_first && self.needs_timer() {
                self.restart_timer(event.now);
            }
        }
        if duplicate {
            self.limit_burst(event.now);
        }
    }

    /// What the acknowledgement's report says of round trips, where the estimator wants that.
    fn reported(&mut self, event: &AckEvent<'_>) -> Option<Reported> {
        let blocks = event.sack.filter(|_| self.estimator.takes_reports())?;
        self.log.report(event.now, self.una, blocks.iter().copied().flatten())
    }

    fn on_new_ack(&mut self, event: &AckEvent<'_>) {
        let now = event.now;
        let acked = event.ack - self.una;
        let trips = self.log.acknowledge(now, event.ack);
        // The SYN is no data segment: its round trip says nothing about a data packet's.
        let data_trips = if self.una > 0 { trips } else { RoundTrips::default() };

        if let (Some(in_host), Some(trip)) = (&mut self.in_host, trips.newest) {
            in_host.on_round_trip(now, trip);
        }
        self.una = event.ack;
        self.nxt = self.nxt.max(self.una);
        self.limited = 0;
        self.retries = 0;
        self.resend = None;
        self.last_activity = now;
        let reported = self.reported(event);
        let sample = if self.estimator.takes_reports() {
            reported.map(|reported| reported.last).or(data_trips.unreported_last)
        } else {
            data_trips.newest
        };
        let reaction = self.tell(event, AckKind::New, acked, data_trips, sample.or(event.timestamp));
        // ns-2 restarts the timer of a partial acknowledgement before the back-off may end, of any other after the
        // round-trip update (ns2-behaviour.md 6.5, 6.10).
        let partial = matches!(reaction, Reaction::ResendHole { .. });
        self.react(now, reaction);
        let rtt = if self.estimator.takes_reports() {
            trips.unreported.or(reported.map(|reported| reported.trip)).or(event.timestamp)
        } else {
            trips.oldest.or(event.timestamp)
        };
        self.estimator.on_new_ack(&AckTiming { now, una: self.una, nxt: self.nxt, partial, rtt });
        if !self.needs_timer() {
            self.timer = None;
        } else if !partial {
            self.restart_timer(now);
        }
        self.limit_burst(now);
    }

    /// Tells the control, and empties its queue if it has ceased to queue.
    fn tell(
        &mut self,
        event: &AckEvent<'_>,
        kind: AckKind,
        acked: u64,
        trips: RoundTrips,
        sample: Option<Span>,
    ) -> Reaction {
        let AckEvent { now, route, feedback, report, rtt_wired, echoed, timestamp, sack, ecn_echo, .. } =
            *event;
        let RoundTrips { oldest, newest, .. } = trips;
        let (out, mss) = (self.state(), self.mss);
        let rate = self.delivery.as_mut().and_then(|delivery| {
            delivery.on_ack(now, out.una, sack.into_iter().flatten().copied().flatten(), mss)
        });
        let ecn_signal = ecn_echo && self.reductions.is_new(out.una);
        let reaction = self.control.on_ack(&Ack {
            now,
            kind,
            out,
            acked,
            mss,
            oldest,
            newest,
            sample,
            echoed,
            timestamp,
            route,
            rtt_wired,
            sack: sack.filter(|_| self.asks.sack),
            rate,
            ecn_echo,
            ecn_signal,
            feedback,
            report,
        });
        if ecn_signal {
            self.counters.ecn_reductions += 1;
            self.reductions.on_reduction(self.max);
        } else if reaction.is_loss() {
            self.reductions.on_loss(out.una, self.max);
        }
        self.flush_queue(now);
        reaction
    }

    /// A burst is limited where no permission is: what waits for its turn makes no burst.
    fn limit_burst(&mut self, now: Instant) {
        let permitted = self.control.pace(now).is_some_and(|pace| pace.discipline == Discipline::Permission);
        self.burst = if permitted { None } else { self.control.burst() };
    }

    pub(super) fn react(&mut self, now: Instant, reaction: Reaction) {
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
            Reaction::Recover => self.on_fast_retransmit(now),
            Reaction::RestartTimer => self.restart_timer(now),
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
    }
}
