//! The scenario file: parsing, checking, topologies, JSON Schema.
//!
//! A scenario is what is simulated: radio, topology, routing, wired part, flows and their schemes, what to measure. It
//! is written in TOML. This crate works in two steps: [`ScenarioFile::parse`] checks the text once, with the command
//! line's [`Overrides`]; [`ScenarioFile::resolve`] makes a [`Scenario`] of it for a seed, plain data with every default
//! filled in, every name replaced by an index and every draw made. A mistake becomes a [`ScenarioError`] that names
//! file, line, key, what was found and what is allowed.
//!
//! Names and parameters of schemes are carried with their locations ([`Scenario::scheme_uses`],
//! [`Scenario::scheme_settings`]) for the crate that knows the schemes.

mod extra;
mod file;
mod keys;
mod limits;
mod model;
mod overrides;
mod read;
mod resolve;
mod schema;

pub use file::{About, ScenarioFile};
pub use meshpace_settings::{FileError as ScenarioError, Location, Origin, RawValue};
pub use model::*;
pub use overrides::Overrides;
pub use schema::schema;
