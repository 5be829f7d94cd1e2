//! Expected transmission time.

use super::{Cost, MetricPart};

pub(super) static PART: MetricPart = MetricPart::new(
    "ett",
    "Time that 1,024 bytes take at the link's rate, times the transmissions that are expected: nanoseconds.",
    "Draves, Padhye and Zill, MobiCom 2004",
    // ETT = ETX S / B (4.1 there). WCETT, which weighs that hops of a route share a channel, is none: a route costs the sum of its links.
    |link| Cost::nearest(UNITS * link.transmissions() * link.bits_time()),
);

/// Of a second. The most that a cost can be is then 4.3 s.
const UNITS: f64 = 1e9;
