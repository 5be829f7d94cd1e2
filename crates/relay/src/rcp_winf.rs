//! RCP-Winf (schemes.md 12, last paragraph): RCP with rt-Winf in each wireless queue.

use crate::RelayPart;
use crate::here::QueueSite;
use crate::rcp::{self, Rcp};
use crate::sense::{self, Sense};
use crate::sensed::Sensed;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "rcp-winf",
    "RCP's queue that goes by the bandwidth which rt-Winf finds available; its law is a reconstruction.",
    "schemes.md 12; Barreto, Sargento",
    |values, queue| {
        let sensed = match queue.place {
            QueueSite::Radio { node, .. } => Some(Sensed::new(Sense::new(values, node), false)),
            QueueSite::Wired { .. } => None,
        };
        Box::new(Rcp::new(values, queue, sensed))
    },
)
.keys(&[&rcp::KEYS, &sense::KEYS])
.reconstructed("the law (schemes.md 12)");
