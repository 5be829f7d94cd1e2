//! TOML files checked against tables of keys.
//!
//! A file is read in two steps: [`read`] makes a [`Table`] of values that know where they stand; [`Settings`] holds it against a
//! [`Section`] (of `meshpace-keys`), the table of the keys there are. A mistake becomes a [`FileError`] that names file, line, key, what
//! was found and what is allowed; an unknown key is a mistake, too. What the keys mean is the business of the caller: the scenario file and
//! the daemon's configuration file are both read this way.

mod complaints;
mod document;
mod error;
pub mod schema;
mod settings;

pub use complaints::complaints;
pub use document::{Item, Table, Value, basic_string, read};
pub use error::{FileError, Location, Named, Origin};
pub use meshpace_keys::{
    Key, Kind, Preset, RawValue, Real, Section, Setting, Values, Whole, above, bytes, quoted,
    real as real_number, real_number as real, shown, suggestion, whole,
};
pub use settings::{Settings, default_setting};
