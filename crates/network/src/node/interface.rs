//! An interface: what stands between routing and one station.

use super::ArpTable;
use crate::event::{Alarm, Event, EventQueue, InterfaceId};
use crate::measure::{LinkCount, LinkCounters, Load, Loads};
use meshpace_explicit::winf::Pair;
use meshpace_relay::packet::{Account, Class, Packet};
use meshpace_relay::{Asks, ExchangeLog, Here, Relay};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::fmt::Debug;

/// An interface of a node, on one air: packets for that wait here, and what happens to them is counted.
pub(crate) struct Interface {
    /// Where packets wait for the station.
    relay: Box<dyn Relay>,
    /// When the relay wants to be called.
    alarm: Alarm,
    /// What the station's exchanges come to, if the relay asks.
    exchanges: Option<Box<ExchangeLog>>,
    /// The addresses of neighbours, if they have to be asked for.
    arp: Option<ArpTable>,
    /// What happened to the packets for each neighbour.
    links: LinkCounters,
    /// What the station sent, by account.
    loads: Loads,
    /// What the relay had counted when counting began.
    relay_before: Vec<(&'static str, u64)>,
}

impl Interface {
    /// One whose queue is empty.
    pub(crate) fn new(
        relay: Box<dyn Relay>,
        exchanges: Option<Box<ExchangeLog>>,
        arp: Option<ArpTable>,
    ) -> Self {
        let (alarm, links, loads) = (Alarm::default(), LinkCounters::default(), Loads::default());
        Self { relay, alarm, exchanges, arp, links, loads, relay_before: Vec::new() }
    }

    /// What the relay asks of the engine.
    pub(crate) fn asks(&self) -> Asks {
        self.relay.asks()
    }

    /// Calls the relay, and sets its alarm.
    #[inline]
    pub(crate) fn call<T: Copy + Debug, R>(
        &mut self,
        (now, at): (Instant, InterfaceId),
        here: &mut Here<'_>,
        queue: &mut EventQueue<T>,
        call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R,
    ) -> R {
        let answer = call(self.relay.as_mut(), here);
        let deadline = self.relay.poll_timeout().filter(|at| *at > now);
        self.alarm.arm(deadline, Event::Relay(at), queue);
        answer
    }

    /// The relay's alarm went off: true if it still counts.
    pub(crate) fn rings(&mut self, now: Instant) -> bool {
        self.alarm.rings(now)
    }

    /// True if no packet waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.relay.is_empty()
    }

    /// Packets that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.relay.len()
    }

    /// What the relay expects a packet to take over the next hops.
    pub(crate) fn k_hop_delay(&self, packet: &Packet) -> Option<Span> {
        self.relay.k_hop_delay(packet)
    }

    /// What the relay puts into the MAC's acknowledgement to a neighbour.
    pub(crate) fn tells(&mut self, now: Instant, neighbour: NodeId) -> Option<Pair> {
        self.relay.tells(now, neighbour)
    }

    /// What the station's exchanges come to, if the relay asks.
    #[inline]
    pub(crate) fn exchanges(&mut self) -> Option<&mut ExchangeLog> {
        self.exchanges.as_deref_mut()
    }

    /// True if the relay asks for what exchanges come to.
    #[inline]
    pub(crate) const fn logs_exchanges(&self) -> bool {
        self.exchanges.is_some()
    }

    /// True if the address of a neighbour has to be asked for.
    #[inline]
    pub(crate) fn lacks(&self, neighbour: NodeId) -> bool {
        self.arp.as_ref().is_some_and(|table| !table.knows(neighbour))
    }

    /// The addresses of neighbours, if they have to be asked for.
    pub(crate) fn arp(&mut self) -> Option<&mut ArpTable> {
        self.arp.as_mut()
    }

    /// Packets that wait for an address.
    pub(crate) fn unresolved(&self) -> usize {
        self.arp.as_ref().map_or(0, ArpTable::waiting)
    }

    /// What happened to the packets for a neighbour.
    #[inline]
    pub(crate) fn toward(&mut self, neighbour: NodeId) -> &mut LinkCount {
        self.links.toward(neighbour)
    }

    /// What happened to the packets for each neighbour, in order.
    pub(crate) fn links(&self) -> impl Iterator<Item = (NodeId, LinkCount)> + '_ {
        self.links.iter()
    }

    /// A data frame of an account goes out.
    #[inline]
    pub(crate) fn attempt(&mut self, account: Account, class: Class, size: Bytes) {
        self.loads.attempt(account, class, size);
    }

    /// The MAC is through with a packet of an account.
    #[inline]
    pub(crate) fn through(&mut self, account: Account, class: Class, size: Bytes) {
        self.loads.through(account, class, size);
    }

    /// What the station sent for an account: packets that carry data, and acknowledgements. `None`: nothing.
    pub(crate) fn load(&self, account: Account) -> Option<[Load; 2]> {
        self.loads.get(account)
    }

    /// What the relay has counted since counting began.
    pub(crate) fn relay_counters(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let before =
            |name| self.relay_before.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
        self.relay.counters().into_iter().map(move |(name, count)| (name, count - before(name)))
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self) {
        self.links.reset();
        self.loads.reset();
        self.relay_before = self.relay.counters();
    }
}
