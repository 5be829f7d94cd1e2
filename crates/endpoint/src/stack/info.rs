//! What there is to know about connections and the stack.

use super::socket::Socket;
use crate::identity::FourTuple;
use meshpace_tcp::{Closing, Counters, PacingView, State};
use meshpace_units::{Bytes, Span};

/// A connection at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// Addresses and ports.
    pub tuple: FourTuple,
    /// TCP's state.
    pub state: State,
    /// The handshake was completed.
    pub connected: bool,
    /// Everything that the peer sent before its FIN has arrived.
    pub finished: bool,
    /// The connection is gone.
    pub closed: Option<Closing>,
    /// Bytes that can be read.
    pub readable: u64,
    /// Bytes that can be written.
    pub writable: usize,
    /// Bytes written and not yet acknowledged.
    pub unacknowledged: usize,
    /// Bytes acknowledged by the peer.
    pub acknowledged: Bytes,
    /// Bytes received in order.
    pub delivered: Bytes,
    /// TCP's counters.
    pub counters: Counters,
    /// Congestion window, segments.
    pub cwnd: Option<f64>,
    /// Slow-start threshold, segments; `None` until a loss sets one.
    pub ssthresh: Option<f64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The largest packet of the path, once a router has told.
    pub path_mtu: Option<u32>,
    /// Pacing.
    pub pacing: PacingView,
}

impl Info {
    /// True if the peer has acknowledged everything there was to send: what was written, and the FIN if there is one.
    #[must_use]
    pub const fn all_acknowledged(&self) -> bool {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        let finishing = matches!(self.state, State::FinWait1 | State::Closing | State::LastAck);
        self.unacknowledged == 0 && !opening && !finishing
    }

    pub(super) fn of(socket: &Socket) -> Self {
        let tcp = &socket.connection;
        Self {
            tuple: socket.tuple,
            state: tcp.state(),
            connected: socket.connected,
            finished: socket.finished,
            closed: socket.closed,
            readable: tcp.readable(),
            writable: socket.sending.free(),
            unacknowledged: socket.sending.len(),
            acknowledged: Bytes(tcp.acknowledged()),
            delivered: Bytes(tcp.delivered()),
            counters: *tcp.counters(),
            cwnd: tcp.cwnd(),
            ssthresh: tcp.ssthresh(),
            srtt: tcp.srtt(),
            rto: tcp.rto(),
            mss: tcp.mss(),
            path_mtu: socket.path_mtu,
            pacing: tcp.pacing(),
        }
    }
}

/// Counters of a stack since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackCounters {
    /// Packets handed in.
    pub packets_received: u64,
    /// Packets handed out.
    pub packets_sent: u64,
    /// Packets ignored: no TCP, fragments, malformed headers.
    pub not_tcp: u64,
    /// Segments ignored: for another host, or from an address that no host has.
    pub not_ours: u64,
    /// Segments ignored: wrong checksum or incomplete.
    pub damaged: u64,
    /// Resets in answer to segments without a connection.
    pub resets_sent: u64,
    /// SYNs ignored because a listener's backlog or the stack was full.
    pub syns_ignored: u64,
    /// Incomplete handshakes dropped in favour of newer ones.
    pub half_open_dropped: u64,
    /// Handshakes completed by listeners.
    pub accepted: u64,
    /// Reports of routers that lowered a path's MTU.
    pub path_mtu_lowered: u64,
    /// Such reports that were not believed or changed nothing.
    pub too_big_ignored: u64,
}
