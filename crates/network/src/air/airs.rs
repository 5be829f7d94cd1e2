//! All airs, and which interface is whose.

use super::Air;
use crate::event::InterfaceId;
use meshpace_units::NodeId;

/// An air, by its number: that of its channel in the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AirId(pub(crate) u32);

impl AirId {
    /// The number as a `usize`, to address a slice of channels.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The airs: they share nodes, and nothing else. A node's interfaces are in the order of the airs that they are on.
pub(crate) struct Airs {
    /// Most networks have no other, and each event asks where an interface is: one comparison says so.
    first: Air,
    others: Vec<Air>,
}

impl Airs {
    /// Interfaces are numbered air by air, as the stations there.
    pub(crate) fn new(first: Air, others: Vec<Air>) -> Self {
        let mut this = Self { first, others };
        let mut next = 0;
        for air in this.iter_mut() {
            air.first = InterfaceId(next);
            next += air.stations.len() as u32;
        }
        this
    }

    /// Which of the others an interface is on that is not on the first.
    #[cold]
    fn other(&self, at: InterfaceId) -> usize {
        let above = self.others.iter().rposition(|air| air.first <= at);
        above.unwrap_or_else(|| panic!("{at:?} is on no air"))
    }

    #[inline(always)]
    fn on_first(&self, at: InterfaceId) -> bool {
        at.index() < self.first.stations.len()
    }

    /// The air that an interface is on, by number.
    #[inline]
    pub(crate) fn id(&self, at: InterfaceId) -> AirId {
        AirId(if self.on_first(at) { 0 } else { self.other(at) as u32 + 1 })
    }

    /// The air that an interface is on, and its station there.
    #[inline(always)]
    pub(crate) fn at(&self, at: InterfaceId) -> (&Air, u32) {
        if self.on_first(at) {
            return (&self.first, at.0);
        }
        let air = &self.others[self.other(at)];
        (air, at.0 - air.first.0)
    }

    /// The same.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, at: InterfaceId) -> (&mut Air, u32) {
        if self.on_first(at) {
            return (&mut self.first, at.0);
        }
        let other = self.other(at);
        let air = &mut self.others[other];
        let station = at.0 - air.first.0;
        (air, station)
    }

    /// An air by its number.
    pub(crate) fn by_id(&self, id: AirId) -> &Air {
        // The first is none of the others.
        id.0.checked_sub(1).map_or(&self.first, |other| &self.others[other as usize])
    }

    /// The first.
    #[inline]
    pub(crate) fn first(&self) -> &Air {
        &self.first
    }

    /// All.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Air> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// All.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Air> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Whose an interface is.
    #[inline]
    pub(crate) fn node(&self, at: InterfaceId) -> NodeId {
        let (air, station) = self.at(at);
        air.node(station)
    }

    /// The interfaces of a node.
    pub(crate) fn of(&self, node: NodeId) -> impl Iterator<Item = InterfaceId> + '_ {
        self.iter().filter_map(move |air| air.interface_of(node))
    }

    /// Of a node with several interfaces the one after this.
    #[inline]
    pub(crate) fn after(&self, at: InterfaceId, node: NodeId) -> Option<InterfaceId> {
        // The items after the n-th air begin with the n-th of the other items.
        let passed = if self.others.is_empty() { 0 } else { self.id(at).0 as usize };
        self.others[passed..].iter().find_map(|air| air.interface_of(node))
    }

    /// The interface of a node by which it reaches a neighbour: the first on an air where that has one, too. `None`: they share none.
    #[inline]
    pub(crate) fn toward(&self, node: NodeId, neighbour: NodeId) -> Option<InterfaceId> {
        let shared = |air: &Air| air.station_of(neighbour).and(air.interface_of(node));
        shared(&self.first).or_else(|| self.others.iter().find_map(shared))
    }

    /// The interface of a node on an air, if there is such an air and the node is on it.
    pub(crate) fn interface(&self, on: AirId, node: NodeId) -> Option<InterfaceId> {
        self.iter().nth(on.index())?.interface_of(node)
    }

    /// The interface of another node on the air of this one.
    #[inline]
    pub(crate) fn beside(&self, at: InterfaceId, node: NodeId) -> Option<InterfaceId> {
        self.at(at).0.interface_of(node)
    }

    /// The nodes that can decode what a node sends by any of its interfaces, air by air: some several times.
    pub(crate) fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.iter().flat_map(move |air| air.neighbours(node))
    }

    /// Those of them that it can decode, too, on the same air.
    pub(crate) fn neighbours_both_ways(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mutual = move |air: &Air, other| air.heard(other, node).is_some_and(|hearer| hearer.decodable);
        self.iter().flat_map(move |air| air.neighbours(node).filter(move |other| mutual(air, *other)))
    }
}
