//! Packets that cross a gateway, and what its machine is told and knows; [`shaping`](super::shaping) comes behind them.

use super::Network;
use crate::event::Event;
use crate::measure::{LossCause, LossPlace};
use meshpace_gateway::{
    Action, Departure, FlowKey, FlowStats, Gateway, Passage, Rewrite, Route, RttOption, Side, TcpView,
    Treatment, Verdict,
};
use meshpace_hook::{Direction, Hooked, Leaving, Met, Passing};
use meshpace_pacing::LinkRates;
use meshpace_relay::packet::{Body, Host, Packet, PathId};
use meshpace_units::{Bytes, NodeId, Span};
use std::fmt::Debug;
use std::net::IpAddr;

impl<T: Copy + Debug> Network<T> {
    /// A packet crosses a gateway, from the given side to the other.
    pub(super) fn pass_gateway(&mut self, side: Side, gateway: NodeId, mut packet: Packet) {
        let index = self.gateways.index(gateway);
        if self.gateways.at(index).given_out && matches!(packet.body, Body::Opaque(_)) {
            let packet = self.packets.add(packet);
            return self.arrived.push_back((Host::Mesh(gateway), packet));
        }
        match side {
            Side::Wired => self.meet_hook(side, gateway, packet),
            Side::Wireless => {
                match self.tell_shaper(index, &packet) {
                    Passage::Passes => {}
                    Passage::Marked => packet.ecn = packet.ecn.marked().unwrap_or(packet.ecn),
                    Passage::Dropped => return self.lose_at_gateway(gateway, &packet),
                }
                self.meet_machine(side, gateway, packet);
            }
        }
    }

    /// A packet is between the machine and the wired part.
    fn meet_hook(&mut self, side: Side, gateway: NodeId, packet: Packet) {
        let now = self.now();
        let index = self.gateways.index(gateway);
        let Some(hook) = &mut self.gateways.at(index).hook else {
            return self.beyond_hook(side, gateway, packet);
        };
        let (source, destination, length) = (packet.source, packet.destination, packet.size);
        let segment = match packet.body {
            Body::Tcp(segment) => Some(segment),
            _ => None,
        };
        let passing = Passing { source, destination, segment: segment.as_ref(), says_more: false, length };
        let direction = match side {
            Side::Wired => Direction::Down,
            Side::Wireless => Direction::Up,
        };
        let met = hook.handle(now, direction, &passing, (side, packet));
        self.run_hook(index);
        match met {
            Met::Passes((side, packet), changes) => {
                self.beyond_hook(side, gateway, rewritten(packet, changes));
            }
            Met::Dropped((_, packet)) => self.lose_at_gateway(gateway, &packet),
            Met::Held => {}
        }
        self.set_gateway_alarm(index);
    }

    /// Takes out what leaves a gateway's hook.
    fn run_hook(&mut self, index: usize) {
        let node = self.gateways.at(index).node;
        while let Some(leaving) = self.gateways.at(index).hook.as_mut().and_then(Hooked::poll) {
            match leaving {
                Leaving::Passes((side, packet), changes) => {
                    self.beyond_hook(side, node, rewritten(packet, changes));
                }
                Leaving::Dropped((_, packet)) => self.lose_at_gateway(node, &packet),
            }
        }
    }

    pub(super) fn lose_at_gateway(&mut self, gateway: NodeId, packet: &Packet) {
        let place = LossPlace::Mesh(gateway, None);
        self.statistics.lose(packet.account, packet.class, place, LossCause::Gateway);
    }

    /// What the hook has let pass goes on.
    fn beyond_hook(&mut self, side: Side, gateway: NodeId, packet: Packet) {
        match side {
            Side::Wired => self.meet_machine(side, gateway, packet),
            Side::Wireless => self.pass_on(side, gateway, packet),
        }
    }

    /// What the machine has let pass goes on.
    fn beyond_machine(&mut self, side: Side, gateway: NodeId, packet: Packet) {
        match side {
            Side::Wired => self.meet_shaper(gateway, packet),
            Side::Wireless => self.meet_hook(side, gateway, packet),
        }
    }

    /// A packet is between the hook and the mesh.
    fn meet_machine(&mut self, side: Side, gateway: NodeId, packet: Packet) {
        let now = self.now();
        let index = self.gateways.index(gateway);
        // The machine reads segments: what is no TCP, and a real host's bytes, pass as they came.
        let Body::Tcp(segment) = packet.body else { return self.beyond_machine(side, gateway, packet) };
        let Some(mut machine) = self.gateways.at(index).machine.take() else {
            return self.beyond_machine(side, gateway, packet);
        };
        let mesh_end = match side {
            Side::Wired => packet.to,
            Side::Wireless => Host::Mesh(packet.entry),
        };
        let (source, destination) = (packet.source, packet.destination);
        let header_length = segment.header_length();
        let (wire_len, ecn) = (packet.size, packet.ecn);
        let view =
            TcpView { source, destination, segment: &segment, header_length, wire_len, ecn, whole: true };
        let (path, account, class) = (packet.path, packet.account, packet.class);
        let route = |_| self.route_from(gateway, mesh_end, path);
        let verdict = machine.handle(now, side, &view, Treatment::Pace, route, packet);
        let option_length = machine.option_length();
        let this = self.gateways.at(index);
        this.queue_max = this.queue_max.max(machine.held());
        this.machine = Some(machine);
        let unshaped = this.shaper.is_none();
        if let (Side::Wired, Verdict::Forward(..), 1.., true) = (side, &verdict, segment.payload, unshaped) {
            this.waits.record(Span::ZERO);
        }
        match verdict {
            Verdict::Forward(packet, Rewrite { option, window }) => {
                let packet = with_window(packet, window);
                self.beyond_machine(side, gateway, with_option(packet, option, option_length));
            }
            Verdict::Dropped(_) => {
                let place = LossPlace::Mesh(gateway, None);
                self.statistics.lose(account, class, place, LossCause::Gateway);
            }
            Verdict::Held | Verdict::Consumed(_) | Verdict::Duplicate(_) => {}
        }
        self.run_gateway(index);
    }

    pub(super) fn pass_on(&mut self, side: Side, gateway: NodeId, mut packet: Packet) {
        match (side, packet.to) {
            (Side::Wireless, _) => self.forward_wired(Host::Mesh(gateway), packet, None),
            (Side::Wired, Host::Mesh(exit)) => {
                packet.exit = exit;
                self.enters_mesh(gateway, packet, None);
            }
            (Side::Wired, Host::Wired(_)) => self.forward_wired(Host::Mesh(gateway), packet, None),
        }
    }

    pub(super) fn gateway_alarm(&mut self, index: u32) {
        let now = self.now();
        let this = self.gateways.at(index as usize);
        if this.alarm.rings(now) {
            if let Some(machine) = &mut this.machine {
                machine.handle_timeout(now);
            }
            if let Some(hook) = &mut this.hook {
                hook.handle_timeout(now);
            }
            self.run_hook(index as usize);
            self.run_gateway(index as usize);
            self.run_shaper(index as usize);
        }
    }

    /// Takes out what a gateway releases, and sets its alarm.
    fn run_gateway(&mut self, index: usize) {
        let now = self.now();
        let node = self.gateways.at(index).node;
        let next =
            |machine: &mut Box<Gateway<Packet>>| Some((machine.poll_transmit(now)?, machine.option_length()));
        while let Some((departure, option_length)) = self.gateways.at(index).machine.as_mut().and_then(next) {
            let Departure { mut packet, action, held_since, .. } = departure;
            match action {
                Action::Release { strip, mark } => {
                    let this = self.gateways.at(index);
                    if let Some(since) = held_since.filter(|_| this.shaper.is_none()) {
                        this.waits.record(now - since);
                    }
                    if strip {
                        packet = with_option(packet, RttOption::Strip, option_length);
                    }
                    if mark {
                        packet.ecn = packet.ecn.marked().unwrap_or(packet.ecn);
                    }
                    self.meet_shaper(node, packet);
                }
                Action::Retransmit => self.meet_shaper(node, packet),
                Action::Discard(_) => {}
            }
        }
        self.set_gateway_alarm(index);
    }

    pub(super) fn set_gateway_alarm(&mut self, index: usize) {
        let this = self.gateways.at(index);
        let machine = this.machine.as_ref().and_then(|machine| machine.poll_timeout());
        let hook = this.hook.as_ref().and_then(Hooked::poll_timeout);
        let shaper = this.shaper.as_ref().and_then(|shaper| shaper.poll_timeout());
        let deadline = machine.into_iter().chain(hook).chain(shaper).min();
        this.alarm.arm(deadline, Event::Gateway(index as u32), &mut self.queue);
    }

    /// What the gateway of a connection's end in the mesh knows of it, if a scheme acts there. `path` is what its data take
    /// from a gateway on, if they take one.
    #[must_use]
    pub fn paced_at_gateway(&self, connection: &FlowKey, path: Option<PathId>) -> Option<FlowStats> {
        let Some(Host::Mesh(node)) = self.addresses.host(connection.wireless.address) else { return None };
        let gateway = match path {
            Some(path) => self.gateways.index(self.paths.nodes(path)[0]),
            None => self.gateway_index_for(node)?,
        };
        self.gateways.all()[gateway].machine.as_ref()?.flow(connection)
    }

    /// The wireless way to a host of the mesh from its gateway, as that has it (schemes.md 1.2). `path` is what packets to the
    /// host take from the gateway on, if they take one. Without a gateway there is no way.
    #[must_use]
    pub fn route_at_gateway(&self, host: Host, path: Option<PathId>) -> Route {
        let gateway = match (path, host) {
            (Some(path), _) => Some(self.paths.nodes(path)[0]),
            (None, Host::Mesh(node)) => self.gateway_for(node),
            (None, Host::Wired(_)) => None,
        };
        match gateway {
            Some(gateway) => self.route_from(gateway, host, path),
            None => Route { hops: None, rates: self.common_rate() },
        }
    }

    /// The wireless way between a gateway and a mesh node, as its routing table has it, or as the packets' path is.
    pub(super) fn route_from(&self, gateway: NodeId, end: Host, path: Option<PathId>) -> Route {
        let uniform = self.common_rate();
        if let Some(path) = path {
            let hops = self.paths.nodes(path).len() as u32 - 1;
            return Route { hops: Some(hops), rates: self.rates_on(path).unwrap_or(uniform) };
        }
        let Host::Mesh(end) = end else { return Route { hops: None, rates: uniform } };
        let rates = if self.one_rate() { None } else { self.rates_on_way(gateway, end) };
        let hops = self.routing.of(gateway).hops_to(self.now(), end);
        Route { hops, rates: rates.unwrap_or(uniform) }
    }

    /// The rate of links that have no other, on the first air.
    pub(super) fn common_rate(&self) -> LinkRates {
        LinkRates::Uniform(self.airs.first().rates().common.rate)
    }

    /// The rates of the wireless links between a host of the mesh and the host that has an address, or the gateway on the
    /// way there; `None` if all links have the same rate, or the way is not known.
    #[must_use]
    pub fn rates_toward(&self, from: Host, destination: IpAddr) -> Option<LinkRates> {
        let Host::Mesh(from) = from else { return None };
        if self.one_rate() {
            return None;
        }
        let exit = match self.addresses.host(destination)? {
            Host::Mesh(node) => node,
            Host::Wired(_) => self.gateway_for(from)?,
        };
        self.rates_on_way(from, exit)
    }

    /// The rates of the links from one node to another, if routing knows the whole way.
    fn rates_on_way(&self, from: NodeId, to: NodeId) -> Option<LinkRates> {
        self.routing.way(self.now(), from, to).map(|way| self.rates_along(&way))
    }
}

/// Changes what a hook wants changed.
fn rewritten(packet: Packet, changes: meshpace_hook::Rewrite) -> Packet {
    let mut packet = with_window(packet, changes.window);
    if changes.mark {
        packet.ecn = packet.ecn.marked().unwrap_or(packet.ecn);
    }
    packet
}

/// Replaces the window field.
fn with_window(mut packet: Packet, window: Option<u16>) -> Packet {
    if let (Body::Tcp(segment), Some(window)) = (&mut packet.body, window) {
        segment.window = window;
    }
    packet
}

/// Adds, replaces or removes the RTT option, which is so long with its padding, and corrects the packet's size.
fn with_option(mut packet: Packet, option: RttOption, length: Bytes) -> Packet {
    let Body::Tcp(segment) = &mut packet.body else { return packet };
    let before = segment.options.rtt_wired;
    let after: Option<Span> = match option {
        RttOption::Keep => before,
        RttOption::Strip => None,
        RttOption::Set(rtt) => Some(rtt),
    };
    segment.options.rtt_wired = after;
    match (before, after) {
        (None, Some(_)) => packet.size += length,
        (Some(_), None) => packet.size = packet.size - length,
        _ => {}
    }
    packet
}
