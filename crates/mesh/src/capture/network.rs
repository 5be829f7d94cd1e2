//! IP packets out of the simulator's packets. Payloads are zeros: the simulator has no bytes.

use super::addresses::Addresses;
use super::crc32::crc32;
use super::{control, tcp, udp};
use crate::packet::{Body, Packet};
use meshpace_routing::Control;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn};
use meshpace_wire::{IpHeader, protocol};
use std::net::Ipv4Addr;

/// Source ports of UDP flows: this + the flow's index, as the TCP flows have it.
const UDP_SOURCE: u16 = 1024;
/// Destination port of UDP flows, out of the private range, where no dissector looks for a protocol.
const UDP_DESTINATION: u16 = 50_000;

/// Turns packets into bytes.
pub struct Network {
    pub addresses: Addresses,
    /// Scratch: the packet above IP.
    transport: Vec<u8>,
}

impl Network {
    pub fn new(addresses: Addresses) -> Self {
        Self { addresses, transport: Vec::new() }
    }

    /// Appends the IP packet. What it says of itself beyond its bytes is the comment.
    pub fn write(&mut self, out: &mut Vec<u8>, packet: &Packet) -> Option<String> {
        let destination = match packet.next_hop {
            None => Ipv4Addr::BROADCAST,
            Some(_) => self.addresses.host(packet.destination),
        };
        let mut header = IpHeader {
            source: self.addresses.host(packet.source).into(),
            destination: destination.into(),
            protocol: protocol::UDP,
            ttl: packet.ttl,
            ecn: Ecn::NotEct,
            identification: 0,
        };
        let transport = &mut self.transport;
        transport.clear();
        match &packet.body {
            Body::Tcp { segment, .. } => {
                tcp::header(transport, segment);
                header.protocol = protocol::TCP;
                header.identification = departure(transport, segment);
                transport.resize(transport.len() + segment.payload as usize, 0);
                header.seal(transport);
                assert_eq!(length(&header, transport), packet.size, "{segment:?}");
            }
            Body::Udp { flow, number, payload, .. } => {
                header.identification = *number as u16;
                let above_ip = packet.size.0 - header.length() as u64;
                if above_ip >= udp::HEADER + payload.0 {
                    let source = UDP_SOURCE + (flow % 60_000) as u16;
                    udp::datagram(transport, source, UDP_DESTINATION, |out| out.resize(above_ip as usize, 0));
                    header.seal(transport);
                } else {
                    // `udp_header = 0`: ns-2's packets, which have no place for a port.
                    header.protocol = protocol::EXPERIMENTAL;
                    transport.resize(above_ip as usize, 0);
                }
                assert_eq!(length(&header, transport), packet.size, "UDP packet {number} of flow {flow}");
            }
            Body::Control(message) => {
                control::datagram(transport, message, &self.addresses);
                header.identification = fold(crc32(transport));
                header.seal(transport);
            }
        }
        header.write(out, transport.len());
        out.extend_from_slice(transport);
        let size = length(&header, transport);
        match &packet.body {
            Body::Tcp { segment, .. } => tcp::beside_the_wire(segment),
            Body::Udp { .. } => None,
            Body::Control(message) => other_size(message, packet.size, size),
        }
    }
}

fn length(header: &IpHeader, transport: &[u8]) -> Bytes {
    Bytes((header.length() + transport.len()) as u64)
}

/// ns-2 gives routing packets no UDP header and other fields, so the standard's format does not fit their size.
fn other_size(message: &Control, air: Bytes, written: Bytes) -> Option<String> {
    let format = match message {
        Control::Rreq(_) | Control::Rrep(_) | Control::Rerr(_) => "the format of RFC 3561",
        Control::DsdvUpdate(_) => "with its UDP header",
    };
    (air != written).then(|| {
        format!("{} bytes at IP on the air (the size in ns-2), {} here ({format})", air.0, written.0)
    })
}

/// The same at every hop and in every attempt, another when the endpoint sends the segment again.
fn departure(header: &[u8], segment: &Segment) -> u16 {
    let sent = segment.ns2.map_or(0, |stamp| stamp.sent.as_nanos());
    fold(crc32(header) ^ crc32(&sent.to_le_bytes()))
}

fn fold(crc: u32) -> u16 {
    (crc >> 16 ^ crc) as u16
}
