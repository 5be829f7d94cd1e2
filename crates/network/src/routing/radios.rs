//! By which of its radios a node reaches a neighbour.
//!
//! A route is a neighbour and a radio. Routing says the neighbour; the radio of each neighbour is known here. At time 0 it is the one
//! over which the link costs least by the metric, among several of these the lowest of the node's own. A node that hears a routing
//! packet from a neighbour sends to that neighbour by the radio that heard it first. A packet to all goes out by every radio, so the
//! copy that came first tells which radio was quicker. Later copies are dropped, so that protocols hear of each broadcast once.

use super::protocols::LinkCosts;
use crate::air::Airs;
use crate::event::InterfaceId;
use meshpace_relay::packet::PacketId;
use meshpace_scenario::Scenario;
use meshpace_units::NodeId;
use std::collections::BTreeMap;

/// Broadcasts of a neighbour of which copies may still arrive: interfaces have queues of their own, and one may be that much behind.
const REMEMBERED: usize = 16;

/// A neighbour of a node.
struct Neighbour {
    /// The interface toward it.
    at: InterfaceId,
    /// Its latest broadcasts, in a ring.
    broadcasts: Vec<PacketId>,
    oldest: usize,
}

/// What every node knows of its neighbours.
pub(crate) struct Radios {
    /// By node and neighbour.
    neighbours: BTreeMap<(NodeId, NodeId), Neighbour>,
    /// By interface, its number among its node's.
    numbers: Box<[u16]>,
}

impl Radios {
    /// At time 0; `None` if there is one channel.
    pub(crate) fn new(scenario: &Scenario, airs: &Airs, numbers: Vec<u16>) -> Option<Box<Self>> {
        if airs.iter().count() == 1 {
            return None;
        }
        let costs = LinkCosts::new(scenario);
        let mut this = Self { neighbours: BTreeMap::new(), numbers: numbers.into() };
        for node in (0..scenario.mesh.len()).map(NodeId::from_index) {
            let mut best = BTreeMap::new();
            for at in airs.of(node) {
                let (air, _) = airs.at(at);
                for neighbour in air.neighbours(node).filter(|neighbour| air.joins(node, *neighbour)) {
                    let offer = (costs.on(air, node, neighbour), this.numbers[at.index()], at);
                    best.entry(neighbour).and_modify(|best| *best = offer.min(*best)).or_insert(offer);
                }
            }
            let known = best.into_iter().map(|(neighbour, (.., at))| ((node, neighbour), Neighbour::new(at)));
            this.neighbours.extend(known);
        }
        Some(Box::new(this))
    }

    /// The interface by which a node reaches a neighbour; one that it does not know by the lowest of its own that is on a channel with
    /// it. `None`: they share none.
    pub(crate) fn toward(&self, airs: &Airs, node: NodeId, neighbour: NodeId) -> Option<InterfaceId> {
        let known = self.neighbours.get(&(node, neighbour)).map(|known| known.at);
        let shared = || airs.of(node).filter(|at| airs.beside(*at, neighbour).is_some());
        known.or_else(|| shared().min_by_key(|at| self.numbers[at.index()]))
    }

    /// A node has heard a routing packet from a neighbour by an interface; `broadcast`: one for all. False if a copy of it was heard
    /// before.
    pub(crate) fn heard(
        &mut self,
        link: (NodeId, NodeId),
        at: InterfaceId,
        broadcast: Option<PacketId>,
    ) -> bool {
        let neighbour = self.neighbours.entry(link).or_insert_with(|| Neighbour::new(at));
        if broadcast.is_some_and(|packet| !neighbour.is_new(packet)) {
            return false;
        }
        neighbour.at = at;
        true
    }
}

impl Neighbour {
    const fn new(at: InterfaceId) -> Self {
        Self { at, broadcasts: Vec::new(), oldest: 0 }
    }

    /// Notes a broadcast; false if it was noted before.
    fn is_new(&mut self, packet: PacketId) -> bool {
        if self.broadcasts.contains(&packet) {
            return false;
        }
        if self.broadcasts.len() < REMEMBERED {
            self.broadcasts.push(packet);
        } else {
            self.broadcasts[self.oldest] = packet;
            self.oldest = (self.oldest + 1) % REMEMBERED;
        }
        true
    }
}
