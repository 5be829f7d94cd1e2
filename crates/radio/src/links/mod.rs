//! Which nodes hear which, how strongly, how late.

mod inside;

use crate::building::Building;
use crate::hearers::{Hearer, Hearers};
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
            self.power_inside(from, to, positions)
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
    pub fn table(&self, positions: &[Position]) -> Hearers {
        let mut table = Hearers::default();
        self.table_into(positions, &mut table);
        table
    }

    /// The same in the place of another table.
    pub fn table_into(&self, positions: &[Position], table: &mut Hearers) {
        self.fill(positions, 0.0, &self.listed, table);
    }

    /// The same without the links that are listed, and with those to whom but so many dB are missing.
    #[must_use]
    pub fn table_down_to(&self, positions: &[Position], missing_db: f64) -> Hearers {
        let mut table = Hearers::default();
        self.fill(positions, missing_db, &[], &mut table);
        table
    }

    fn fill(
        &self,
        positions: &[Position],
        missing_db: f64,
        listed: &[(NodeId, NodeId)],
        table: &mut Hearers,
    ) {
        let grid = Grid::new(positions, self.farthest(missing_db));
        let weakest = self.weakest() * libm::pow(10.0, -missing_db / 10.0);
        let mut listed = Listed::new(listed);
        let (mut near, mut row) = (Vec::new(), Vec::new());
        table.clear();
        for node in (0..positions.len()).map(NodeId::from_index) {
            row.clear();
            self.hearers(node, positions, &grid, weakest, &mut near, &mut row);
            self.list_all(listed.of(node), &mut row, positions);
            table.push(&row);
        }
    }

    /// A table in which every power has changed by a factor: a link that is too weak now has no hearer.
    pub fn faded(
        &self,
        means: &Hearers,
        positions: &[Position],
        factor: impl Fn(NodeId, NodeId) -> f64,
        table: &mut Hearers,
    ) {
        let (weakest, receive) = (self.weakest(), self.thresholds().receive);
        let fade = |from: NodeId, hearer: Hearer| {
            let power = hearer.power * factor(from, hearer.node);
            (power >= weakest).then_some(Hearer { power, decodable: power >= receive, ..hearer })
        };
        let mut listed = Listed::new(&self.listed);
        let mut row = Vec::new();
        table.clear();
        for from in (0..means.nodes()).map(NodeId::from_index) {
            row.clear();
            row.extend(means.of(from).filter_map(|hearer| fade(from, hearer)));
            self.list_all(listed.of(from), &mut row, positions);
            table.push(&row);
        }
    }

    /// The least power that matters at a receiver, W.
    fn weakest(&self) -> f64 {
        let thresholds = self.thresholds();
        if self.summed_interference { thresholds.interfere } else { thresholds.sense }
    }

    fn list_all(&self, listed: &[(NodeId, NodeId)], hearers: &mut Vec<Hearer>, positions: &[Position]) {
        for (from, to) in listed {
            let distance = positions[from.index()].distance(positions[to.index()]);
            self.list(hearers, *to, delay(distance));
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

    /// The receivers of every node where lists of directed links say which nodes hear which, in order of node.
    ///
    /// Listed links are decoded, and therefore sensed; all are equally strong and [`GRAPH_DELAY`] long. Links listed as `sensed` alone are
    /// just strong enough to be sensed. Nodes without a listed link do not hear each other, and do not interfere. (Two that send to a
    /// third and have no link to each other are hidden from each other.)
    ///
    /// # Panics
    /// If a link names a node beyond `nodes`.
    #[must_use]
    pub fn graph(&self, nodes: usize, links: &[(NodeId, NodeId)], sensed: &[(NodeId, NodeId)]) -> Hearers {
        let thresholds = self.thresholds();
        let mut table = vec![Vec::new(); nodes];
        let decoded = links.iter().map(|link| (link, true));
        for ((from, to), decodable) in decoded.chain(sensed.iter().map(|link| (link, false))) {
            table[from.index()].push(Hearer {
                node: *to,
                power: if decodable { thresholds.receive } else { thresholds.sense },
                delay: GRAPH_DELAY,
                decodable,
                lossy: false,
            });
        }
        for hearers in &mut table {
            hearers.sort_by_key(|hearer: &Hearer| hearer.node);
            hearers.dedup_by_key(|hearer| hearer.node);
        }
        Hearers::new(table.iter().map(Vec::as_slice))
    }

    /// Puts the receivers of a node into `row`; `near` is scratch.
    fn hearers(
        &self,
        node: NodeId,
        positions: &[Position],
        grid: &Grid,
        weakest: f64,
        near: &mut Vec<u32>,
        row: &mut Vec<Hearer>,
    ) {
        let receive = self.thresholds().receive;
        let here = positions[node.index()];
        near.clear();
        near.extend(grid.near(here).filter(|other| *other != node.0));
        near.sort_unstable();
        row.extend(near.iter().filter_map(|&other| {
            let distance = here.distance(positions[other as usize]);
            let power = self.power_over(distance, node, NodeId(other), positions);
            (power >= weakest).then(|| Hearer {
                node: NodeId(other),
                power,
                delay: delay(distance),
                decodable: power >= receive,
                lossy: false,
            })
        }));
    }
}

/// Listed links by the node that they begin at, taken out in order of node.
struct Listed {
    links: Vec<(NodeId, NodeId)>,
    taken: usize,
}

impl Listed {
    fn new(links: &[(NodeId, NodeId)]) -> Self {
        let mut links = links.to_vec();
        links.sort_unstable();
        Self { links, taken: 0 }
    }

    fn of(&mut self, from: NodeId) -> &[(NodeId, NodeId)] {
        let rest = &self.links[self.taken..];
        let count = rest.iter().take_while(|link| link.0 == from).count();
        self.taken += count;
        &rest[..count]
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
    use meshpace_units::random::Stream;

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
        let of_4: Vec<_> = table.of(NodeId(4)).map(|h| (h.node.0, h.decodable)).collect();
        assert_eq!(of_4, [(2, false), (3, true), (5, true), (6, false)]);
        assert_eq!(table.get(NodeId(4), NodeId(3)).map(|h| h.delay), Some(Span::from_nanos(667)));
    }

    #[test]
    fn height_lengthens_the_way() {
        let tower = [Position::flat(0.0, 0.0), Position { x: 200.0, y: 0.0, z: 160.0 }];
        let table = links().table(&tower);
        let heard = table.of(NodeId(0)).map(|h| (h.decodable, h.delay));
        assert_eq!(heard.collect::<Vec<_>>(), [(false, delay(libm::sqrt(65_600.0)))]);
    }

    #[test]
    fn a_listed_link_is_there_whatever_the_distance() {
        let chain: Vec<_> = (0..5).map(|i| Position::flat(300.0 * f64::from(i), 0.0)).collect();
        let listed = vec![(NodeId(0), NodeId(1)), (NodeId(0), NodeId(4))];
        let listing = Links { listed, ..links() };
        let (plain, table) = (links().table(&chain), listing.table(&chain));
        let of_0: Vec<_> = table.of(NodeId(0)).map(|h| (h.node.0, h.decodable)).collect();
        assert_eq!(of_0, [(1, true), (4, true)], "300 m was only sensed, 1,200 m not heard");
        assert_eq!(table.get(NodeId(0), NodeId(4)).map(|h| h.delay), Some(delay(1200.0)));
        assert!(table.of(NodeId(0)).all(|hearer| hearer.power == links().thresholds().receive));
        for node in (1..5).map(NodeId) {
            assert!(table.of(node).eq(plain.of(node)), "the other way is not listed");
        }
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
            assert_eq!(table.of(NodeId::from_index(i)).map(|h| h.node.0).collect::<Vec<_>>(), all);
        }
    }

    #[test]
    fn a_graph_has_links_that_are_only_sensed() {
        let link = |from, to| (NodeId(from), NodeId(to));
        let table = links().graph(3, &[link(0, 1)], &[link(0, 2), link(2, 0)]);
        let heard = |node| table.of(NodeId(node)).map(|h| (h.node.0, h.decodable)).collect::<Vec<_>>();
        assert_eq!((heard(0), heard(1), heard(2)), (vec![(1, true), (2, false)], vec![], vec![(0, false)]));
        let power = |from, to| table.get(NodeId(from), NodeId(to)).expect("a link").power;
        assert_eq!((power(0, 2), power(0, 1)), (links().thresholds().sense, links().thresholds().receive));
    }

    #[test]
    fn a_graph_has_the_links_that_are_listed() {
        let link = |from, to| (NodeId(from), NodeId(to));
        let table = links().graph(4, &[link(2, 1), link(0, 1), link(2, 0), link(0, 1), link(1, 3)], &[]);
        let nodes = || (0..4).map(NodeId);
        let heard: Vec<Vec<u32>> = nodes().map(|n| table.of(n).map(|h| h.node.0).collect()).collect();
        assert_eq!(heard, [vec![1], vec![3], vec![0, 1], vec![]]);
        assert!(
            nodes().flat_map(|n| table.of(n)).all(|h| h.decodable && h.power >= links().thresholds().receive)
        );
    }
}
