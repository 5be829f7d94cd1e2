//! One end of a connection.

mod ecn;
mod establish;
mod input;
mod output;
mod taken;
mod timers;

pub use output::reset_for;

use crate::config::Config;
use crate::control::{Asks, Feedback, PacingView};
use crate::event::{Closing, Event, WriteError};
use crate::measure::Counters;
use crate::position;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sender::Sender;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use meshpace_units::{Bytes, Instant, Seq, Span};

/// The ports of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Ours.
    pub local: u16,
    /// The peer's.
    pub remote: u16,
}

/// The states of RFC 9293, section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the RFC defines them")]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

impl State {
    /// True once the handshake is complete, until the connection is gone.
    const fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived)
    }

    /// True if our side may still have data or a FIN to send.
    const fn sends(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }
}

/// Where a stream without end would end: no connection gets there, and positions beyond it do not overflow.
const ENDLESS: u64 = u64::MAX / 4;

/// One end of a TCP connection.
///
/// See the [crate's page](crate) for the rule of use.
#[derive(Clone, Debug)]
pub struct Connection {
    /// But for the control, which the sender has.
    config: Config,
    ports: Ports,
    state: State,
    iss: Seq,
    sender: Sender,
    receiver: Option<Receiver>,
    /// Shift of the peer's window field.
    peer_scale: u8,
    /// Sequence and acknowledgement numbers of the segment that last set the peer's window (RFC 9293, SND.WL1 and WL2).
    window_set_by: (Seq, u64),
    timestamps: bool,
    /// The peer takes selective acknowledgements.
    sack: bool,
    ecn: ecn::Notification,
    /// Payload of a full segment before options, as the handshake agreed on it.
    agreed_mss: u32,
    /// Both sides scale their windows.
    scaling: bool,
    /// A SYN or SYN-ACK is to be sent.
    syn_due: bool,
    reset: Option<Box<Segment>>,
    probe_due: bool,
    passive: bool,
    timers: timers::Timers,
    challenges: (Option<Instant>, u32),
    /// The departure that the next acknowledgement echoes, by ns-2's timestamp: the latest of a segment that was not out of order.
    echo: Option<Instant>,
    /// What relays answered to the peer's latest request, to be returned with the next acknowledgement.
    answered: Option<Feedback>,
    drained: bool,
    /// The latest time the driver gave.
    now: Instant,
    events: VecDeque<Event>,
}

impl Connection {
    /// Opens a connection: the first [`poll_transmit`](Self::poll_transmit) gives the SYN.
    #[must_use]
    pub fn connect(config: Config, ports: Ports, iss: Seq, now: Instant) -> Self {
        let mut connection = Self::new(config, ports, iss, State::SynSent);
        connection.syn_due = true;
        connection.now = now;
        connection
    }

    /// Waits for a SYN to `port`; the first valid one makes this its connection.
    #[must_use]
    pub fn listen(config: Config, port: u16, iss: Seq) -> Self {
        Self::new(config, Ports { local: port, remote: 0 }, iss, State::Listen)
    }

    fn new(mut config: Config, ports: Ports, iss: Seq, state: State) -> Self {
        let control = core::mem::replace(&mut config.control, Box::new(taken::Taken));
        let sender = Sender::new(&config, control);
        Self {
            agreed_mss: config.mss,
            ecn: ecn::Notification::new(config.ecn),
            config,
            ports,
            state,
            iss,
            sender,
            receiver: None,
            peer_scale: 0,
            window_set_by: (Seq(0), 0),
            timestamps: false,
            sack: false,
            scaling: false,
            syn_due: false,
            reset: None,
            probe_due: false,
            passive: state == State::Listen,
            timers: timers::Timers::default(),
            challenges: (None, 0),
            echo: None,
            answered: None,
            drained: true,
            now: Instant::ZERO,
            events: VecDeque::new(),
        }
    }

    /// The next thing the application should know; call until `None`.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Appends `bytes` to the stream.
    ///
    /// # Errors
    /// [`WriteError::Closed`] after [`close`](Self::close) or once the connection is gone.
    pub fn write(&mut self, bytes: u64) -> Result<(), WriteError> {
        let open = !self.sender.fin && !matches!(self.state, State::Closed | State::TimeWait);
        if !open {
            return Err(WriteError::Closed);
        }
        if bytes > 0 && !self.sender.endless {
            self.sender.end = self.sender.end.saturating_add(bytes).min(ENDLESS);
            self.drained = false;
            self.sender.on_write();
        }
        Ok(())
    }

    /// Gives the stream no end: there is always more to send.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_endless(&mut self) -> Result<(), WriteError> {
        self.write(ENDLESS)?;
        self.sender.endless = true;
        Ok(())
    }

    /// The stream has an end after all: what was sent so far. It stays open, and may be written to again.
    pub fn write_no_more(&mut self) {
        if core::mem::take(&mut self.sender.endless) {
            self.sender.end = self.sender.max.max(self.sender.nxt).max(1);
        }
    }

    /// No more data: a FIN follows what was written, or, of an endless stream, what was sent.
    pub fn close(&mut self) {
        match self.state {
            State::Listen => self.gone(Closing::Finished),
            // Nothing to send and nothing sent: the control need not know.
            State::SynSent if self.sender.max == 0 && (self.drained || self.sender.endless) => {
                self.gone(Closing::Finished);
            }
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            State::SynSent | State::SynReceived => {} // the handshake comes first
            _ => return,
        }
        if self.state == State::Closed {
            return;
        }
        self.write_no_more();
        self.sender.fin = true;
    }

    /// Gives the connection up at once; the peer gets a reset.
    pub fn abort(&mut self) {
        if self.state == State::SynReceived || self.state.is_synchronized() && self.state != State::TimeWait {
            self.reset_peer();
        }
        if self.state != State::Closed {
            self.gone(Closing::Aborted);
        }
    }

    /// The application took `bytes` out of the receive buffer ([`Reading::Application`](crate::Reading)).
    ///
    /// # Panics
    /// If there are fewer than that to take.
    pub fn read(&mut self, bytes: u64) {
        let readable = self.readable();
        assert!(bytes <= readable, "read {bytes} of {readable} bytes");
        if let Some(receiver) = self.receiver.as_mut().filter(|_| bytes > 0) {
            receiver.on_read(bytes);
        }
    }

    /// Bytes delivered in order and not yet read; zero with [`Reading::AtOnce`](crate::Reading).
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::unread)
    }

    /// The path carries packets with no more than this much payload (before options, as [`Config::mss`]). What was
    /// sent in bigger segments is sent again; the congestion window keeps its bytes. What the peer takes stays the
    /// limit.
    pub fn set_mss(&mut self, mss: u32) {
        let mss = mss.min(self.agreed_mss).max(1).saturating_sub(self.options_overhead()).max(1);
        if mss != self.sender.mss {
            self.sender.set_mss(mss);
        }
    }

    /// What its control asks its surroundings for.
    #[must_use]
    pub const fn asks(&self) -> Asks {
        self.sender.asks
    }

    /// True if the driver has to say when segments with data have left the host: [`handle_departure`](Self::handle_departure).
    #[must_use]
    pub const fn asks_departures(&self) -> bool {
        self.sender.asks_departures()
    }

    /// Bytes that the header of its receiver's reports takes on the air; `None` if it writes none.
    #[must_use]
    pub fn report_length(&self) -> Option<u8> {
        self.receiver.as_ref().and_then(Receiver::report_length)
    }

    /// The payload of a full segment that it was made for ([`Config::mss`]).
    #[must_use]
    pub const fn configured_mss(&self) -> u32 {
        self.config.mss
    }

    /// The connection's configuration, without its control.
    #[cfg(test)]
    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// The ports; the remote one is 0 while listening.
    #[must_use]
    pub const fn ports(&self) -> Ports {
        self.ports
    }

    /// The counters.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// The congestion window in segments, without what fast recovery adds; `None` if the control has none.
    #[must_use]
    pub fn cwnd(&self) -> Option<f64> {
        self.sender.control.cwnd()
    }

    /// The slow-start threshold in segments; `None` until something sets one.
    #[must_use]
    pub fn ssthresh(&self) -> Option<f64> {
        self.sender.control.ssthresh()
    }

    /// The latest round-trip sample of the retransmission timer's estimator; ns-2's sees whole ticks, at least one.
    #[must_use]
    pub const fn latest_rtt(&self) -> Option<Span> {
        self.sender.estimator.latest()
    }

    /// The smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Span> {
        self.sender.estimator.srtt()
    }

    /// The retransmission timeout as it would be armed now.
    #[must_use]
    pub fn rto(&self) -> Span {
        self.sender.rto()
    }

    /// What pacing does.
    #[must_use]
    pub fn pacing(&self) -> PacingView {
        self.sender.control.pacing()
    }

    /// Payload of a full segment.
    #[must_use]
    pub const fn mss(&self) -> u32 {
        self.sender.mss
    }

    /// Bytes of the stream that the peer has acknowledged: everything before this offset may be forgotten.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.sender.una.min(self.sender.end).saturating_sub(1)
    }

    /// Bytes written that have never been sent; `None` if the stream has no end.
    #[must_use]
    pub fn unsent(&self) -> Option<u64> {
        (!self.sender.endless).then(|| self.sender.end.saturating_sub(self.sender.max.max(1)))
    }

    /// Bytes received in order so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::delivered)
    }

    /// Stream offset of our byte with sequence number `seq`, as near to what is unacknowledged as there is one.
    #[must_use]
    pub fn send_offset(&self, seq: Seq) -> Option<u64> {
        position::position(self.iss, self.sender.una, seq).and_then(position::offset)
    }

    /// Stream offset of the peer's byte with sequence number `seq`, as near to what is expected next as there is one.
    #[must_use]
    pub fn receive_offset(&self, seq: Seq) -> Option<u64> {
        self.receiver.as_ref()?.position(seq).and_then(position::offset)
    }

    /// The latest timestamp of the peer that was accepted; `None` without timestamps.
    #[must_use]
    pub fn peer_timestamp(&self) -> Option<u32> {
        self.receiver.as_ref().filter(|_| self.timestamps).map(Receiver::echo)
    }

    /// The length of the IP packet that carries `segment` in this endpoint's profile.
    #[must_use]
    pub fn wire_length(&self, segment: &Segment) -> Bytes {
        self.config.headers.wire_length(segment)
    }

    #[cold]
    fn reset_peer(&mut self) {
        let mut reset = self.header(self.sender.max);
        reset.flags.rst = true;
        self.reset = Some(Box::new(reset));
    }

    #[cfg(test)]
    pub(crate) const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The connection is gone.
    #[cold]
    fn gone(&mut self, why: Closing) {
        self.state = State::Closed;
        self.syn_due = false;
        self.probe_due = false;
        self.sender.timer = None;
        self.timers = timers::Timers::default();
        self.events.push_back(Event::Closed(why));
    }
}
