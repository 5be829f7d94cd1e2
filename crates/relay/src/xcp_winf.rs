//! XCP-Winf (schemes.md 11.3): XCP with rt-Winf in each wireless queue.

use crate::RelayPart;
use crate::here::QueueSite;
use crate::sense::{self, Sense};
use crate::sensed::Sensed;
use crate::xcp::{self, Source, Xcp};
use meshpace_keys::{Key, words};

words! {
    /// What XCP-Winf takes for the bandwidth that nobody uses (`xcpwinf_S`). Its law is not printed: a reconstruction.
    enum Spare {
        /// The available bandwidth: what the neighbours use is off it already.
        Available = "AB",
        /// The measured capacity without the node's own traffic.
        CapacityMinusInput = "C_minus_y",
    }
}

static KEYS: [Key; 1] = [Key::word(
    "xcpwinf_S",
    Spare::WORDS,
    Spare::Available.word(),
    "What is taken for the bandwidth that nobody uses; the law is a reconstruction (schemes.md 11.3).",
)];

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "xcp-winf",
    "XCP's queue that goes by the bandwidth which rt-Winf finds available; its law is a reconstruction.",
    "schemes.md 11.3; Barreto, Sargento 2011",
    |values, queue| {
        let source = match queue.place {
            QueueSite::Radio { node, .. } => {
                let subtracts = matches!(values.word("xcpwinf_S"), Spare::CapacityMinusInput);
                Source::Sensed(Box::new(Sensed::new(Sense::new(values, node), subtracts)))
            }
            QueueSite::Wired { .. } => Source::Capacity,
        };
        Box::new(Xcp::new(values, queue, source))
    },
)
.keys(&[&xcp::KEYS, &KEYS, &sense::KEYS])
.reconstructed("the law (schemes.md 11.3)");
