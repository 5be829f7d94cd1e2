//! Stations on one air: scripted exchanges of the DCF, and saturation against Bianchi's model.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod air;
mod bianchi;
mod dcf;
mod saturation;
