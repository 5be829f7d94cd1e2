//! Least-cost routes over a fixed neighbour graph.

use crate::metric::Cost;
use meshpace_units::NodeId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// All least-cost routes of one graph, computed by destination on first use (Dijkstra 1959; by breadth where all links cost the same):
/// one search and 4 bytes a node for each destination ever asked for, so large meshes with few flows stay small.
///
/// Several routes of the least cost: those of the fewest hops; several of these: the lowest node index as next hop wins
/// (docs/contract.md, section 3).
#[derive(Debug)]
pub struct ShortestPaths {
    /// `neighbours[starts[v]..starts[v + 1]]` are the neighbours of `v`, ascending.
    starts: Vec<u32>,
    neighbours: Vec<NodeId>,
    /// What the link from that neighbour to `v` costs.
    costs: Vec<Cost>,
    /// All links cost the same.
    even: bool,
    toward: Vec<OnceLock<Box<[Leg]>>>,
}

/// From one node toward the destination of a column: hops in the upper half, the next hop in the lower. Of two ways that cost the same
/// the better one is the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Leg(u32);

impl Leg {
    /// From the destination itself.
    const HERE: Self = Self(0);
    /// There is no way. No way has so many hops, since there are no more nodes.
    const NONE: Self = Self(u32::MAX);

    fn new(hops: u16, next_hop: u16) -> Self {
        Self(u32::from(hops) << u16::BITS | u32::from(next_hop))
    }

    /// `None`: there is no way.
    fn hops(self) -> Option<u16> {
        (self != Self::NONE).then_some((self.0 >> u16::BITS) as u16)
    }

    /// `None`: there is no way, or none is needed.
    fn next_hop(self) -> Option<u16> {
        self.hops().filter(|hops| *hops > 0).map(|_| self.0 as u16)
    }
}

/// How a node gets to the destination of a search: the better, the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    cost: u64,
    hops: u16,
    next_hop: u16,
}

impl ShortestPaths {
    /// Routes over the graph in which node `i` reaches the nodes of `neighbours[i]`, in any order, and `cost` says what
    /// the link from one node to another costs.
    ///
    /// # Panics
    /// If a neighbour is not a node, a link exists in one direction only, or there are more than 65,535 nodes.
    #[must_use]
    pub fn new(neighbours: &[Vec<NodeId>], cost: impl Fn(NodeId, NodeId) -> Cost) -> Self {
        let count = neighbours.len();
        assert!(count <= usize::from(u16::MAX), "{count} nodes");
        let (mut starts, mut flat) = (Vec::with_capacity(count + 1), Vec::new());
        let mut costs = Vec::new();
        for (node, of_node) in neighbours.iter().enumerate() {
            let node = NodeId::from_index(node);
            starts.push(flat.len() as u32);
            for &to in of_node {
                let back = neighbours.get(to.index()).unwrap_or_else(|| panic!("{to:?} of {count} nodes"));
                assert!(back.contains(&node), "the link {node:?} -> {to:?} has no way back");
            }
            let first = flat.len();
            flat.extend_from_slice(of_node);
            flat[first..].sort_unstable();
            costs.extend(flat[first..].iter().map(|from| cost(*from, node)));
        }
        starts.push(flat.len() as u32);
        let even = costs.windows(2).all(|two| two[0] == two[1]);
        let toward = (0..count).map(|_| OnceLock::new()).collect();
        Self { starts, neighbours: flat, costs, even, toward }
    }

    /// Forgets the routes that were asked for: the next request computes them again.
    pub fn forget(&mut self) {
        self.toward.iter_mut().for_each(|column| *column = OnceLock::new());
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.toward.len()
    }

    /// The neighbours of `node`, ascending.
    #[must_use]
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.neighbours[self.of(node)]
    }

    /// Where what is kept of `node`'s neighbours stands.
    fn of(&self, node: NodeId) -> std::ops::Range<usize> {
        self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize
    }

    /// The neighbour of `from` that is next on the way to `to`; `None` if there is no way or none is needed.
    #[must_use]
    pub fn next_hop(&self, from: NodeId, to: NodeId) -> Option<NodeId> {
        self.column(to)[from.index()].next_hop().map(|node| NodeId(u32::from(node)))
    }

    /// Hops from `from` to `to`, 0 to itself; `None` if there is no way.
    #[must_use]
    pub fn hops(&self, from: NodeId, to: NodeId) -> Option<u32> {
        self.column(to)[from.index()].hops().map(u32::from)
    }

    /// For every node the index of the member of `ends` to which its way costs least. Of equal ways the one with the fewest hops counts,
    /// and of these the first. A member of `ends` gets its own index. `None`: there is a way to none.
    #[must_use]
    pub fn least_of(&self, ends: &[NodeId]) -> Vec<Option<u32>> {
        let mut best: Vec<Option<(u64, u16, u32)>> = vec![None; self.nodes()];
        let mut frontier: BinaryHeap<_> =
            (0..).zip(ends).map(|(index, end)| Reverse(((0, 0, index), *end))).collect();
        while let Some(Reverse((way, node))) = frontier.pop() {
            let (cost, hops, index) = way;
            if best[node.index()].is_some() {
                continue; // a way as good or better came first
            }
            best[node.index()] = Some(way);
            for (&from, link) in self.neighbours(node).iter().zip(&self.costs[self.of(node)]) {
                if best[from.index()].is_none() {
                    frontier.push(Reverse(((cost + u64::from(link.0.get()), hops + 1, index), from)));
                }
            }
        }
        best.into_iter().map(|way| way.map(|(.., index)| index)).collect()
    }

    fn column(&self, to: NodeId) -> &[Leg] {
        self.toward[to.index()].get_or_init(|| if self.even { self.search_even(to) } else { self.search(to) })
    }

    /// From the destination outward where all links cost the same: hop by hop, so that a node's neighbours on its best ways have all told
    /// it before it tells others.
    fn search_even(&self, to: NodeId) -> Box<[Leg]> {
        let mut legs = vec![Leg::NONE; self.nodes()];
        legs[to.index()] = Leg::HERE;
        let mut frontier = Vec::with_capacity(self.nodes());
        frontier.push(to);
        let mut told = 0;
        while let Some(&node) = frontier.get(told) {
            told += 1;
            // There are no more nodes than fit.
            let leg = Leg::new((legs[node.index()].0 >> u16::BITS) as u16 + 1, node.0 as u16);
            for &from in self.neighbours(node) {
                let known = &mut legs[from.index()];
                if *known == Leg::NONE {
                    frontier.push(from);
                }
                *known = leg.min(*known);
            }
        }
        legs.into_boxed_slice()
    }

    /// From the destination outward, the least way first. Links cost something, so that a node is on no way better than
    /// its own: by the time it comes, each neighbour that may be its next hop has told it.
    fn search(&self, to: NodeId) -> Box<[Leg]> {
        let mut ways: Vec<Option<Candidate>> = vec![None; self.nodes()];
        let mut frontier = BinaryHeap::from([Reverse((0, 0, to))]);
        while let Some(Reverse((cost, hops, node))) = frontier.pop() {
            let known = ways[node.index()].map_or((0, 0), |way| (way.cost, way.hops));
            if known != (cost, hops) {
                continue; // a better way was found since
            }
            for (&from, link) in self.neighbours(node).iter().zip(&self.costs[self.of(node)]) {
                let cost = cost + u64::from(link.0.get());
                // There are no more nodes than fit.
                let way = Candidate { cost, hops: hops + 1, next_hop: node.0 as u16 };
                let before = &mut ways[from.index()];
                if from != to && before.is_none_or(|before| way < before) {
                    if before.is_none_or(|before| (before.cost, before.hops) != (cost, way.hops)) {
                        frontier.push(Reverse((cost, way.hops, from)));
                    }
                    *before = Some(way);
                }
            }
        }
        let leg = |way: Option<Candidate>| way.map_or(Leg::NONE, |way| Leg::new(way.hops, way.next_hop));
        let mut legs: Box<[Leg]> = ways.into_iter().map(leg).collect();
        legs[to.index()] = Leg::HERE;
        legs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::random::Stream;
    use std::num::NonZeroU32;

    /// A connected graph of so many nodes, with what each directed link costs (0: no link).
    fn graph(nodes: usize, seed: u64) -> Vec<Vec<u32>> {
        let mut stream = Stream::new(seed, "graph", 0);
        let mut costs = vec![vec![0; nodes]; nodes];
        for (a, b) in (1..nodes).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if b + 1 == a || stream.unit() < 0.2 {
                // Few values: many ways cost the same.
                costs[a][b] = 1 + (stream.unit() * 4.0) as u32;
                costs[b][a] = 1 + (stream.unit() * 4.0) as u32;
            }
        }
        costs
    }

    fn paths(costs: &[Vec<u32>]) -> ShortestPaths {
        let linked =
            |of: &Vec<u32>| (0..of.len()).rev().filter(|to| of[*to] > 0).map(NodeId::from_index).collect();
        ShortestPaths::new(&costs.iter().map(linked).collect::<Vec<_>>(), |from, to| {
            Cost(NonZeroU32::new(costs[from.index()][to.index()]).expect("a link"))
        })
    }

    /// The least (cost, hops) from everywhere to everywhere, by Floyd and Warshall.
    fn least(costs: &[Vec<u32>]) -> Vec<Vec<(u64, u32)>> {
        let count = costs.len();
        let mut best: Vec<Vec<_>> = costs
            .iter()
            .map(|of| {
                of.iter().map(|c| if *c > 0 { (u64::from(*c), 1) } else { (u64::MAX / 4, 0) }).collect()
            })
            .collect();
        (0..count).for_each(|node| best[node][node] = (0, 0));
        for via in 0..count {
            for from in 0..count {
                for to in 0..count {
                    let (a, b): ((u64, u32), (u64, u32)) = (best[from][via], best[via][to]);
                    best[from][to] = best[from][to].min((a.0 + b.0, a.1 + b.1));
                }
            }
        }
        best
    }

    #[test]
    fn each_way_is_a_least_one_of_fewest_hops_and_lowest_next_hop() {
        let uneven = (0..100).map(|seed| graph(4 + seed as usize % 9, seed));
        let even = uneven
            .clone()
            .map(|costs| costs.iter().map(|of| of.iter().map(|cost| *cost.min(&1)).collect()).collect());
        for costs in uneven.chain(even) {
            let (paths, best) = (paths(&costs), least(&costs));
            for from in 0..costs.len() {
                for to in (0..costs.len()).filter(|to| *to != from) {
                    let on_best = |via: &usize| {
                        let (rest, link) = (best[*via][to], costs[from][*via]);
                        link > 0 && (u64::from(link) + rest.0, rest.1 + 1) == best[from][to]
                    };
                    let next = (0..costs.len()).find(on_best).map(NodeId::from_index);
                    let (from, to) = (NodeId::from_index(from), NodeId::from_index(to));
                    assert_eq!(paths.next_hop(from, to), next, "{from:?} -> {to:?} of {costs:?}");
                    assert_eq!(paths.hops(from, to), Some(best[from.index()][to.index()].1));
                }
            }
        }
    }

    #[test]
    fn the_end_with_the_least_way_is_taken_of_equal_ones_the_first() {
        for seed in 0..100 {
            let costs = graph(4 + seed as usize % 9, seed);
            let best = least(&costs);
            let ends: Vec<_> = (0..costs.len()).rev().step_by(3).collect();
            let found =
                paths(&costs).least_of(&ends.iter().copied().map(NodeId::from_index).collect::<Vec<_>>());
            for (node, found) in found.into_iter().enumerate() {
                let by_way = (0..).zip(&ends).map(|(index, end)| (best[node][*end], index));
                assert_eq!(found, by_way.min().map(|(_, index)| index), "{node} to {ends:?} of {costs:?}");
            }
        }
        let apart = ShortestPaths::new(&[vec![], vec![]], |_, _| Cost::ONE);
        assert_eq!(apart.least_of(&[NodeId(1)]), [None, Some(0)]);
    }

    #[test]
    fn a_link_that_costs_more_than_the_way_around_is_not_taken() {
        // 0 -> 2 costs 5 directly, 4 through 1; back the direct link is the cheaper.
        let paths = paths(&[vec![0, 2, 5], vec![2, 0, 2], vec![3, 2, 0]]);
        assert_eq!(paths.next_hop(NodeId(0), NodeId(2)), Some(NodeId(1)));
        assert_eq!((paths.hops(NodeId(0), NodeId(2)), paths.hops(NodeId(2), NodeId(0))), (Some(2), Some(1)));
    }
}
