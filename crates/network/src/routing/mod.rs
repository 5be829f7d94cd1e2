//! The network layer: who has which address, what sets out, and how nodes of the mesh forward it.

mod addresses;
mod paths;
mod protocols;

pub use addresses::{AddressBook, host, ipv6_of};
pub(crate) use paths::Paths;
pub(crate) use protocols::{protocol, shortest_paths};
