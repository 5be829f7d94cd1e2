//! One type per quantity, so that a byte count never meets a bit rate by accident.
//!
//! | type | inside | meaning |
//! |---|---|---|
//! | [`Instant`] | `u64` ns | a point in (simulated or monotonic) time since the driver's zero |
//! | [`Span`] | `u64` ns | a length of time, never negative |
//! | [`Rate`] | `u64` bit/s | a bit rate |
//! | [`Bytes`] | `u64` | a size |
//! | [`Seq`] | `u32` | a TCP sequence number; wraps, hence no `Ord` |
//! | [`Dscp`] | six bits | the service class that an IP header asks for |
//! | [`Ecn`] | two bits | the congestion notification of an IP header |
//! | [`Histogram`] | counts | how often spans fell between fixed bounds |
//! | [`Quantiles`] | counts | quantiles of spans, to 1 % |
//! | [`Moments`](statistics::Moments) | running sums | mean, deviation and confidence of numbers |
//! | [`random::Stream`] | bits | one component's random numbers, by seed and name |
//! | [`NodeId`] | `u32` | the index of a mesh node, in file order |
//!
//! Unknown and unlimited are `Option`s, never 0 or `MAX`. Integer nanoseconds keep results identical on every
//! machine; conversions from `f64` round to the nearest nanosecond and say so.
#![no_std]

extern crate alloc;

mod dscp;
mod ecn;
mod histogram;
mod ids;
mod quantiles;
pub mod quantity;
pub mod random;
mod rate;
mod seq;
pub mod statistics;
mod time;

pub use dscp::Dscp;
pub use ecn::Ecn;
pub use histogram::Histogram;
pub use ids::NodeId;
pub use quantiles::Quantiles;
pub use rate::{Bytes, Rate};
pub use seq::Seq;
pub use time::{Instant, Span};
