//! Values: as written, and as accepted.

use crate::text::{quoted, real};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use meshpace_units::{Bytes, Rate, Span};

/// A value as a user wrote it, before anyone asks what it means.
#[derive(Clone, Debug, PartialEq)]
pub enum RawValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A real number; may be NaN or infinite.
    Float(f64),
    /// A string.
    Text(String),
    /// A list of values.
    List(Vec<RawValue>),
}

impl From<&str> for RawValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for RawValue {
    /// The value as it would stand in a file, cut to a readable length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&real(*value)),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(items) => write!(f, "a list of {}", items.len()),
        }
    }
}

/// A value that fits its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A string.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// A whole number, in the base unit.
    Whole(u64),
    /// A real number, in the base unit.
    Real(f64),
    /// A list.
    List(Vec<Setting>),
}

impl fmt::Display for Setting {
    /// In TOML's notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Real(number) => f.write_str(&real(*number)),
            Self::List(items) => {
                f.write_str("[")?;
                for (n, item) in items.iter().enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Typed reading of a value that passed its key's check. A mismatch is a wrong entry in the key tables.
impl Setting {
    /// The string.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            other => panic!("not a text: {other:?}"),
        }
    }

    /// The flag.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn flag(self) -> bool {
        match self {
            Self::Flag(value) => value,
            other => panic!("not a flag: {other:?}"),
        }
    }

    /// The whole number.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn whole(self) -> u64 {
        match self {
            Self::Whole(number) => number,
            other => panic!("not a whole number: {other:?}"),
        }
    }

    /// A whole number whose key's maximum fits 32 bits.
    ///
    /// # Panics
    /// If the key is of another kind, or its maximum does not fit.
    #[must_use]
    pub fn count(self) -> u32 {
        let number = self.whole();
        u32::try_from(number).unwrap_or_else(|_| panic!("the key's maximum lets {number} pass"))
    }

    /// A whole number of things that memory holds; more than fit the machine's words are as many as fit.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn size(self) -> usize {
        usize::try_from(self.whole()).unwrap_or(usize::MAX)
    }

    /// The size.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn bytes(self) -> Bytes {
        Bytes(self.whole())
    }

    /// The real number, in the base unit.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn real(self) -> f64 {
        match self {
            Self::Real(number) => number,
            other => panic!("not a real number: {other:?}"),
        }
    }

    /// The time.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn span(self) -> Span {
        Span::from_secs_f64(self.real())
    }

    /// The rate; a real number is rounded to whole bit/s.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn rate(self) -> Rate {
        match self {
            Self::Whole(number) => Rate::bits_per_sec(number),
            // At most 1e11, so the nearest integer is exact.
            other => Rate::bits_per_sec((other.real() + 0.5) as u64),
        }
    }

    /// The items.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn list(self) -> Vec<Self> {
        match self {
            Self::List(items) => items,
            other => panic!("not a list: {other:?}"),
        }
    }
}

/// A type whose values have names in files. Made by [`words!`](crate::words).
pub trait Word: Copy + 'static {
    /// The names and what they mean, in the order in which messages list them.
    const MEANINGS: &'static [(&'static str, Self)];

    /// What the name means.
    #[must_use]
    fn named(word: &str) -> Option<Self> {
        Self::MEANINGS.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning)
    }
}

/// An enumeration whose variants have names in files:
///
/// ```
/// meshpace_keys::words! {
///     /// What to do with what does not fit.
///     pub enum Overflow {
///         /// Drop the packet that arrives.
///         Tail = "tail",
///         /// Drop the one that has waited longest.
///         Head = "head",
///     }
/// }
/// assert_eq!(Overflow::Head.word(), "head");
/// assert_eq!(Overflow::WORDS, ["tail", "head"]);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            /// The names, in the order in which messages list them.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The name in files.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::Word for $name {
            const MEANINGS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    };
}
