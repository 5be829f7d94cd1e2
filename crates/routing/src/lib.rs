//! Mesh routing: static shortest paths, AODV, DSDV, as state machines without I/O.
//!
//! One [`Protocol`] a node. The driver (the simulated mesh) calls
//!
//! | call | when |
//! |---|---|
//! | [`route`](Protocol::route) | a data packet enters the mesh here or arrived for another node |
//! | [`on_control`](Protocol::on_control) | a routing packet was received |
//! | [`on_link_failure`](Protocol::on_link_failure) | the MAC gave up a *data* packet (TCP acknowledgements included) |
//! | [`handle_timeout`](Protocol::handle_timeout) | at [`poll_timeout`](Protocol::poll_timeout); early or repeated calls are harmless |
//!
//! and does what the [`Action`]s say, in their order. `poll_timeout` is read again after each call; `None` means that
//! nothing is armed, and a node that takes part in nothing stays there: AODV has no event of its own while no route
//! can expire and no packet waits.
//!
//! The packet `P` is an opaque handle: it comes back in exactly one [`Action::SendData`] or [`Action::Drop`], now or
//! later. Time 0 is the nominal start of traffic. Randomness is one [`Stream`](meshpace_random::Stream) a node.
//!
//! | protocol | source |
//! |---|---|
//! | static | minimum hops, ties to the lowest node index (docs/contract.md 3) |
//! | AODV, profile `ns2` | ns-2.35, its local-repair defect included (schemes.md 18, ns2-behaviour 5) |
//! | AODV, profile `rfc3561` | RFC 3561 |
//! | DSDV | ns-2.35, after Perkins and Bhagwat, SIGCOMM 1994 (schemes.md 18) |

mod action;
mod aodv;
mod control;
mod dsdv;
mod protocol;
mod send_buffer;
mod shortest_paths;
mod static_routes;

#[cfg(test)]
mod tests;

pub use action::{Action, DropReason, PacketInfo, Recipient};
pub use aodv::{Ns2Aodv, Rfc3561Aodv};
pub use control::{Control, DsdvRoute, DsdvUpdate, Rerr, Rrep, Rreq};
pub use dsdv::{Dsdv, DsdvConfig};
pub use protocol::Protocol;
pub use shortest_paths::ShortestPaths;
pub use static_routes::StaticRoutes;
