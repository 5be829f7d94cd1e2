//! NewReno's recovery with another number of duplicates: for receivers that acknowledge rarely.

use super::{FastRecovery, RecoveryPart};
use crate::control::Rules;
use alloc::boxed::Box;
use meshpace_keys::Key;

pub(super) static PART: RecoveryPart = RecoveryPart::new(
    "early",
    "NewReno's fast recovery after fewer duplicates, for receivers that acknowledge rarely (TCP-DAA's).",
    "schemes.md 7.2; de Oliveira and Braun 2005, from memory",
    |values, rules| {
        let duplicate_threshold = values.count("daa_duplicates");
        Box::new(FastRecovery::new(&Rules { duplicate_threshold, ..*rules }))
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 1] = [Key::count(
    "daa_duplicates",
    (1, 10),
    2,
    "Duplicate acknowledgements that signal a loss (schemes.md 7.2).",
)];
