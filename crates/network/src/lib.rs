//! The simulated network: mesh nodes, the air, interface queues, routing, wired links, gateways, movement.
//!
//! It knows addresses, and no flow. Its user sends packets from a host ([`Network::send`]). [`Network::step`] returns the
//! packets that arrive at a host and the user's own timers, in one total order with everything else. Users are the
//! simulation with its TCP end points, an emulator's real hosts, and a script in a test.
//!
//! A packet's way: [`Network::send`] -> routing -> link layer and interface queue (`node`) -> station and `air` -> ... ->
//! `gateway` and `wired` links -> [`Step::Arrival`].
//!
//! Each room has its own part of the state, and writes no other's:
//!
//! - `event`: what happens comes out in one total order, whatever module scheduled it.
//! - `air`: a channel takes a frame from a station, and says which nodes hear it, when it ends there and what they make of it.
//! - `node`: an interface keeps packets for its station, by the relay's order, and counts what became of them.
//! - `routing`: each node's routing is told of packets and failures, and says where packets go; addresses and paths are looked up.
//! - `wired`: a link takes a packet and gives it back at its other end; the way there is one link after another.
//! - `gateway`: what crosses between mesh and wired part passes the scheme's machine; each node has its nearest gateway.
//! - `conversations`: relays that ask are told which conversations share the air; they are told of frames.
//! - `measure`: what is told is counted, and changes nothing.
//! - `watch`: observers see frames and nodes, and change nothing.
//! - `network`: joins the others: a packet's way from room to room.

mod air;
mod conversations;
mod event;
mod gateway;
mod measure;
mod network;
mod node;
mod routing;
mod watch;
mod wired;

pub use air::{AirId, RateCount};
pub use event::Alarm;
pub use gateway::GatewayNode;
pub use measure::{
    HopDelay, HopDelays, Level, LinkCount, LinkCounters, Load, Loads, Loss, LossCause, LossPlace,
};
pub use measure::{QueueLevels, Queues, Second};
pub use network::{InterfaceCounts, Network, RelayFactory, Step};
pub use routing::{AddressBook, host, ipv6_of};
pub use watch::{Capture, NoWatch, NodeState, Watch};
pub use wired::{WiredCount, WiredLink};
