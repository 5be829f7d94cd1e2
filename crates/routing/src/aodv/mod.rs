//! Ad hoc on-demand distance vector routing, in two profiles that share the packets, the send buffer and the memory
//! of requests, but hardly a rule.

mod ns2;
mod rfc3561;
mod seen;

pub use ns2::Ns2Aodv;
pub use rfc3561::Rfc3561Aodv;

use meshpace_random::Stream;
use meshpace_units::Span;

/// Keeps neighbours that relay the same flood from colliding: U(0, 10 ms) (ns-2.35; schemes.md 18, item 2). RFC 3561
/// leaves the jitter open.
fn broadcast_jitter(stream: &mut Stream) -> Span {
    Span::from_secs_f64(stream.uniform(0.0, 0.01))
}
