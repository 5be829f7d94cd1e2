//! What a [`Building`] does to links: powers with its losses and gains, drawn of the seed and of the node or the pair alone.

use super::{Links, Position};
use crate::building::{Building, Kept};
use crate::propagation::Propagation;
use meshpace_units::NodeId;
use meshpace_units::random::Stream;

fn factor(decibel: f64) -> f64 {
    libm::pow(10.0, decibel / 10.0)
}

/// So many draws are made for a link that is to be kept.
const DRAWS: u32 = 10_000;

impl Links {
    /// The first draw of all nodes' gains with which every link to be kept has its margin. Where something is drawn for a
    /// pair as well, that is drawn again instead and the gains stay; the first one also if none is good enough.
    #[must_use]
    pub fn gain_draw(&self, positions: &[Position]) -> u32 {
        let Some(kept) = self.building.kept.as_ref().filter(|_| self.building.gain_spread_db > 0.0) else {
            return 0;
        };
        if self.draws_pairs() {
            return 0;
        }
        let fits = |draw: &u32| {
            let kept = Some(Kept { gain_draw: *draw, ..kept.clone() });
            let building = Building { kept, ..self.building.clone() };
            Self { building, ..self.clone() }.hopeless(positions).next().is_none()
        };
        (0..DRAWS).find(fits).unwrap_or(0)
    }

    /// True if shadowing or a difference of directions is drawn for each pair.
    fn draws_pairs(&self) -> bool {
        let shadowed =
            matches!(self.propagation, Propagation::LogDistance { shadowing_db, .. } if shadowing_db > 0.0);
        shadowed || self.building.asymmetry_db > 0.0
    }

    /// The links to be kept for which no draw is good enough.
    pub fn hopeless<'a>(&'a self, positions: &'a [Position]) -> impl Iterator<Item = (NodeId, NodeId)> + 'a {
        let kept = self.building.kept.iter().flat_map(|kept| kept.links.iter().copied());
        kept.filter(|(a, b)| self.losses(*a, *b, positions).is_none())
    }

    /// Received power at `to` of what `from` sends, W, with what the building does to it.
    ///
    /// # Panics
    /// If the link is [hopeless](Self::hopeless).
    pub(super) fn power_inside(&self, from: NodeId, to: NodeId, positions: &[Position]) -> f64 {
        let (low, high) = (from.min(to), from.max(to));
        let drawn = self.losses(low, high, positions);
        let [up, down] = drawn.unwrap_or_else(|| panic!("{low:?} and {high:?} never have their margin"));
        self.before_shadowing(low, high, positions) * factor(-if from == low { up } else { down })
    }

    fn before_shadowing(&self, a: NodeId, b: NodeId, positions: &[Position]) -> f64 {
        let (here, there) = (positions[a.index()], positions[b.index()]);
        let draw = self.building.kept.as_ref().map_or(0, |kept| kept.gain_draw);
        let gain = |node: NodeId| match self.building.gain_spread_db {
            0.0 => 0.0,
            spread => {
                let index = u64::from(draw) << 32 | u64::from(node.0);
                Stream::new(self.seed, "gain", index).normal(0.0, spread)
            }
        };
        let ceilings =
            self.building.floors.map_or(0.0, |floors| floors.ceiling_db * floors.between(here.z, there.z));
        self.propagation.power(here.distance(there)) * factor(gain(a) + gain(b) - ceilings)
    }

    /// Losses in dB from the lower node to the higher and back; `None` if a link to be kept never has its margin.
    fn losses(&self, low: NodeId, high: NodeId, positions: &[Position]) -> Option<[f64; 2]> {
        let asymmetry_db = self.building.asymmetry_db;
        let shadowing_db = match self.propagation {
            Propagation::LogDistance { shadowing_db, .. } => shadowing_db,
            _ => 0.0,
        };
        let pair = u64::from(low.0) << 32 | u64::from(high.0);
        // The first draw of a pair's shadowing is that without a building.
        let mut shadowing = Stream::new(self.seed, "shadowing", pair);
        let mut difference = Stream::new(self.seed, "asymmetry", pair);
        let mut draw = || {
            let common = if shadowing_db > 0.0 { shadowing.normal(0.0, shadowing_db) } else { 0.0 };
            let half = if asymmetry_db > 0.0 { difference.normal(0.0, asymmetry_db) / 2.0 } else { 0.0 };
            [common + half, common - half]
        };
        let Some(kept) =
            self.building.kept.as_ref().filter(|kept| kept.links.binary_search(&(low, high)).is_ok())
        else {
            return Some(draw());
        };
        let power = self.before_shadowing(low, high, positions);
        let needed = self.thresholds().receive * factor(kept.margin_db);
        let draws = if self.draws_pairs() { DRAWS } else { 1 };
        (0..draws).map(|_| draw()).find(|losses| losses.iter().all(|loss| power * factor(-loss) >= needed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::building::Floors;

    const FREE: Propagation = Propagation::LogDistance { exponent: 3.5, shadowing_db: 0.0, at_1m: 1e-7 };

    fn links(shadowing_db: f64, building: Building) -> Links {
        Links {
            propagation: Propagation::LogDistance { exponent: 3.5, shadowing_db, at_1m: 1e-7 },
            ranges: (25.0, 55.0),
            summed_interference: false,
            seed: 3,
            listed: Vec::new(),
            building,
        }
    }

    /// Nodes on a line, 20 m apart.
    fn line(nodes: u32) -> Vec<Position> {
        (0..nodes).map(|i| Position::flat(20.0 * f64::from(i), 0.0)).collect()
    }

    /// What a link is better than its length says, dB.
    fn luck(links: &Links, from: u32, to: u32, positions: &[Position]) -> f64 {
        let distance = positions[from as usize].distance(positions[to as usize]);
        10.0 * libm::log10(links.power(NodeId(from), NodeId(to), positions) / FREE.power(distance))
    }

    fn spread(values: &[f64]) -> f64 {
        libm::sqrt(values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn directions_differ_by_what_is_asked_and_their_mean_stays() {
        let positions = line(4001);
        let uneven = links(6.0, Building { asymmetry_db: 3.0, ..Building::default() });
        let even = links(6.0, Building::default());
        let both: Vec<_> = (0..4000)
            .map(|i| [luck(&uneven, i, i + 1, &positions), luck(&uneven, i + 1, i, &positions)])
            .collect();
        let apart: Vec<_> = both.iter().map(|[there, back]| there - back).collect();
        assert!((spread(&apart) - 3.0).abs() < 0.15, "{}", spread(&apart));
        for (i, [there, back]) in (0..4000).zip(&both) {
            assert!(((there + back) / 2.0 - luck(&even, i, i + 1, &positions)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_node_is_as_good_at_sending_as_at_receiving() {
        let positions = line(2001);
        let unequal = links(0.0, Building { gain_spread_db: 2.0, ..Building::default() });
        let lucks: Vec<_> = (0..2000).map(|i| luck(&unequal, i, i + 1, &positions)).collect();
        // The sum of two nodes' gains.
        assert!((spread(&lucks) - 2.0 * core::f64::consts::SQRT_2).abs() < 0.15, "{}", spread(&lucks));
        let (there, back) = (luck(&unequal, 4, 5, &positions), luck(&unequal, 5, 4, &positions));
        assert_eq!(there.to_bits(), back.to_bits());
        let (one, two) = (luck(&unequal, 5, 6, &positions), luck(&unequal, 4, 6, &positions));
        let (first, second) = (luck(&unequal, 3, 5, &positions), luck(&unequal, 3, 4, &positions));
        assert!((first - second - (one - two)).abs() < 1e-9, "5 is better than 4 by as much for 3 as for 6");
    }

    #[test]
    fn ceilings_are_counted() {
        let at = |z| Position { x: 0.0, y: 0.0, z };
        let positions = [at(0.0), at(2.9), at(3.0), at(9.5), at(-0.5)];
        let floors = Some(Floors { ceiling_db: 15.0, storey: 3.0 });
        let house = links(0.0, Building { floors, ..Building::default() });
        for (from, to, ceilings) in [(0, 1, 0.0), (1, 2, 1.0), (0, 3, 3.0), (3, 0, 3.0), (4, 0, 1.0)] {
            assert!((luck(&house, from, to, &positions) + 15.0 * ceilings).abs() < 1e-9, "{from} {to}");
        }
    }

    #[test]
    fn links_that_are_kept_have_their_margin_and_the_others_are_as_before() {
        let positions = line(300);
        let kept: Vec<_> = (0..150).map(|i| (NodeId(i), NodeId(i + 1))).collect();
        let kept = Some(Kept { margin_db: 3.0, links: kept, gain_draw: 0 });
        let building = Building { asymmetry_db: 2.0, ..Building::default() };
        let keeping = links(6.0, Building { kept, ..building.clone() });
        let plain = links(6.0, building);
        let needed = plain.thresholds().receive * factor(3.0);
        let mut again = 0;
        for i in 0..299 {
            for (a, b) in [(i, i + 1), (i + 1, i)] {
                let (ours, first) = (
                    keeping.power(NodeId(a), NodeId(b), &positions),
                    plain.power(NodeId(a), NodeId(b), &positions),
                );
                assert!(i >= 150 || ours >= needed, "{a} {b}");
                assert!(i < 150 || ours == first, "{a} {b}");
                again += u32::from(ours != first);
            }
        }
        assert!(again > 50, "{again}: half of the links would have been too weak");
        assert_eq!(keeping.hopeless(&positions).count(), 0);
        let far = Building {
            kept: Some(Kept { margin_db: 3.0, links: vec![(NodeId(0), NodeId(20))], gain_draw: 0 }),
            ..Building::default()
        };
        let hopeless = links(0.0, far);
        let found: Vec<_> = hopeless.hopeless(&positions).collect();
        assert_eq!(found, [(NodeId(0), NodeId(20))]);
    }

    #[test]
    fn gains_are_drawn_again_together_until_the_links_that_are_kept_work() {
        let positions = line(10);
        let chain: Vec<_> = (0..9).map(|i| (NodeId(i), NodeId(i + 1))).collect();
        let kept = |gain_draw| Some(Kept { margin_db: 1.0, links: chain.clone(), gain_draw });
        let mut unequal = links(0.0, Building { gain_spread_db: 2.0, kept: kept(0), ..Building::default() });
        let draw = unequal.gain_draw(&positions);
        assert!(draw > 0, "seed 3's first gains cut the chain");
        assert!(unequal.hopeless(&positions).next().is_some());
        unequal.building.kept = kept(draw);
        assert_eq!(unequal.hopeless(&positions).next(), None);
        let needed = unequal.thresholds().receive * factor(1.0);
        assert!(chain.iter().all(|(a, b)| unequal.power(*a, *b, &positions) >= needed));
    }

    #[test]
    fn the_table_has_the_powers_of_the_links() {
        let positions = line(30);
        let building = Building {
            asymmetry_db: 3.0,
            gain_spread_db: 2.0,
            floors: Some(Floors { ceiling_db: 15.0, storey: 3.0 }),
            kept: None,
        };
        let links = links(6.0, building);
        let sense = links.thresholds().sense;
        let table = links.table(&positions);
        for from in (0..30).map(NodeId) {
            for to in (0..30).map(NodeId).filter(|to| *to != from) {
                let power = links.power(from, to, &positions);
                let heard = table.get(from, to);
                assert_eq!(heard.map(|hearer| hearer.power), (power >= sense).then_some(power));
            }
        }
    }
}
