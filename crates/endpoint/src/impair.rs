//! A bad network in a box: loss, duplication, reordering, corruption, marks of congestion and delay from a fixed seed.

use meshpace_units::random::Stream;
use meshpace_units::{Instant, Span};
use std::collections::BTreeMap;

/// What happens to packets of one direction. Probabilities are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpairmentConfig {
    /// Seed of the draws.
    pub seed: u64,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Probability that a packet is held back by `reorder_by`, so that others overtake it.
    pub reorder: f64,
    /// How long such a packet is held back.
    pub reorder_by: Span,
    /// Probability that one bit of a packet is flipped.
    pub corrupt: f64,
    /// Probability that a packet that may be marked is (RFC 3168).
    pub mark: f64,
    /// Delay of every packet.
    pub delay: Span,
}

impl Default for ImpairmentConfig {
    /// A perfect network.
    fn default() -> Self {
        Self {
            seed: 1,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            reorder_by: Span::from_millis(2),
            corrupt: 0.0,
            mark: 0.0,
            delay: Span::ZERO,
        }
    }
}

/// What was done to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impaired {
    /// Packets handed in.
    pub packets: u64,
    /// Packets lost.
    pub lost: u64,
    /// Packets doubled.
    pub duplicated: u64,
    /// Packets held back.
    pub reordered: u64,
    /// Packets damaged.
    pub corrupted: u64,
    /// Packets marked.
    pub marked: u64,
}

/// One direction of a bad network. Drain [`poll`](Self::poll) after every [`submit`](Self::submit) and at
/// [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Impairment {
    config: ImpairmentConfig,
    draws: Stream,
    /// Draws of marks.
    marks: Stream,
    /// Packets under way, by due time and order of arrival.
    held: BTreeMap<(Instant, u64), Vec<u8>>,
    arrived: u64,
    counters: Impaired,
}

impl Impairment {
    /// Direction `name` of a network; directions draw from streams of their own.
    #[must_use]
    pub fn new(config: ImpairmentConfig, name: &str) -> Self {
        let draws = Stream::new(config.seed, name, 0);
        let marks = Stream::new(config.seed, &format!("{name} marks"), 0);
        Self { config, draws, marks, held: BTreeMap::new(), arrived: 0, counters: Impaired::default() }
    }

    /// A packet enters.
    pub fn submit(&mut self, now: Instant, packet: &[u8]) {
        // Always the same number of draws a packet: what happens to one does not shift the others.
        let [lost, doubled, late, damaged, bit] = std::array::from_fn(|_| self.draws.unit());
        let ImpairmentConfig { loss, duplicate, reorder, reorder_by, corrupt, mark, delay, .. } = self.config;
        let marked = self.marks.unit() < mark;
        self.counters.packets += 1;
        if lost < loss {
            self.counters.lost += 1;
            return;
        }
        let mut packet = packet.to_vec();
        if marked && meshpace_wire::mark(&mut packet) {
            self.counters.marked += 1;
        }
        if damaged < corrupt && !packet.is_empty() {
            self.counters.corrupted += 1;
            let bit = (bit * 8.0 * packet.len() as f64) as usize;
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        let mut due = now + delay;
        if doubled < duplicate {
            self.counters.duplicated += 1;
            self.hold(due, packet.clone());
        }
        if late < reorder {
            self.counters.reordered += 1;
            due += reorder_by;
        }
        self.hold(due, packet);
    }

    fn hold(&mut self, due: Instant, packet: Vec<u8>) {
        self.arrived += 1;
        self.held.insert((due, self.arrived), packet);
    }

    /// The next packet that comes out at `now`; call until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Vec<u8>> {
        let first = self.held.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }

    /// When the next packet comes out.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.held.first_key_value().map(|((due, _), _)| *due)
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> Impaired {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Instant = |ms| Instant::from_nanos(ms * 1_000_000);

    #[test]
    fn does_what_it_is_told_and_the_same_every_time() {
        let config = ImpairmentConfig {
            loss: 0.1,
            duplicate: 0.05,
            reorder: 0.02,
            corrupt: 0.01,
            delay: Span::from_millis(5),
            ..ImpairmentConfig::default()
        };
        let run = || {
            let mut network = Impairment::new(config, "there");
            let mut out = Vec::new();
            for n in 0..10_000_u64 {
                network.submit(MS(n), &n.to_be_bytes());
                while let Some(packet) = network.poll(MS(n)) {
                    out.push((n, packet));
                }
            }
            assert_eq!(network.poll_timeout(), network.held.keys().next().map(|key| key.0));
            (out, network.counters())
        };
        let (out, counters) = run();
        assert_eq!(run(), (out.clone(), counters));
        let near =
            |got: u64, wanted: u64| assert!(got.abs_diff(wanted) < wanted / 5 + 20, "{got} for {wanted}");
        near(counters.lost, 1000);
        near(counters.duplicated, 450);
        near(counters.reordered, 180);
        near(counters.corrupted, 90);
        let in_order = out.windows(2).filter(|pair| pair[0].1 <= pair[1].1).count();
        assert!(in_order < out.len() - 100, "nothing overtaken");
        let on_time = out.iter().filter(|(at, packet)| {
            let sent = u64::from_be_bytes(packet[..].try_into().expect("8 bytes"));
            *at == sent + 5 || *at == sent + 7
        });
        // A damaged packet may show another time, and may have been sent twice.
        assert!(on_time.count() >= out.len() - 2 * counters.corrupted as usize);
    }

    #[test]
    fn a_perfect_network_passes_everything_at_once() {
        let mut network = Impairment::new(ImpairmentConfig::default(), "there");
        for n in 0..100_u8 {
            network.submit(MS(1), &[n]);
            assert_eq!((network.poll(MS(1)), network.poll(MS(1))), (Some(vec![n]), None));
        }
        assert_eq!(network.counters(), Impaired { packets: 100, ..Impaired::default() });
    }
}
