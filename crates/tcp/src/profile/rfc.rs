//! The RFCs.

use super::{ECN, Profile, ProfilePart, rto_keys, with_limits};
use crate::config::Config;
use crate::control::Rules;
use crate::rto::SmoothedConfig;
use meshpace_keys::Key;

pub(super) static PART: ProfilePart = ProfilePart::new(
    "rfc",
    "The RFCs: real headers, timestamps, fine timeouts, a handshake of three segments.",
    "schemes.md 16; RFC 5681, 6298, 7323, 9293",
    |values| {
        let config = Config::rfc();
        Profile {
            rules: Rules::RFC,
            config: Config { rto: with_limits(config.rto, values), ecn: values.flag("ecn"), ..config },
        }
    },
)
.keys(&[&RTO, &ECN]);

static RTO: [Key; 4] =
    rto_keys(SmoothedConfig::RFC.initial, SmoothedConfig::RFC.min, SmoothedConfig::RFC.max);
