//! IP packets out of the simulator's packets. Payloads are zeros: the simulator has no bytes, but for those of real
//! hosts.

use super::addresses::Addresses;
use super::{arp, control, shims, tcp, udp};
use meshpace_relay::packet::{Body, Datagram, Opaque, Packet};
use meshpace_routing::Control;
use meshpace_units::Bytes;
use meshpace_wire::{IpHeader, insert_ipv4_options, protocol, set_hop};

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

    /// Appends the IP packet, or what is in its place. What it says of itself beyond its bytes is the comment.
    pub fn write(&mut self, out: &mut Vec<u8>, packet: &Packet) -> Option<String> {
        let start = out.len();
        let written = shims::write(packet);
        let shims = written.outside.as_ref().map_or(written.options.len() as u64, |outside| outside.1.0);
        // What the rest of the packet has on the air.
        let size = packet.size - Bytes(shims);
        let own = match &packet.body {
            Body::Opaque(opaque) => real(out, packet, opaque, size),
            Body::Ethernet(frame) => {
                out.extend_from_slice(frame.payload());
                None
            }
            Body::Arp(message) => {
                arp::packet(out, message, &self.addresses);
                None
            }
            _ => self.simulated(out, packet, size),
        };
        if !written.options.is_empty() {
            insert_ipv4_options(out, start, &written.options);
        }
        match (own, written.outside) {
            (Some(own), Some((named, _))) => Some(format!("{own}; {named}")),
            (own, outside) => own.or(outside.map(|(named, _)| named)),
        }
    }

    /// A packet that has no bytes until now.
    fn simulated(&mut self, out: &mut Vec<u8>, packet: &Packet, size: Bytes) -> Option<String> {
        let mut header = IpHeader {
            source: packet.source,
            destination: packet.destination,
            protocol: protocol::UDP,
            ttl: packet.ttl,
            ecn: packet.ecn,
            dscp: packet.dscp,
            identification: packet.id.0 as u16,
        };
        let transport = &mut self.transport;
        transport.clear();
        match &packet.body {
            Body::Tcp(segment) => {
                tcp::header(transport, segment, size);
                header.protocol = protocol::TCP;
                transport.resize(transport.len() + segment.payload as usize, 0);
                header.seal(transport);
                assert_eq!(length(&header, transport), size, "{segment:?}");
            }
            Body::Udp(datagram) => {
                let Datagram { source_port, destination_port, payload, .. } = *datagram;
                let above_ip = size.0 - header.length() as u64;
                if above_ip >= udp::HEADER + payload.0 {
                    let fill = |out: &mut Vec<u8>| out.resize(above_ip as usize, 0);
                    udp::datagram(transport, source_port, destination_port, fill);
                    header.seal(transport);
                } else {
                    // `udp_header = 0`: ns-2's packets, which have no place for a port.
                    header.protocol = protocol::EXPERIMENTAL;
                    transport.resize(above_ip as usize, 0);
                }
                assert_eq!(length(&header, transport), size, "{datagram:?}");
            }
            Body::Control(message) => {
                control::datagram(transport, message, &self.addresses);
                header.seal(transport);
            }
            Body::Arp(_) | Body::Opaque(_) | Body::Ethernet(_) => {
                unreachable!("{packet:?} is written elsewhere")
            }
        }
        header.write(out, transport.len());
        out.extend_from_slice(transport);
        match &packet.body {
            Body::Tcp(segment) => tcp::beside_the_wire(segment, size),
            Body::Control(message) => other_size(message, size, length(&header, transport)),
            Body::Udp(_) | Body::Arp(_) | Body::Opaque(_) | Body::Ethernet(_) => None,
        }
    }
}

/// A real host's packet: its own bytes, with the time to live that it has here.
fn real(out: &mut Vec<u8>, packet: &Packet, opaque: &Opaque, size: Bytes) -> Option<String> {
    let start = out.len();
    out.extend_from_slice(&opaque.bytes);
    set_hop(&mut out[start..], packet.ttl, packet.ecn);
    let written = Bytes(opaque.bytes.len() as u64);
    (size != written).then(|| format!("{} bytes at IP on the air, {} here", size.0, written.0))
}

fn length(header: &IpHeader, transport: &[u8]) -> Bytes {
    Bytes((header.length() + transport.len()) as u64)
}

/// ns-2 gives routing packets no UDP header and other fields, so the standard's format does not fit their size.
///
/// # Panics
/// If the sizes differ, and the message does not say whose it has on the air.
fn other_size(message: &Control, air: Bytes, written: Bytes) -> Option<String> {
    let format = message.format();
    (air != written).then(|| {
        let size = format.size.unwrap_or_else(|| panic!("{air:?} on the air, {written:?} here: {message:?}"));
        format!("{} bytes at IP on the air ({size}), {} here ({})", air.0, written.0, format.name)
    })
}
