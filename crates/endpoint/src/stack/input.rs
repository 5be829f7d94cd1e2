//! Packets that arrive.

use super::{Listener, ListenerId, RESETS_MAX, SocketId, Stack, path, socket::Socket};
use crate::identity::FourTuple;
use meshpace_tcp::{Connection, Segment, State, reset_for};
use meshpace_units::{Ecn, Instant, Seq};
use meshpace_wire::{NotTcp, Packet, TooBig, checksum_ok, parse, parse_too_big, protocol};
use std::net::{IpAddr, SocketAddr};

/// How far behind the end of a connection in TIME-WAIT the next one between the same ports begins, if the clock of
/// initial sequence numbers has not got there (RFC 9293, section 3.10.7.4; the distance is Linux's, tcp_timewait_state_process).
const BEYOND_TIME_WAIT: u32 = u16::MAX as u32 + 2;

impl Stack {
    /// Takes an IP packet that arrived from the device.
    pub fn handle_packet(&mut self, now: Instant, bytes: &[u8]) {
        self.counters.packets_received += 1;
        let packet = match parse(bytes) {
            Ok(packet) => packet,
            Err(NotTcp::OtherProtocol(protocol::ICMP | protocol::ICMPV6)) => {
                match parse_too_big(bytes) {
                    Some(too_big) => self.on_too_big(now, &too_big),
                    None => self.counters.not_tcp += 1,
                }
                return;
            }
            Err(_) => {
                self.counters.not_tcp += 1;
                return;
            }
        };
        if !self.config.addresses.contains(&packet.destination) || !is_host(packet.source) {
            self.counters.not_ours += 1;
            return;
        }
        let Some(payload) = packet.payload(bytes).filter(|_| checksum_ok(bytes)) else {
            self.counters.damaged += 1;
            return;
        };
        let (Packet { source, destination, segment, .. }, ecn) = (packet, packet.ecn());
        let tuple = FourTuple {
            local: SocketAddr::new(destination, segment.destination_port),
            remote: SocketAddr::new(source, segment.source_port),
        };
        match self.tuples.get(&tuple).copied() {
            Some(id) => self.on_segment(now, id, &segment, ecn, payload),
            None => self.on_stranger(now, tuple, &segment, None),
        }
    }

    fn on_segment(&mut self, now: Instant, id: SocketId, segment: &Segment, ecn: Ecn, payload: &[u8]) {
        let Some(socket) = self.sockets.get(&id) else { return };
        if is_first_syn(segment) && begins_anew(socket, segment) {
            let (tuple, beyond) = (socket.tuple, socket.beyond());
            if self.listener_at(tuple.local).is_some() {
                self.tuples.remove(&tuple);
                self.on_stranger(now, tuple, segment, Some(beyond));
                return;
            }
        }
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if socket.handle(now, segment, ecn, payload) {
            self.announce(id);
        }
        self.settle(now, id);
    }

    fn listener_at(&self, local: SocketAddr) -> Option<ListenerId> {
        let at = |address| self.ports.get(&(local.port(), address));
        at(Some(local.ip())).or_else(|| at(None)).copied()
    }

    /// A segment without a connection. `after`: one between the same ports that is in TIME-WAIT ended there.
    fn on_stranger(&mut self, now: Instant, tuple: FourTuple, segment: &Segment, after: Option<Seq>) {
        let listening = self.listener_at(tuple.local).filter(|_| is_first_syn(segment));
        let Some(listening) = listening else {
            self.refuse(&tuple, segment);
            return;
        };
        if !self.make_room(now, listening) {
            self.counters.syns_ignored += 1;
            return;
        }
        let Some(Listener { options, .. }) = self.listeners.get(&listening) else { return };
        let options = self.on_path(options.clone(), &tuple);
        let clock = self.config.secret.initial_sequence(&tuple, now);
        let iss = after.map_or(clock, |after| clock.later(after + BEYOND_TIME_WAIT));
        let connection = Connection::listen(options.tcp.clone(), tuple.local.port(), iss);
        let mut socket = Socket::new(connection, tuple, iss, &options, Some(listening));
        socket.handle(now, segment, Ecn::NotEct, &[]);
        let id = self.adopt(socket);
        if let Some(listener) = self.listeners.get_mut(&listening) {
            listener.half_open.push_back(id);
        }
    }

    /// True if the listener may have one more connection; for that the oldest whose handshake is not complete may go.
    fn make_room(&mut self, now: Instant, listening: ListenerId) -> bool {
        let (limit, total) = (self.config.half_open, self.config.connections);
        let full = self.sockets.len() >= total;
        let Some(listener) = self.listeners.get_mut(&listening) else { return false };
        if listener.ready.len() >= listener.backlog {
            return false;
        }
        if listener.half_open.len() < limit && !full {
            return true;
        }
        let Some(oldest) = listener.half_open.pop_front() else { return false };
        self.counters.half_open_dropped += 1;
        self.forget(now, oldest);
        true
    }

    /// Forgets a connection without a word to the peer.
    fn forget(&mut self, now: Instant, id: SocketId) {
        self.abort_and_forget(now, id);
        self.sockets.remove(&id);
    }

    /// Answers a segment for which there is no connection with a reset, unless it is one (RFC 9293, section 3.10.7.1).
    fn refuse(&mut self, tuple: &FourTuple, segment: &Segment) {
        let Some(reset) = reset_for(segment) else { return };
        if self.resets.len() < RESETS_MAX {
            self.resets.push_back((tuple.local.ip(), tuple.remote.ip(), reset));
            self.counters.resets_sent += 1;
        }
    }

    /// A router tells that a packet was too big. Only about what is in flight: others can guess addresses and ports, but
    /// hardly that (RFC 5927, section 4).
    fn on_too_big(&mut self, now: Instant, too_big: &TooBig) {
        let tuple = FourTuple {
            local: SocketAddr::new(too_big.source, too_big.source_port),
            remote: SocketAddr::new(too_big.destination, too_big.destination_port),
        };
        let device = self.config.mtu;
        let v6 = tuple.local.is_ipv6();
        let socket = self.tuples.get(&tuple).and_then(|id| Some((*id, self.sockets.get_mut(id)?)));
        let Some((id, socket)) = socket.filter(|(_, socket)| socket.in_flight(too_big.seq)) else {
            self.counters.too_big_ignored += 1;
            return;
        };
        let reported = too_big.mtu.map(|mtu| u32::try_from(mtu.0).unwrap_or(u32::MAX));
        let current = socket.path_mtu.unwrap_or(device);
        let Some(mtu) = path::lowered(current, reported, v6) else {
            self.counters.too_big_ignored += 1;
            return;
        };
        socket.set_path_mtu(mtu);
        self.counters.path_mtu_lowered += 1;
        self.paths.learn(now, tuple.remote.ip(), mtu);
        self.touch(id);
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, id));
            let Some(socket) = self.sockets.get_mut(&id) else { continue };
            socket.timer = None;
            socket.lose_patience(now);
            socket.connection.handle_timeout(now);
            self.settle(now, id);
        }
    }
}

/// A SYN that asks for a new connection.
const fn is_first_syn(segment: &Segment) -> bool {
    segment.flags.syn && !segment.flags.ack && !segment.flags.rst
}

/// True if the connection is in TIME-WAIT and a SYN is surely no old duplicate of it: by its timestamp (RFC 6191, section
/// 2), or because it begins behind its end (RFC 9293, section 3.10.7.4, "TIME-WAIT").
fn begins_anew(socket: &Socket, segment: &Segment) -> bool {
    let tcp = &socket.connection;
    let newer = match (tcp.peer_timestamp(), segment.options.timestamps) {
        (Some(last), Some(stamp)) => (stamp.value.wrapping_sub(last) as i32) > 0,
        _ => false,
    };
    // The peer's FIN is at the offset behind everything delivered.
    let behind = tcp.receive_offset(segment.seq).is_some_and(|offset| offset > tcp.delivered());
    tcp.state() == State::TimeWait && (newer || behind)
}

/// An address that one host has: others must not be answered (RFC 9293, section 3.9.2.3; RFC 1122, section 3.2.1.3).
fn is_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            !v4.is_multicast() && !v4.is_broadcast() && !v4.is_unspecified() && !v4.is_loopback()
        }
        IpAddr::V6(v6) => !v6.is_multicast() && !v6.is_unspecified() && !v6.is_loopback(),
    }
}
