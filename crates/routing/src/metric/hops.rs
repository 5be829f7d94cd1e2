//! Hops: every link costs the same.

use super::{Cost, MetricPart};

pub(super) static PART: MetricPart =
    MetricPart::new("hops", "Every link costs the same.", "docs/contract.md 3", |_| Cost::ONE);
