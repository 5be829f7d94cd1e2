//! The sending half: what may leave, what is outstanding, when it is given up as lost.

mod ack;
mod host_queue;
mod next;
mod queue;
mod reductions;
mod sent;

pub(crate) use ack::AckEvent;

use crate::config::{Config, HeaderSize};
use crate::control::{Asks, Control, Departure, Discipline, Outstanding, Sent};
use crate::delivery::Delivery;
use crate::measure::Counters;
use crate::rto::Estimator;
use alloc::boxed::Box;
use host_queue::InHost;
use meshpace_units::{Instant, Span};
use queue::SendQueue;
use reductions::Reductions;
use sent::{RoundTrips, SentLog};

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
    /// When the pace lets out what waits for nothing else; `None` if nothing does. Of a queue: the release that its first
    /// waits for. A driver with a real clock comes after it, never at it.
    due: Option<Instant>,
    /// Timeouts in a row without progress.
    pub(crate) retries: u32,
    pub(crate) syn_lost: bool,
    last_activity: Instant,
    limit: Option<u32>,
    nagle: bool,
    rto_backoff: bool,
    keeps_log: bool,
    /// The driver's bytes are gone once they are acknowledged. ns-2 has none, and sends again what was acknowledged while
    /// it was queued.
    forgets: bool,
    log: SentLog,
    /// What its control asks for.
    pub(crate) asks: Asks,
    /// Kept for controls that ask for delivery rates.
    delivery: Option<Box<Delivery>>,
    /// Segments that are still in the host, where their number is limited.
    in_host: Option<Box<InHost>>,
    pub(crate) reductions: Reductions,
    pub(crate) queue: SendQueue,
    pub(crate) control: Box<dyn Control>,
    pub(crate) estimator: Estimator,
    pub(crate) counters: Counters,
}

impl Sender {
    /// Of a configuration whose control is this.
    pub(crate) fn new(config: &Config, control: Box<dyn Control>) -> Self {
        let asks = control.asks();
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
            keeps_log: asks.round_trips || !matches!(config.rto, crate::RtoConfig::Ticks(_)),
            forgets: config.headers == HeaderSize::Real,
            log: SentLog::default(),
            asks,
            delivery: asks.delivery_rate.then(Box::default),
            in_host: config.host_queue.map(|queue| Box::new(InHost::new(queue))),
            reductions: Reductions::default(),
            queue: SendQueue::default(),
            control,
            estimator: Estimator::new(config.rto),
            counters: Counters::default(),
        }
    }

    /// The position after everything there is to send, the FIN included.
    pub(crate) const fn final_position(&self) -> u64 {
        self.end + self.fin as u64
    }

    /// True if there ever was something to send after the SYN.
    pub(crate) const fn has_written(&self) -> bool {
        self.final_position() > 1
    }

    /// True if something sent is not acknowledged.
    pub(crate) const fn outstanding(&self) -> bool {
        self.una < self.max
    }

    fn state(&self) -> Outstanding {
        let flight = self.nxt.saturating_sub(self.una).saturating_sub(self.limited);
        Outstanding {
            una: self.una,
            nxt: self.nxt,
            max: self.max,
            flight: flight as f64 / f64::from(self.mss),
            queued: !self.queue.is_empty(),
            limit: self.limit.map_or(f64::INFINITY, f64::from),
        }
    }

    /// True if the retransmission timer must run. Segments that were queued and perhaps flushed count as sent, so
    /// `nxt` may be ahead of `max`.
    const fn needs_timer(&self) -> bool {
        self.una < self.max || self.una < self.nxt
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
            let sent = Sent::Data { start: chunk.start, length: chunk.length, first };
            let token = self.token(now);
            self.control.on_departure(&Departure { now, token, sent });
            self.note_in_host(now, chunk, first);
        }
        self.on_sequence_sent(now, chunk.start, end);
        first
    }

    /// When what leaves now counts as sent: what waited for its time counts as sent then, lest the lateness of drivers add
    /// up (schemes.md 3.6). Not if that would let the next one out at once: there are no bursts (schemes.md 1.5).
    fn token(&mut self, now: Instant) -> Instant {
        let Some(due) = self.due.take().filter(|due| *due <= now) else { return now };
        let interval = self.control.pace(now).map_or(Span::ZERO, |pace| pace.interval);
        if now.saturating_since(due) < interval { due } else { now }
    }

    /// The SYN left.
    pub(crate) fn on_syn_departure(&mut self, now: Instant) {
        self.control.on_departure(&Departure { now, token: now, sent: Sent::Syn });
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
        if let Some(delivery) = self.delivery.as_mut().filter(|_| start > 0) {
            delivery.on_sent(now, start, end);
        }
        // ns-2 and RFC 6298, rule 5.1: the timer starts with the first outstanding segment and is left alone after.
        if idle || self.timer.is_none() {
            self.restart_timer(now);
        }
        self.last_activity = now;
    }

    pub(crate) fn restart_timer(&mut self, now: Instant) {
        self.timer = now.checked_add(self.rto());
    }

    /// The retransmission timer expired at `now`: everything outstanding counts as lost and is sent again in order.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        // Segments that were queued and never left are no loss, so ns-2 neither counts nor backs off (ns2-behaviour.md
        // 6.7).
        let lost = self.outstanding();
        if lost && self.control.probes(&self.state()) {
            self.restart_timer(now);
            return;
        }
        self.counters.timeouts += u64::from(lost);
        self.retries += u32::from(lost);
        self.syn_lost |= self.una == 0;
        let out = self.state();
        self.control.on_timeout(now, &out);
        if self.una > 0 {
            self.reductions.on_reduction(self.max);
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.on_timeout();
        }
        if let Some(in_host) = &mut self.in_host {
            in_host.on_timeout();
        }
        if !lost {
            self.last_activity = now; // that was ns-2's restart after idling, to the initial window
        }
        if self.rto_backoff && lost {
            self.estimator.back_off();
        }
        self.estimator.stop_timing();
        self.flush_queue(now);
        self.begin_again();
        self.restart_timer(now);
    }

    /// Everything outstanding is sent again, by the sender in order or as the control asks.
    fn begin_again(&mut self) {
        if self.control.goes_back() {
            self.go_back();
            return;
        }
        (self.resend, self.burst, self.limited) = (None, None, 0);
        if self.queue.is_empty() {
            self.nxt = self.max; // what was queued and flushed never left
        }
    }

    /// When the control wants to be asked again.
    pub(crate) fn control_deadline(&self) -> Option<Instant> {
        if self.asks.deadlines { self.control.deadline() } else { None }
    }

    /// The control's deadline is over.
    pub(crate) fn on_control_deadline(&mut self, now: Instant) {
        let out = self.state();
        let reaction = self.control.on_deadline(now, &out);
        let next = self.control.deadline();
        assert!(next.is_none_or(|next| next > now), "the deadline at {now:?} is followed by one at {next:?}");
        if reaction.is_loss() {
            self.reductions.on_loss(out.una, self.max);
        }
        self.flush_queue(now);
        self.react(now, reaction);
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
        self.control.on_connected(self.syn_lost, self.mss);
        self.estimator.on_connected(self.syn_lost);
    }

    /// A new payload size, from the handshake or from path MTU discovery. Segments too big for the path are sent
    /// again at once without a congestion response (RFC 1191, section 6.5).
    pub(crate) fn set_mss(&mut self, mss: u32) {
        let old = core::mem::replace(&mut self.mss, mss);
        self.control.on_mss_change(old, mss);
        if mss < old && self.una > 0 && self.outstanding() {
            self.begin_again();
        }
    }

    /// When the pace will let the next waiting segment out; `None` if nothing waits for it.
    pub(crate) fn release_at(&self, now: Instant) -> Option<Instant> {
        if self.is_through() || self.waits_for_host(now) {
            return None;
        }
        let pace = self.control.pace(now)?;
        self.waits().then(|| match pace.discipline {
            Discipline::Permission => pace.release,
            Discipline::Queue | Discipline::QueueAll => self.due.unwrap_or(pace.release).max(now),
        })
    }

    /// Whether the control wants what has just left to be pushed.
    pub(crate) fn pushes(&self, now: Instant) -> bool {
        // Whether something can follow is looked for only where the answer hangs on it.
        self.control.pushes(false) || self.control.pushes(true) && !self.follows(now)
    }

    /// True if another segment may leave now.
    fn follows(&self, now: Instant) -> bool {
        let open = self.control.pace(now).is_none_or(|pace| pace.release <= now);
        open && (self.hole().is_some() || self.next_chunk().is_some())
    }

    /// True if something waits for nothing but the pace.
    fn waits(&self) -> bool {
        !self.queue.is_empty()
            || self.resend.is_some()
            || self.hole().is_some()
            || self.next_chunk().is_some()
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

    /// The retransmission timeout; probes of a closed window start from it, too.
    pub(crate) fn rto(&self) -> Span {
        self.control.timeout(self.estimator.rto())
    }
}
