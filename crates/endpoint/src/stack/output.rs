//! Packets that leave.

use super::{SocketId, Stack};
use meshpace_tcp::{Segment, State};
use meshpace_units::{Dscp, Ecn, Instant};
use meshpace_wire::{IpHeader, protocol, write_tcp_header};
use std::net::IpAddr;

impl Stack {
    /// Writes the next packet to send into `out`, in place of what is there; false if there is none. Connections take
    /// turns.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> bool {
        let ttl = self.config.ttl;
        if let Some((source, destination, reset)) = self.resets.pop_front() {
            packet(out, ttl, source, destination, Ecn::NotEct, &reset, [&[], &[]]);
            self.counters.packets_sent += 1;
            return true;
        }
        while let Some(id) = self.ready.pop_front() {
            let Some(socket) = self.sockets.get_mut(&id) else { continue };
            let Some(transmit) = socket.connection.poll_transmit(now) else {
                socket.queued = false;
                self.rest(now, id);
                continue;
            };
            // Without payload the offset says nothing.
            let (first, second): (&[u8], &[u8]) = match transmit.segment.payload as usize {
                0 => (&[], &[]),
                length => socket.sending.range(transmit.offset, length),
            };
            let (local, remote) = (socket.tuple.local.ip(), socket.tuple.remote.ip());
            packet(out, ttl, local, remote, transmit.ecn, &transmit.segment, [first, second]);
            self.counters.packets_sent += 1;
            self.ready.push_back(id);
            return true;
        }
        false
    }

    /// The connection has nothing more to send: it waits for its deadline, or is forgotten.
    fn rest(&mut self, now: Instant, id: SocketId) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if socket.connection.state() == State::Closed && socket.orphaned.is_some() {
            self.settle(now, id); // what its end told may not have been seen
            if let Some(at) = self.sockets.remove(&id).and_then(|socket| socket.timer) {
                self.timers.remove(&(at, id));
            }
            return;
        }
        // Deadlines mostly move into the future. An entry that is too early wakes its connection once for nothing, which
        // costs less than moving it with every packet.
        let deadline = socket.deadline();
        if let Some(at) = deadline.filter(|at| socket.timer.is_none_or(|set| *at < set)) {
            if let Some(old) = socket.timer.replace(at) {
                self.timers.remove(&(old, id));
            }
            self.timers.insert((at, id));
        }
    }
}

fn packet(
    out: &mut Vec<u8>,
    ttl: u8,
    source: IpAddr,
    destination: IpAddr,
    ecn: Ecn,
    segment: &Segment,
    payload: [&[u8]; 2],
) {
    out.clear();
    let header = IpHeader {
        source,
        destination,
        protocol: protocol::TCP,
        ttl,
        ecn,
        dscp: Dscp::DEFAULT,
        identification: 0,
    };
    let above = segment.header_length() as usize + segment.payload as usize;
    header.write(out, above);
    let start = out.len();
    write_tcp_header(out, segment);
    payload.into_iter().for_each(|piece| out.extend_from_slice(piece));
    header.seal(&mut out[start..]);
}
