//! TCP-GAP's gateway.

use super::pacing::{KEYS, LAW, REPAIR, config};
use super::{Behaviour, GatewayPart};
use crate::Config;
use meshpace_pacing::{GOODPUT_CONTROL_KEYS, GoodputControlConfig};

pub(super) static PART: GatewayPart = GatewayPart::new(
    "pacing+goodput-control",
    "As pacing, and downward flows that take more than their share are capped while that helps the slow ones.",
    "schemes.md 3.1 to 3.5; ElRakabawy, Klemm, Lindemann 2007",
    |values, law| {
        let goodput_control = Some(GoodputControlConfig::from_values(values));
        Behaviour::paced(Config { goodput_control, ..config(values) }, law, values)
    },
)
.keys(&[&LAW, &GOODPUT_CONTROL_KEYS, &REPAIR, &KEYS]);
