//! Ad hoc on-demand distance vector routing, in two profiles that share the packets, the send buffer and the memory
//! of requests, but hardly a rule.

mod ns2;
mod packets;
mod rfc3561;
mod seen;

pub use ns2::Ns2Aodv;
pub use packets::{Rerr, Rrep, Rreq};
pub use rfc3561::Rfc3561Aodv;

use crate::{Profile, ProtocolPart};
use meshpace_units::Span;
use meshpace_units::random::Stream;

pub(super) static PART: ProtocolPart = ProtocolPart::new(
    "aodv",
    "Ad hoc on-demand distance vector routing: searches a route when a packet needs one, cold at time 0.",
    "profile ns2: ns-2.35 (schemes.md 18), its local-repair defect included; profile rfc3561: RFC 3561",
    &[
        Profile {
            word: Some("ns2"),
            title: "AODV as in ns-2",
            build: |site| Box::new(Ns2Aodv::new(site.me, (site.stream)("routing"))),
        },
        Profile {
            word: Some("rfc3561"),
            title: "AODV after RFC 3561",
            build: |site| Box::new(Rfc3561Aodv::new(site.me, (site.stream)("routing"))),
        },
    ],
);

/// Keeps neighbours that relay the same flood from colliding: U(0, 10 ms) (ns-2.35; schemes.md 18, item 2). RFC 3561
/// leaves the jitter open.
fn broadcast_jitter(stream: &mut Stream) -> Span {
    Span::from_secs_f64(stream.uniform(0.0, 0.01))
}
