//! The emulator: real Linux hosts talk across the simulated network in real time.
//!
//! Each of them is a network namespace with a TUN device. What its kernel sends through the device enters the node's queue,
//! crosses the simulated radio and wired links with its own bytes, and leaves through the device of the host that it is for.
//! Or it is a node whose kernel forwards: then it has a TAP device for each radio, whose frames go to neighbours and no further.
//! The flows of the scenario are simulated beside them, in the same air.
//!
//! | piece | |
//! |---|---|
//! | [`Emulation`] | the network and its hosts: no clock, no device, no thread |
//! | [`Pace`] | simulated time by the clock, dilated if asked for |
//! | [`Lateness`] | how late deliveries were, and whether that is good enough |
//! | [`View`] | what a live view is shown, some times a second |
//! | [`run`] | devices, clock, one thread that waits for both |
#![cfg(target_os = "linux")]

mod air;
mod crossings;
mod driver;
mod emulation;
mod entering;
mod lateness;
mod pace;
mod traffic;
mod view;
mod watched_writer;

pub use air::AirTime;
pub use driver::{Failure, MTU, Options, Outcome, RealHost, Scheduling, Stage, run};
pub use emulation::{Behind, DEVICES, Delivery, Emulation, FrameCounts, FramesResult, Port, WIRED_DEVICE};
pub use lateness::{Lateness, Verdict};
pub use pace::Pace;
pub use traffic::TrafficResult;
pub use view::{Eye, View};
