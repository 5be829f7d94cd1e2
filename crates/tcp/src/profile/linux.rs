//! Linux.

use super::{ECN, Profile, ProfilePart, rto_keys, with_limits};
use crate::config::{Config, SackOffer};
use crate::control::{Growth, LossBasis, Rules, WindowCut};
use crate::rto::{RtoConfig, SmoothedConfig};
use meshpace_keys::{Key, Need};

pub(super) static PART: ProfilePart = ProfilePart::new(
    "linux",
    "Linux: ten segments to begin with, 200 ms of variation in timeouts, windows that count acknowledged segments, SACK with reports of \
     duplicates, a receive window that grows.",
    "schemes.md 22.4; RFC 6928, RFC 2883; Linux 6, net/ipv4",
    |values| {
        let config = Config {
            rto: RtoConfig::Linux(SmoothedConfig::LINUX),
            sack: SackOffer::Always,
            report_duplicates: true,
            window_grows: true,
            ..Config::linux()
        };
        Profile {
            rules: RULES,
            config: Config { rto: with_limits(config.rto, values), ecn: values.flag("ecn"), ..config },
        }
    },
)
.keys(&[&RTO, &ECN])
.needs(&[Need { key: "recovery", words: &["rack"] }]);

static RTO: [Key; 4] =
    rto_keys(SmoothedConfig::LINUX.initial, SmoothedConfig::LINUX.min, SmoothedConfig::LINUX.max);

/// The window in whole segments, which is halved as it is (tcp_reno_ssthresh).
const RULES: Rules = Rules {
    loss_basis: LossBasis::Window(WindowCut::Integer),
    growth: Growth::Acknowledged,
    whole_segments: true,
    restart_halves: true,
    ..Rules::LINUX
};
