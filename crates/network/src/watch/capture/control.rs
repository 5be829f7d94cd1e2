//! Routing packets as UDP datagrams, whose payload their protocol writes.

use super::addresses::Addresses;
use super::udp;
use meshpace_routing::Control;

/// Writes the datagram, its checksum zero.
pub fn datagram(out: &mut Vec<u8>, message: &Control, addresses: &Addresses) {
    let port = message.format().port;
    udp::datagram(out, port, port, |out| message.write(out, &|node| addresses.node(node)));
}
