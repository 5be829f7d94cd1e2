//! How far away a mesh host is, and how fast the links on the way are.
//!
//! A background thread ([`Refresher`]) asks the sources of `[hops]` in turn and publishes an immutable [`Table`]; the data
//! thread reads it through a [`Directory`], without a lock. `[hops.static]` and the TTL of the
//! host's own packets need no question. batman-adv is no source: it knows link qualities, not hop counts.
//!
//! Source of the choice of h: schemes.md 1.2.

mod ask;
pub(crate) mod babel;
mod delivered;
pub(crate) mod iw;
mod knowledge;
pub(crate) mod links;
pub(crate) mod mac;
pub(crate) mod olsr;
mod prefix_map;
mod refresher;
mod table;
mod ttl;
mod wireless;

pub use refresher::{Directory, Refresher, survey};
pub use table::{SourceReport, Table, WirelessPath};
pub use ttl::ReceivedTtl;
