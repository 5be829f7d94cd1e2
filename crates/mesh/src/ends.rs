//! The ends of the flows: their addresses and ports, and whose they are.

use meshpace_relay::packet::{Body, Packet};
use meshpace_scenario::{App, Endpoint, Flow, Scenario};
use meshpace_wire::protocol;
use std::cell::Cell;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnds {
    /// Address and port of the sender.
    pub sender: SocketAddr,
    /// Address and port of the receiver.
    pub receiver: SocketAddr,
}

/// Finds the end of a flow that a packet is for.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Sorted by key.
    ends: Vec<(Key, u32, Role)>,
    /// The one that was found last: packets come one after another for the same.
    latest: Cell<usize>,
    /// The port that the next connection of a flow that opens several gets, if it is free.
    next_port: u16,
}

/// An end as the packets for it name it. What differs most stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    ports: (u16, u16),
    local: IpAddr,
    remote: IpAddr,
    protocol: u8,
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

impl Directory {
    /// The ends of all flows of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let mut ends = Vec::with_capacity(2 * scenario.flows.len());
        for (index, flow) in scenario.flows.iter().enumerate() {
            let FlowEnds { sender, receiver } = FlowEnds::new(scenario, index);
            let protocol = protocol_of(flow);
            ends.push((Key::new(protocol, sender, receiver), index as u32, Role::Sender));
            ends.push((Key::new(protocol, receiver, sender), index as u32, Role::Receiver));
        }
        ends.sort_unstable_by_key(|end| end.0);
        assert!(ends.windows(2).all(|pair| pair[0].0 < pair[1].0), "two flows have the same ends");
        Self { ends, latest: Cell::new(0), next_port: first_free(scenario.flows.len()) }
    }

    /// Other ends for a flow over TCP, which opens a new connection: a port that it does not have at the sender.
    pub fn renew(&mut self, flow: u32, flows: usize, old: FlowEnds) -> FlowEnds {
        self.ends.retain(|end| end.1 != flow);
        loop {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or_else(|| first_free(flows));
            let sender = SocketAddr::new(old.sender.ip(), port);
            let new = FlowEnds { sender, ..old };
            let back = Key::new(protocol::TCP, sender, old.receiver);
            // More than 50,000 ports for at most 10,000 flows: there is a free one.
            if let Err(at) = self.ends.binary_search_by_key(&back, |end| end.0) {
                self.ends.insert(at, (back, flow, Role::Sender));
                let there = Key::new(protocol::TCP, old.receiver, sender);
                let at = self.ends.partition_point(|end| end.0 < there);
                self.ends.insert(at, (there, flow, Role::Receiver));
                return new;
            }
        }
    }

    /// The flow, and the end of it, that a packet is for.
    pub fn receiver_of(&self, packet: &Packet) -> Option<(u32, Role)> {
        let protocol = match packet.body {
            Body::Tcp(_) => protocol::TCP,
            Body::Udp(_) => protocol::UDP,
            Body::Control(_) | Body::Arp(_) | Body::Opaque(_) | Body::Ethernet(_) => return None,
        };
        let key = Key::new(protocol, packet.destination_end(), packet.source_end());
        if let Some((known, flow, role)) = self.ends.get(self.latest.get()) {
            if *known == key {
                return Some((*flow, *role));
            }
        }
        let found = self.ends.binary_search_by_key(&key, |end| end.0).ok()?;
        self.latest.set(found);
        Some((self.ends[found].1, self.ends[found].2))
    }
}

impl Key {
    fn new(protocol: u8, local: SocketAddr, remote: SocketAddr) -> Self {
        Self { ports: (local.port(), remote.port()), local: local.ip(), remote: remote.ip(), protocol }
    }
}

fn protocol_of(flow: &Flow) -> u8 {
    match flow.app {
        App::Ftp | App::Transfer { .. } | App::Http { .. } => protocol::TCP,
        App::Cbr { .. } | App::Echo { .. } | App::SelfSimilar { .. } => protocol::UDP,
    }
}
