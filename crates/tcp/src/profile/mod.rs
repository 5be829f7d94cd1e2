//! What the TCP of both ends follows besides its parts: complete sets, and what may be changed about them.

use crate::config::Config;
use crate::control::Rules;
use crate::rto::{RtoConfig, SmoothedConfig, TickConfig};
use meshpace_keys::{Key, Part, Values};
use meshpace_units::Span;

/// A profile as built: the endpoint, and the rules of its congestion control.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The endpoint, with NewReno.
    pub config: Config,
    /// The rules that any congestion control follows in it.
    pub rules: Rules,
}

/// How a profile (`tcp_profile`) is built.
pub type ProfilePart = Part<fn(&Values) -> Profile>;

meshpace_keys::parts! {
    /// The profiles.
    pub static PROFILES: ProfilePart = [ns2, rfc, wifu, linux];
}

/// The keys of the retransmission timeout's limits. `rto_max` takes the 100,000 s that ns-2 had before 2007.
const fn rto_keys(initial: Span, min: Span, max: Span) -> [Key; 4] {
    [
        Key::time(
            "rto_initial",
            Span::from_secs(60),
            initial,
            "Retransmission timeout before the first round trip (schemes.md 16).",
        ),
        Key::time(
            "rto_min",
            Span::from_secs(60),
            min,
            "Least retransmission timeout, before back-off (schemes.md 16).",
        ),
        Key::time(
            "rto_max",
            Span::from_secs(100_000),
            max,
            "Largest retransmission timeout (schemes.md 16).",
        ),
        Key::limit(
            "rto_backoff_max",
            (1, 1 << 31),
            "Largest factor of the timeout's back-off; \"none\": it doubles up to rto_max (schemes.md 16).",
        ),
    ]
}

/// The key of the first slow-start threshold, of profiles that have one.
const fn initial_ssthresh(rules: &Rules) -> Key {
    Key::number(
        "initial_ssthresh",
        (2.0, 1e6),
        match rules.initial_ssthresh {
            Some(segments) => segments,
            None => f64::INFINITY,
        },
        "Slow-start threshold before the first loss, segments; with tcp_profile = \"rfc\" there is none (schemes.md 16).",
    )
}

/// Explicit congestion notification, off in every profile as in ns-2 and by the RFCs' default.
static ECN: [Key; 1] = [Key::flag(
    "ecn",
    false,
    "Explicit congestion notification: data are marked where they would be dropped (RFC 3168).",
)];

/// The estimator with the limits that the values say.
fn with_limits(rto: RtoConfig, values: &Values) -> RtoConfig {
    let [initial, min, max] = ["rto_initial", "rto_min", "rto_max"].map(|key| values.span(key));
    let backoff_max = values.limit("rto_backoff_max");
    match rto {
        RtoConfig::Ticks(rto) => RtoConfig::Ticks(TickConfig { initial, min, max, backoff_max, ..rto }),
        RtoConfig::Smoothed(rto) => {
            RtoConfig::Smoothed(SmoothedConfig { initial, min, max, backoff_max, ..rto })
        }
        RtoConfig::Linux(rto) => RtoConfig::Linux(SmoothedConfig { initial, min, max, backoff_max, ..rto }),
    }
}
