//! The joint at every queue: what waits for a transmitter, in which order it goes, what is dropped, marked, held back or
//! rewritten.
//!
//! Every mesh node has a [`Relay`] between link layer and MAC, every direction of a wired link has one in front of the
//! wire. It is a state machine without clock, transmitter or store of its own: its driver tells it what happens and
//! asks for the next packet whenever the transmitter is free.
//!
//! | module | idea |
//! |---|---|
//! | [`relay`] | the contract |
//! | [`here`] | what a relay may ask of its node, and do to packets |
//! | [`packet`] | the packets of the simulated network: addresses, identity, typed headers, the store that owns them in flight |
//! | [`report`] | what the MAC tells relays that ask: granted, retries, sent, given up, with times |
//! | [`DropTail`] | first in, first out, routing packets at the head (ns-2's `PriQueue`) |
//! | [`hooked`] | any hook where packets pass (`meshpace-hook`), before drop-tail |
//! | [`SourceQueues`] | a queue a flow at its source, served in turn; behind gates: ingress throttling |
//! | [`FqCodel`] | a queue a flow, served in turn, each kept short by CoDel (RFC 8290, RFC 8289) |
//! | `mac80211` | Linux's queues above a wireless driver: the same for each neighbour, neighbours by air time |
//! | `llap` | link layer adaptive pacing, by overhearing |
//! | `xcp`, `rcp` | routers that tell senders what they may send: `meshpace-explicit` behind a queue |
//! | `wcp` | marks what passes near a congested link, which neighbours overhear |
//! | `wcpcap` | tells packets their flow's share of the air, which a controller that knows the whole mesh works out |
//! | `cake_ack_filter` | CAKE's ack-filter: what waits and is superfluous is dropped |
//! | `ez_flow` | EZ-flow: the contention window by the next node's queue |
//! | `sense` | rt-Winf at a node; `winf` tells packets of it, XCP-Winf and RCP-Winf go by it |
//!
//! A new relay is a file like `drop_tail.rs` and a row of [`RELAYS`]. What it says of itself stands in its file.

mod contention;
mod flow_queues;
pub mod here;
mod hooked;
mod measured;
pub mod packet;
mod probes;
pub mod relay;
pub mod report;
mod sense;
mod sensed;
#[cfg(test)]
mod tests;
mod throttle;

pub use drop_tail::DropTail;
pub use fq_codel::FqCodel;
pub use here::{Here, NodeView, QueueConfig, QueueSite};
pub use hooked::hooked;
pub use relay::{Asks, Listener, Relay};
pub use report::{Exchange, ExchangeLog, Heard, Report};
pub use source_queues::{Nodes, SourceQueues};
pub use throttle::calibration::{CRITICAL_LOADS, LOAD_CORRECTIONS, RATE as CALIBRATED_RATE};
pub use throttle::{
    ALPHA as LOAD_CORRECTION, Bound, COUNT as LOAD_COUNT, CRITICAL as CRITICAL_LOAD, Counting, DENSITY,
    Density, Flows, GATE, Gate, GateKind, Situation,
};

use meshpace_keys::{Part, Values};

/// How a relay is built from the values of its keys, for one queue.
pub type RelayPart = Part<fn(&Values, &QueueConfig) -> Box<dyn Relay>>;

meshpace_keys::parts! {
    /// The relays that schemes can choose (`relay`); the first is that of schemes that choose none.
    pub static RELAYS: RelayPart = [drop_tail, fq_codel, mac80211, source_queues, source_queues::THROTTLE, llap, xcp, rcp, winf, xcp::WINF, xcp::B, rcp::WINF, wcp, wcpcap, cake_ack_filter, ez_flow];
}
