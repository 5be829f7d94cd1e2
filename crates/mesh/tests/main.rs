//! The simulation from outside: whole runs, and the captures that they write.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod capture;
mod engine;
