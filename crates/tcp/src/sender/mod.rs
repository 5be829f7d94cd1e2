//! The sending half: what may leave, what is outstanding, when it is given up as lost.

mod ack;
mod sent;

pub(crate) use ack::AckEvent;

use crate::config::{Config, HeaderSize};
use crate::congestion::{Congestion, Outstanding};
use crate::measure::Counters;
use crate::pace::Gate;
use crate::rto::Estimator;
use meshpace_units::{Instant, Span};
use sent::SentLog;

/// A piece of the stream to be sent: payload `[start, start + length)`, with the FIN behind it if `fin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) start: u64,
    pub(crate) length: u32,
    pub(crate) fin: bool,
}

impl Chunk {
    /// The position after it.
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.length as u64 + self.fin as u64
    }
}

/// A retransmission that comes before everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resend {
    /// Past the pacer (schemes.md section 2).
    Fast,
    /// Through the pacer.
    Hole,
}

/// The sending half of a connection. Positions as in [`crate::position`].
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// First unacknowledged position.
    pub(crate) una: u64,
    /// Next position to send; behind `max` while going back.
    pub(crate) nxt: u64,
    /// The position after the highest one ever sent.
    pub(crate) max: u64,
    /// The position after the last byte written.
    pub(crate) end: u64,
    /// The application never ends.
    pub(crate) endless: bool,
    /// A FIN follows the last byte.
    pub(crate) fin: bool,
    /// Payload of a full segment.
    pub(crate) mss: u32,
    /// The right edge of the peer's window.
    pub(crate) edge: u64,
    /// The largest window the peer has offered.
    pub(crate) max_window: u64,
    pub(crate) resend: Option<Resend>,
    /// The next segment may be as small as the peer's window makes it.
    forced: bool,
    /// New segments still allowed after the last acknowledgement; `None`: what the window allows.
    burst: Option<u32>,
    /// Bytes sent by limited transmit since the last new acknowledgement.
    limited: u64,
    /// When the retransmission timer expires.
    pub(crate) timer: Option<Instant>,
    /// When the pacer lets out what waits for nothing else; `None` if nothing does.
    due: Option<Instant>,
    /// Timeouts in a row without progress.
    pub(crate) retries: u32,
    pub(crate) syn_lost: bool,
    last_activity: Instant,
    limit: Option<u32>,
    nagle: bool,
    rto_backoff: bool,
    keeps_log: bool,
    /// The driver's bytes are gone once they are acknowledged. ns-2 has none, and its agent sends again what was
    /// acknowledged while it waited.
    forgets: bool,
    log: SentLog,
    pub(crate) congestion: Congestion,
    pub(crate) estimator: Estimator,
    pub(crate) gate: Gate,
    pub(crate) counters: Counters,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let gate = Gate::new(&config.pacing);
        Self {
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            endless: false,
            fin: false,
            mss: config.mss,
            edge: 1,
            max_window: 0,
            resend: None,
            forced: false,
            burst: None,
            limited: 0,
            timer: None,
            due: None,
            retries: 0,
            syn_lost: false,
            last_activity: Instant::ZERO,
            limit: config.window,
            nagle: config.nagle,
            rto_backoff: config.rto_backoff,
            keeps_log: matches!(gate, Gate::Law(_)) || matches!(config.rto, crate::RtoConfig::Smoothed(_)),
            forgets: config.headers == HeaderSize::Real,
            log: SentLog::default(),
            congestion: Congestion::new(config.congestion, config.rules),
            estimator: Estimator::new(config.rto),
            gate,
            counters: Counters::default(),
        }
    }

    /// The position after everything there is to send, the FIN included.
    pub(crate) const fn final_position(&self) -> u64 {
        self.end + self.fin as u64
    }

    /// True if something sent is not acknowledged.
    pub(crate) const fn outstanding(&self) -> bool {
        self.una < self.max
    }

    fn state(&self) -> Outstanding {
        let flight = self.nxt.saturating_sub(self.una).saturating_sub(self.limited);
        Outstanding {
            una: self.una,
            max: self.max,
            flight: flight as f64 / f64::from(self.mss),
            limit: self.limit.map_or(f64::INFINITY, f64::from),
        }
    }

    /// True if the retransmission timer must run. The agent of 2005 counts as sent what it only queued and perhaps
    /// flushed, so for it `nxt` may be ahead of `max`.
    const fn needs_timer(&self) -> bool {
        self.una < self.max || self.una < self.nxt
    }

    /// The position that the next segment must not pass by the sender's own rules (not the peer's).
    fn own_edge(&self) -> u64 {
        let window = self.congestion.allowance(self.mss, self.nxt == self.max);
        let limit = self.limit.map_or(u64::MAX, |segments| u64::from(segments) * u64::from(self.mss));
        self.una.saturating_add(window.min(limit))
    }

    /// What the windows allow to be sent next, in order; `None` if they allow nothing or nothing waits.
    pub(crate) fn next_chunk(&self) -> Option<Chunk> {
        if !self.gate.spaces_bursts() && self.burst == Some(0) {
            return None;
        }
        let start = self.nxt;
        let waiting = self.end.saturating_sub(start);
        if waiting == 0 {
            return (self.fin && start == self.end).then_some(Chunk { start, length: 0, fin: true });
        }
        let mut length = waiting.min(u64::from(self.mss));
        if start + length > self.own_edge() {
            return None;
        }
        // The first unacknowledged segment is resent even into a window that has closed since.
        let going_back = start == self.una && start < self.max;
        let usable = self.edge.saturating_sub(start);
        if usable < length && !going_back {
            // Silly window avoidance: half the largest window is worth a segment (RFC 9293, section 3.8.6.2.1).
            if usable == 0 || usable < self.max_window.div_ceil(2) {
                return None;
            }
            length = usable;
        }
        let small_and_new = length < u64::from(self.mss) && start == self.max;
        if self.nagle && small_and_new && self.outstanding() && !self.fin {
            return None;
        }
        Some(self.chunk(start, length as u32))
    }

    fn chunk(&self, start: u64, length: u32) -> Chunk {
        Chunk { start, length, fin: self.fin && start + u64::from(length) == self.end }
    }

    /// The first unacknowledged segment, as far as it was sent before.
    fn first_unacknowledged(&self) -> Chunk {
        let data = self.max.min(self.end).saturating_sub(self.una);
        let length = data.min(u64::from(self.mss)) as u32;
        let fin = self.fin && self.max > self.end && self.una + u64::from(length) == self.end;
        Chunk { start: self.una, length, fin }
    }

    /// Takes what may leave at `now`, retransmissions first.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Chunk> {
        if self.resend == Some(Resend::Fast) {
            self.resend = None;
            let chunk = self.first_unacknowledged();
            self.nxt = self.nxt.max(chunk.end());
            return Some(chunk);
        }
        if core::mem::take(&mut self.forced) {
            if let Some(chunk) = self.forced_chunk() {
                return Some(chunk);
            }
        }
        if !matches!(&self.gate, Gate::Agent(agent) if agent.is_pacing()) {
            if self.gate.ready(now) {
                let chunk = self.take_permitted(now);
                self.due = self.due.filter(|_| chunk.is_some());
                return chunk;
            }
            self.due = self.release_at(now);
            return self.take_bare_fin();
        }
        while let Some(chunk) = self.take_permitted(now) {
            if let Gate::Agent(agent) = &mut self.gate {
                agent.push(chunk);
            }
        }
        let Gate::Agent(agent) = &mut self.gate else { return None };
        if self.forgets {
            agent.drop_acknowledged(self.una);
        }
        agent.promise(now);
        if agent.ready(now) { agent.pop() } else { None }
    }

    fn take_permitted(&mut self, now: Instant) -> Option<Chunk> {
        if self.resend.take().is_some() {
            return Some(self.first_unacknowledged());
        }
        if !self.outstanding() && now.saturating_since(self.last_activity) >= self.estimator.rto() {
            self.congestion.on_idle(self.mss);
        }
        let new_data = self.nxt == self.max;
        let chunk = self.next_chunk()?;
        let extension = u64::from(self.congestion.extension(new_data)) * u64::from(self.mss);
        if chunk.end() + extension > self.una.saturating_add(self.congestion.allowance(self.mss, new_data)) {
            self.limited += u64::from(chunk.length);
        }
        self.burst = self.burst.map(|left| left.saturating_sub(1));
        self.nxt = chunk.end();
        Some(chunk)
    }

    /// A FIN with no data waits behind the data, not for the pacer.
    fn take_bare_fin(&mut self) -> Option<Chunk> {
        let chunk = self.next_chunk().filter(|chunk| chunk.length == 0)?;
        self.nxt = chunk.end();
        Some(chunk)
    }

    /// `chunk` leaves now. True if any of it leaves for the first time.
    pub(crate) fn on_departure(&mut self, now: Instant, chunk: &Chunk) -> bool {
        let end = chunk.end();
        let first = end > self.max;
        if chunk.length > 0 {
            self.counters.data_segments += 1;
            if first {
                self.counters.distinct_segments += 1;
            } else {
                self.counters.retransmits += 1;
            }
            // What waited for its time counts as sent then, lest the lateness of drivers add up (schemes.md 3.6). Not if
            // that would let the next one out at once: there are no bursts (schemes.md 1.5).
            let interval = self.gate.view().interval.unwrap_or(Span::ZERO);
            let due = self.due.take().filter(|due| *due <= now && now.saturating_since(*due) < interval);
            self.gate.on_departure(due.unwrap_or(now));
        }
        self.on_sequence_sent(now, chunk.start, end);
        first
    }

    /// The SYN left.
    pub(crate) fn on_syn_departure(&mut self, now: Instant) {
        if matches!(self.gate, Gate::Agent(_)) {
            self.gate.on_departure(now);
        }
        self.nxt = 1;
        self.on_sequence_sent(now, 0, 1);
    }

    fn on_sequence_sent(&mut self, now: Instant, start: u64, end: u64) {
        let idle = !self.outstanding();
        if end > self.max {
            self.max = end;
            self.estimator.on_first_sent(now, end);
        }
        if self.keeps_log {
            self.log.record(now, start, end);
        }
        // ns-2 and RFC 6298, rule 5.1: the timer starts with the first outstanding segment and is left alone after.
        if idle || self.timer.is_none() {
            self.restart_timer(now);
        }
        self.last_activity = now;
    }

    pub(crate) fn restart_timer(&mut self, now: Instant) {
        self.timer = now.checked_add(self.estimator.rto());
    }

    /// The retransmission timer expired at `now`: everything outstanding counts as lost and is sent again in order.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.retries += 1;
        self.syn_lost |= self.una == 0;
        self.congestion.on_timeout(&self.state());
        if self.rto_backoff {
            self.estimator.back_off();
        }
        self.estimator.stop_timing();
        self.gate.on_loss();
        self.go_back();
        self.restart_timer(now);
    }

    /// Sends everything outstanding again, in order.
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
        self.resend = None;
        self.burst = None;
        self.limited = 0;
    }

    /// The handshake is complete.
    pub(crate) fn on_connected(&mut self) {
        self.congestion.on_connected(self.syn_lost, self.mss);
        self.estimator.on_connected(self.syn_lost);
    }

    /// A new payload size, from the handshake or from path MTU discovery. Segments too big for the path are sent
    /// again at once without a congestion response (RFC 1191, section 6.5).
    pub(crate) fn set_mss(&mut self, mss: u32) {
        let old = core::mem::replace(&mut self.mss, mss);
        self.congestion.on_mss_change(old, mss);
        if mss < old && self.una > 0 && self.outstanding() {
            self.go_back();
        }
    }

    /// When the pacer will let the next waiting segment out; `None` if nothing waits for it.
    pub(crate) fn release_at(&self, now: Instant) -> Option<Instant> {
        if !self.gate.paces() {
            return None;
        }
        let queued = matches!(&self.gate, Gate::Agent(agent) if agent.len() > 0);
        let waits = queued || self.resend.is_some() || self.next_chunk().is_some();
        waits.then(|| self.gate.release_at(now))
    }

    /// True if data wait for nothing but the peer's window.
    pub(crate) fn blocked_by_peer(&self) -> bool {
        let waiting = self.end.saturating_sub(self.nxt);
        let length = waiting.min(u64::from(self.mss));
        waiting > 0 && !self.outstanding() && self.nxt + length > self.edge && self.next_chunk().is_none()
    }

    /// Lets out what fits the peer's window, however silly; false if it is closed (RFC 9293, section 3.8.6.2.1, the
    /// override timeout).
    pub(crate) fn force(&mut self) -> bool {
        self.forced = self.edge > self.nxt;
        self.forced
    }

    fn forced_chunk(&mut self) -> Option<Chunk> {
        let usable = self.edge.saturating_sub(self.nxt).min(self.end.saturating_sub(self.nxt));
        let length = usable.min(u64::from(self.mss)) as u32;
        (length > 0).then(|| {
            let chunk = self.chunk(self.nxt, length);
            self.nxt = chunk.end();
            chunk
        })
    }

    /// The application wrote: no acknowledgement, so what it lets out is no burst of one.
    pub(crate) const fn on_write(&mut self) {
        self.burst = None;
    }

    /// The timeout that probes of a closed window start from.
    pub(crate) fn rto(&self) -> Span {
        self.estimator.rto()
    }
}
