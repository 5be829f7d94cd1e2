//! Nodes, wired links, routing, mobility.

use meshpace_keys::Values;
use meshpace_radio::Position;
use meshpace_routing::{Profile, ProtocolPart};
use meshpace_units::{Bytes, NodeId, Rate, Span};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// A node with an 802.11 radio.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshNode {
    /// The name that flows and links use.
    pub id: String,
    /// Where it stands at time 0; `None`: nowhere in particular, and radio links say which nodes hear it.
    pub position: Option<Position>,
    /// True if it has a wired link, and so connects the mesh with the wired part.
    pub gateway: bool,
    /// Its IPv4 address in captures and emulation.
    pub address: Ipv4Addr,
    /// Its first radio's MAC address in captures and emulation.
    pub mac: [u8; 6],
}

impl MeshNode {
    /// The MAC address of one of its radios, by its number from 0: the fourth byte counts.
    #[must_use]
    pub const fn mac_of(&self, radio: u16) -> [u8; 6] {
        let [a, b, c, d, e, f] = self.mac;
        [a, b, c, d.wrapping_add(radio as u8), e, f]
    }
}

/// A node without a radio: a router or host of the wired part.
#[derive(Clone, Debug, PartialEq)]
pub struct WiredNode {
    /// The name that flows and links use.
    pub id: String,
    /// Its IPv4 address in captures and emulation.
    pub address: Ipv4Addr,
    /// Its MAC address in captures and emulation.
    pub mac: [u8; 6],
}

/// A directed radio link that the file describes: its receiver hears its sender, whatever their distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioLink {
    /// The transmitter.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// Centre of the channel that it is on, MHz; `None`: it is on every channel that both have a radio on.
    pub mhz: Option<u16>,
    /// Probability that a frame is lost that could be decoded.
    pub loss: f64,
    /// The MPDU that `loss` is said of, others being lost by their length; `None`: frames of any length are lost alike.
    pub loss_length: Option<Bytes>,
    /// Mean number of full data frames that a period of loss lasts; `None`: frames are lost independently.
    pub burst: Option<f64>,
}

/// A directed radio link that carries no data: its receiver senses its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SensedLink {
    /// The transmitter.
    pub from: NodeId,
    /// The nodes that sense it.
    pub to: NodeId,
    /// Its channel, as a [`RadioLink`]'s.
    pub mhz: Option<u16>,
}

/// The index of a wired node, counted from 0 in file order among the wired nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WiredId(pub u32);

impl WiredId {
    /// The index as a `usize`, to address a slice of wired nodes.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An end of a flow or of a wired link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// A mesh node, which may be a gateway.
    Mesh(NodeId),
    /// A wired node.
    Wired(WiredId),
}

/// A wired full-duplex link with one drop-tail queue a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: Endpoint,
    /// The other end.
    pub b: Endpoint,
    /// Bit rate of each direction.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Packets of each direction's queue, the one being sent included (as ns-2.35 counts).
    pub queue: u32,
    /// Probability that a packet is lost on its way over the link.
    pub loss: f64,
}

/// The mesh's routing: a protocol and what was chosen of it.
#[derive(Clone, Debug)]
pub struct Routing {
    /// The protocol.
    pub protocol: &'static ProtocolPart,
    /// One of its profiles.
    pub profile: &'static Profile,
    /// The values of its keys.
    pub values: Values,
}

impl PartialEq for Routing {
    fn eq(&self, other: &Self) -> bool {
        let word = |routing: &Self| (routing.protocol.about.word, routing.profile.word);
        word(self) == word(other) && self.values == other.values
    }
}

impl Routing {
    /// True if routes never change, so that flows may name theirs.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.protocol.about.word == "static"
    }
}

/// What a node takes to hand a packet on that it has received by radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processing {
    /// At least.
    pub delay: Span,
    /// Up to so much more, uniformly.
    pub jitter: Span,
}

/// Which nodes move, and how.
#[derive(Clone, Debug, PartialEq)]
pub enum Mobility {
    /// No node moves.
    Static,
    /// Each of `nodes` draws a target in the area and a speed, walks there, pauses, draws again.
    RandomWaypoint {
        /// Lowest speed in m/s; above zero, since a node that draws a speed near zero never arrives.
        speed_min: f64,
        /// Highest speed in m/s.
        speed_max: f64,
        /// The first leg's speed has a density of 1/speed instead of a uniform one.
        inverse_first: bool,
        /// Rest at each target.
        pause: Span,
        /// Width of the area in metres, from x = 0.
        width: f64,
        /// Height of the area in metres, from y = 0.
        height: f64,
        /// Those that move.
        nodes: Vec<NodeId>,
        /// Those of them that keep to a rectangle of their own instead of the area.
        own: BTreeMap<NodeId, Rectangle>,
    },
}

/// A part of the plane, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Least x.
    pub west: f64,
    /// Least y.
    pub south: f64,
    /// Greatest x.
    pub east: f64,
    /// Greatest y.
    pub north: f64,
}
