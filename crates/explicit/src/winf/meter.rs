//! Capacity and available bandwidth of links, by what one node or one monitor notices.

use super::{Busy, Station};
use alloc::collections::BTreeMap;
use meshpace_units::{Bytes, Instant, Span};

/// The decisions that the paper leaves open (schemes.md 9.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How far back busy time counts; `None`: since the start, as printed.
    pub window: Option<Span>,
    /// The least payload whose exchange tells the capacity: TCP's acknowledgements would pull it down.
    pub least_payload: Bytes,
    /// Pauses that a receiver takes off.
    pub receiver_pauses: u64,
    /// Weight of the old capacity.
    pub smoothing: f64,
    /// The least available bandwidth, as a share of the capacity.
    pub floor: f64,
}

impl Config {
    /// The decisions of schemes.md 9.2.
    pub const DECIDED: Self = Self {
        window: Some(Span::from_secs(1)),
        least_payload: Bytes(500),
        receiver_pauses: 2,
        smoothing: 0.9,
        floor: 0.01,
    };
}

/// A directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The sender of data over it.
    pub from: Station,
    /// The receiver.
    pub to: Station,
}

/// The capacity of a link, and its free part, bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// What it can carry.
    pub capacity: f64,
    /// What is free of it.
    pub available: f64,
}

impl Pair {
    /// The pair with less available, taken whole (schemes.md 9.2, "Smaller pair").
    #[must_use]
    pub fn smaller(self, other: Self) -> Self {
        if other.available < self.available { other } else { self }
    }
}

/// The links that are known, and the medium.
#[derive(Clone, Debug)]
pub struct Meter {
    config: Config,
    /// The medium where the meter is.
    pub busy: Busy,
    /// Smoothed capacities, by link.
    capacities: BTreeMap<Link, f64>,
}

impl Meter {
    /// Nothing is known yet.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self { config, busy: Busy::new(config.window), capacities: BTreeMap::new() }
    }

    /// The parameters.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// An exchange over a link with a payload of that size told a capacity, bit/s. False if that is too little to count.
    pub fn on_capacity(&mut self, link: Link, payload: Bytes, capacity: f64) -> bool {
        if payload < self.config.least_payload {
            return false;
        }
        let weight = self.config.smoothing;
        let smoothed = self.capacities.entry(link).or_insert(capacity);
        *smoothed = weight * *smoothed + (1.0 - weight) * capacity;
        true
    }

    /// What is known of a link now; `None` before its first capacity.
    #[must_use]
    pub fn pair(&self, now: Instant, link: Link) -> Option<Pair> {
        let capacity = self.capacities.get(&link)?;
        Some(self.of_capacity(now, *capacity))
    }

    /// The same, where other times than the medium's count as busy.
    #[must_use]
    pub fn pair_beside(&self, now: Instant, link: Link, busy: &Busy) -> Option<Pair> {
        let capacity = self.capacities.get(&link)?;
        Some(self.free(now, *capacity, busy))
    }

    /// What of a capacity is free now.
    #[must_use]
    pub fn of_capacity(&self, now: Instant, capacity: f64) -> Pair {
        self.free(now, capacity, &self.busy)
    }

    fn free(&self, now: Instant, capacity: f64, busy: &Busy) -> Pair {
        let idle = 1.0 - busy.share(now).unwrap_or(0.0);
        Pair { capacity, available: capacity * idle.clamp(self.config.floor, 1.0) }
    }

    /// The links that are known, with what is known of them.
    pub fn links(&self, now: Instant) -> impl Iterator<Item = (Link, Pair)> + '_ {
        self.capacities.iter().map(move |(link, capacity)| (*link, self.of_capacity(now, *capacity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { from: 1, to: 2 };

    #[test]
    fn the_vector_of_schemes_md() {
        let mut meter = Meter::new(Config::DECIDED);
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        meter.busy.begin(at(0));
        assert_eq!(meter.pair(at(500), LINK), None);
        meter.busy.add(at(100), at(500));
        assert!(meter.on_capacity(LINK, Bytes(1500), 7.605e6));
        let Pair { capacity, available } = meter.pair(at(1000), LINK).unwrap();
        assert!((capacity - 7.605e6).abs() < 1.0 && (available - 4.563e6).abs() < 500.0, "{available}");
        // Never nothing at all.
        meter.busy.add(at(0), at(5000));
        assert_eq!(meter.pair(at(5000), LINK).unwrap().available, 0.01 * 7.605e6);
    }

    #[test]
    fn short_packets_tell_no_capacity_and_the_others_are_smoothed() {
        let mut meter = Meter::new(Config::DECIDED);
        let now = Instant::from_nanos(1_000_000_000);
        assert!(!meter.on_capacity(LINK, Bytes(40), 1.08e6));
        assert!(meter.on_capacity(LINK, Bytes(1500), 8e6) && meter.on_capacity(LINK, Bytes(1500), 6e6));
        assert!((meter.pair(now, LINK).unwrap().capacity - 7.8e6).abs() < 1e-6);
        assert_eq!(meter.links(now).map(|known| known.0).collect::<alloc::vec::Vec<_>>(), [LINK]);
        let (busy, idle) = (Pair { capacity: 9.0, available: 1.0 }, Pair { capacity: 5.0, available: 2.0 });
        assert_eq!((busy.smaller(idle), idle.smaller(busy)), (busy, busy));
    }
}
