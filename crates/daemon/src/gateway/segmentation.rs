//! Offloaded packets that the kernel hands over whole: what will be on the wire of them, packet by packet.
//!
//! The queue does not tell the size at which the kernel will cut one (`gso_size`). A sender cuts by the connection's MSS, less the options
//! that each of its packets carries (RFC 9293, section 3.7.1; RFC 6691).

use meshpace_tcp::{Flags, Segment};
use meshpace_units::Bytes;
use meshpace_wire::Packet;

/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;
/// Assumed where the handshake was not seen: the MSS of an Ethernet over IPv4 (RFC 879). Over IPv6 packets are twenty bytes shorter, which
/// changes round trips by nothing, and counts of packets by a seventieth.
const MSS_UNSEEN: u16 = 1_460;
/// No less is believed, whatever a SYN said: 64 kB in segments of a byte each would keep the daemon busy for milliseconds. What every host takes
/// (RFC 9293, section 3.7.1).
const MSS_LEAST: u16 = 536;

/// The segments that are cut of one, in order.
#[derive(Debug)]
pub struct Segments {
    rest: Option<Segment>,
    /// Payload of each but the last.
    size: u32,
}

impl Segments {
    /// Of a packet of a connection with this MSS.
    pub fn of(packet: &Packet, mss: Option<u16>) -> Self {
        let options = packet.header_length.saturating_sub(TCP_HEADER);
        let mss = u32::from(mss.unwrap_or(MSS_UNSEEN).max(MSS_LEAST));
        Self { rest: Some(packet.segment), size: mss.saturating_sub(options).max(1) }
    }

    /// Bytes of all the packets that carry those of this one: each has the headers.
    pub fn on_wire(packet: &Packet, mss: Option<u16>) -> Bytes {
        let payload = packet.segment.payload;
        let headers = packet.wire_len.0 - u64::from(payload);
        let cuts = payload.div_ceil(Self::of(packet, mss).size).saturating_sub(1);
        packet.wire_len + Bytes(headers * u64::from(cuts))
    }

    /// Bytes of the packet that carries a piece, where all together had so many.
    pub fn wire_len(all: (Bytes, u32), piece: &Segment) -> Bytes {
        let (wire_len, payload) = all;
        Bytes(wire_len.0 - u64::from(payload) + u64::from(piece.payload))
    }
}

impl Iterator for Segments {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let whole = self.rest.take()?;
        if whole.payload <= self.size {
            return Some(whole);
        }
        // As tcp_gso_segment does (net/ipv4/tcp_offload.c, Linux 6.18): FIN and PSH go with the last, CWR with the first.
        let flags = Flags { fin: false, psh: false, ..whole.flags };
        let first = Segment { payload: self.size, flags, ..whole };
        let flags = Flags { cwr: false, ..whole.flags };
        self.rest = Some(Segment { seq: first.end(), payload: whole.payload - self.size, flags, ..whole });
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Seq;

    const FLAGS: Flags = Flags { ack: true, psh: true, fin: true, cwr: true, ..Flags::NONE };

    /// A packet with so many bytes of payload and of TCP header.
    fn whole(payload: u32, header: u32) -> Packet {
        let segment = Segment { flags: FLAGS, payload, ..Segment::new(80, 5000, Seq(u32::MAX - 1_000)) };
        let ends = ([192, 0, 2, 1].into(), [10, 77, 0, 1].into());
        let bytes = meshpace_wire::build(ends.0, ends.1, 62, &Segment { payload: 0, ..segment }, &[]);
        let read = meshpace_wire::parse(&bytes).expect("it was just built");
        Packet { segment, header_length: header, wire_len: Bytes(u64::from(20 + header + payload)), ..read }
    }

    fn cut(payload: u32, header: u32, mss: Option<u16>) -> Vec<(u32, u32, Flags)> {
        Segments::of(&whole(payload, header), mss)
            .map(|piece| (piece.seq.0, piece.payload, piece.flags))
            .collect()
    }

    #[test]
    fn they_follow_one_another_and_the_last_one_ends_it() {
        let middle = Flags { ack: true, ..Flags::NONE };
        let first = Flags { cwr: true, ..middle };
        let last = Flags { psh: true, fin: true, ..middle };
        let seq = u32::MAX - 1_000;
        // Time stamps take 12 bytes of 1,460.
        let pieces = [(seq, 1_448, first), (447, 1_448, middle), (1_895, 104, last)];
        assert_eq!(cut(3_000, 32, Some(1_460)), pieces);
        assert_eq!(cut(3_000, 32, None), pieces);
        assert_eq!(cut(1_448, 32, Some(1_460)), [(seq, 1_448, FLAGS)], "one is not cut");
        assert_eq!(cut(0, 20, Some(0)), [(seq, 0, FLAGS)]);
        assert_eq!(cut(65_000, 60, Some(0)).len(), 132, "whatever a SYN said");
    }

    #[test]
    fn a_piece_is_as_long_as_its_headers_and_its_payload() {
        let packet = whole(3_000, 20);
        let all = (packet.wire_len, packet.segment.payload);
        let sizes: Vec<_> =
            Segments::of(&packet, Some(1_460)).map(|piece| Segments::wire_len(all, &piece)).collect();
        assert_eq!(sizes, [Bytes(1_500), Bytes(1_500), Bytes(120)]);
        assert_eq!(Segments::on_wire(&packet, Some(1_460)), Bytes(3_120));
        assert_eq!(Segments::on_wire(&whole(0, 32), None), Bytes(52));
    }
}
