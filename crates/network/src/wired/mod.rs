//! The wired part: its links with their queues, and the ways through them.

mod link;
mod routes;

pub(crate) use link::Loss;
pub use link::{WiredCount, WiredLink};

use crate::event::EventQueue;
use crate::measure::Statistics;
use meshpace_relay::packet::{Handle, Host, Packets};
use routes::WiredRoutes;
use std::fmt::Debug;

/// The wired part: it carries packets over one link at a time, and says which link is next.
pub(crate) struct Wired {
    /// Each direction by itself.
    links: Vec<WiredLink>,
    routes: WiredRoutes,
    /// Scratch, to save allocations.
    dropped: Vec<Handle>,
}

/// What links need of the others: the time, packets, and the account of those that are dropped.
pub(crate) struct Surroundings<'a, T> {
    /// The events, and with them the time.
    pub queue: &'a mut EventQueue<T>,
    /// All packets under way.
    pub packets: &'a mut Packets,
    /// What is noted of them.
    pub statistics: &'a mut Statistics,
}

impl Wired {
    /// These directed links, idle.
    pub(crate) fn new(links: Vec<WiredLink>) -> Self {
        let directions: Vec<_> = links.iter().map(|link| (link.from, link.to)).collect();
        Self { routes: WiredRoutes::new(&directions), links, dropped: Vec::new() }
    }

    /// All links, each direction by itself.
    pub(crate) fn links(&self) -> &[WiredLink] {
        &self.links
    }

    /// The directed link on the way from one host to another.
    pub(crate) fn next(&self, from: Host, to: Host) -> Option<u32> {
        self.routes.next(from, to)
    }

    /// Where a directed link ends.
    pub(crate) fn end_of(&self, link: u32) -> Host {
        self.links[link as usize].to
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self) {
        self.links.iter_mut().for_each(WiredLink::begin_counting);
    }

    /// A packet reaches the queue of a directed link.
    pub(crate) fn enqueue<T: Copy + Debug>(
        &mut self,
        link: u32,
        packet: Handle,
        with: &mut Surroundings<'_, T>,
    ) {
        let Self { links, dropped, .. } = self;
        links[link as usize].enqueue(link, packet, dropped, with);
    }

    /// A directed link has sent a packet.
    pub(crate) fn sent<T: Copy + Debug>(&mut self, link: u32, with: &mut Surroundings<'_, T>) {
        let Self { links, dropped, .. } = self;
        links[link as usize].sent(link, dropped, with);
    }

    /// The deadline of the relay of a directed link.
    pub(crate) fn relay_alarm<T: Copy + Debug>(&mut self, link: u32, with: &mut Surroundings<'_, T>) {
        let Self { links, dropped, .. } = self;
        links[link as usize].relay_alarm(link, dropped, with);
    }
}
