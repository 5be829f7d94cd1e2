//! The keys of the scenario file as data. One table drives parsing, defaults, unknown-key errors with suggestions,
//! and the JSON Schema, so that none of them can say something the others do not.

mod check;

mod tables;

pub(crate) use check::Setting;
pub(crate) use tables::ROOT;

use meshpace_units::quantity::{self, Unit};

/// A table of the file and the keys that it may hold.
#[derive(Debug)]
pub(crate) struct Section {
    /// What it is, for the schema.
    pub doc: &'static str,
    /// In the order in which messages list them.
    pub keys: &'static [Key],
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// The default as TOML text, checked like the user's.
    pub default: Option<&'static str>,
    pub required: bool,
    /// The key applies only if that other key of the table has one of these values.
    pub only: Option<(&'static str, &'static [&'static str])>,
    pub doc: &'static str,
}

/// What a key's value must be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A string of 1 to 255 characters without control characters.
    Text,
    /// A string of any length.
    Prose,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole(Whole),
    /// A real number of a unit, plain in the base unit or as text with a suffix.
    Real(Real),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, or a whole number.
    ChoiceOrWhole(&'static [&'static str], Whole),
    /// A list of at least and at most so many.
    List(&'static Kind, usize, usize),
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
    /// A table of tables that this crate does not interpret: `[scheme.NAME]`.
    Schemes,
}

/// Bounds of a whole number; with a unit it may also be text with a suffix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole {
    pub min: u64,
    pub max: u64,
    pub unit: Option<&'static Unit>,
}

/// Bounds of a real number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Real {
    pub unit: &'static Unit,
    pub min: f64,
    pub max: f64,
    /// The minimum itself is excluded.
    pub above: bool,
}

impl Section {
    /// The key of that name.
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, default: None, required: false, only: None, doc }
    }

    const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    const fn default(self, toml: &'static str) -> Self {
        Self { default: Some(toml), ..self }
    }

    const fn only(self, key: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((key, values)), ..self }
    }
}

const fn whole(min: u64, max: u64) -> Kind {
    Kind::Whole(Whole { min, max, unit: None })
}

const fn bytes(min: u64, max: u64) -> Kind {
    Kind::Whole(Whole { min, max, unit: Some(&quantity::SIZE) })
}

const fn real(unit: &'static Unit, min: f64, max: f64) -> Kind {
    Kind::Real(Real { unit, min, max, above: false })
}

const fn above(unit: &'static Unit, min: f64, max: f64) -> Kind {
    Kind::Real(Real { unit, min, max, above: true })
}
