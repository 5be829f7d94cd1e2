//! A host's bytes as a packet of the network.

use meshpace_relay::packet::{Body, Class, Ethernet, Opaque, Packet};
use meshpace_units::Bytes;
use meshpace_wire::{NotTcp, Outline, outline, parse};
use std::net::{IpAddr, Ipv4Addr};

/// The packet that an IP packet of a real host is in the network.
///
/// # Errors
/// What is wrong with the bytes.
pub fn packet(bytes: &[u8]) -> Result<Packet, NotTcp> {
    let Outline { source, destination, protocol, ports, ecn, dscp, length } = outline(bytes)?;
    let (source_port, destination_port) = ports;
    let bytes = &bytes[..length.0 as usize];
    let body = Body::Opaque(Opaque { protocol, source_port, destination_port, bytes: bytes.into() });
    let mut packet = Packet::new(source, destination, length, class(bytes), body);
    (packet.ecn, packet.dscp) = (ecn, dscp);
    Ok(packet)
}

/// The packet that an Ethernet frame of a real host, which has a whole header, is in the network: as large as what it carries. Queues tell
/// flows apart by the IP packet in it, if there is one.
pub fn frame(bytes: &[u8]) -> Packet {
    let frame = |protocol, (source_port, destination_port)| {
        Body::Ethernet(Ethernet { channel: 0, protocol, source_port, destination_port, bytes: bytes.into() })
    };
    let payload = &bytes[Ethernet::HEADER..];
    let size = Bytes(payload.len() as u64);
    let Some(Outline { source, destination, protocol, ports, ecn, dscp, length }) = inside(bytes) else {
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        return Packet::new(nobody, nobody, size, Class::Data, frame(0, (0, 0)));
    };
    let class = class(&payload[..length.0 as usize]);
    let mut packet = Packet::new(source, destination, size, class, frame(protocol, ports));
    (packet.ecn, packet.dscp) = (ecn, dscp);
    packet
}

/// The IP packet in a frame; `None`: it carries none, or a damaged one.
fn inside(bytes: &[u8]) -> Option<Outline> {
    let (header, payload) = bytes.split_at_checked(Ethernet::HEADER)?;
    let is_ip = matches!(header[12..], [0x08, 0x00] | [0x86, 0xdd]);
    is_ip.then(|| outline(payload).ok())?
}

/// What drops of it are counted as: a TCP segment that only acknowledges counts apart from all else.
fn class(bytes: &[u8]) -> Class {
    match parse(bytes) {
        Ok(tcp) if tcp.segment.is_pure_ack() => Class::Ack,
        _ => Class::Data,
    }
}
