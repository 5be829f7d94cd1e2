//! One connection with its bytes.

use super::{ListenerId, SocketError, path};
use crate::SocketOptions;
use crate::buffer::{ReceiveBuffer, SendBuffer};
use crate::identity::FourTuple;
use meshpace_tcp::{Arrival, Closing, Connection, Event, Segment, State};
use meshpace_units::{Ecn, Instant, Seq, Span};

/// A released connection that makes no progress is given up after this time, as Linux does (`tcp_fin_timeout`): the
/// peer may hold it in FIN-WAIT-2, or its window closed, for ever (RFC 9293, section 3.6, allows it).
const ORPHAN_PATIENCE: Span = Span::from_secs(60);

/// A connection that the application has released.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Orphan {
    /// Bytes acknowledged when progress was last seen.
    acknowledged: u64,
    /// When it is given up.
    until: Option<Instant>,
}

/// What events told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) any: bool,
    pub(super) connected: bool,
    pub(super) closed: bool,
}

#[derive(Debug)]
pub(super) struct Socket {
    pub(super) connection: Connection,
    pub(super) tuple: FourTuple,
    iss: Seq,
    /// What is known of every segment's way.
    arrival: Arrival,
    pub(super) sending: SendBuffer,
    receiving: ReceiveBuffer,
    /// Bytes written so far.
    written: u64,
    /// The largest packet that the path carries, once a router has told.
    pub(super) path_mtu: Option<u32>,
    /// The listener that will accept it.
    pub(super) listener: Option<ListenerId>,
    /// The application shut it down for writing.
    shut: bool,
    /// The application has gone: what arrives is thrown away.
    deaf: bool,
    pub(super) connected: bool,
    /// Everything that the peer sent before its FIN has arrived.
    pub(super) finished: bool,
    pub(super) closed: Option<Closing>,
    pub(super) orphaned: Option<Orphan>,
    /// In the queue of those that may send.
    pub(super) queued: bool,
    /// In the queue of those that the application should look at.
    pub(super) announced: bool,
    /// The entry among the timers; never later than the connection's deadline.
    pub(super) timer: Option<Instant>,
}

impl Socket {
    pub(super) fn new(
        connection: Connection,
        tuple: FourTuple,
        iss: Seq,
        options: &SocketOptions,
        listener: Option<ListenerId>,
    ) -> Self {
        Self {
            connection,
            tuple,
            iss,
            arrival: Arrival { route: options.route.clone(), ..Arrival::default() },
            sending: SendBuffer::new(options.send_buffer),
            receiving: ReceiveBuffer::default(),
            written: 0,
            path_mtu: None,
            listener,
            shut: false,
            deaf: false,
            connected: false,
            finished: false,
            closed: None,
            orphaned: None,
            queued: false,
            announced: false,
            timer: None,
        }
    }

    /// A sequence number that is certainly behind everything this connection has sent.
    pub(super) fn beyond(&self) -> Seq {
        // SYN and FIN count one each; what was written includes what was sent.
        self.iss + (self.written as u32).wrapping_add(2)
    }

    /// Takes a segment, which came with this congestion notification; true if the application has something new to look
    /// at.
    pub(super) fn handle(&mut self, now: Instant, segment: &Segment, ecn: Ecn, payload: &[u8]) -> bool {
        self.arrival.ecn = ecn;
        let looks = |tcp: &Connection| (tcp.readable(), tcp.acknowledged(), tcp.state());
        let before = looks(&self.connection);
        let received = self.connection.handle_segment(now, segment, &self.arrival);
        if let Some(placement) = received.payload {
            let start = placement.skip as usize;
            self.receiving.place(placement.offset, &payload[start..start + placement.length as usize]);
            if self.orphaned.is_some() {
                // It will never be read; the peer has to know (RFC 9293, section 3.6.1).
                self.connection.abort();
            } else if self.deaf {
                self.throw_away();
            }
        }
        self.sending.acknowledge(self.connection.acknowledged());
        before != looks(&self.connection)
    }

    fn throw_away(&mut self) {
        let readable = self.connection.readable();
        self.receiving.discard(readable as usize);
        self.connection.read(readable);
    }

    pub(super) fn write(&mut self, data: &[u8]) -> Result<usize, SocketError> {
        if let Some(why) = self.closed {
            return Err(SocketError::Closed(why));
        }
        if self.shut {
            return Err(SocketError::ShutDown);
        }
        let written = self.sending.write(data);
        if written == 0 && !data.is_empty() {
            return Err(SocketError::WouldBlock);
        }
        // Closed for writing was ruled out above: the connection is neither gone nor has it been closed.
        self.connection.write(written as u64).map_err(|_| SocketError::ShutDown)?;
        self.written += written as u64;
        Ok(written)
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, SocketError> {
        let length = out.len().min(usize::try_from(self.connection.readable()).unwrap_or(usize::MAX));
        if length > 0 && !self.deaf {
            self.receiving.read(&mut out[..length]);
            self.connection.read(length as u64);
            return Ok(length);
        }
        match self.closed {
            _ if self.finished || self.deaf || out.is_empty() => Ok(0),
            Some(Closing::Finished) => Ok(0),
            Some(why) => Err(SocketError::Closed(why)),
            None => Err(SocketError::WouldBlock),
        }
    }

    pub(super) fn shutdown_write(&mut self) {
        self.shut = true;
        self.connection.close();
    }

    pub(super) fn shutdown_read(&mut self) {
        self.deaf = true;
        self.throw_away();
    }

    pub(super) fn release(&mut self, now: Instant) {
        let acknowledged = self.connection.acknowledged();
        self.orphaned = Some(Orphan { acknowledged, until: now.checked_add(ORPHAN_PATIENCE) });
        if self.connection.readable() > 0 {
            self.connection.abort();
        } else {
            self.shutdown_write();
        }
    }

    /// When a released connection is given up.
    pub(super) fn patience(&self) -> Option<Instant> {
        self.orphaned?.until.filter(|_| self.connection.state() != State::TimeWait)
    }

    /// Gives a released connection up if it has made no progress for long enough.
    pub(super) fn lose_patience(&mut self, now: Instant) {
        let acknowledged = self.connection.acknowledged();
        let Some(orphan) = &mut self.orphaned else { return };
        if acknowledged > orphan.acknowledged {
            *orphan = Orphan { acknowledged, until: now.checked_add(ORPHAN_PATIENCE) };
        } else if self.connection.state() != State::TimeWait && orphan.until.is_some_and(|until| until <= now)
        {
            self.connection.abort();
        }
    }

    /// The earliest time at which something has to be done.
    pub(super) fn deadline(&self) -> Option<Instant> {
        [self.connection.poll_timeout(), self.patience()].into_iter().flatten().min()
    }

    pub(super) fn set_path_mtu(&mut self, mtu: u32) {
        self.path_mtu = Some(mtu);
        self.connection.set_mss(path::mss(mtu, self.tuple.local.is_ipv6()));
    }

    /// True if the byte with this sequence number was sent and is not acknowledged.
    pub(super) fn in_flight(&self, seq: Seq) -> bool {
        let sent = self.written - self.connection.unsent().unwrap_or(0).min(self.written);
        let offset = self.connection.send_offset(seq);
        offset.is_some_and(|offset| (self.connection.acknowledged()..sent).contains(&offset))
    }

    pub(super) fn poll_events(&mut self) -> News {
        let mut news = News::default();
        while let Some(event) = self.connection.poll_event() {
            news.any = true;
            match event {
                Event::Connected => (self.connected, news.connected) = (true, true),
                Event::PeerFinished => self.finished = true,
                Event::Closed(why) => (self.closed, news.closed) = (Some(why), true),
                Event::Drained => {}
            }
        }
        news
    }

    /// The connection is gone: nothing will be sent any more. What was received may still be read.
    pub(super) fn drop_buffers(&mut self) {
        self.sending.clear();
        if self.orphaned.is_some() {
            self.receiving.clear();
        }
    }
}
