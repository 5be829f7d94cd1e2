//! The network layer: the hosts by address, their paths, and a routing protocol at every node.

mod addresses;
mod machines;
mod paths;
mod protocols;
mod radios;

pub use addresses::{AddressBook, host, ipv6_of};
pub(crate) use machines::Machines;
pub(crate) use paths::Paths;
pub(crate) use protocols::{LinkCosts, protocol, shortest_paths};
pub(crate) use radios::Radios;
