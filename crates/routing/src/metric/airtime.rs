//! The airtime link metric of 802.11.

use super::{Cost, MetricPart};

pub(super) static PART: MetricPart = MetricPart::new(
    "airtime",
    "Time that a test frame of 8,192 bits takes of the air with all that goes with it, over the share that is acknowledged: units of 10.24 us.",
    "IEEE 802.11-2020, 14.9",
    // c_a = (O + B_t / r) / (1 - e_f). An attempt without an acknowledgement counts as an error, since the sender cannot tell: so does
    // Linux (6.1, net/mac80211/mesh_hwmp.c, airtime_link_metric_get).
    |link| {
        let overhead = link.overhead.map_or(0.0, |overhead| overhead.as_secs_f64());
        Cost::nearest((overhead + link.bits_time()) * link.transmissions() / UNIT)
    },
);

/// 0.01 time units of 1,024 us.
const UNIT: f64 = 10.24e-6;
