//! Minimum-hop routes over a fixed neighbour graph.

use meshpace_units::NodeId;
use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::sync::OnceLock;

/// All minimum-hop routes of one graph, computed by destination on first use: breadth-first search costs
/// O(nodes + links) and 4 bytes a node for each destination ever asked for, so large meshes with few flows stay small.
///
/// Several minimum-hop routes: the lowest node index as next hop wins (docs/contract.md, section 3).
#[derive(Debug)]
pub struct ShortestPaths {
    /// `neighbours[starts[v]..starts[v + 1]]` are the neighbours of `v`, ascending.
    starts: Vec<u32>,
    neighbours: Vec<NodeId>,
    toward: Vec<OnceLock<Box<[Option<Leg>]>>>,
}

/// From one node toward the destination of a column.
#[derive(Clone, Copy, Debug)]
struct Leg {
    next_hop: u16,
    /// Never 0, so that `Option<Leg>` stays at 4 bytes.
    hops: NonZeroU16,
}

impl ShortestPaths {
    /// Routes over the graph in which node `i` reaches the nodes of `neighbours[i]`, in any order.
    ///
    /// # Panics
    /// If a neighbour is not a node, a link exists in one direction only, or there are more than 65,535 nodes.
    #[must_use]
    pub fn new(neighbours: &[Vec<NodeId>]) -> Self {
        let count = neighbours.len();
        assert!(count <= usize::from(u16::MAX), "{count} nodes");
        let (mut starts, mut flat) = (Vec::with_capacity(count + 1), Vec::new());
        for (node, of_node) in neighbours.iter().enumerate() {
            starts.push(flat.len() as u32);
            for &to in of_node {
                let back = neighbours.get(to.index()).unwrap_or_else(|| panic!("{to:?} of {count} nodes"));
                assert!(
                    back.contains(&NodeId::from_index(node)),
                    "the link {node} -> {to:?} has no way back"
                );
            }
            let first = flat.len();
            flat.extend_from_slice(of_node);
            flat[first..].sort_unstable();
        }
        starts.push(flat.len() as u32);
        Self { starts, neighbours: flat, toward: (0..count).map(|_| OnceLock::new()).collect() }
    }

    /// Forgets the routes that were asked for: whoever asks again has them computed again.
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
        let node = node.index();
        &self.neighbours[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The neighbour of `from` that is next on the way to `to`; `None` if there is no way or none is needed.
    #[must_use]
    pub fn next_hop(&self, from: NodeId, to: NodeId) -> Option<NodeId> {
        self.column(to)[from.index()].map(|leg| NodeId(u32::from(leg.next_hop)))
    }

    /// Hops from `from` to `to`, 0 to itself; `None` if there is no way.
    #[must_use]
    pub fn hops(&self, from: NodeId, to: NodeId) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        self.column(to)[from.index()].map(|leg| u32::from(leg.hops.get()))
    }

    fn column(&self, to: NodeId) -> &[Option<Leg>] {
        self.toward[to.index()].get_or_init(|| self.search(to))
    }

    /// Breadth-first from the destination. A node is first met from the earliest of its nearer neighbours, which
    /// need not be the lowest, so the next hops are chosen once all distances are known.
    fn search(&self, to: NodeId) -> Box<[Option<Leg>]> {
        let mut hops: Vec<Option<u16>> = vec![None; self.nodes()];
        hops[to.index()] = Some(0);
        let mut frontier = VecDeque::from([to]);
        while let Some(node) = frontier.pop_front() {
            let next = hops[node.index()].expect("a node of the frontier has a distance") + 1;
            for &neighbour in self.neighbours(node) {
                let known = &mut hops[neighbour.index()];
                if known.is_none() {
                    *known = Some(next);
                    frontier.push_back(neighbour);
                }
            }
        }
        let leg = |node: usize| {
            let own = NonZeroU16::new(hops[node]?)?;
            let nearer = |n: &&NodeId| hops[n.index()] == Some(own.get() - 1);
            let next_hop = *self.neighbours(NodeId::from_index(node)).iter().find(nearer)?;
            // There are no more nodes than fit.
            Some(Leg { next_hop: next_hop.0 as u16, hops: own })
        };
        (0..self.nodes()).map(leg).collect()
    }
}
