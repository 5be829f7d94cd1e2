//! rt-Winf's probes where no RTS/CTS tells a capacity (schemes.md 9.2): a datagram to the next node, which its MAC acknowledges, before
//! a transmission over a link that lay idle. After that ordinary traffic tells.

use crate::here::Here;
use crate::packet::{Body, Class, Datagram, Handle, Host, Packet, Stamp};
use meshpace_keys::{Key, Values};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::collections::BTreeMap;

pub(crate) static KEYS: [Key; 2] = [
    Key::flag(
        "rtwinf_probes",
        true,
        "Whether a packet that goes without RTS/CTS over a link that lay idle for a second follows a probe (schemes.md 9.2).",
    ),
    Key::size(
        "rtwinf_probe_bytes",
        (28, 1500),
        Bytes(1500),
        "Size of a probe with its headers; not printed: that of a full packet, whose capacity is asked for.",
    ),
];

/// A link without a packet for so long is idle: as far back as busy time counts (schemes.md 9.2).
const IDLE: Span = Span::from_secs(1);
/// IP and UDP.
const HEADERS: Bytes = Bytes(28);
/// The discard protocol's (RFC 863): what a probe says is not read.
const PORT: u16 = 9;

/// When a node's links were used.
#[derive(Clone, Debug)]
pub(crate) struct Probes {
    size: Option<Bytes>,
    used: BTreeMap<NodeId, Instant>,
}

impl Probes {
    pub(crate) fn new(values: &Values) -> Self {
        let size = values.flag("rtwinf_probes").then(|| values.bytes("rtwinf_probe_bytes"));
        Self { size, used: BTreeMap::new() }
    }

    /// The probe to send instead of the packet that would go next from `from`.
    pub(crate) fn before(&mut self, here: &mut Here<'_>, from: NodeId, next: Handle) -> Option<Handle> {
        let (now, size) = (here.now, self.size?);
        let next = here.packets.get(next);
        let (to, bytes) = (next.next_hop?, next.size);
        if !matches!(next.class, Class::Data | Class::Ack) {
            return None;
        }
        let idle = self.used.insert(to, now).is_none_or(|used| now.saturating_since(used) > IDLE);
        let node = here.node().filter(|node| idle && !node.needs_rts(bytes))?;
        let body = Body::Udp(Datagram {
            source_port: PORT,
            destination_port: PORT,
            payload: size - HEADERS,
            stamp: Stamp { number: 0, sent: now },
        });
        let mut probe = Packet::new(node.address(from), node.address(to), size, Class::Control, body);
        (probe.next_hop, probe.to) = (Some(to), Host::Mesh(to));
        (probe.entry, probe.exit) = (from, to);
        Some(here.packets.add(probe))
    }
}
