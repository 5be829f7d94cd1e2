//! Packets of address resolution (RFC 826): 28 bytes, as on the air.

use super::addresses::Addresses;
use meshpace_relay::packet::{Arp, ArpOperation};

const ETHERNET: u16 = 1;
const IPV4: u16 = 0x0800;
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

/// Appends the packet. A request has zeros in place of the address that it asks for.
pub fn packet(out: &mut Vec<u8>, message: &Arp, addresses: &Addresses) {
    let (operation, target) = match message.operation {
        ArpOperation::Request => (REQUEST, [0; 6]),
        ArpOperation::Reply => (REPLY, addresses.station(message.target)),
    };
    out.extend(ETHERNET.to_be_bytes());
    out.extend(IPV4.to_be_bytes());
    out.extend([6, 4]); // lengths of the addresses
    out.extend(operation.to_be_bytes());
    out.extend(addresses.station(message.sender));
    out.extend(addresses.node(message.sender).octets());
    out.extend(target);
    out.extend(addresses.node(message.target).octets());
}
