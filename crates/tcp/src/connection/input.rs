//! Arriving segments: RFC 9293, section 3.10.7, with the checks of RFC 5961 and RFC 7323.

use super::{Connection, State};
use crate::ack_policy::Transit;
use crate::control::SackRanges;
use crate::event::{Arrival, Closing, Event, Received};
use crate::position;
use crate::receiver::SegmentContext;
use crate::segment::Segment;
use crate::sender::AckEvent;
use alloc::boxed::Box;
use meshpace_units::{Instant, Span};

/// The span in which challenge acknowledgements are counted (RFC 5961, section 7).
const CHALLENGE_PERIOD: Span = Span::from_secs(1);

impl Connection {
    /// Takes a segment that arrived for this connection. Whether it belongs here (addresses, ports) is the driver's
    /// business.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment, arrival: &Arrival) -> Received {
        self.now = now;
        if arrival.request.is_some() {
            self.answered = arrival.request;
        }
        if matches!(self.state, State::Closed | State::Listen | State::SynSent) {
            self.on_first_segment(now, segment, arrival);
            return Received::default();
        }
        self.on_later_segment(now, segment, arrival)
    }

    #[cold]
    fn on_first_segment(&mut self, now: Instant, segment: &Segment, arrival: &Arrival) {
        match self.state {
            State::Listen => self.on_listen(now, segment),
            State::SynSent => self.on_syn_sent(now, segment, arrival),
            _ => self.reset = super::reset_for(segment).map(Box::new),
        }
    }

    #[inline]
    fn on_later_segment(&mut self, now: Instant, segment: &Segment, arrival: &Arrival) -> Received {
        let Some(receiver) = &mut self.receiver else { return Received::default() };
        let stamp = segment.options.timestamps.filter(|_| self.timestamps);
        let old = stamp.is_some_and(|stamp| receiver.is_old(now, stamp.value)) && !segment.flags.rst;
        let start = receiver.position(segment.seq);
        let length = u64::from(segment.sequence_length());
        let acceptable = start.is_some_and(|start| receiver.acceptable(start, length));
        if segment.flags.syn && !segment.flags.rst {
            self.on_unexpected_syn(segment);
            return Received::default();
        }
        let Some(start) = start.filter(|_| acceptable && !old) else {
            self.discard(now, segment, start, arrival);
            return Received::default();
        };
        if segment.flags.rst {
            self.on_reset(start);
            return Received::default();
        }
        if !segment.flags.ack {
            return Received::default();
        }
        // The time-out counts as it was before the acknowledgement.
        let way = self.way(now, segment, arrival);
        if let (Some(stamp), Some(receiver)) = (stamp, &mut self.receiver) {
            receiver.remember(now, stamp.value, start);
        }
        self.timers.heard(now);
        if !self.on_ack(now, segment, arrival) || length == 0 {
            return Received::default();
        }
        self.on_payload(now, segment, start, way)
    }

    /// A segment that is not acceptable: at `start`, if it lies in the stream at all.
    #[cold]
    fn discard(&mut self, now: Instant, segment: &Segment, start: Option<u64>, arrival: &Arrival) {
        self.sender.counters.discarded += 1;
        let way = self.way(now, segment, arrival);
        let Some(receiver) = self.receiver.as_mut().filter(|_| !segment.flags.rst) else { return };
        if let Some(start) = start.filter(|_| segment.payload > 0) {
            receiver.refuse(now, start, segment.payload, segment.flags, way);
        }
        receiver.owe_alone();
        if start.is_some_and(|start| receiver.echoes(start)) {
            self.echo = self.echo.max(segment.ns2.map(|stamp| stamp.sent));
        }
        self.restart_time_wait(segment);
    }

    /// An acceptable reset at `start`: only an exact hit resets (RFC 5961, section 3.2).
    #[cold]
    fn on_reset(&mut self, start: u64) {
        if self.receiver.as_ref().is_none_or(|receiver| receiver.nxt != start) {
            return self.challenge();
        }
        self.gone(match self.state {
            State::SynReceived if !self.passive => Closing::Refused,
            // Both sides have everything. The peer has forgotten the connection, and met a late copy of what we sent
            // (RFC 9293, section 3.10.7.4: in TIME-WAIT the application is not told of a reset).
            State::TimeWait => Closing::Finished,
            _ => Closing::Reset,
        });
    }

    /// Handles the acknowledgement; false if the segment goes no further.
    fn on_ack(&mut self, now: Instant, segment: &Segment, arrival: &Arrival) -> bool {
        let ack = position::position(self.iss, self.sender.una, segment.ack);
        if self.state == State::SynReceived {
            if ack.is_none_or(|ack| ack == 0 || ack > self.sender.max) {
                self.reset = super::reset_for(segment).map(Box::new);
                return false;
            }
            self.set_peer_window(segment, 1);
            self.on_ack_of_syn(now, segment, arrival);
        }
        // RFC 5961, section 5.2: neither above what was sent nor below what any window could explain.
        let oldest = self.sender.una.saturating_sub(self.sender.max_window);
        let Some(ack) = ack.filter(|&ack| oldest <= ack && ack <= self.sender.max) else {
            self.challenge();
            return false;
        };
        let before = (self.sender.edge, self.sender.una);
        if ack >= self.sender.una {
            self.set_peer_window(segment, ack);
        }
        let window_held = before.0 == self.sender.edge;
        let pure = segment.is_pure_ack() && (window_held || !self.config.duplicates_keep_window);
        if ack > self.sender.una || self.sender.has_written() {
            let reported = self.reported(segment);
            let event = self.ack_event(now, segment, ack, (arrival, reported.as_ref()), pure);
            self.sender.on_ack(&event);
        }
        if self.sender.una > before.1 {
            self.on_progress();
        }
        self.state != State::Closed
    }

    /// Something new was acknowledged.
    fn on_progress(&mut self) {
        let all_data = self.sender.una >= self.sender.end;
        if all_data && !self.drained {
            self.drained = true;
            self.events.push_back(Event::Drained);
        }
        if !self.sender.fin || self.sender.una < self.sender.final_position() {
            return;
        }
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(),
            State::LastAck => self.gone(Closing::Finished),
            _ => {}
        }
    }

    /// RFC 9293, section 3.10.7.4: the window comes from the newest segment.
    fn set_peer_window(&mut self, segment: &Segment, ack: u64) {
        let (seq, last_ack) = self.window_set_by;
        if seq.before(segment.seq) || (seq == segment.seq && last_ack <= ack) {
            let window = u64::from(segment.window) << self.peer_scale;
            self.sender.edge = ack + window;
            self.sender.max_window = self.sender.max_window.max(window);
            self.window_set_by = (segment.seq, ack);
            if window > 0 {
                self.timers.probes = 0;
            }
        }
    }

    /// The positions that a segment acknowledges selectively, where that was agreed on.
    #[inline]
    pub(super) fn reported(&self, segment: &Segment) -> Option<SackRanges> {
        let near = |seq| position::position(self.iss, self.sender.una, seq);
        self.sack.then(|| {
            segment.options.sack.map(|block| {
                let (left, right) = block?;
                Some((near(left)?, near(right)?)).filter(|(left, right)| left < right)
            })
        })
    }

    #[inline]
    pub(super) fn ack_event<'a>(
        &self,
        now: Instant,
        segment: &Segment,
        ack: u64,
        (arrival, sack): (&'a Arrival, Option<&'a SackRanges>),
        pure: bool,
    ) -> AckEvent<'a> {
        let timestamp = self.echoed(now, segment).map(|(_, trip)| trip);
        // The agent of 2005 lives on echoed departures. Off the simulator RFC 7323's are the nearest thing, in milliseconds.
        let exact = segment.ns2.and_then(|stamp| stamp.echo).and_then(|sent| now.checked_since(sent));
        let echoed = exact.or(timestamp);
        let ecn_echo = self.ecn.is_echo(segment.flags);
        let rtt_wired = segment.options.rtt_wired;
        let Arrival { route, feedback, report, .. } = arrival;
        let (route, feedback, report) = (route.as_ref(), feedback.as_ref(), report.as_ref());
        AckEvent { now, ack, pure, route, feedback, report, rtt_wired, echoed, timestamp, sack, ecn_echo }
    }

    /// Which time stamp of ours a segment echoes, and how long ago that was, in whole milliseconds.
    fn echoed(&self, now: Instant, segment: &Segment) -> Option<(u32, Span)> {
        let stamp = segment.options.timestamps.filter(|stamp| self.timestamps && stamp.echo != 0)?;
        let ms = self.clock(now).wrapping_sub(stamp.echo);
        // A clock that ran backwards would make this huge; an echo within its own unit counts as one.
        (ms < 1 << 31).then(|| (stamp.echo, Span::from_millis(u64::from(ms.max(1)))))
    }

    /// How a segment came. Only of payload anybody asks that.
    #[inline]
    fn way(&self, now: Instant, segment: &Segment, arrival: &Arrival) -> SegmentContext {
        if segment.payload == 0 {
            return SegmentContext::default();
        }
        let (transit, echo) = (self.transit(now, segment), self.echoed(now, segment));
        SegmentContext { ecn: arrival.ecn, transit, echo, timeout: self.sender.rto() }
    }

    /// How long a segment was on its way, as far as it says when it left.
    fn transit(&self, now: Instant, segment: &Segment) -> Option<Transit> {
        if let Some(sent) = segment.ns2.and_then(|stamp| now.checked_since(stamp.sent)) {
            return Some(Transit::Exact(sent));
        }
        let stamp = segment.options.timestamps.filter(|_| self.timestamps)?;
        Some(Transit::Relative(self.clock(now).wrapping_sub(stamp.value)))
    }

    /// A segment that takes sequence space, beside what it acknowledges.
    fn on_payload(&mut self, now: Instant, segment: &Segment, start: u64, way: SegmentContext) -> Received {
        let Some(receiver) = &mut self.receiver else { return Received::default() };
        let receiving = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if receiver.echoes(start) {
            self.echo = self.echo.max(segment.ns2.map(|stamp| stamp.sent));
        }
        if !receiving {
            // The peer has sent its FIN; this repeats it or is in error. Either way it hears where we are.
            receiver.owe_alone();
            self.restart_time_wait(segment);
            return Received::default();
        }
        if segment.payload > 0 && self.ecn.on_data(segment.flags, way.ecn) {
            self.sender.counters.marks += 1;
        }
        let taken = receiver.take(now, start, u64::from(segment.payload), segment.flags, way);
        if taken.finished {
            self.on_peer_finished();
        }
        Received { payload: taken.placement, delivered: taken.delivered }
    }

    #[cold]
    fn on_peer_finished(&mut self) {
        self.events.push_back(Event::PeerFinished);
        match self.state {
            State::Established => self.state = State::CloseWait,
            // If our FIN was acknowledged by this very segment the state is FIN-WAIT-2 already.
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(),
            _ => {}
        }
    }

    #[cold]
    fn enter_time_wait(&mut self) {
        self.state = State::TimeWait;
        self.sender.timer = None;
        self.timers.time_wait = self.now.checked_add(self.config.time_wait);
    }

    #[cold]
    fn restart_time_wait(&mut self, segment: &Segment) {
        if self.state == State::TimeWait && segment.flags.fin {
            self.timers.time_wait = self.now.checked_add(self.config.time_wait);
        }
    }

    /// A challenge acknowledgement, not too often (RFC 5961, sections 3.2, 4.2, 5.2 and 7).
    #[cold]
    pub(super) fn challenge(&mut self) {
        let (since, sent) = &mut self.challenges;
        if since.is_none_or(|since| self.now.saturating_since(since) >= CHALLENGE_PERIOD) {
            (*since, *sent) = (Some(self.now), 0);
        }
        if *sent < self.config.challenge_acks {
            *sent += 1;
            if let Some(receiver) = &mut self.receiver {
                receiver.owe_alone();
            }
        }
    }
}
