//! Which nodes reach which over the air: by distance, and by the links that the file lists.

use crate::{Channel, MeshNode, Position, RadioLink};
use meshpace_units::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// Which nodes hear each other, both ways: an exchange needs answers.
pub(crate) struct Graph {
    nodes: usize,
    /// Nodes with a place are neighbours up to a distance; `None`: nodes have no places.
    near: Option<(Vec<Position>, f64)>,
    /// Neighbours besides, by node.
    listed: Vec<Vec<usize>>,
    /// The channels that each node has a radio on, in order; empty: all are on one.
    channels: Vec<Vec<u16>>,
}

impl Graph {
    /// Nodes at these places, neighbours within `range` of each other.
    pub fn of_places(positions: Vec<Position>, range: f64) -> Self {
        Self {
            nodes: positions.len(),
            listed: vec![Vec::new(); positions.len()],
            near: Some((positions, range)),
            channels: Vec::new(),
        }
    }

    /// The mesh, with the radio links that the file lists, and the channels if there are several.
    pub fn of_mesh(mesh: &[MeshNode], range: f64, links: &[RadioLink], channels: &[Channel]) -> Self {
        let positions: Option<Vec<_>> = mesh.iter().map(|node| node.position).collect();
        let mut directed: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for link in links {
            directed.entry((link.from, link.to)).or_default().push(link.mhz);
        }
        let meet = |one: &Option<u16>, other: &Option<u16>| one.is_none() || other.is_none() || one == other;
        let mut listed = vec![Vec::new(); mesh.len()];
        for ((from, to), there) in &directed {
            let back = directed.get(&(*to, *from)).map_or(&[][..], Vec::as_slice);
            if there.iter().any(|one| back.iter().any(|other| meet(one, other))) {
                listed[from.index()].push(to.index());
            }
        }
        let on = |node| {
            let here = channels.iter().filter(move |channel| channel.radio_of(node).is_some());
            here.map(|channel| channel.mhz).collect()
        };
        let channels = match channels {
            [] => Vec::new(),
            _ => (0..mesh.len()).map(NodeId::from_index).map(on).collect(),
        };
        Self { nodes: mesh.len(), near: positions.map(|positions| (positions, range)), listed, channels }
    }

    /// True if two nodes have radios on one channel.
    pub fn share(&self, a: usize, b: usize) -> bool {
        self.channels.is_empty() || self.channels[a].iter().any(|channel| self.channels[b].contains(channel))
    }

    /// True if the two hear each other.
    pub fn joined(&self, a: NodeId, b: NodeId) -> bool {
        let within = |(positions, range): &(Vec<Position>, f64)| {
            positions[a.index()].distance_squared(positions[b.index()]) <= range * range
        };
        let hear = self.near.as_ref().is_some_and(within) || self.listed[a.index()].contains(&b.index());
        hear && self.share(a.index(), b.index())
    }

    /// Hops from the nearest of `sources`; `None` where there is no way.
    pub fn hops_from(&self, sources: &[usize]) -> Vec<Option<u32>> {
        let mut unreached = Unreached::new(self);
        let mut hops = vec![None; self.nodes];
        for source in sources {
            hops[*source] = Some(0);
        }
        let mut queue: VecDeque<usize> = sources.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            let next = hops[node].map(|h: u32| h + 1);
            unreached.take_neighbours(node, |other| {
                if hops[other].is_none() {
                    hops[other] = next;
                    queue.push_back(other);
                }
            });
        }
        hops
    }

    /// The number of each node's connected component.
    pub fn components(&self) -> Vec<usize> {
        let mut unreached = Unreached::new(self);
        let mut component = vec![None; self.nodes];
        let mut count = 0;
        for start in 0..self.nodes {
            if component[start].is_some() {
                continue;
            }
            component[start] = Some(count);
            let mut stack = vec![start];
            while let Some(node) = stack.pop() {
                unreached.take_neighbours(node, |other| {
                    if component[other].is_none() {
                        component[other] = Some(count);
                        stack.push(other);
                    }
                });
            }
            count += 1;
        }
        component.into_iter().map(|number| number.expect("every node was a start or was reached")).collect()
    }

    /// True if every node reaches every other.
    pub fn is_connected(&self) -> bool {
        self.nodes == 0 || self.hops_from(&[0]).iter().all(Option::is_some)
    }
}

/// Nodes not yet reached, by square cell of the range's size on the ground: a neighbour lies in the own cell or one
/// of the eight around it. Taking nodes out as they are reached keeps the search far below all pairs, in dense nets
/// too.
struct Unreached<'a> {
    graph: &'a Graph,
    cells: BTreeMap<(i64, i64), Vec<usize>>,
}

impl<'a> Unreached<'a> {
    fn new(graph: &'a Graph) -> Self {
        let mut cells: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        if let Some((positions, range)) = &graph.near {
            for (node, position) in positions.iter().enumerate() {
                cells.entry(cell(*position, *range)).or_default().push(node);
            }
        }
        Self { graph, cells }
    }

    /// Takes out every unreached node within range of `node`; listed neighbours may be found again.
    fn take_neighbours(&mut self, node: usize, mut found: impl FnMut(usize)) {
        self.graph.listed[node]
            .iter()
            .filter(|other| self.graph.share(node, **other))
            .for_each(|other| found(*other));
        let Some((positions, range)) = &self.graph.near else { return };
        let (here, reach) = (positions[node], range * range);
        let (column, row) = cell(here, *range);
        for near in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (column + dx, row + dy))) {
            let Some(nodes) = self.cells.get_mut(&near) else { continue };
            nodes.retain(|other| {
                let near = positions[*other].distance_squared(here) <= reach;
                let inside = near && self.graph.share(node, *other);
                if inside {
                    found(*other);
                }
                !inside
            });
        }
    }
}

/// Coordinates are at most 1e6 m and ranges at least 1 mm, so the indices stay below 1e9.
fn cell(position: Position, range: f64) -> (i64, i64) {
    ((position.x / range).floor() as i64, (position.y / range).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Within range, or listed one way or the other.
    fn near(positions: &[Position], range: f64, listed: &[(usize, usize)], a: usize, b: usize) -> bool {
        positions[a].distance_squared(positions[b]) <= range * range
            || listed.contains(&(a, b))
            || listed.contains(&(b, a))
    }

    /// Bellman-Ford over all pairs: slow and plain.
    fn plain(nodes: usize, near: impl Fn(usize, usize) -> bool, source: usize) -> Vec<Option<u32>> {
        let mut hops = vec![None; nodes];
        hops[source] = Some(0);
        for _ in 0..nodes {
            for a in 0..nodes {
                for b in 0..nodes {
                    if let (true, Some(h)) = (near(a, b), hops[a]) {
                        hops[b] = Some(hops[b].map_or(h + 1, |old: u32| old.min(h + 1)));
                    }
                }
            }
        }
        hops
    }

    proptest! {
        #[test]
        fn cells_find_what_all_pairs_find(
            points in proptest::collection::vec((-500.0..500.0f64, -500.0..500.0f64, -90.0..90.0f64), 1..40),
            range in 50.0..400.0f64,
            listed in proptest::collection::vec((0..40usize, 0..40usize), 0..4),
        ) {
            let positions: Vec<_> = points.into_iter().map(|(x, y, z)| Position { x, y, z }).collect();
            let listed: Vec<_> =
                listed.into_iter().filter(|(a, b)| a.max(b) < &positions.len() && a != b).collect();
            let near = |a: usize, b: usize| near(&positions, range, &listed, a, b);
            let expected = plain(positions.len(), near, 0);
            let mut graph = Graph::of_places(positions.clone(), range);
            for (a, b) in &listed {
                graph.listed[*a].push(*b);
                graph.listed[*b].push(*a);
            }
            for (a, b) in (0..positions.len()).flat_map(|a| (0..positions.len()).map(move |b| (a, b))) {
                prop_assert_eq!(graph.joined(NodeId::from_index(a), NodeId::from_index(b)), near(a, b));
            }
            prop_assert_eq!(&graph.hops_from(&[0]), &expected);
            prop_assert_eq!(graph.is_connected(), expected.iter().all(Option::is_some));
            let component = graph.components();
            for (node, hops) in expected.iter().enumerate() {
                prop_assert_eq!(component[node] == component[0], hops.is_some());
            }
        }
    }
}
