//! Does a value fit its key?

use crate::document::Value;
use crate::{Kind, Real, Whole};
use meshpace_units::{Bytes, Rate, Span};

/// A value that fits.
#[derive(Clone, Debug)]
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

impl Kind {
    /// The value of a scalar or of a list of scalars; `None` if it does not fit.
    #[must_use]
    pub fn accept(&self, value: &Value) -> Option<Setting> {
        match (self, value) {
            (Self::Text, Value::Text(text)) => {
                let fits =
                    !text.is_empty() && text.chars().count() <= 255 && !text.chars().any(char::is_control);
                fits.then(|| Setting::Text(text.clone()))
            }
            (Self::Prose, Value::Text(text)) => Some(Setting::Text(text.clone())),
            (Self::Flag, Value::Bool(value)) => Some(Setting::Flag(*value)),
            (Self::Whole(bounds), _) => bounds.accept(value),
            (Self::Real(bounds), _) => bounds.accept(value),
            (Self::Choice(words) | Self::ChoiceOrWhole(words, _), Value::Text(text))
                if words.contains(&text.as_str()) =>
            {
                Some(Setting::Text(text.clone()))
            }
            (Self::ChoiceOrWhole(_, bounds), _) => bounds.accept(value),
            (Self::List(kind, least, most), Value::List(items))
                if (*least..=*most).contains(&items.len()) =>
            {
                items.iter().map(|item| kind.accept(&item.value)).collect::<Option<_>>().map(Setting::List)
            }
            _ => None,
        }
    }

    /// What fits, for messages.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Self::Text => "a string of 1 to 255 characters".to_owned(),
            Self::Prose => "a string".to_owned(),
            Self::Flag => "true, false".to_owned(),
            Self::Whole(bounds) => bounds.allowed(),
            Self::Real(bounds) => bounds.allowed(),
            Self::Choice(words) => words.join(", "),
            Self::ChoiceOrWhole(words, bounds) => format!("{}, or {}", words.join(", "), bounds.allowed()),
            Self::List(kind, least, most) if least == most => {
                format!("a list of {least}, each {}", kind.allowed())
            }
            Self::List(kind, least, most) => format!("a list of {least} to {most}, each {}", kind.allowed()),
            Self::Table(_) => "a table".to_owned(),
            Self::Tables(_) => "a list of tables".to_owned(),
            Self::Free(what) => (*what).to_owned(),
        }
    }
}

impl Whole {
    fn accept(self, value: &Value) -> Option<Setting> {
        let number = match value {
            Value::Integer(number) => u64::try_from(*number).ok()?,
            Value::Text(text) => {
                let number = self.unit?.parse(text)?;
                // Below 2^53 a double is exact, so `as` neither rounds nor saturates.
                ((0.0..=9e15).contains(&number) && number.fract() == 0.0).then_some(number as u64)?
            }
            _ => return None,
        };
        (self.min..=self.max).contains(&number).then_some(Setting::Whole(number))
    }

    fn allowed(self) -> String {
        let Self { min, max, unit } = self;
        match unit {
            Some(unit) => format!("a whole number of {} from {min} to {max}", unit.base),
            None => format!("a whole number from {min} to {max}"),
        }
    }
}

impl Real {
    fn accept(&self, value: &Value) -> Option<Setting> {
        let number = match value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            Value::Text(text) => self.unit.parse(text)?,
            _ => return None,
        };
        // NaN fails both comparisons.
        let fits = if self.above { number > self.min } else { number >= self.min };
        (fits && number <= self.max).then_some(Setting::Real(number))
    }

    fn allowed(&self) -> String {
        let Self { unit, min, max, above } = self;
        let from = if *above { "above" } else { "from" };
        let (min, max) = (unit.show(*min), unit.show(*max));
        format!("{} {from} {min} to {max}, such as {}", unit.noun, unit.example)
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

    /// The rate, rounded to whole bit/s.
    ///
    /// # Panics
    /// If the key is of another kind.
    #[must_use]
    pub fn rate(self) -> Rate {
        // At most 1e11, so the nearest integer is exact.
        Rate::bits_per_sec((self.real() + 0.5) as u64)
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
