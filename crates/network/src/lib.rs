//! The simulated network: mesh nodes, the air, interface queues, routing, wired links, gateways, movement.
//!
//! It knows addresses, and no flow. Whoever hangs on it sends packets from a host ([`Network::send`]) and is told of those
//! that arrive at one, and of its own timers, in one total order with everything else ([`Network::step`]): the simulation
//! with its TCP end points, an emulator's real hosts, a script in a test.
//!
//! A packet's way: [`Network::send`] -> routing -> link layer and interface queue (`node`) -> station and `air` -> ... ->
//! `gateway` and `wired` links -> [`Step::Arrival`].

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

pub use event::Alarm;
pub use gateway::GatewayNode;
pub use measure::{
    HopDelay, HopDelays, Level, LinkCount, LinkCounters, Load, Loads, Loss, LossCause, LossPlace,
};
pub use measure::{QueueLevels, Queues, Second};
pub use network::{Network, RelayFactory, Step};
pub use node::Node;
pub use routing::{AddressBook, host, ipv6_of};
pub use watch::{Capture, NoWatch, NodeState, Watch};
pub use wired::{WiredCount, WiredLink};
