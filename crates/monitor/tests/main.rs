//! Captures of monitors: ordinary ones, strange ones.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod captures;
mod common;
mod strange;
