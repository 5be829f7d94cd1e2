//! A simulation that a caller's clock drives, with real hosts on its network: what an emulator is made of.

use crate::probe::Probe;
use crate::result::RunResult;
use crate::run::length;
use crate::schemes::ChosenSchemes;
use crate::simulation::Simulation;
use meshpace_gateway::Side;
use meshpace_network::{AddressBook, AirId, Step};
use meshpace_radio::Position;
use meshpace_relay::packet::{Body, Host, Packet, PacketId};
use meshpace_scenario::{Scenario, ScenarioError};
use meshpace_units::{Instant, NodeId, Span};

/// A run in pieces. The scenario's flows are simulated in it; packets of real bytes, [IP](Body::Opaque) or [Ethernet](Body::Ethernet), come and go beside them.
pub struct Live<'a> {
    scenario: &'a Scenario,
    simulation: Simulation<'a>,
}

impl<'a> Live<'a> {
    /// The run of a scenario at time 0, while `probe` looks on.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn new(scenario: &'a Scenario, probe: &'a mut dyn Probe) -> Result<Self, ScenarioError> {
        let schemes = ChosenSchemes::of(scenario)?;
        let simulation = Simulation::new(scenario, &schemes, &|queue| schemes.relay(queue), probe);
        Ok(Self { scenario, simulation })
    }

    /// When it is over, at the latest.
    #[must_use]
    pub fn end(&self) -> Instant {
        Instant::ZERO + length(self.scenario)
    }

    /// True once the measurement has all that it wants.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.simulation.meter.is_complete()
    }

    /// When something happens next, as things stand.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.simulation.network.next_at()
    }

    /// The hosts by address.
    #[must_use]
    pub fn addresses(&self) -> &AddressBook {
        self.simulation.network.addresses()
    }

    /// Where the nodes are now; `None`: no node moves.
    #[must_use]
    pub fn places(&self) -> Option<&[Position]> {
        self.simulation.network.places()
    }

    /// Lets things happen up to `now` until a packet of real bytes comes to its host, or to a gateway that was [given out](Self::give_out): when, where, and the packet. `None`: it is
    /// `now`.
    pub fn advance(&mut self, now: Instant) -> Option<(Instant, Host, Packet)> {
        let simulation = &mut self.simulation;
        while let Some(step) = simulation.network.step(now, simulation.probe) {
            match step {
                Step::Arrival(host, packet) if matches!(packet.body, Body::Opaque(_) | Body::Ethernet(_)) => {
                    return Some((simulation.network.now(), host, packet));
                }
                Step::Arrival(_, packet) => simulation.arrive(&packet),
                Step::Left(ticket) => simulation.left_host(ticket),
                Step::Timer(timer) => simulation.fires(timer),
            }
        }
        simulation.network.pass(now);
        None
    }

    /// A host's packet sets out, at the time up to which things have [happened](Self::advance). `None`: no host has the address
    /// that it is for.
    pub fn send(&mut self, from: Host, packet: Packet) -> Option<PacketId> {
        self.simulation.network.send(from, packet)
    }

    /// The channels that a mesh node has radios on, in order.
    pub fn channels(&self, node: NodeId) -> impl Iterator<Item = AirId> + '_ {
        self.simulation.network.interfaces(node).map(|interface| interface.air())
    }

    /// A frame of a node's kernel [comes to its interface](meshpace_network::Network::send_frame) on a channel, for a neighbour or for all.
    pub fn send_frame(
        &mut self,
        from: NodeId,
        on: AirId,
        to: Option<NodeId>,
        packet: Packet,
    ) -> Option<PacketId> {
        self.simulation.network.send_frame(from, on, to, packet)
    }

    /// A node's radios are [switched](meshpace_network::Network::switch) on or off, at the time up to which things have [happened](Self::advance).
    pub fn switch(&mut self, node: NodeId, on: bool) {
        self.simulation.network.switch(node, on);
    }

    /// A node [sets out](meshpace_network::Network::go) for another place, at the time up to which things have [happened](Self::advance).
    pub fn go(&mut self, node: NodeId, to: (f64, f64), takes: Span) {
        self.simulation.network.go(node, to, takes);
    }

    /// Packets of real bytes that cross a gateway are [given out](meshpace_network::Network::give_out) from now on; false if the host is no gateway.
    pub fn give_out(&mut self, host: Host) -> bool {
        let network = &mut self.simulation.network;
        match host {
            Host::Mesh(node) if network.is_gateway(node) => {
                network.give_out(node);
                true
            }
            Host::Mesh(_) | Host::Wired(_) => false,
        }
    }

    /// A packet has been [carried across](meshpace_network::Network::crossed) a gateway that was given out.
    pub fn crossed(&mut self, side: Side, gateway: NodeId, packet: Packet) -> Option<PacketId> {
        self.simulation.network.crossed(side, gateway, packet)
    }

    /// What came of it up to `stopped`.
    #[must_use]
    pub fn report(mut self, stopped: Instant) -> RunResult {
        self.simulation.report(self.scenario, stopped)
    }
}
