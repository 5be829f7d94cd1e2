//! Scripted exchanges: every rule that the documents name, by its visible effect.

mod acknowledging;
mod agent;
mod delay_rate;
mod ecn;
mod handshake;
mod host_queue;
mod lifetime;
mod ns2;
mod pacing;
pub(crate) mod path;
mod rack;
mod random;
mod receiving;
mod reporting;
mod rfc;
mod sack;
pub(crate) mod script;
mod wifu;

use crate::control::{Ack, AckKind, Outstanding};
use meshpace_units::Instant;

/// An acknowledgement at time 0 that measures nothing, acknowledges nothing and carries nothing.
pub(crate) fn bare(kind: AckKind, out: Outstanding, mss: u32) -> Ack<'static> {
    Ack {
        now: Instant::ZERO,
        kind,
        out,
        acked: 0,
        mss,
        oldest: None,
        newest: None,
        sample: None,
        echoed: None,
        timestamp: None,
        route: None,
        rtt_wired: None,
        sack: None,
        rate: None,
        ecn_echo: false,
        ecn_signal: false,
        feedback: None,
        report: None,
    }
}
