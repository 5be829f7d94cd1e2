//! Everything that happens because time passes.

use super::{Connection, State};
use crate::event::Closing;
use meshpace_units::{Instant, Span};

/// The longest wait between probes of a closed window (RFC 9293, section 3.8.6.1, leaves it open; Linux's limit).
const PROBE_MAX: Span = Span::from_secs(120);

/// The timers besides the retransmission timer, the pacer and the delayed acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    /// The next probe of a closed window.
    persist: Option<Instant>,
    /// Probes sent since the window was last seen open.
    pub(super) probes: u32,
    pub(super) time_wait: Option<Instant>,
    /// When the peer was last heard.
    heard: Option<Instant>,
    /// Keep-alive probes sent since.
    unanswered: u32,
    /// When the latest of them was sent.
    asked: Option<Instant>,
}

impl Timers {
    pub(super) const fn heard(&mut self, now: Instant) {
        self.heard = Some(now);
        self.unanswered = 0;
        self.asked = None;
    }
}

impl Connection {
    /// The earliest time at which [`handle_timeout`](Self::handle_timeout) has something to do; `None` if never.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None; // an acknowledgement still owed goes nowhere
        }
        let sends = self.state.sends();
        let pacer = if sends { self.sender.release_at(self.now) } else { None };
        let acknowledgement = self.receiver.as_ref().and_then(|receiver| receiver.ack_deadline());
        [
            self.sender.control_deadline(),
            pacer,
            acknowledgement,
            self.timers.persist,
            self.timers.time_wait,
            self.keep_alive_at(),
        ]
        .into_iter()
        .fold(self.sender.timer, Instant::earlier)
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.timers.time_wait) {
            self.gone(Closing::Finished);
            return;
        }
        if let Some(receiver) = &mut self.receiver {
            self.sender.counters.timer_acks += u64::from(receiver.on_deadline(now));
        }
        if due(self.sender.timer) {
            self.on_retransmission_timeout(now);
        }
        if due(self.sender.control_deadline()) {
            self.sender.on_control_deadline(now);
        }
        if due(self.timers.persist) {
            self.on_persist_timeout();
        }
        if due(self.keep_alive_at()) {
            self.on_keep_alive();
        }
    }

    /// A segment with data that [`poll_transmit`](Self::poll_transmit) gave has left the host by its first link, or has been
    /// dropped there. What waited for that leaves now.
    pub fn handle_departure(&mut self, now: Instant) {
        self.now = now;
        self.sender.on_left_host();
    }

    fn on_retransmission_timeout(&mut self, now: Instant) {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        let limit = if opening { self.config.syn_retries } else { self.config.retries };
        if limit.is_some_and(|limit| self.sender.retries >= limit) {
            self.gone(Closing::TimedOut);
            return;
        }
        self.sender.on_timeout(now);
        self.syn_due |= opening;
        if self.state == State::SynSent {
            self.ecn.on_syn_timeout();
        }
    }

    /// Called when nothing more can be sent: if only the peer's window is in the way, it is probed from time to time
    /// (RFC 9293, section 3.8.6.1).
    pub(super) fn arm_persist_timer(&mut self, now: Instant) {
        if !self.state.sends() || !self.sender.blocked_by_peer() {
            self.timers.persist = None;
        } else if self.timers.persist.is_none() {
            let wait =
                self.sender.rto().as_nanos().checked_shl(self.timers.probes.min(31)).unwrap_or(u64::MAX);
            self.timers.persist = now.checked_add(Span::from_nanos(wait).min(PROBE_MAX));
        }
    }

    fn on_persist_timeout(&mut self) {
        self.timers.persist = None;
        if !self.sender.blocked_by_peer() {
            return;
        }
        if !self.sender.force() {
            self.timers.probes = self.timers.probes.saturating_add(1);
            self.probe_due = true;
        }
    }

    fn keep_alive_at(&self) -> Option<Instant> {
        let keep_alive = self.config.keep_alive?;
        let quiet =
            self.state.is_synchronized() && self.state != State::TimeWait && !self.sender.outstanding();
        let heard = self.timers.heard.filter(|_| quiet)?;
        // Counted from the probe itself: after a driver's pause the peer still has its time to answer each.
        match self.timers.asked {
            Some(asked) => asked.checked_add(keep_alive.interval),
            None => heard.checked_add(keep_alive.idle),
        }
    }

    fn on_keep_alive(&mut self) {
        let Some(keep_alive) = self.config.keep_alive else { return };
        if self.timers.unanswered >= keep_alive.probes {
            self.reset_peer();
            self.gone(Closing::TimedOut);
            return;
        }
        self.timers.unanswered += 1;
        self.timers.asked = Some(self.now);
        self.probe_due = true;
    }
}
