//! The relay of a mesh node, the queue before its MAC: what it sees of its node, and what drives it.

use super::Network;
use crate::air::RateTable;
use crate::conversations::{Accounts, airtime};
use crate::event::Event;
use crate::measure::LossCause;
use crate::routing::{AddressBook, Paths};
use meshpace_packet::{Account, Handle, Host, Packet, PathId};
use meshpace_radio::backoff::Intervals;
use meshpace_radio::{Hearers, Station, StationConfig};
use meshpace_relay::{Heard, Here, NodeView, Relay, Report};
use meshpace_routing::RoutingProtocol;
use meshpace_units::{Bytes, Instant, NodeId, Rate, Span};
use meshpace_winf::Pair;
use std::fmt::Debug;
use std::net::IpAddr;

/// A mesh node as its relay sees it.
struct View<'a> {
    now: Instant,
    node: NodeId,
    station: &'a mut Station,
    routing: &'a dyn RoutingProtocol<Handle>,
    config: &'a StationConfig,
    rates: &'a RateTable,
    paths: &'a Paths,
    accounts: &'a mut Accounts,
    hearers: &'a Hearers,
    addresses: &'a AddressBook,
}

impl NodeView for View<'_> {
    fn busy_time(&mut self) -> Span {
        self.station.busy_time(self.now, self.config)
    }

    fn intervals(&self) -> Intervals {
        self.config.intervals
    }

    fn mac_overhead(&self) -> Bytes {
        self.config.phy.mac_overhead
    }

    fn needs_rts(&self, packet: Bytes) -> bool {
        self.config.phy.needs_rts(packet)
    }

    fn address(&self, node: NodeId) -> IpAddr {
        self.addresses.address(Host::Mesh(node))
    }

    fn backoff_drawn(&self) -> Span {
        self.station.backoff_drawn()
    }

    fn rate_to(&self, neighbour: NodeId) -> Rate {
        self.rates.between(self.node, neighbour).rate
    }

    fn hops_to(&self, node: NodeId) -> Option<u32> {
        if node == self.node { Some(0) } else { self.routing.hops_to(self.now, node) }
    }

    fn hops_on(&self, path: PathId) -> Option<u32> {
        let nodes = self.paths.nodes(path);
        let here = nodes.iter().position(|node| *node == self.node)?;
        u32::try_from(nodes.len() - 1 - here).ok()
    }

    fn next_hop_to(&self, node: NodeId) -> Option<NodeId> {
        self.routing.next_hop(self.now, node)
    }

    fn conversations_beside(&self, account: Account) -> Option<u32> {
        self.accounts.beside(account)
    }

    fn conversations_counted(&mut self, account: Account) -> Option<u32> {
        self.accounts.counted(self.now, account)
    }

    fn senses(&self, hearer: NodeId, sender: NodeId) -> bool {
        let heard = self.hearers.get(sender, hearer);
        heard.is_some_and(|heard| heard.power >= self.config.limits.thresholds.sense)
    }

    fn share(&mut self, account: Account, limit: f64) -> Option<f64> {
        self.accounts.share(self.now, account, limit, self.hearers)
    }
}

impl<T: Copy + Debug> Network<T> {
    /// A packet reaches the queue of a mesh node.
    pub(super) fn enqueue(&mut self, node: u32, packet: Handle) {
        self.note_waiting(node, packet, true);
        self.with_relay(node, |relay, here| relay.enqueue(here, packet));
        self.count_dropped(node);
        self.wake(node);
    }

    /// The packet that a mesh node sends next.
    pub(super) fn dequeue(&mut self, node: u32) -> Option<Handle> {
        let packet = self.with_relay(node, |relay, here| relay.dequeue(here));
        self.count_dropped(node);
        if let Some(packet) = packet {
            self.note_waiting(node, packet, false);
        }
        packet
    }

    /// The packet that a mesh node sends in one frame with others for a neighbour, if the next one is for it and no larger than
    /// `room`.
    pub(super) fn dequeue_to(&mut self, node: u32, to: NodeId, room: Bytes) -> Option<Handle> {
        let packet = self.with_relay(node, |relay, here| relay.dequeue_to(here, to, room));
        self.count_dropped(node);
        if let Some(packet) = packet {
            self.note_waiting(node, packet, false);
        }
        packet
    }

    /// Drops the waiting packets that routing names.
    pub(super) fn purge_relay(&mut self, node: u32, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.with_relay(node, |relay, here| relay.purge(here, wanted));
        while let Some(handle) = self.dropped.pop() {
            self.note_waiting(node, handle, false);
            self.note_loss(node, handle, LossCause::RouteBroke);
            self.packets.remove(handle);
        }
    }

    pub(super) fn relay_alarm(&mut self, node: u32) {
        if self.nodes[node as usize].relay_alarm.rings(self.queue.now()) {
            self.with_relay(node, |relay, here| relay.handle_timeout(here));
            self.count_dropped(node);
            self.wake(node);
        }
    }

    /// A conversation has begun or ended, and the relay of a mesh node asks for them.
    pub(super) fn conversations_changed(&mut self, node: u32) {
        self.with_relay(node, |relay, here| relay.handle_timeout(here));
        self.count_dropped(node);
        self.wake(node);
    }

    /// A mesh node has read a frame, and its relay listens.
    pub(super) fn tell_heard(&mut self, node: u32, heard: &Heard<'_>) {
        self.with_relay(node, |relay, here| relay.heard(here, heard));
        self.count_dropped(node);
    }

    /// A packet in the MAC is through, sent or given up.
    #[inline]
    pub(super) fn exchange_ended(&mut self, node: u32, packet: Handle, sent: bool) {
        if self.nodes[node as usize].exchanges.is_some() {
            self.tell_exchange(node, packet, sent);
        }
    }

    /// Apart from [`Network::exchange_ended`]: most relays do not ask.
    #[inline(never)]
    fn tell_exchange(&mut self, node: u32, packet: Handle, sent: bool) {
        let Some(exchanges) = &mut self.nodes[node as usize].exchanges else { return };
        let mut report = exchanges.ended(packet, sent);
        self.note_airtime(node, &report);
        if let Report::Sent(exchange) = &mut report {
            exchange.told = self.told_by_acknowledgement(node, exchange.next_hop);
        }
        self.report_to_relay(node, &report);
    }

    /// For relays that ask for shares of the air.
    fn note_airtime(&mut self, node: u32, report: &Report) {
        let (Report::Sent(exchange) | Report::GivenUp(exchange), true) = (report, self.accounts.shared())
        else {
            return;
        };
        let account = self.packets.get(exchange.packet).account;
        if let (Some(to), Some(account)) = (exchange.next_hop, account) {
            let sent = matches!(report, Report::Sent(_));
            let airtime = airtime(exchange, sent, &self.config.phy);
            self.accounts.note_airtime(self.queue.now(), (NodeId(node), to), account, airtime);
        }
    }

    /// What the receiver of a packet put into its MAC acknowledgement, which has just come: a table that both ends share, as
    /// nothing happens to the receiver between sending it and here (schemes.md 9.2, "Transport in ACK").
    fn told_by_acknowledgement(&mut self, node: u32, next_hop: Option<NodeId>) -> Option<Pair> {
        let receiver = &mut self.nodes[next_hop?.index()];
        receiver.relay.tells(self.queue.now(), NodeId(node))
    }

    pub(super) fn report_to_relay(&mut self, node: u32, report: &Report) {
        self.with_relay(node, |relay, here| relay.reported(here, report));
        self.count_dropped(node);
    }

    /// Calls the relay of a mesh node, and sets its alarm. What it drops is in `dropped` afterwards.
    #[inline]
    fn with_relay<R>(&mut self, node: u32, call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R) -> R {
        let now = self.queue.now();
        let this = &mut self.nodes[node as usize];
        let free = this.station.accepts();
        let mut view = View {
            now,
            node: NodeId(node),
            station: &mut this.station,
            routing: this.routing.as_ref(),
            config: &self.config,
            rates: &self.rates,
            paths: &self.paths,
            accounts: &mut self.accounts,
            hearers: &self.hearers,
            addresses: &self.addresses,
        };
        let mut here = Here::new(now, &mut self.packets, free, Some(&mut view), &mut self.dropped);
        let answer = call(this.relay.as_mut(), &mut here);
        let deadline = this.relay.poll_timeout().filter(|at| *at > now);
        this.relay_alarm.arm(deadline, Event::Relay(node), &mut self.queue);
        answer
    }

    /// Frees the packets that the relay of a mesh node has dropped, and counts them by their next hop.
    #[inline]
    fn count_dropped(&mut self, node: u32) {
        if !self.dropped.is_empty() {
            self.free_dropped(node);
        }
    }

    #[cold]
    fn free_dropped(&mut self, node: u32) {
        while let Some(handle) = self.dropped.pop() {
            self.note_waiting(node, handle, false);
            self.note_loss(node, handle, LossCause::Queue);
            if let Some(next_hop) = self.packets.take(handle).next_hop {
                self.nodes[node as usize].links.toward(next_hop).queue_drops += 1;
            }
        }
    }
}
