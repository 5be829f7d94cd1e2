//! What the kernel does for the live part, in network namespaces.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod common;
mod devices;
mod nfqueue;
