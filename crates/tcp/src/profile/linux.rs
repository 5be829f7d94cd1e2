//! Linux.

use super::{ECN, Profile, ProfilePart, rto_keys, with_limits};
use crate::config::{Config, HostQueue, SackOffer};
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
            bare_handshake: true,
            host_queue: values.flag("small_queue").then_some(HostQueue::WIRED),
            ..Config::linux()
        };
        Profile {
            rules: RULES,
            config: Config { rto: with_limits(config.rto, values), ecn: values.flag("ecn"), ..config },
        }
    },
)
.keys(&[&RTO, &ECN, &SMALL_QUEUE])
.needs(&[Need { key: "recovery", words: &["rack"] }]);

static RTO: [Key; 4] =
    rto_keys(SmoothedConfig::LINUX.initial, SmoothedConfig::LINUX.min, SmoothedConfig::LINUX.max);

static SMALL_QUEUE: [Key; 1] = [Key::flag(
    "small_queue",
    true,
    "A sender keeps no more in its host's queue than two bursts, or what its pace makes in 1 ms (in the mesh 8 ms): TSQ. Not where a device \
     takes packets out of the count at once, as a TUN device does (schemes.md 22.4).",
)];

/// The window in whole segments, which is halved as it is (tcp_reno_ssthresh).
const RULES: Rules = Rules {
    loss_basis: LossBasis::Window(WindowCut::Integer),
    growth: Growth::Acknowledged,
    whole_segments: true,
    restart_halves: true,
    ..Rules::LINUX
};
