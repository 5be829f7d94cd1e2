//! Gateways: nodes between mesh and wired part, and the scheme's machine in them.

mod nearest;

use crate::event::Alarm;
use meshpace_gateway::{Behaviour, Counters, Gateway, Shaper, ShaperCounters, Side};
use meshpace_hook::Hooked;
use meshpace_relay::packet::Packet;
use meshpace_routing::ShortestPaths;
use meshpace_units::{NodeId, Quantiles};
use nearest::nearest_gateways;
use std::cell::OnceCell;

/// Most packets that wait at a gateway's hook.
const AT_A_HOOK: usize = 1_000;

/// A gateway.
pub struct GatewayNode {
    /// The mesh node that it is.
    pub node: NodeId,
    /// What of real hosts crosses it is [given out](crate::Network::give_out).
    pub given_out: bool,
    /// What the scheme does here; `None`: nothing, packets are passed on. It is taken out for each packet: a pointer moves.
    pub machine: Option<Box<Gateway<Packet>>>,
    /// The scheme's hook between the machine and the wired part; `None`: there is none.
    pub hook: Option<Hooked<(Side, Packet)>>,
    /// Shares what goes into the mesh among its hosts, behind the machine; `None`: no shaper.
    pub shaper: Option<Box<Shaper<Packet>>>,
    /// When one of them wants to be called.
    pub alarm: Alarm,
    /// The machine's counters when the measured interval began.
    pub before: Counters,
    /// What the shaper had counted then.
    pub shaped_before: ShaperCounters,
    /// How long packets with data waited in the queues of machine or shaper on their way into the mesh since then; 0 for those
    /// that it let through at once.
    pub waits: Quantiles,
    /// The most packets that were in these queues.
    pub queue_max: usize,
}

impl GatewayNode {
    /// At a mesh node, with what the scheme does there.
    pub(crate) fn new(node: NodeId, behaviour: Behaviour) -> Self {
        let Behaviour { machine, hook, shaper } = behaviour;
        Self {
            node,
            given_out: false,
            machine: machine.map(|made_of| Box::new(Gateway::new(made_of.config, made_of.law))),
            hook: hook.map(|hook| Hooked::new(hook, AT_A_HOOK)),
            shaper: shaper.map(|config| Box::new(Shaper::new(config))),
            alarm: Alarm::default(),
            shaped_before: ShaperCounters::default(),
            before: Counters::default(),
            waits: Quantiles::default(),
            queue_max: 0,
        }
    }

    fn begin_counting(&mut self) {
        if let Some(machine) = &self.machine {
            self.before = *machine.counters();
            self.queue_max = machine.held();
            self.waits = Quantiles::default();
        }
        if let Some(shaper) = &self.shaper {
            self.shaped_before = *shaper.counters();
            self.queue_max = shaper.len();
            self.waits = Quantiles::default();
        }
    }
}

/// All gateways, and which of them each mesh node uses.
pub(crate) struct Gateways {
    /// Sorted by node.
    all: Vec<GatewayNode>,
    /// For every mesh node the index in `all` of the gateway between it and the wired part.
    of_node: Vec<Option<u32>>,
    /// The same by the links of now, if a caller has asked since they changed.
    by_air: OnceCell<Vec<Option<u32>>>,
}

impl Gateways {
    /// These, sorted by node. With `paths`, each node has the gateway to which its way costs least by their metric. With `None`, ways
    /// are counted in hops over so many nodes; `neighbours` gives the nodes that can decode a node's frames.
    pub(crate) fn new<N: Iterator<Item = NodeId>>(
        all: Vec<GatewayNode>,
        paths: Option<&ShortestPaths>,
        nodes: usize,
        neighbours: impl Fn(NodeId) -> N,
    ) -> Self {
        let at: Vec<_> = all.iter().map(|gateway| gateway.node).collect();
        let of_node = match paths {
            Some(paths) => paths.least_of(&at),
            None => nearest_gateways(nodes, at.into_iter(), neighbours),
        };
        Self { all, of_node, by_air: OnceCell::new() }
    }

    /// All, in the order of their nodes.
    pub(crate) fn all(&self) -> &[GatewayNode] {
        &self.all
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The gateway with an index.
    pub(crate) fn at(&mut self, index: usize) -> &mut GatewayNode {
        &mut self.all[index]
    }

    /// Where the gateway at a node stands; `None`: there is none.
    pub(crate) fn find(&self, node: NodeId) -> Option<usize> {
        self.all.binary_search_by_key(&node, |gateway| gateway.node).ok()
    }

    /// The same of one that is there.
    ///
    /// # Panics
    /// If the node is no gateway.
    pub(crate) fn index(&self, node: NodeId) -> usize {
        self.find(node).unwrap_or_else(|| panic!("{node:?} is no gateway"))
    }

    /// The gateway that a node used when the links were last looked at.
    pub(crate) fn last(&self, node: NodeId) -> Option<u32> {
        self.of_node[node.index()]
    }

    /// The gateway nearest to a node: what goes between it and the wired part uses that; where nodes move, it changes, and the new
    /// gateway builds its state from scratch (schemes.md 3.1).
    ///
    /// Nearest is what the routing table there says, `hops`. If it knows no gateway, as AODV's after a break, the node would
    /// ask for one, and the first to answer is the nearest by the links as they are.
    pub(crate) fn nearest<N: Iterator<Item = NodeId>>(
        &self,
        node: NodeId,
        hops: impl Fn(NodeId) -> Option<u32>,
        neighbours: impl Fn(NodeId) -> N,
    ) -> Option<u32> {
        let hops = |gateway: NodeId| if gateway == node { Some(0) } else { hops(gateway) };
        let known = self.all.iter().enumerate().filter_map(|(i, g)| Some((hops(g.node)?, i as u32)));
        known.min().map(|(_, gateway)| gateway).or_else(|| {
            let gateways = self.all.iter().map(|gateway| gateway.node);
            let nodes = self.of_node.len();
            self.by_air.get_or_init(|| nearest_gateways(nodes, gateways, neighbours))[node.index()]
        })
    }

    /// The links have changed: notes each node's gateway, which it keeps while it knows and reaches none.
    pub(crate) fn reassign<N: Iterator<Item = NodeId>>(
        &mut self,
        hops: impl Fn(NodeId, NodeId) -> Option<u32>,
        neighbours: impl Fn(NodeId) -> N,
    ) {
        self.by_air.take();
        if self.all.is_empty() {
            return;
        }
        for index in 0..self.of_node.len() {
            let node = NodeId::from_index(index);
            if let Some(nearest) = self.nearest(node, |gateway| hops(node, gateway), &neighbours) {
                self.of_node[index] = Some(nearest);
            }
        }
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self) {
        self.all.iter_mut().for_each(GatewayNode::begin_counting);
    }
}
