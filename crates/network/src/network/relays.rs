//! The relay of a mesh node, the queue before its MAC: what it sees of its node, and what drives it.

use super::Network;
use crate::air::{Air, Airs};
use crate::conversations::{Accounts, airtime};
use crate::event::InterfaceId;
use crate::measure::LossCause;
use crate::routing::{AddressBook, Machines, Paths};
use meshpace_explicit::winf::Pair;
use meshpace_radio::backoff::Intervals;
use meshpace_radio::{Mode, Peer, Priority};
use meshpace_relay::packet::{Account, Handle, Host, Packet, PathId};
use meshpace_relay::{Heard, Here, NodeView, Relay, Report};
use meshpace_units::{Bytes, Dscp, Instant, NodeId, Rate, Span};
use std::fmt::Debug;
use std::net::IpAddr;

/// A mesh node as the relay of one of its interfaces sees it. Most relays do not look: what they would see is found when they do.
struct View<'a> {
    now: Instant,
    /// The interface.
    at: InterfaceId,
    airs: &'a mut Airs,
    routing: &'a Machines,
    paths: &'a Paths,
    accounts: &'a mut Accounts,
    addresses: &'a AddressBook,
}

impl View<'_> {
    fn node(&self) -> NodeId {
        self.airs.node(self.at)
    }

    fn air(&self) -> &Air {
        self.airs.at(self.at).0
    }
}

impl NodeView for View<'_> {
    fn busy_time(&mut self) -> Span {
        let (air, station) = self.airs.at_mut(self.at);
        air.busy_time(self.now, station)
    }

    fn intervals(&self) -> Intervals {
        self.air().config().intervals
    }

    fn ecw_min(&self) -> u8 {
        let (air, station) = self.airs.at(self.at);
        air.station(station).ecw_min()
    }

    fn set_ecw_min(&mut self, power: u8) {
        let (air, station) = self.airs.at_mut(self.at);
        air.set_ecw_min(station, power);
    }

    fn mac_overhead(&self) -> Bytes {
        self.air().config().phy.mac_overhead
    }

    fn needs_rts(&self, packet: Bytes) -> bool {
        self.air().config().phy.needs_rts(packet)
    }

    fn address(&self, node: NodeId) -> IpAddr {
        self.addresses.address(Host::Mesh(node))
    }

    fn backoff_drawn(&self) -> Span {
        let (air, station) = self.airs.at(self.at);
        air.station(station).backoff_drawn()
    }

    fn rate_to(&self, neighbour: NodeId) -> Rate {
        self.mode_to(neighbour).rate
    }

    fn mode_to(&self, neighbour: NodeId) -> &'static Mode {
        self.air().mode_between(self.node(), neighbour)
    }

    fn hops_to(&self, node: NodeId) -> Option<u32> {
        let here = self.node();
        if node == here { Some(0) } else { self.routing.of(here).hops_to(self.now, node) }
    }

    fn hops_on(&self, path: PathId) -> Option<u32> {
        let nodes = self.paths.nodes(path);
        let here = nodes.iter().position(|node| *node == self.node())?;
        u32::try_from(nodes.len() - 1 - here).ok()
    }

    fn next_hop_to(&self, node: NodeId) -> Option<NodeId> {
        self.routing.of(self.node()).next_hop(self.now, node)
    }

    fn conversations_beside(&self, account: Account) -> Option<u32> {
        self.accounts.beside(account)
    }

    fn conversations_counted(&mut self, account: Account) -> Option<u32> {
        self.accounts.counted(self.now, account)
    }

    fn senses(&self, hearer: NodeId, sender: NodeId) -> bool {
        let sense = self.air().config().limits.thresholds.sense;
        self.air().heard(sender, hearer).is_some_and(|heard| heard.power >= sense)
    }

    fn share(&mut self, account: Account, limit: f64) -> Option<f64> {
        let neighbours = |air, node| self.airs.by_id(air).neighbours(node);
        self.accounts.share(self.now, account, limit, neighbours)
    }
}

impl<T: Copy + Debug> Network<T> {
    /// A packet reaches the queue of an interface.
    pub(super) fn enqueue(&mut self, at: InterfaceId, packet: Handle) {
        self.note_waiting(at, packet, true);
        if self.packets.get(packet).dscp != Dscp::DEFAULT {
            self.expect(at, packet);
        }
        self.with_relay(at, |relay, here| relay.enqueue(here, packet));
        self.count_dropped(at);
        self.wake(at);
    }

    /// A packet that asks for another service class comes to the queue of an interface.
    #[cold]
    fn expect(&mut self, at: InterfaceId, packet: Handle) {
        let category = self.priority(at, packet).category();
        let (air, station) = self.airs.at_mut(at);
        air.expect(station, category);
    }

    /// The priority with which an interface sends a packet: that of its codepoint, if the relay has queues for categories.
    #[inline]
    pub(super) fn priority(&self, at: InterfaceId, packet: Handle) -> Priority {
        let dscp = self.packets.get(packet).dscp;
        if dscp == Dscp::DEFAULT || !self.nodes.interface(at).asks().categories {
            return Priority::BEST_EFFORT;
        }
        Priority::of(dscp)
    }

    /// The packet that an interface sends next.
    pub(super) fn dequeue(&mut self, at: InterfaceId) -> Option<Handle> {
        let packet = self.with_relay(at, |relay, here| relay.dequeue(here));
        self.count_dropped(at);
        if let Some(packet) = packet {
            self.note_waiting(at, packet, false);
        }
        packet
    }

    /// The packet that an interface sends in one frame with others for a neighbour, if the next one is for it and no larger than
    /// `room`.
    pub(super) fn dequeue_to(&mut self, at: InterfaceId, to: Peer, room: Bytes) -> Option<Handle> {
        let packet = self.with_relay(at, |relay, here| relay.dequeue_to(here, to, room));
        self.count_dropped(at);
        if let Some(packet) = packet {
            self.note_waiting(at, packet, false);
        }
        packet
    }

    /// Drops the waiting packets that routing names.
    pub(super) fn purge_relay(&mut self, at: InterfaceId, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.with_relay(at, |relay, here| relay.purge(here, wanted));
        while let Some(handle) = self.dropped.pop() {
            self.note_waiting(at, handle, false);
            self.note_loss(self.airs.node(at), handle, LossCause::RouteBroke);
            self.packets.remove(handle);
        }
    }

    pub(super) fn relay_alarm(&mut self, at: InterfaceId) {
        if self.nodes.interface_mut(at).rings(self.queue.now()) {
            self.with_relay(at, |relay, here| relay.handle_timeout(here));
            self.count_dropped(at);
            self.wake(at);
        }
    }

    /// A conversation has begun or ended, and the relay of an interface asks for them.
    pub(super) fn conversations_changed(&mut self, at: InterfaceId) {
        self.with_relay(at, |relay, here| relay.handle_timeout(here));
        self.count_dropped(at);
        self.wake(at);
    }

    /// An interface has read a frame, and its relay listens.
    pub(super) fn tell_heard(&mut self, at: InterfaceId, heard: &Heard<'_>) {
        self.with_relay(at, |relay, here| relay.heard(here, heard));
        self.count_dropped(at);
    }

    /// A packet in the MAC is through, sent or given up.
    #[inline]
    pub(super) fn exchange_ended(&mut self, at: InterfaceId, packet: Handle, sent: bool) {
        if self.nodes.interface(at).logs_exchanges() {
            self.tell_exchange(at, packet, sent);
        }
    }

    /// Apart from [`Network::exchange_ended`]: most relays do not ask.
    #[inline(never)]
    fn tell_exchange(&mut self, at: InterfaceId, packet: Handle, sent: bool) {
        let Some(exchanges) = self.nodes.interface_mut(at).exchanges() else { return };
        let mut report = exchanges.ended(packet, sent);
        self.note_airtime(at, &report);
        if let Report::Sent(exchange) = &mut report {
            exchange.told = self.told_by_acknowledgement(at, exchange.next_hop);
        }
        self.report_to_relay(at, &report);
    }

    /// For relays that ask for shares of the air.
    fn note_airtime(&mut self, at: InterfaceId, report: &Report) {
        let (Report::Sent(exchange) | Report::GivenUp(exchange), true) = (report, self.accounts.shared())
        else {
            return;
        };
        let account = self.packets.get(exchange.packet).account;
        if let (Some(to), Some(account)) = (exchange.next_hop, account) {
            let sent = matches!(report, Report::Sent(_));
            let (air, station) = self.airs.at(at);
            let airtime = airtime(exchange, sent, &air.config().phy);
            let hop = (self.airs.id(at), air.node(station), to);
            self.accounts.note_airtime(self.queue.now(), hop, account, airtime);
        }
    }

    /// What the receiver of a packet put into its MAC acknowledgement, which has just come: a table that both ends share, as
    /// nothing happens to the receiver between sending it and here (schemes.md 9.2, "Transport in ACK").
    fn told_by_acknowledgement(&mut self, at: InterfaceId, next_hop: Option<NodeId>) -> Option<Pair> {
        let receiver = self.airs.beside(at, next_hop?)?;
        self.nodes.interface_mut(receiver).tells(self.queue.now(), self.airs.node(at))
    }

    pub(super) fn report_to_relay(&mut self, at: InterfaceId, report: &Report) {
        self.with_relay(at, |relay, here| relay.reported(here, report));
        self.count_dropped(at);
    }

    /// Calls the relay of an interface, and sets its alarm. What it drops is in `dropped` afterwards.
    #[inline]
    fn with_relay<R>(&mut self, at: InterfaceId, call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R) -> R {
        let now = self.queue.now();
        let (air, station) = self.airs.at(at);
        let takes = air.station(station).takes();
        let mut view = View {
            now,
            at,
            airs: &mut self.airs,
            routing: &self.routing,
            paths: &self.paths,
            accounts: &mut self.accounts,
            addresses: &self.addresses,
        };
        let mut here = Here::new(now, &mut self.packets, takes, Some(&mut view), &mut self.dropped);
        self.nodes.interface_mut(at).call((now, at), &mut here, &mut self.queue, call)
    }

    /// Frees the packets that the relay of an interface has dropped, and counts them by their next hop.
    #[inline]
    fn count_dropped(&mut self, at: InterfaceId) {
        if !self.dropped.is_empty() {
            self.free_dropped(at);
        }
    }

    #[cold]
    fn free_dropped(&mut self, at: InterfaceId) {
        while let Some(handle) = self.dropped.pop() {
            self.note_waiting(at, handle, false);
            self.note_loss(self.airs.node(at), handle, LossCause::Queue);
            if let Some(next_hop) = self.packets.take(handle).next_hop {
                self.nodes.interface_mut(at).toward(next_hop).queue_drops += 1;
            }
        }
    }
}
