//! The timeout around an estimate: what it is before the first sample, and how it doubles (RFC 6298, rules 2.1, 5.5 and 5.7).

use super::SmoothedConfig;
use meshpace_units::Span;

/// The timeout when data transmission begins after a lost SYN (RFC 6298, rule 5.7; Linux: `TCP_TIMEOUT_FALLBACK`).
const AFTER_LOST_SYN: Span = Span::from_secs(3);

#[derive(Clone, Debug)]
pub(super) struct Backoff {
    pub(super) config: SmoothedConfig,
    initial: Span,
    doublings: u32,
    latest: Option<Span>,
}

impl Backoff {
    pub(super) const fn new(config: SmoothedConfig) -> Self {
        Self { config, initial: config.initial, doublings: 0, latest: None }
    }

    pub(super) const fn on_sample(&mut self, rtt: Span) {
        self.latest = Some(rtt);
        self.doublings = 0;
    }

    pub(super) const fn on_connected(&mut self, syn_lost: bool) {
        if syn_lost && self.latest.is_none() {
            (self.initial, self.doublings) = (AFTER_LOST_SYN, 0);
        }
    }

    /// Doubles the timeout of this estimate, unless it is as long as it may be.
    pub(super) fn back_off(&mut self, estimate: Option<Span>) {
        if self.timeout(estimate) < self.config.max {
            self.doublings += 1;
        }
    }

    /// The timeout, within its limits; `estimate` is what the samples say without doublings, `None` before the first.
    pub(super) fn timeout(&self, estimate: Option<Span>) -> Span {
        let base = estimate.unwrap_or(self.initial);
        let factor =
            (1_u64 << self.doublings.min(63)).min(self.config.backoff_max.map_or(u64::MAX, u64::from));
        let backed_off = u128::from(base.as_nanos()) * u128::from(factor);
        Span::from_nanos(backed_off.min(u128::from(self.config.max.as_nanos())) as u64)
    }

    /// The latest sample.
    pub(super) const fn latest(&self) -> Option<Span> {
        self.latest
    }
}
