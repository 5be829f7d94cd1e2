//! How fast a flow may send over a multihop wireless path, and the gate that holds it to that pace.
//!
//! | part | what it does |
//! |---|---|
//! | [`Path`] | the wireless part of a route: hops, packet sizes, link rates; the k-hop delay of a round-trip time |
//! | [`WirelessPart`] | which round trips are the wireless part's, at TCP-GAP's sender |
//! | [`Route`] | hops and link rates, as a driver knows them |
//! | [`RateLaw`] | turns round-trip samples into a pacing interval (TCP-AP and its relatives) |
//! | [`DelayRate`] | rate by delay: ours, at senders and gateways |
//! | [`FlowLaw`] | the law of a flow, whatever it goes by: told round trips, delivery, losses and marks, it answers with a pace; [`FLOW_LAWS`] |
//! | [`Pacer`] | lets one packet through an interval, at once after idling (or at the ticks of a timer) |
//! | [`FreeRunningTimer`] | the gate of the TCP-AP authors' agent: packets wait for the next tick |
//! | [`GoodputControl`] | caps the fast downward flows at a gateway while that helps the slow ones |
//!
//! Nothing here knows a packet, a window or a socket. `now` is an argument; equal inputs give equal outputs on every
//! machine (of floating-point functions the square root, which IEEE 754 rounds exactly, and libm's exponential and logarithm, which are
//! made of operations that it rounds exactly).
#![no_std]

extern crate alloc;

mod adaptive;
mod delay_rate;
mod flow_law;
mod free_running;
mod goodput_control;
mod law;
mod pacer;
mod path;
mod wireless;

pub use adaptive::{AdaptiveConfig, Divisor, Samples, ShortPath, Variation};
pub use delay_rate::{DelayRate, DelayRateConfig, Least, TrainsInFlight, Unit};
pub use flow_law::{FLOW_LAWS, FlowLaw, FlowLawPart, FlowPace, LawMaker, Progress, RoundTrip};
pub use free_running::FreeRunningTimer;
pub use goodput_control::{
    Aging, Direction, GOODPUT_CONTROL_KEYS, GoodputControl, GoodputControlConfig, Order, Pending, Profile,
    Reset, Standing,
};
pub use law::{RateLaw, Rejected, Step};
pub use pacer::{Departures, Pacer};
pub use path::{HopSource, LinkRates, Measured, Path, Route};
pub use wireless::{WirelessPart, WirelessSample};
