//! The ends of the flows: their addresses and ports, and whose they are.

use meshpace_relay::packet::{Account, Body, Packet};
use meshpace_scenario::{App, Endpoint, Flow, Scenario};
use meshpace_wire::protocol;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

/// Ports of the ends that send the data: this + the flow's index.
const SENDERS: u16 = 1024;
/// The port of TCP's receivers: that of web servers.
const TCP_RECEIVER: u16 = 80;
/// The port of UDP's receivers, out of the private range, where no dissector looks for a protocol.
const UDP_RECEIVER: u16 = 50_000;

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The end that sends the data.
    Sender,
    /// The end that receives them.
    Receiver,
}

/// Where a flow's data come from and where they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowEnds {
    /// Address and port of the sender.
    pub sender: SocketAddr,
    /// Address and port of the receiver.
    pub receiver: SocketAddr,
}

/// Finds the end of a flow that a packet is for, by its account and then by address and port: a packet of an earlier connection
/// of the flow is for nobody.
#[derive(Clone, Debug)]
pub struct Directory {
    /// By flow: the protocol's number, and the ends.
    flows: Vec<(u8, FlowEnds)>,
    /// The ends that are taken.
    taken: BTreeSet<(u8, FlowEnds)>,
    /// The port that the next connection of a flow that opens several gets, if it is free.
    next_port: u16,
}

impl FlowEnds {
    /// The ends of the scenario's flow number `index`. The scenario bounds the number of flows (10,000), so that each has a
    /// port of its own.
    pub fn new(scenario: &Scenario, index: usize) -> Self {
        let flow = &scenario.flows[index];
        let receiver = if flow.app.is_tcp() { TCP_RECEIVER } else { UDP_RECEIVER };
        let sender = u16::try_from(usize::from(SENDERS) + index);
        let sender = sender.unwrap_or_else(|_| panic!("no port is left for flow {index}"));
        Self {
            sender: SocketAddr::new(address(scenario, flow.from), sender),
            receiver: SocketAddr::new(address(scenario, flow.to), receiver),
        }
    }
}

/// The first port that no flow begins with.
fn first_free(flows: usize) -> u16 {
    u16::try_from(usize::from(SENDERS) + flows)
        .unwrap_or_else(|_| panic!("no port is left for {flows} flows"))
}

fn address(scenario: &Scenario, end: Endpoint) -> IpAddr {
    IpAddr::V4(match end {
        Endpoint::Mesh(node) => scenario.mesh[node.index()].address,
        Endpoint::Wired(node) => scenario.wired[node.index()].address,
    })
}

/// The flow that an account is for: the simulation opens one a flow, in their order.
pub(crate) const fn flow_of(account: Account) -> u32 {
    account.0.get() - 1
}

impl Directory {
    /// The ends of all flows of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let ends = |(index, flow)| (protocol_of(flow), FlowEnds::new(scenario, index));
        let flows: Vec<_> = scenario.flows.iter().enumerate().map(ends).collect();
        let taken: BTreeSet<_> = flows.iter().copied().collect();
        assert!(taken.len() == flows.len(), "two flows have the same ends");
        Self { next_port: first_free(flows.len()), flows, taken }
    }

    /// Other ends for a flow over TCP, which opens a new connection: a port that it does not have at the sender.
    pub fn renew(&mut self, flow: u32) -> FlowEnds {
        let (protocol, old) = self.flows[flow as usize];
        self.taken.remove(&(protocol, old));
        loop {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or_else(|| first_free(self.flows.len()));
            let new = FlowEnds { sender: SocketAddr::new(old.sender.ip(), port), ..old };
            // More than 50,000 ports for at most 10,000 flows: there is a free one.
            if self.taken.insert((protocol, new)) {
                self.flows[flow as usize].1 = new;
                return new;
            }
        }
    }

    /// The flow, and the end of it, that a packet is for.
    pub fn receiver_of(&self, packet: &Packet) -> Option<(u32, Role)> {
        let flow = flow_of(packet.account?);
        let (protocol, FlowEnds { sender, receiver }) = self.flows.get(flow as usize)?;
        let carried = matches!(packet.body, Body::Tcp(_) | Body::Udp(_));
        if !carried || packet.body.protocol() != *protocol {
            return None;
        }
        // The ports of both ends differ, and are compared faster than addresses.
        let (role, source, destination) = match packet.body.ports() {
            ports if ports == (sender.port(), receiver.port()) => (Role::Receiver, sender, receiver),
            ports if ports == (receiver.port(), sender.port()) => (Role::Sender, receiver, sender),
            _ => return None,
        };
        let same = packet.source == source.ip() && packet.destination == destination.ip();
        same.then_some((flow, role))
    }
}

fn protocol_of(flow: &Flow) -> u8 {
    match flow.app {
        App::Ftp | App::Transfer { .. } | App::Http { .. } => protocol::TCP,
        App::Cbr { .. } | App::Echo { .. } | App::SelfSimilar { .. } => protocol::UDP,
    }
}
