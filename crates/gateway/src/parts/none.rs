//! No gateway at all.

use super::{Behaviour, GatewayPart};

pub(super) static PART: GatewayPart =
    GatewayPart::new("none", "Packets pass the gateway as they come.", "schemes.md 3", |_, _| {
        Behaviour::default()
    });
