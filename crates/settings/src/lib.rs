//! TOML files checked against tables of keys.
//!
//! A file is read in two steps: [`read`] makes a [`Table`] of values that know where they stand; [`Settings`] holds it
//! against a [`Section`], the table of the keys there are. What is wrong becomes a [`FileError`] that names file, line,
//! key, what was found and what is allowed; a key that does not exist is wrong. What the keys mean is the business of
//! whoever asks: the scenario file and the daemon's configuration file are both read this way.

mod check;
mod document;
mod error;
mod keys;
mod settings;
mod text;

pub use check::Setting;
pub use document::{Item, RawValue, Table, Value, basic_string, read, real};
pub use error::{FileError, Location, Named, Origin};
pub use keys::{Key, Kind, Real, Section, Whole, above, bytes, real as real_number, whole};
pub use settings::Settings;
pub use text::{quoted, shown, suggestion};
