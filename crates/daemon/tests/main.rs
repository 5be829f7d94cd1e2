//! What is built and packaged beside the daemon's code.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod ebpf_targets;
mod packaging;
