//! The gateway from outside, a module a subject.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod common;
mod downward;
mod flow_law;
mod forecast;
mod holes;
mod liars;
mod life;
mod properties;
mod queue;
mod readings;
mod retransmissions;
mod samples;
mod sender_window;
mod shaper;
mod shares;
mod trains;
mod treatment;
mod upward;
