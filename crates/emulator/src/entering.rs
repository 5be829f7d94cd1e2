//! A host's bytes as a packet of the network.

use meshpace_packet::{Body, Class, Opaque, Packet};
use meshpace_wire::{NotTcp, Outline, outline, parse};

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

/// What drops of it are counted as: a TCP segment that only acknowledges counts apart from all else.
fn class(bytes: &[u8]) -> Class {
    match parse(bytes) {
        Ok(tcp) if tcp.segment.is_pure_ack() => Class::Ack,
        _ => Class::Data,
    }
}
