//! No pacing: the window alone governs.

use super::part::{BACKS_OFF, PacingPart};

pub(super) static PART: PacingPart =
    PacingPart::new("none", "Not at all: the window alone governs.", "schemes.md 16", |_, _| None)
        .keys(&[&BACKS_OFF]);
