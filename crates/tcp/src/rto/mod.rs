//! Round-trip estimation and the retransmission timeout.

mod backoff;
mod linux;
mod rfc6298;
mod ticks;

pub use rfc6298::SmoothedConfig;
pub use ticks::TickConfig;

use linux::Linux;
use meshpace_units::{Instant, Span};
use rfc6298::Smoothed;
use ticks::Ticks;

/// Which estimator sets the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoConfig {
    /// ns-2's: one timed segment, whole ticks, integer arithmetic.
    Ticks(TickConfig),
    /// RFC 6298, every acknowledgement of a segment sent once.
    Smoothed(SmoothedConfig),
    /// Linux's: `min` is the least of the variation, not of the timeout.
    Linux(SmoothedConfig),
}

/// What an acknowledgement of new data tells about round trips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckTiming {
    pub(crate) now: Instant,
    /// First position still unacknowledged.
    pub(crate) una: u64,
    /// Next position to send.
    pub(crate) nxt: u64,
    /// The acknowledgement uncovered a further hole of a fast recovery.
    pub(crate) partial: bool,
    /// Round trip of the oldest newly acknowledged segment, of what is reported, or of the echoed timestamp; `None` if ambiguous.
    pub(crate) rtt: Option<Span>,
}

/// One connection's estimator.
#[derive(Clone, Debug)]
pub(crate) enum Estimator {
    Ticks(Ticks),
    Smoothed(Smoothed),
    Linux(Linux),
}

impl Estimator {
    pub(crate) const fn new(config: RtoConfig) -> Self {
        match config {
            RtoConfig::Ticks(config) => Self::Ticks(Ticks::new(config)),
            RtoConfig::Smoothed(config) => Self::Smoothed(Smoothed::new(config)),
            RtoConfig::Linux(config) => Self::Linux(Linux::new(config)),
        }
    }

    /// Data up to `end` left for the first time.
    pub(crate) const fn on_first_sent(&mut self, now: Instant, end: u64) {
        if let Self::Ticks(ticks) = self {
            ticks.start_timing(now, end);
        }
    }

    /// A loss action: whatever is being timed has become ambiguous (Karn).
    pub(crate) const fn stop_timing(&mut self) {
        if let Self::Ticks(ticks) = self {
            ticks.stop_timing();
        }
    }

    pub(crate) fn on_new_ack(&mut self, timing: &AckTiming) {
        match self {
            Self::Ticks(ticks) => ticks.on_new_ack(timing),
            Self::Smoothed(smoothed) => {
                if let Some(rtt) = timing.rtt {
                    smoothed.on_sample(rtt);
                }
            }
            Self::Linux(linux) => {
                if let Some(rtt) = timing.rtt {
                    linux.on_sample(rtt, timing.una, timing.nxt);
                }
            }
        }
    }

    /// Selective acknowledgements are samples, too.
    pub(crate) const fn takes_reports(&self) -> bool {
        matches!(self, Self::Linux(_))
    }

    /// A round trip of what was selectively acknowledged, with everything before `una` acknowledged and everything before `nxt` sent.
    pub(crate) fn on_report(&mut self, rtt: Span, una: u64, nxt: u64) {
        if let Self::Linux(linux) = self {
            linux.on_sample(rtt, una, nxt);
        }
    }

    /// The timer expired: the timeout doubles.
    pub(crate) fn back_off(&mut self) {
        match self {
            Self::Ticks(ticks) => ticks.back_off(),
            Self::Smoothed(smoothed) => smoothed.back_off(),
            Self::Linux(linux) => linux.back_off(),
        }
    }

    /// The handshake is over; `syn_lost` if its timer expired on the way.
    pub(crate) const fn on_connected(&mut self, syn_lost: bool) {
        match self {
            Self::Ticks(_) => {}
            Self::Smoothed(smoothed) => smoothed.on_connected(syn_lost),
            Self::Linux(linux) => linux.on_connected(syn_lost),
        }
    }

    pub(crate) fn rto(&self) -> Span {
        match self {
            Self::Ticks(ticks) => ticks.rto(),
            Self::Smoothed(smoothed) => smoothed.rto(),
            Self::Linux(linux) => linux.rto(),
        }
    }

    /// The latest sample as the estimator saw it: whole ticks in ns-2's, exact in RFC 6298's.
    pub(crate) const fn latest(&self) -> Option<Span> {
        match self {
            Self::Ticks(ticks) => ticks.latest(),
            Self::Smoothed(smoothed) => smoothed.latest(),
            Self::Linux(linux) => linux.latest(),
        }
    }

    /// The smoothed round-trip time.
    pub(crate) fn srtt(&self) -> Option<Span> {
        match self {
            Self::Ticks(ticks) => ticks.srtt(),
            Self::Smoothed(smoothed) => smoothed.srtt(),
            Self::Linux(linux) => linux.srtt(),
        }
    }
}
