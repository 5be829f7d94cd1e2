//! Shims: options of the IPv4 header where they fit, else named in the packet's comment.

use meshpace_relay::packet::{Body, Packet, ShimView};
use meshpace_units::Bytes;

/// An option for experiments, copied into fragments (RFC 4727, section 3). Its first byte of value is the shim's kind.
const EXPERIMENT: u8 = 158;
/// Ends the list (RFC 791, section 3.1).
const END: u8 = 0;
/// Bytes of type, length and kind before a shim's own.
const OPTION_HEADER: usize = 3;
/// What an IPv4 header has room for.
const ROOM: u64 = 40;

/// How a packet's shims are written.
#[derive(Default)]
pub struct Written {
    /// Options of the IPv4 header, as long as the shims are on the air.
    pub options: Vec<u8>,
    /// The shims that are not in the packet, in words, and how long they are.
    pub outside: Option<(String, Bytes)>,
}

/// Options, if the packet is one of IPv4, and they are as long as the shims are to be and whole words.
pub fn write(packet: &Packet) -> Written {
    let length: Bytes = packet.shims().map(|shim| shim.wire_length).sum();
    let needed: usize = packet.shims().map(|shim| OPTION_HEADER + shim.bytes.len()).sum();
    if needed == 0 {
        return Written::default();
    }
    if has_room(packet) && needed as u64 <= length.0 && length.0 <= ROOM && length.0 % 4 == 0 {
        let mut options = Vec::new();
        for shim in packet.shims() {
            options.extend([EXPERIMENT, (OPTION_HEADER + shim.bytes.len()) as u8, shim.kind as u8]);
            options.extend(shim.bytes);
        }
        options.resize(length.0 as usize, END);
        return Written { options, outside: None };
    }
    let named: Vec<_> = packet.shims().map(name).collect();
    Written { options: Vec::new(), outside: Some((named.join("; "), length)) }
}

/// True for an IPv4 header without options of its own.
fn has_room(packet: &Packet) -> bool {
    match &packet.body {
        Body::Opaque(opaque) => opaque.bytes.first() == Some(&0x45),
        Body::Arp(_) | Body::Ethernet(_) => false,
        Body::Tcp(_) | Body::Udp(_) | Body::Control(_) => packet.source.is_ipv4(),
    }
}

fn name(shim: ShimView<'_>) -> String {
    let value: String = shim.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "shim {} (kind {}), {} bytes on the air, not here: {value}",
        shim.name, shim.kind as u8, shim.wire_length.0
    )
}
