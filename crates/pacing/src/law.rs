//! Rate laws: from round-trip samples to a pacing interval.

use crate::adaptive::{AdaptiveConfig, Divisor, Samples, Variation};
use crate::path::{Path, Route};
use alloc::collections::VecDeque;
use core::fmt;
use core::num::NonZeroU32;
use meshpace_units::{Bytes, Span};

/// Why a sample was not used. A rejected sample touches neither the smoothed delay nor the history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rejected {
    /// The route is a list of no links: there is no wireless path that the round trip could have been over. It is not
    /// counted as a rejected sample.
    NoLinks,
    /// The round-trip time is zero.
    NoDelay,
    /// The k-hop delay (seconds) is not above zero and below the bound (schemes.md 1.3, rule 4).
    OutOfBounds {
        /// The k-hop delay in seconds; infinite over a link of rate zero.
        k_hop_delay: f64,
    },
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLinks => f.write_str("the route has no links"),
            Self::NoDelay => f.write_str("the round-trip time is zero"),
            Self::OutOfBounds { k_hop_delay } => {
                write!(f, "the k-hop delay of {k_hop_delay} s is outside the open interval (0, delaybound)")
            }
        }
    }
}

impl core::error::Error for Rejected {}

/// One accepted sample and what (2.1) and (2.2) made of it: enough to write the formulas down with their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The round-trip time.
    pub rtt: Span,
    /// The path it was measured over.
    pub path: Path,
    /// Hops between consecutive packets that the law applied, min(n, h) unless configured otherwise.
    pub k: u32,
    /// Queueing delay a hop, seconds, after clamping (1.2).
    pub queueing_delay: f64,
    /// The k-hop delay, seconds (1.3), (2.1).
    pub k_hop_delay: f64,
    /// The smoothed k-hop delay before this sample, seconds; `None` if it was the first.
    pub smoothed_before: Option<f64>,
}

/// One flow's pacing interval and what it was computed from.
#[derive(Clone, Debug)]
pub struct RateLaw {
    config: AdaptiveConfig,
    smoothed: Option<f64>,
    queueing: f64,
    history: VecDeque<f64>,
    variation: f64,
    interval: Option<Span>,
    last: Option<Step>,
    accepted: u64,
    rejected: u64,
    unreliable: u64,
    unit: NonZeroU32,
}

/// Weight of the old value in the smoothed queueing delay (`gamma`, schemes.md section 2, "Constants").
const GAMMA: f64 = 0.5;

impl RateLaw {
    /// A law without samples.
    #[must_use]
    pub const fn new(config: AdaptiveConfig) -> Self {
        Self {
            config,
            smoothed: None,
            queueing: 0.0,
            history: VecDeque::new(),
            variation: 0.0,
            interval: config.initial_interval,
            last: None,
            accepted: 0,
            rejected: 0,
            unreliable: 0,
            unit: NonZeroU32::MIN,
        }
    }

    /// Packets that cross the hops as one.
    #[must_use]
    pub const fn unit(&self) -> NonZeroU32 {
        self.unit
    }

    /// From now on so many packets cross the hops as one. What came before was of others, and is forgotten by and by.
    pub const fn set_unit(&mut self, packets: NonZeroU32) {
        self.unit = packets;
    }

    /// Takes a round trip of a segment with this much payload over `route`: what every sender and gateway does with one
    /// that it has found to be of the law's part of the path.
    ///
    /// # Errors
    /// [`Rejected`], as [`on_sample`](Self::on_sample); also over a route that lists no links.
    pub fn on_round_trip(&mut self, rtt: Span, payload: Bytes, route: &Route) -> Result<Span, Rejected> {
        let path = self.config.path(payload, route).ok_or(Rejected::NoLinks)?;
        self.on_sample(rtt, &path)
    }

    /// Folds in the round-trip time of one segment over `path` and returns the new interval,
    /// `KHD_hat * (1 + 2 * variation)`.
    ///
    /// # Errors
    /// [`Rejected`] if the sample cannot be one of this path; the interval is unchanged then.
    ///
    /// Source: schemes.md (2.1) to (2.4); which samples to offer: schemes.md 1.3.
    pub fn on_sample(&mut self, rtt: Span, path: &Path) -> Result<Span, Rejected> {
        let config = self.config;
        let mut queueing = path.queueing_delay(rtt);
        if config.clamp_queueing {
            queueing = queueing.max(0.0);
        }
        if rtt.is_zero() {
            self.rejected += 1;
            return Err(Rejected::NoDelay);
        }
        if config.replace_queueing {
            if config.delay_bound.is_some_and(|bound| queueing > bound.as_secs_f64()) {
                queueing = self.queueing;
            }
            self.smooth_queueing(queueing);
        }
        let k = config.k(path.hops());
        let delay = path.k_hop_delay(k, queueing);
        let bound = config.delay_bound.map_or(f64::INFINITY, Span::as_secs_f64);
        if !(delay > 0.0 && delay < bound) {
            self.rejected += 1;
            return Err(Rejected::OutOfBounds { k_hop_delay: delay });
        }
        self.accepted += 1;
        self.unreliable += u64::from(!path.is_reliable());
        let smoothed = self.smoothed.map_or(delay, |old| config.alpha * old + (1.0 - config.alpha) * delay);
        self.last = Some(Step {
            rtt,
            path: path.clone(),
            k,
            queueing_delay: queueing,
            k_hop_delay: delay,
            smoothed_before: self.smoothed,
        });
        self.smoothed = Some(smoothed);
        if !config.replace_queueing {
            self.smooth_queueing(queueing);
        }
        if self.history.len() >= config.history.max(1) {
            self.history.pop_front();
        }
        self.history.push_back(match config.samples {
            Samples::RoundTrip => rtt.as_secs_f64(),
            Samples::KHopDelay => delay,
        });
        self.variation = variation(&self.history, config.variation, config.divisor);
        // Without a bound a delay may be longer than a span can be.
        let interval = Span::try_from_secs_f64(smoothed * (1.0 + 2.0 * self.variation)).unwrap_or(Span::MAX);
        self.interval = Some(interval);
        Ok(interval)
    }

    fn smooth_queueing(&mut self, queueing: f64) {
        self.queueing = GAMMA * self.queueing + (1.0 - GAMMA) * queueing;
    }

    /// Applies other parameters from the next sample on; what the samples so far made stays.
    pub const fn set_config(&mut self, config: AdaptiveConfig) {
        self.config = config;
    }

    /// The pacing interval; `None` before the first sample if there is no initial interval.
    #[must_use]
    pub const fn interval(&self) -> Option<Span> {
        self.interval
    }

    /// The smoothed k-hop delay (KHD_hat, FHD_hat with n = 4) in seconds, once there is a sample.
    #[must_use]
    pub const fn k_hop_delay(&self) -> Option<f64> {
        self.smoothed
    }

    /// The smoothed queueing delay a hop, seconds; it starts at zero.
    #[must_use]
    pub const fn queueing_delay(&self) -> f64 {
        self.queueing
    }

    /// The variation of the samples held, by the configured measure; 0 before the second.
    #[must_use]
    pub const fn variation(&self) -> f64 {
        self.variation
    }

    /// The coefficient of variation of the samples held, whatever measure the law uses.
    #[must_use]
    pub fn cov(&self) -> f64 {
        variation(&self.history, Variation::Cov, self.config.divisor)
    }

    /// The sample that was accepted last, step by step.
    #[must_use]
    pub const fn last(&self) -> Option<&Step> {
        self.last.as_ref()
    }

    /// The samples that the variation is taken of, oldest first, in seconds: round-trip times or k-hop delays
    /// ([`AdaptiveConfig::samples`]).
    pub fn history(&self) -> impl ExactSizeIterator<Item = f64> {
        self.history.iter().copied()
    }

    /// Samples accepted so far.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.accepted
    }

    /// Samples rejected so far.
    #[must_use]
    pub const fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Accepted samples whose number of hops was unknown and taken as 1 (schemes.md 1.2).
    #[must_use]
    pub const fn unreliable(&self) -> u64 {
        self.unreliable
    }

    /// What the law was made of.
    #[must_use]
    pub const fn config(&self) -> &AdaptiveConfig {
        &self.config
    }
}

/// Deviation over mean of positive samples; 0 with fewer than two. Computed anew each time, so no error builds up.
fn variation(samples: &VecDeque<f64>, measure: Variation, divisor: Divisor) -> f64 {
    if samples.len() < 2 {
        return 0.0;
    }
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let divisor = match divisor {
        Divisor::SamplesLessOne => count - 1.0,
        Divisor::Samples => count,
    };
    let deviation = match measure {
        Variation::Cov => {
            let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
            libm::sqrt(squares / divisor)
        }
        Variation::None => 0.0,
        Variation::Mad => samples.iter().map(|x| libm::fabs(x - mean)).sum::<f64>() / divisor,
    };
    deviation / mean
}

#[cfg(test)]
mod tests;
