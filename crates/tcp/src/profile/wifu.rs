//! WiFu's user-space TCP, as the thesis measured with it.

use super::{Profile, ProfilePart, rto_keys, with_limits};
use crate::config::Config;
use crate::control::{InitialWindow, Rules};
use meshpace_keys::Key;
use meshpace_units::Span;

pub(super) static PART: ProfilePart = ProfilePart::new(
    "wifu",
    "WiFu: whole segments in a window of 65,535 bytes, timestamps, no scaling and no SACK, timeouts from 1 s on.",
    "schemes.md 5, \"WiFu facts that an emulation must copy\"; Lee 2012",
    |values| {
        let config = Config::wifu();
        Profile {
            rules: Rules {
                initial_ssthresh: Some(values.real("initial_ssthresh")),
                initial_window: InitialWindow::Segments(f64::from(values.count("wifu_initial_window"))),
                duplicate_threshold: values.count("wifu_duplicates"),
                ..Rules::WIFU
            },
            config: Config { rto: with_limits(config.rto, values), ..config },
        }
    },
)
.keys(&[&RTO, &THRESHOLD, &KEYS]);

/// The largest timeout is not known: RFC 6298's least one.
static RTO: [Key; 4] = rto_keys(Span::from_secs(3), Span::from_secs(1), Span::from_secs(60));

static THRESHOLD: [Key; 1] = [super::initial_ssthresh(&Rules::WIFU)];

static KEYS: [Key; 2] = [
    Key::count(
        "wifu_initial_window",
        (1, 10),
        1,
        "Segments that WiFu begins with: 1, and 3 (RFC 3390) from 9 February 2012 on (schemes.md 5).",
    ),
    Key::count(
        "wifu_duplicates",
        (1, 10),
        3,
        "Duplicate acknowledgements that signal a loss to WiFu: in effect 4 from 3 October 2011 on (schemes.md 5).",
    ),
];
