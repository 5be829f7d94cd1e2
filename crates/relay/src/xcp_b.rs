//! XCP-b (schemes.md 11.2): XCP where no capacity is known. From memory, reconstructed: its numbers are parameters. The
//! retransmissions of the link layer, which it is said to look at, are not in it.

use crate::RelayPart;
use crate::here::QueueSite;
use crate::xcp::{self, Source, Xcp};
use meshpace_keys::Key;
use std::collections::BTreeSet;

static KEYS: [Key; 2] = [
    Key::number(
        "xcpb_xi",
        (0.0, 1.0),
        0.1,
        "Share of the traffic that a queue which ran empty is thought to have room for; reconstructed (schemes.md 11.2).",
    ),
    Key::number(
        "xcpb_kappa",
        (0.0, 100.0),
        1.0,
        "Packets that are meant to wait for each active next hop; reconstructed (schemes.md 11.2).",
    ),
];

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "xcp-b",
    "XCP's queue that knows no capacity and goes by how it grows; a reconstruction from memory.",
    "schemes.md 11.2; Abrantes, Ricardo 2006",
    |values, queue| {
        let source = match queue.place {
            QueueSite::Radio { .. } => {
                let (probe, room) = (values.real("xcpb_xi"), values.real("xcpb_kappa"));
                Source::Queue { probe, room, next_hops: BTreeSet::new(), packets: 0 }
            }
            QueueSite::Wired { .. } => Source::Capacity,
        };
        Box::new(Xcp::new(values, queue, source))
    },
)
.keys(&[&xcp::KEYS, &KEYS])
.reconstructed("the whole law, from memory (schemes.md 11.2)");
