//! Bounds on what a scenario may ask for: generous for any experiment, small enough that no file, however made, takes
//! more than seconds and a few hundred megabytes to refuse.

use meshpace_settings::{Kind, real_number as real};
use meshpace_units::quantity::TIME;

/// Nodes, wired ones included. Their default addresses stay within 10.77.0.0/16.
pub(crate) const NODES: u64 = 10_000;
/// Flows, `count` expanded.
pub(crate) const FLOWS: u64 = 10_000;
/// Hops of a generated chain or arm.
pub(crate) const HOPS: u64 = 1_000;
/// Seconds of a run or of any time in a file.
pub(crate) const MAX_SECONDS: f64 = 1e6;
/// Any time from 0 on.
pub(crate) const TIME_FROM_0: Kind = real(&TIME, 0.0, MAX_SECONDS);
/// Metres of any length or coordinate.
pub(crate) const METRES: f64 = 1e6;
/// Metres between nodes placed on the globe, east-west or north-south: further off, a plane is too wrong.
pub(crate) const MESH_EXTENT: f64 = 1e5;
/// Slowest rate, in bit/s.
pub(crate) const MIN_RATE: f64 = 1e3;
/// Fastest rate, in bit/s.
pub(crate) const MAX_RATE: f64 = 1e11;
/// Largest packet that a data frame carries, in bytes (IEEE 802.11: maximum MSDU size).
pub(crate) const MSDU: u64 = 2304;
/// Placements drawn until one is connected.
pub(crate) const PLACEMENTS: u32 = 1_000;
