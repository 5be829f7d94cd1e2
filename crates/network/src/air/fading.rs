//! Slow fading: people walk, doors open, and a link's strength changes with time (`[radio] fading_db`, `fading_time`).
//!
//! The dB of a pair are a Gauss-Markov process with exponential autocorrelation (Gudmundson, "Correlation model for shadow
//! fading in mobile radio systems", Electronics Letters 27, 1991), looked at ten times in a correlation time. Both directions
//! share it; each pair draws from a stream of its own. Routes do not change with it: static ones go by the means.

use meshpace_radio::{Hearers, Links, Position};
use meshpace_scenario as scenario;
use meshpace_units::random::Stream;
use meshpace_units::{NodeId, Span};
use std::collections::BTreeMap;

/// Looks in a correlation time.
const LOOKS: u64 = 10;
/// Stations are left out that would be heard only with more luck than so many standard deviations.
const LUCK: f64 = 3.0;

/// The pairs that may hear each other, and how strong they are now.
pub struct Fading {
    spread_db: f64,
    /// Autocorrelation from one look to the next.
    kept: f64,
    step: Span,
    links: Links,
    positions: Vec<Position>,
    /// By mean powers, those too weak but for luck included.
    means: Hearers,
    /// The lower node first.
    pairs: BTreeMap<(NodeId, NodeId), Wandering>,
}

struct Wandering {
    stream: Stream,
    /// Over the mean.
    decibel: f64,
}

impl Fading {
    /// At time 0, every pair somewhere in its range.
    pub fn new(fading: &scenario::Fading, links: &Links, positions: &[Position]) -> Self {
        let scenario::Fading { spread_db, correlation } = *fading;
        let means = links.table_down_to(positions, LUCK * spread_db);
        let ends = (0..means.nodes())
            .map(NodeId::from_index)
            .flat_map(|from| means.of(from).map(move |hearer| in_order(from, hearer.node)));
        let wandering = |(low, high): (NodeId, NodeId)| {
            let index = u64::from(low.0) << 32 | u64::from(high.0);
            let mut stream = Stream::new(links.seed, "fading", index);
            let decibel = stream.normal(0.0, spread_db);
            ((low, high), Wandering { stream, decibel })
        };
        let pairs = ends.collect::<std::collections::BTreeSet<_>>().into_iter().map(wandering).collect();
        let step = (correlation / LOOKS).max(Span::NANOSECOND);
        let kept = libm::exp(-1.0 / LOOKS as f64);
        Self { spread_db, kept, step, links: links.clone(), positions: positions.to_vec(), means, pairs }
    }

    /// From one look to the next.
    pub fn step(&self) -> Span {
        self.step
    }

    /// One look later.
    pub fn advance(&mut self) {
        let news = self.spread_db * libm::sqrt(1.0 - self.kept * self.kept);
        for pair in self.pairs.values_mut() {
            pair.decibel = self.kept * pair.decibel + pair.stream.normal(0.0, news);
        }
    }

    /// Who hears whom now.
    pub fn table_into(&self, table: &mut Hearers) {
        let factor = |from, to| libm::pow(10.0, self.pairs[&in_order(from, to)].decibel / 10.0);
        self.links.faded(&self.means, &self.positions, factor, table);
    }
}

fn in_order(a: NodeId, b: NodeId) -> (NodeId, NodeId) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_radio::{Building, Propagation};

    fn links(listed: Vec<(NodeId, NodeId)>) -> Links {
        Links {
            propagation: Propagation::TwoRay,
            ranges: (250.0, 550.0),
            summed_interference: false,
            seed: 2,
            listed,
            building: Building::default(),
        }
    }

    fn power(table: &Hearers, from: u32, to: u32) -> Option<f64> {
        table.get(NodeId(from), NodeId(to)).map(|hearer| hearer.power)
    }

    fn table(fading: &Fading) -> Hearers {
        let mut table = Hearers::default();
        fading.table_into(&mut table);
        table
    }

    #[test]
    fn strength_wanders_with_its_spread_and_its_time() {
        let positions: Vec<_> = (0..2).map(|i| Position::flat(150.0 * f64::from(i), 0.0)).collect();
        let (links, asked) =
            (links(Vec::new()), scenario::Fading { spread_db: 2.0, correlation: Span::from_secs(10) });
        let mean = power(&links.table(&positions), 0, 1).expect("in range");
        let mut fading = Fading::new(&asked, &links, &positions);
        assert_eq!(fading.step(), Span::from_secs(1));
        let decibels: Vec<f64> = (0..100_000)
            .map(|_| {
                fading.advance();
                let table = table(&fading);
                let (there, back) =
                    (power(&table, 0, 1).expect("heard"), power(&table, 1, 0).expect("heard"));
                assert_eq!(there.to_bits(), back.to_bits(), "both directions alike");
                10.0 * libm::log10(there / mean)
            })
            .collect();
        let correlation = |lag: usize| {
            let sum: f64 = decibels.windows(lag + 1).map(|w| w[0] * w[lag]).sum();
            sum / (decibels.len() - lag) as f64
        };
        assert!((libm::sqrt(correlation(0)) - 2.0).abs() < 0.1, "{}", correlation(0));
        let later = correlation(10) / correlation(0);
        assert!((later - libm::exp(-1.0)).abs() < 0.05, "{later}");
    }

    #[test]
    fn links_come_and_go_but_those_that_are_listed_stay() {
        let positions: Vec<_> = (0..3).map(|i| Position::flat(251.0 * f64::from(i), 0.0)).collect();
        let asked = scenario::Fading { spread_db: 2.0, correlation: Span::from_secs(10) };
        let mut fading = Fading::new(&asked, &links(vec![(NodeId(1), NodeId(2))]), &positions);
        let (mut decoded, mut listed) = (0, 0);
        for _ in 0..1000 {
            fading.advance();
            let table = table(&fading);
            let reads = |from, to| table.get(NodeId(from), NodeId(to)).is_some_and(|hearer| hearer.decodable);
            decoded += u32::from(reads(0, 1));
            listed += u32::from(reads(1, 2));
        }
        // A metre beyond the range on the average: half of the time.
        assert!((200..800).contains(&decoded), "{decoded}");
        assert_eq!(listed, 1000);
    }
}
