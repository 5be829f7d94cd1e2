//! The network layer: who has which address, which paths there are, and a routing protocol at every node.

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
