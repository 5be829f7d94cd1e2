//! Mesh routing: static shortest paths, AODV, Babel, DSDV, as state machines without I/O.
//!
//! One [`RoutingProtocol`] a node. The driver (the simulated mesh) calls
//!
//! | call | when |
//! |---|---|
//! | [`route`](RoutingProtocol::route) | a data packet enters the mesh here or arrived for another node |
//! | [`on_control`](RoutingProtocol::on_control) | a routing packet was received |
//! | [`on_link_failure`](RoutingProtocol::on_link_failure) | the MAC gave up a *data* packet (TCP acknowledgements included) |
//! | [`on_link_event`](RoutingProtocol::on_link_event) | the MAC found out something else of a link, and the protocol asks for it |
//! | [`handle_timeout`](RoutingProtocol::handle_timeout) | at [`poll_timeout`](RoutingProtocol::poll_timeout); early or repeated calls are harmless |
//!
//! and does what the [`Action`]s say, in their order. `poll_timeout` is read again after each call; `None` means that
//! nothing is armed, and a node that takes part in nothing stays there: AODV has no event of its own while no route
//! can expire and no packet waits.
//!
//! Time 0 is the nominal start of traffic. Randomness is one [`Stream`](meshpace_units::random::Stream) a node, by a name that the
//! protocol gives it. Routing packets are each protocol's own [`Message`]s: no other room knows their types. What using a link
//! costs says a [metric](METRICS).
//!
//! | protocol | source |
//! |---|---|
//! | static | least cost, ties to fewest hops, then to the lowest node index (docs/contract.md 3) |
//! | AODV, profile `ns2` | ns-2.35, its local-repair defect included (schemes.md 18, ns2-behaviour 5) |
//! | AODV, profile `rfc3561` | RFC 3561 |
//! | Babel | RFC 8966, with babeld 1.14's costs and times |
//! | DSDV | ns-2.35, after Perkins and Bhagwat, SIGCOMM 1994 (schemes.md 18) |

mod action;
mod message;
mod metric;
mod protocol;
mod send_buffer;
mod shortest_paths;

#[cfg(test)]
mod tests;

pub use action::{Action, DropReason, PacketInfo, Recipient};
pub use aodv::{Ns2Aodv, Rerr, Rfc3561Aodv, Rrep, Rreq};
pub use babel::{Babel, BabelPacket, BabelTlv};
pub use dsdv::{Dsdv, DsdvConfig, DsdvRoute, DsdvUpdate};
pub use message::{Control, Format, HEADERS, Message};
pub use metric::{Cost, LinkQuality, METRICS, MetricPart, TEST_FRAME, metric};
pub use protocol::{Handle, LinkEvent, Profile, ProtocolPart, RoutingProtocol, Site};
pub use shortest_paths::ShortestPaths;
pub use static_routes::StaticRoutes;

meshpace_keys::parts! {
    /// The routing protocols. The first is the default.
    pub static PROTOCOLS: ProtocolPart = [aodv, babel, dsdv, static_routes];
}
