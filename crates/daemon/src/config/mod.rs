//! The daemon's configuration: one TOML file, checked once, then plain data.

mod model;

pub use model::*;
