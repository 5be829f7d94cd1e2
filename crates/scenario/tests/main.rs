//! The scenario file: conventions, errors, shipped files, flows, links; no input panics.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod conventions;
mod errors;
mod files;
mod flows;
mod links;
mod no_panic;
mod radios;
mod validator;
