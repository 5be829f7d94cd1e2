//! A queue for every flow that begins here, served in turn.

use crate::RelayPart;
use crate::source_queues::{SourceQueues, WHERE};

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "split",
    "At sources a drop-tail queue for every flow that begins there and one for the rest, served in turn, packet by packet.",
    "schemes.md 4; Osipov and Tschudin 2005, appendix 6.3",
    |values, queue| Box::new(SourceQueues::new(queue, SourceQueues::nodes(values), None)),
)
.keys(&[&WHERE]);
