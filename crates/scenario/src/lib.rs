//! The scenario file: parsing, checking, topologies, JSON Schema.
//!
//! A scenario is what is simulated: radio, topology, routing, wired part, flows and their schemes, what to measure.
//! It is written in TOML; this crate turns the text into a [`Scenario`], plain data with every default filled in,
//! every name replaced by an index and every draw made, or into a [`ScenarioError`] that names file, line, key, what
//! was found and what is allowed.

mod error;
mod model;
mod text;

pub use error::{Location, Origin, ScenarioError};
pub use model::*;
