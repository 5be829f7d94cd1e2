//! Expected transmissions.

use super::{Cost, MetricPart};

pub(super) static PART: MetricPart = MetricPart::new(
    "etx",
    "Transmissions until a frame is acknowledged, expected of the losses there and back: thousandths.",
    "De Couto, Aguayo, Bicket and Morris, MobiCom 2003",
    |link| Cost::nearest(UNITS * link.transmissions()),
);

/// Of one transmission. Losses of 0.1 % and more make a difference.
const UNITS: f64 = 1e3;
