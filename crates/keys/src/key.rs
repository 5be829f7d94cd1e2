//! The keys of a file or of a part. One table drives parsing, defaults, unknown-key errors with suggestions, and whatever
//! describes it (a JSON Schema, a commented default), so that none of them can say something the others do not.

use crate::value::Setting;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use meshpace_units::quantity::{self, Unit};
use meshpace_units::{Bytes, Rate, Span};

/// A table of a file and the keys that it may hold.
#[derive(Debug)]
pub struct Section {
    /// The section's meaning, in a sentence or two.
    pub doc: &'static str,
    /// In the order in which messages list them.
    pub keys: &'static [Key],
    /// More keys, which stand in files of their own.
    pub more: &'static [&'static Key],
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// The default, checked like the user's values.
    pub default: Option<Preset>,
    /// The file must give it.
    pub required: bool,
    /// The key applies only if that other key of the table has one of these values.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// The key's meaning, in a sentence or two.
    pub doc: &'static str,
}

/// A default: as a file would give it, or as the constant of the code that uses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preset {
    /// In TOML's notation.
    Toml(&'static str),
    /// A string or word.
    Word(&'static str),
    /// `true` or `false`.
    Flag(bool),
    /// A whole number, in the base unit.
    Whole(u64),
    /// A real number, in the base unit.
    Real(f64),
    /// A time.
    Time(Span),
    /// Whole numbers.
    Wholes(&'static [u64]),
}

impl Preset {
    /// In TOML's notation.
    #[must_use]
    pub fn toml(&self) -> String {
        match self {
            Self::Toml(text) => (*text).to_owned(),
            other => other.setting().map_or_else(String::new, |setting| setting.to_string()),
        }
    }

    /// The value, unchecked; `None` for TOML text, which a reader of TOML has to read.
    #[must_use]
    pub fn setting(&self) -> Option<Setting> {
        Some(match *self {
            Self::Toml(_) => return None,
            Self::Word(word) => Setting::Text(word.to_owned()),
            Self::Flag(flag) => Setting::Flag(flag),
            Self::Whole(number) => Setting::Whole(number),
            Self::Real(number) => Setting::Real(number),
            Self::Time(span) => Setting::Real(span.as_secs_f64()),
            Self::Wholes(numbers) => Setting::List(numbers.iter().copied().map(Setting::Whole).collect()),
        })
    }
}

/// What a key's value must be.
#[derive(Clone, Copy, Debug)]
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
    /// One of these words, or a real number.
    ChoiceOrReal(&'static [&'static str], Real),
    /// A list of at least and at most so many.
    List(&'static Kind, usize, usize),
    /// That many whole numbers, each at least as large as the one before.
    Ascending(Whole, usize),
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
    /// A table that the checker does not interpret; in words for messages, what it must be.
    Free(&'static str),
}

/// The word of a [`Key::limit`] that limits nothing.
const NO_LIMIT: &str = "none";

/// Bounds of a whole number; with a unit it may also be text with a suffix.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Least value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Its unit.
    pub unit: Option<&'static Unit>,
}

/// Bounds of a real number.
#[derive(Clone, Copy, Debug)]
pub struct Real {
    /// Its unit; [`RATIO`](meshpace_units::quantity::RATIO) for a pure number.
    pub unit: &'static Unit,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The minimum itself is excluded.
    pub above: bool,
}

impl Section {
    /// Every key.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().chain(self.more.iter().copied())
    }

    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
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
        self.preset(Preset::Toml(toml))
    }

    /// The same with a default.
    #[must_use]
    pub const fn preset(self, default: Preset) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same, to be given only if that other key has one of these values.
    #[must_use]
    pub const fn only(self, key: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((key, values)), ..self }
    }

    /// A flag of a part, and what it is unless the user says otherwise.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, doc: &'static str) -> Self {
        Self::new(name, Kind::Flag, doc).preset(Preset::Flag(default))
    }

    /// One of some words.
    #[must_use]
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self::new(name, Kind::Choice(words), doc).preset(Preset::Word(default))
    }

    /// A count from `min` to `max`.
    #[must_use]
    pub const fn count(name: &'static str, range: (u64, u64), default: u64, doc: &'static str) -> Self {
        Self::new(name, whole(range.0, range.1), doc).preset(Preset::Whole(default))
    }

    /// A count from `min` to `max`, or the word `none`: no limit, the default.
    #[must_use]
    pub const fn limit(name: &'static str, range: (u64, u64), doc: &'static str) -> Self {
        let count = Whole { min: range.0, max: range.1, unit: None };
        Self::new(name, Kind::ChoiceOrWhole(&[NO_LIMIT], count), doc).preset(Preset::Word(NO_LIMIT))
    }

    /// A number without unit from `min` to `max`.
    #[must_use]
    pub const fn number(name: &'static str, range: (f64, f64), default: f64, doc: &'static str) -> Self {
        Self::new(name, real(&quantity::RATIO, range.0, range.1), doc).preset(Preset::Real(default))
    }

    /// A time of at least a microsecond: a shorter one is a typing error, and zero would stop the clock.
    #[must_use]
    pub const fn time(name: &'static str, max: Span, default: Span, doc: &'static str) -> Self {
        Self::new(name, time(max), doc).preset(Preset::Time(default))
    }

    /// The same, or a word that says what else tells it: the default.
    #[must_use]
    pub const fn time_or(
        name: &'static str,
        word: &'static [&'static str; 1],
        max: Span,
        doc: &'static str,
    ) -> Self {
        let kind = match time(max) {
            Kind::Real(bounds) => Kind::ChoiceOrReal(word, bounds),
            other => other,
        };
        Self::new(name, kind, doc).preset(Preset::Word(word[0]))
    }

    /// A size from `min` to `max`.
    #[must_use]
    pub const fn size(name: &'static str, range: (u64, u64), default: Bytes, doc: &'static str) -> Self {
        Self::new(name, bytes(range.0, range.1), doc).preset(Preset::Whole(default.0))
    }

    /// A bit rate in whole bit/s, above zero.
    #[must_use]
    pub const fn rate(name: &'static str, max: u64, default: Rate, doc: &'static str) -> Self {
        Self::new(name, rate(1, max), doc).preset(Preset::Whole(default.as_bits_per_sec()))
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

/// A rate in whole bit/s.
#[must_use]
pub const fn rate(min: u64, max: u64) -> Kind {
    Kind::Whole(Whole { min, max, unit: Some(&quantity::RATE) })
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

/// A time from a microsecond to `max`.
#[must_use]
pub const fn time(max: Span) -> Kind {
    // A whole number of seconds in every use, so the division is exact.
    real(&quantity::TIME, 1e-6, max.as_nanos() as f64 / 1e9)
}
