//! Keys as data: what a user may choose, in a file or of a part of a scheme.
//!
//! | type | what it is |
//! |---|---|
//! | [`Key`] | a name with its [`Kind`] (type, range, unit), default and meaning |
//! | [`RawValue`] | a value as a user wrote it |
//! | [`Setting`] | a value that its key's kind has accepted, in base units |
//! | [`Part`] | a part of a scheme as it describes itself: word, meaning, source, keys, and how it is built |
//! | [`Values`] | the settings of a part's keys, defaults filled in: what it is built from |
//!
//! One value system for everything: the scenario file, the daemon's file and the parts of schemes are checked by the same
//! [`Kind::accept`]; the messages, the JSON Schema and the lists are made of the same tables. Parts stand in the crates that
//! implement them, which know no files and no standard library; hence this crate is below all of them.
#![no_std]

extern crate alloc;

mod check;
mod key;
mod part;
pub mod table;
mod text;
mod value;

pub use key::{Key, Kind, Preset, Real, Section, Whole, above, bytes, rate, real, time, whole};
pub use part::{Brings, Choice, Need, Part, Values};
pub use text::{quoted, real as real_number, shown, suggestion};
pub use value::{RawValue, Setting, Word};
