//! The keys of a file as data. One table drives parsing, defaults, unknown-key errors with suggestions, and whatever
//! describes the file (a JSON Schema, a commented default), so that none of them can say something the others do not.

use meshpace_units::quantity::{self, Unit};

/// A table of the file and the keys that it may hold.
#[derive(Debug)]
pub struct Section {
    /// What it is, in a sentence or two.
    pub doc: &'static str,
    /// In the order in which messages list them.
    pub keys: &'static [Key],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// The default as TOML text, checked like the user's.
    pub default: Option<&'static str>,
    /// The file must give it.
    pub required: bool,
    /// The key applies only if that other key of the table has one of these values.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// What it means, in a sentence or two.
    pub doc: &'static str,
}

/// What a key's value must be.
#[derive(Debug)]
pub enum Kind {
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
    /// A table that this crate does not interpret; in words for messages, what it must be.
    Free(&'static str),
}

/// Bounds of a whole number; with a unit it may also be text with a suffix.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    /// Least value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Its unit.
    pub unit: Option<&'static Unit>,
}

/// Bounds of a real number.
#[derive(Debug, Clone, Copy)]
pub struct Real {
    /// Its unit.
    pub unit: &'static Unit,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The minimum itself is excluded.
    pub above: bool,
}

impl Section {
    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    /// A key without default that a file may leave out.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, default: None, required: false, only: None, doc }
    }

    /// The same, not to be left out.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// The same with a default, in TOML's notation.
    #[must_use]
    pub const fn default(self, toml: &'static str) -> Self {
        Self { default: Some(toml), ..self }
    }

    /// The same, to be given only if that other key has one of these values.
    #[must_use]
    pub const fn only(self, key: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((key, values)), ..self }
    }
}

/// A whole number without unit.
#[must_use]
pub const fn whole(min: u64, max: u64) -> Kind {
    Kind::Whole(Whole { min, max, unit: None })
}

/// A size in bytes.
#[must_use]
pub const fn bytes(min: u64, max: u64) -> Kind {
    Kind::Whole(Whole { min, max, unit: Some(&quantity::SIZE) })
}

/// A real number from `min` on.
#[must_use]
pub const fn real(unit: &'static Unit, min: f64, max: f64) -> Kind {
    Kind::Real(Real { unit, min, max, above: false })
}

/// A real number above `min`.
#[must_use]
pub const fn above(unit: &'static Unit, min: f64, max: f64) -> Kind {
    Kind::Real(Real { unit, min, max, above: true })
}
