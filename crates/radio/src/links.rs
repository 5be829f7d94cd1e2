//! Who hears whom, how strongly, how late.

use crate::building::Building;
use crate::propagation::{Propagation, Thresholds, delay};
use meshpace_units::{NodeId, Span};

/// A place, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
    /// Up. It lengthens the way to others, and there may be ceilings ([`crate::building::Floors`]); it has no other effect.
    pub z: f64,
}

impl Position {
    /// A place on the ground.
    #[must_use]
    pub const fn flat(x: f64, y: f64) -> Self {
        Self { x, y, z: 0.0 }
    }

    /// Metres to `other`.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        libm::sqrt(self.distance_squared(other))
    }

    /// The square of the distance to `other`, in m². Ranges are compared squared: no square root, no rounding of one.
    #[must_use]
    pub fn distance_squared(self, other: Self) -> f64 {
        let (dx, dy, dz) = (self.x - other.x, self.y - other.y, self.z - other.z);
        dx * dx + dy * dy + dz * dz
    }
}

/// One receiver of a node's transmissions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hearer {
    /// Who.
    pub node: NodeId,
    /// Received power, W.
    pub power: f64,
    /// Propagation delay, at least 1 ns.
    pub delay: Span,
    /// True if the frame can be decoded.
    pub decodable: bool,
    /// True if [`crate::Losses`] must be asked about every frame.
    pub lossy: bool,
}

/// Propagation delay of links that have no length: that over 200 m, the spacing of the papers' chains.
pub const GRAPH_DELAY: Span = Span::from_nanos(667);

/// What decides audibility.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// Propagation model.
    pub propagation: Propagation,
    /// Receive and carrier sense ranges in metres.
    pub ranges: (f64, f64),
    /// True if interference is summed, so that frames below the sense threshold matter.
    pub summed_interference: bool,
    /// The run's seed, for shadowing.
    pub seed: u64,
    /// Links from one node to another that are there whatever the distance, as weak as can be decoded.
    pub listed: Vec<(NodeId, NodeId)>,
    /// What besides distance makes a link; it needs powers, which plain discs do not have.
    pub building: Building,
}

impl Links {
    /// The thresholds of the model.
    #[must_use]
    pub fn thresholds(&self) -> Thresholds {
        self.propagation.thresholds(self.ranges.0, self.ranges.1)
    }

    /// Received power at `to` of what `from` sends, W.
    #[must_use]
    pub fn power(&self, from: NodeId, to: NodeId, positions: &[Position]) -> f64 {
        let distance = positions[from.index()].distance(positions[to.index()]);
        self.power_over(distance, from, to, positions)
    }

    fn power_over(&self, distance: f64, from: NodeId, to: NodeId, positions: &[Position]) -> f64 {
        if self.building.is_plain() {
            self.propagation.power_between(distance, self.ranges, (from.0, to.0), self.seed)
        } else {
            self.building.power(self, from, to, positions)
        }
    }

    /// The distance beyond which nothing is heard, m, were all so many dB stronger.
    #[must_use]
    pub fn farthest(&self, more_db: f64) -> f64 {
        self.propagation.farthest(self.ranges, self.summed_interference, self.building.luck_db() + more_db)
    }

    /// The receivers of every node, by index, in order of node.
    ///
    /// The cost grows with nodes times neighbours: candidates come from a grid of cells as wide as the farthest
    /// audible distance.
    #[must_use]
    pub fn table(&self, positions: &[Position]) -> Vec<Vec<Hearer>> {
        let mut table = self.table_down_to(positions, 0.0);
        self.list_all(&mut table, positions);
        table
    }

    /// The same without the links that are listed, and with those to whom but so many dB are missing.
    #[must_use]
    pub fn table_down_to(&self, positions: &[Position], missing_db: f64) -> Vec<Vec<Hearer>> {
        let grid = Grid::new(positions, self.farthest(missing_db));
        let weakest = self.weakest() * libm::pow(10.0, -missing_db / 10.0);
        (0..positions.len()).map(|node| self.hearers(node, positions, &grid, weakest)).collect()
    }

    /// A table in which every power has changed by a factor: who is too weak now is no hearer.
    #[must_use]
    pub fn faded(
        &self,
        table: &[Vec<Hearer>],
        positions: &[Position],
        factor: impl Fn(NodeId, NodeId) -> f64,
    ) -> Vec<Vec<Hearer>> {
        let (weakest, receive) = (self.weakest(), self.thresholds().receive);
        let fade = |from: usize, hearer: &Hearer| {
            let power = hearer.power * factor(NodeId::from_index(from), hearer.node);
            (power >= weakest).then_some(Hearer { power, decodable: power >= receive, ..*hearer })
        };
        let hearers = table.iter().enumerate();
        let mut faded: Vec<Vec<_>> = hearers
            .map(|(from, list)| list.iter().filter_map(|hearer| fade(from, hearer)).collect())
            .collect();
        self.list_all(&mut faded, positions);
        faded
    }

    /// The least power that matters at a receiver, W.
    fn weakest(&self) -> f64 {
        let thresholds = self.thresholds();
        if self.summed_interference { thresholds.interfere } else { thresholds.sense }
    }

    fn list_all(&self, table: &mut [Vec<Hearer>], positions: &[Position]) {
        for (from, to) in &self.listed {
            let distance = positions[from.index()].distance(positions[to.index()]);
            self.list(&mut table[from.index()], *to, delay(distance));
        }
    }

    /// Makes `to` one of the hearers that can decode.
    fn list(&self, hearers: &mut Vec<Hearer>, to: NodeId, delay: Span) {
        let power = self.thresholds().receive;
        match hearers.binary_search_by_key(&to, |hearer| hearer.node) {
            Ok(at) if hearers[at].decodable => {}
            Ok(at) => hearers[at] = Hearer { power, decodable: true, ..hearers[at] },
            Err(at) => hearers.insert(at, Hearer { node: to, power, delay, decodable: true, lossy: false }),
        }
    }

    /// The receivers of every node where a list of directed links says who hears whom, in order of node.
    ///
    /// What is listed is decoded, and therefore sensed, all links equally strong and [`GRAPH_DELAY`] long; what is not
    /// listed does not exist: it is neither sensed nor does it interfere. (Two that send to a third and have no link to
    /// each other are hidden from each other.)
    ///
    /// # Panics
    /// If a link names a node beyond `nodes`.
    #[must_use]
    pub fn graph(&self, nodes: usize, links: &[(NodeId, NodeId)]) -> Vec<Vec<Hearer>> {
        let power = self.thresholds().receive;
        let mut table = vec![Vec::new(); nodes];
        for (from, to) in links {
            table[from.index()].push(Hearer {
                node: *to,
                power,
                delay: GRAPH_DELAY,
                decodable: true,
                lossy: false,
            });
        }
        for hearers in &mut table {
            hearers.sort_unstable_by_key(|hearer: &Hearer| hearer.node);
            hearers.dedup_by_key(|hearer| hearer.node);
        }
        table
    }

    fn hearers(&self, node: usize, positions: &[Position], grid: &Grid, weakest: f64) -> Vec<Hearer> {
        let receive = self.thresholds().receive;
        let here = positions[node];
        let mut near: Vec<u32> = grid.near(here).filter(|other| *other as usize != node).collect();
        near.sort_unstable();
        near.into_iter()
            .filter_map(|other| {
                let distance = here.distance(positions[other as usize]);
                let power = self.power_over(distance, NodeId::from_index(node), NodeId(other), positions);
                (power >= weakest).then(|| Hearer {
                    node: NodeId(other),
                    power,
                    delay: delay(distance),
                    decodable: power >= receive,
                    lossy: false,
                })
            })
            .collect()
    }
}

/// Nodes by square cell of the ground: two nodes are at least as far apart as their places on it.
struct Grid {
    cell: f64,
    origin: Position,
    columns: usize,
    rows: usize,
    cells: Vec<Vec<u32>>,
}

/// No more cells than this a side, so that far-flung nodes do not cost memory.
const MAX_CELLS: f64 = 256.0;

impl Grid {
    fn new(positions: &[Position], reach: f64) -> Self {
        let fold = |start: f64, pick: fn(f64, f64) -> f64, axis: fn(&Position) -> f64| {
            positions.iter().map(axis).fold(start, pick)
        };
        let origin =
            Position::flat(fold(f64::INFINITY, f64::min, |p| p.x), fold(f64::INFINITY, f64::min, |p| p.y));
        let width = fold(f64::NEG_INFINITY, f64::max, |p| p.x) - origin.x;
        let height = fold(f64::NEG_INFINITY, f64::max, |p| p.y) - origin.y;
        let cell = reach.max(width / MAX_CELLS).max(height / MAX_CELLS).max(1.0);
        let count = |length: f64| if length.is_finite() { (length.max(0.0) / cell) as usize + 1 } else { 1 };
        let (columns, rows) = (count(width), count(height));
        let mut grid = Self { cell, origin, columns, rows, cells: vec![Vec::new(); columns * rows] };
        for (index, position) in positions.iter().enumerate() {
            let (column, row) = grid.cell_of(*position);
            grid.cells[row * columns + column].push(index as u32);
        }
        grid
    }

    fn cell_of(&self, p: Position) -> (usize, usize) {
        let along = |offset: f64, n: usize| ((offset / self.cell) as usize).min(n - 1);
        (along(p.x - self.origin.x, self.columns), along(p.y - self.origin.y, self.rows))
    }

    fn near(&self, p: Position) -> impl Iterator<Item = u32> + '_ {
        let (column, row) = self.cell_of(p);
        let rows = row.saturating_sub(1)..=(row + 1).min(self.rows - 1);
        rows.flat_map(move |r| {
            let columns = column.saturating_sub(1)..=(column + 1).min(self.columns - 1);
            columns.flat_map(move |c| self.cells[r * self.columns + c].iter().copied())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_random::Stream;

    fn links() -> Links {
        Links {
            propagation: Propagation::TwoRay,
            ranges: (250.0, 550.0),
            summed_interference: false,
            seed: 1,
            listed: Vec::new(),
            building: Building::default(),
        }
    }

    #[test]
    fn a_chain_decodes_one_hop_and_senses_two() {
        let chain: Vec<_> = (0..8).map(|i| Position::flat(200.0 * f64::from(i), 0.0)).collect();
        let table = links().table(&chain);
        let of_4: Vec<_> = table[4].iter().map(|h| (h.node.0, h.decodable)).collect();
        assert_eq!(of_4, [(2, false), (3, true), (5, true), (6, false)]);
        assert_eq!(table[4][1].delay, Span::from_nanos(667));
    }

    #[test]
    fn height_lengthens_the_way() {
        let tower = [Position::flat(0.0, 0.0), Position { x: 200.0, y: 0.0, z: 160.0 }];
        let table = links().table(&tower);
        assert_eq!((table[0][0].decodable, table[0][0].delay), (false, delay(libm::sqrt(65_600.0))));
    }

    #[test]
    fn a_listed_link_is_there_whatever_the_distance() {
        let chain: Vec<_> = (0..5).map(|i| Position::flat(300.0 * f64::from(i), 0.0)).collect();
        let listed = vec![(NodeId(0), NodeId(1)), (NodeId(0), NodeId(4))];
        let listing = Links { listed, ..links() };
        let (plain, table) = (links().table(&chain), listing.table(&chain));
        let of_0: Vec<_> = table[0].iter().map(|h| (h.node.0, h.decodable)).collect();
        assert_eq!(of_0, [(1, true), (4, true)], "300 m was only sensed, 1,200 m not heard");
        assert_eq!(table[0][1].delay, delay(1200.0));
        assert!(table[0].iter().all(|hearer| hearer.power == links().thresholds().receive));
        assert_eq!(table[1..], plain[1..], "the other way is not listed");
    }

    #[test]
    fn the_grid_finds_the_same_as_all_pairs() {
        let mut draw = Stream::new(3, "test", 0);
        let nodes: Vec<_> = (0..300)
            .map(|_| Position::flat(draw.uniform(0.0, 6000.0), draw.uniform(-900.0, 2000.0)))
            .collect();
        let table = links().table(&nodes);
        for (i, here) in nodes.iter().enumerate() {
            let all: Vec<u32> = (0..nodes.len())
                .filter(|j| *j != i && here.distance(nodes[*j]) <= 550.0)
                .map(|j| j as u32)
                .collect();
            assert_eq!(table[i].iter().map(|h| h.node.0).collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn a_graph_has_the_links_that_are_listed() {
        let link = |from, to| (NodeId(from), NodeId(to));
        let table = links().graph(4, &[link(2, 1), link(0, 1), link(2, 0), link(0, 1), link(1, 3)]);
        let heard: Vec<Vec<u32>> = table.iter().map(|list| list.iter().map(|h| h.node.0).collect()).collect();
        assert_eq!(heard, [vec![1], vec![3], vec![0, 1], vec![]]);
        assert!(table.iter().flatten().all(|h| h.decodable && h.power >= links().thresholds().receive));
    }
}
