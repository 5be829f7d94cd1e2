//! Schemes: the table of compositions, and its documentation.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod documented;
mod schemes;
