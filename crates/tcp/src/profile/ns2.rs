//! ns-2.35.

use super::{ECN, Profile, ProfilePart, rto_keys, with_limits};
use crate::config::Config;
use crate::control::{LossBasis, Rules, WindowCut};
use crate::rto::TickConfig;
use meshpace_keys::Key;

pub(super) static PART: ProfilePart = ProfilePart::new(
    "ns2",
    "ns-2.35: flat headers, coarse timeouts, a handshake of two segments.",
    "schemes.md 16, \"Profile ns2 in full\"",
    |values| {
        let config = Config::ns2();
        Profile {
            rules: Rules {
                initial_ssthresh: Some(values.real("initial_ssthresh")),
                loss_basis: LossBasis::Window(values.word("window_cut")),
                ..Rules::NS2
            },
            config: Config { rto: with_limits(config.rto, values), ecn: values.flag("ecn"), ..config },
        }
    },
)
.keys(&[&RTO, &THRESHOLD, &CUT, &ECN]);

static RTO: [Key; 4] = rto_keys(TickConfig::NS2.initial, TickConfig::NS2.min, TickConfig::NS2.max);

static THRESHOLD: [Key; 1] = [super::initial_ssthresh(&Rules::NS2)];

static CUT: [Key; 1] = [Key::word(
    "window_cut",
    WindowCut::WORDS,
    WindowCut::Real.word(),
    "The window that tahoe, newreno and sack halve at a loss: as it is, or in whole segments as in ns-2 before 24 January 2006 \
     (schemes.md 16).",
)];
