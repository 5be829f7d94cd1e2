//! The stack from outside: whole exchanges, hostile bytes, lossy paths.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod common;
mod exchanges;
mod hostile;
mod lossy;
