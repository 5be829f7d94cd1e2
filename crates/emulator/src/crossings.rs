//! Packets inside kernels that forward, real gateways' and those of nodes with frames: which of those that come out is which of those that
//! went in.

use meshpace_relay::packet::{Body, Packet, PacketId};
use meshpace_units::{Instant, Span};
use meshpace_wire::protocol;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// A packet that a gateway has held for so long will not be recognised.
const FORGOTTEN_AFTER: Span = Span::from_secs(60);
/// Bytes behind the IP header that make a packet known where there is no TCP.
const KNOWN_BY: usize = 32;

/// What a packet keeps of itself through a router and a pacing gateway, which change its time to live, its marks, its TCP options and checksums.
type Key = (IpAddr, IpAddr, Vec<u8>);

/// What is in gateways.
#[derive(Debug, Default)]
pub struct Crossings {
    inside: BTreeMap<Key, Crossing>,
    order: VecDeque<(Instant, Key)>,
}

/// A packet that has gone into a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    at: Instant,
    /// Which one it is.
    pub id: PacketId,
    /// Radio links so far.
    pub travelled: u16,
}

impl Crossings {
    /// A packet goes in.
    pub fn enters(&mut self, now: Instant, packet: &Packet) {
        while let Some((at, key)) = self.order.front()
            && now.saturating_since(*at) > FORGOTTEN_AFTER
        {
            // Under the same key another one may have come since.
            if self.inside.get(key).is_some_and(|crossing| crossing.at == *at) {
                self.inside.remove(key);
            }
            self.order.pop_front();
        }
        let Some(key) = key(packet) else { return };
        self.order.push_back((now, key.clone()));
        self.inside.insert(key, Crossing { at: now, id: packet.id, travelled: packet.travelled });
    }

    /// Which one comes out; `None`: none that went in. The same may come out again: gateways repair losses from a cache.
    #[must_use]
    pub fn leaves(&self, packet: &Packet) -> Option<Crossing> {
        self.inside.get(&key(packet)?).copied()
    }
}

fn key(packet: &Packet) -> Option<Key> {
    let (protocol_inside, bytes) = match &packet.body {
        Body::Opaque(opaque) => (opaque.protocol, &opaque.bytes[..]),
        // Without an IP packet in it, it has no addresses.
        Body::Ethernet(frame) if !packet.source.is_unspecified() => (frame.protocol, frame.payload()),
        _ => return None,
    };
    let is_v4 = packet.source.is_ipv4();
    let start = if is_v4 { usize::from(bytes.first()? & 0xf) * 4 } else { 40 };
    let behind = bytes.get(start..)?;
    // The identification (RFC 791) tells even equal acknowledgements apart; IPv6 has none.
    let mut known = if is_v4 { bytes.get(4..6)?.to_vec() } else { Vec::new() };
    if protocol_inside == protocol::TCP && behind.len() > 12 {
        // Ports, numbers, and how much there is behind the options.
        let payload = behind.len().saturating_sub(usize::from(behind[12] >> 4) * 4);
        known.extend(&behind[..12]);
        known.extend((payload as u64).to_be_bytes());
    } else {
        known.push(protocol_inside);
        known.extend(&behind[..behind.len().min(KNOWN_BY)]);
    }
    Some((packet.source, packet.destination, known))
}
