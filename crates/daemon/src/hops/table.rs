//! The way to every mesh host, as known at one moment.

use super::ReceivedTtl;
use super::delivered::Delivered;
use super::prefix_map::PrefixMap;
use crate::config::{Config, HopSource, RateSource};
use meshpace_units::{Instant, Rate};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The wireless way to a mesh host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WirelessPath {
    /// Wireless hops.
    pub hops: u32,
    /// The source of the hops; [`HopSource::Default`] if none knew.
    pub source: HopSource,
    /// MAC data rate of its links.
    pub rate: Rate,
    /// Whether that is what nl80211 told, or configured (or seen to get across, where that is more and the driver tells nothing).
    pub rate_source: RateSource,
}

/// Immutable once published: the data thread reads it, the refreshing thread publishes another.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) config: Arc<Config>,
    /// Counts the tables published; a flow's way needs another look when it has changed.
    pub(super) generation: u64,
    pub(super) fixed: PrefixMap<u32>,
    pub(super) learned: BTreeMap<HopSource, PrefixMap<u32>>,
    pub(super) rates: PrefixMap<Rate>,
    /// Rates that links must have by what got across.
    pub(super) delivered: Delivered,
    pub(super) reports: Vec<SourceReport>,
}

/// How a source fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceReport {
    /// Which.
    pub source: HopSource,
    /// Prefixes that it knows the hops of, from its last answer.
    pub entries: usize,
    /// Its last answer.
    pub answered: Option<Instant>,
    /// Why it did not answer the last question.
    pub problem: Option<String>,
}

impl Table {
    pub(super) fn new(config: Arc<Config>) -> Self {
        let fixed = config.hops.fixed.iter().copied().collect();
        let (learned, rates, reports) = (BTreeMap::new(), PrefixMap::default(), Vec::new());
        Self { config, generation: 0, fixed, learned, rates, delivered: Delivered::default(), reports }
    }

    /// A number that differs whenever the table does.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The way to a host, from a packet of which a TTL may be at hand: a hop count of `[[subnet]]`, else of the first
    /// source that knows the host, else the default.
    #[must_use]
    pub fn way(&self, host: IpAddr, ttl: Option<ReceivedTtl>) -> WirelessPath {
        let policy = self.config.policy(host);
        let hops = &self.config.hops;
        let learned = |source: HopSource| match source {
            HopSource::Static => self.fixed.get(host).copied(),
            HopSource::Ttl => ttl?.hops(),
            _ => self.learned.get(&source)?.get(host).copied(),
        };
        let found = || hops.sources.iter().find_map(|source| Some((learned(*source)?, *source)));
        let configured = policy.hops.map(|hops| (hops, HopSource::Static));
        let (hops, source) = configured.or_else(found).unwrap_or((hops.default, HopSource::Default));
        let (rate, rate_source) = match (policy.rate, self.config.mesh.rate_source) {
            (Some(rate), _) => (rate, RateSource::Configured),
            (None, RateSource::Configured) => (self.config.mesh.rate, RateSource::Configured),
            (None, RateSource::Nl80211) => match self.rates.get(host) {
                Some(rate) => (*rate, RateSource::Nl80211),
                None => (self.config.mesh.rate.max(self.delivered.of(host)), RateSource::Configured),
            },
        };
        WirelessPath { hops, source, rate, rate_source }
    }

    /// How the sources fare that are asked.
    #[must_use]
    pub fn reports(&self) -> &[SourceReport] {
        &self.reports
    }
}
