//! None: data goes in the mode that the scenario gives its link.

use super::{Maker, RateControlPart};

pub(super) static PART: RateControlPart = RateControlPart::new(
    "fixed",
    "Each link's data goes in the mode that the file gives it.",
    "docs/model.md",
    Maker { suits: |_| Ok(()), make: |_| None },
);
