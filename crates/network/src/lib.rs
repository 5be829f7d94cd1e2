//! The simulated network: mesh nodes, the air, interface queues, routing, wired links, gateways, movement.
//!
//! It knows addresses, and no flow. Whoever hangs on it sends packets from a host ([`Network::send`]) and is told of those
//! that arrive at one, and of its own timers, in one total order with everything else ([`Network::step`]): the simulation
//! with its TCP end points, an emulator's real hosts, a script in a test.
//!
//! A packet's way: [`Network::send`] -> routing and interface queue (`forwarding`) -> station and air (`air`) -> ... ->
//! gateway (`gateways`) and wired links (`wired_part`) -> [`Step::Arrival`].

mod accounts;
mod addresses;
mod air;
mod arp;
mod build;
mod by_account;
mod capture;
mod counted;
mod counting;
mod event;
mod fading;
mod far_frames;
mod forwarding;
mod gateway_node;
mod gateways;
mod given_out;
mod hop_delays;
mod link_layer;
mod lost;
mod movement;
mod network;
mod node;
mod paths;
mod processing;
mod queues;
mod rates;
mod relays;
mod sending;
mod shares;
mod topology;
mod watch;
mod watchers;
mod wired;
mod wired_part;

pub use accounts::{Load, Loads};
pub use addresses::{AddressBook, host, ipv6_of};
pub use build::RelayFactory;
pub use capture::Capture;
pub use event::Alarm;
pub use gateway_node::GatewayNode;
pub use hop_delays::{HopDelay, HopDelays, Second};
pub use lost::{Loss, LossCause, LossPlace};
pub use network::{Network, Step};
pub use node::{LinkCount, LinkCounters, Node};
pub use queues::{Level, QueueLevels, Queues};
pub use watch::{NoWatch, NodeState, Watch};
pub use wired::{WiredCount, WiredLink};
