//! Does a value fit its key?

use crate::text::quoted;
use crate::value::{RawValue, Setting};
use crate::{Kind, Real, Whole};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use meshpace_units::quantity::Unit;

impl Kind {
    /// The value of a scalar or of a list of scalars; `None` if it does not fit.
    #[must_use]
    pub fn accept(&self, value: &RawValue) -> Option<Setting> {
        match (self, value) {
            (Self::Text, RawValue::Text(text)) => {
                let fits =
                    !text.is_empty() && text.chars().count() <= 255 && !text.chars().any(char::is_control);
                fits.then(|| Setting::Text(text.clone()))
            }
            (Self::Prose, RawValue::Text(text)) => Some(Setting::Text(text.clone())),
            (Self::Flag, RawValue::Bool(value)) => Some(Setting::Flag(*value)),
            (Self::Whole(bounds), _) => bounds.accept(value),
            (Self::Real(bounds), _) => bounds.accept(value),
            (
                Self::Choice(words) | Self::ChoiceOrWhole(words, _) | Self::ChoiceOrReal(words, _),
                RawValue::Text(text),
            ) if words.contains(&text.as_str()) => Some(Setting::Text(text.clone())),
            // TOML, and with it the command line, takes a bare inf for a number.
            (Self::ChoiceOrWhole(words, _) | Self::ChoiceOrReal(words, _), RawValue::Float(value))
                if *value == f64::INFINITY && words.contains(&"inf") =>
            {
                Some(Setting::Text("inf".to_owned()))
            }
            (Self::ChoiceOrWhole(_, bounds), _) => bounds.accept(value),
            (Self::ChoiceOrReal(_, bounds), _) => bounds.accept(value),
            (Self::List(kind, least, most), RawValue::List(items))
                if (*least..=*most).contains(&items.len()) =>
            {
                items.iter().map(|item| kind.accept(item)).collect::<Option<_>>().map(Setting::List)
            }
            (Self::Ascending(bounds, count), RawValue::List(items)) if items.len() == *count => {
                let mut least = bounds.min;
                let mut accepted = alloc::vec::Vec::with_capacity(items.len());
                for item in items {
                    let item = Whole { min: least, ..*bounds }.accept(item)?;
                    least = item.clone().whole();
                    accepted.push(item);
                }
                Some(Setting::List(accepted))
            }
            _ => None,
        }
    }

    /// The value that a [`Setting`] of this kind would be written as: what [`Kind::accept`] takes back.
    #[must_use]
    pub fn raw(&self, setting: &Setting) -> RawValue {
        match setting {
            Setting::Text(text) => RawValue::Text(text.clone()),
            Setting::Flag(flag) => RawValue::Bool(*flag),
            Setting::Whole(number) => {
                RawValue::Integer(i64::try_from(*number).unwrap_or_else(|_| panic!("{number} in {self:?}")))
            }
            Setting::Real(number) => RawValue::Float(*number),
            Setting::List(items) => RawValue::List(items.iter().map(|item| self.raw(item)).collect()),
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
            Self::ChoiceOrReal(words, bounds) => format!("{}, or {}", words.join(", "), bounds.allowed()),
            Self::List(kind, least, most) if least == most => {
                format!("a list of {least}, each {}", kind.allowed())
            }
            Self::List(kind, least, most) => format!("a list of {least} to {most}, each {}", kind.allowed()),
            Self::Ascending(bounds, count) => {
                format!("a list of {count}, ascending, each {}", bounds.allowed())
            }
            Self::Table(_) => "a table".to_owned(),
            Self::Tables(_) => "a list of tables".to_owned(),
            Self::Free(what) => (*what).to_owned(),
        }
    }
}

impl Whole {
    fn accept(self, value: &RawValue) -> Option<Setting> {
        let number = match value {
            RawValue::Integer(number) => u64::try_from(*number).ok()?,
            RawValue::Float(number) if self.unit.is_some() => whole(*number)?, // 250e3 is a float in TOML
            RawValue::Text(text) => whole(self.unit?.parse(text)?)?,
            _ => return None,
        };
        (self.min..=self.max).contains(&number).then_some(Setting::Whole(number))
    }

    fn allowed(self) -> String {
        let Self { min, max, unit } = self;
        match unit {
            Some(unit) => {
                let example = example(unit, |value| (min as f64..=max as f64).contains(&value), None);
                format!("a whole number of {} from {min} to {max}{example}", unit.base)
            }
            None => format!("a whole number from {min} to {max}"),
        }
    }
}

/// A real number that is a whole one.
fn whole(number: f64) -> Option<u64> {
    // Below 2^53 a double is exact, so `as` neither rounds nor saturates; the comparison is false for NaN.
    ((0.0..=9e15).contains(&number) && number == (number as u64) as f64).then_some(number as u64)
}

impl Real {
    fn accept(&self, value: &RawValue) -> Option<Setting> {
        let number = match value {
            RawValue::Integer(number) => *number as f64,
            RawValue::Float(number) => *number,
            RawValue::Text(text) => self.unit.parse(text)?,
            _ => return None,
        };
        // NaN fails both comparisons.
        let fits = if self.above { number > self.min } else { number >= self.min };
        (fits && number <= self.max).then_some(Setting::Real(number))
    }

    fn allowed(&self) -> String {
        let Self { unit, min, max, above } = self;
        let from = if *above { "above" } else { "from" };
        let example = example(unit, |value| (*min..=*max).contains(&value), Some(*max));
        let (min, max) = (unit.show(*min), unit.show(*max));
        format!("{} {from} {min} to {max}{example}", unit.noun)
    }
}

/// ", such as" and how a value with its unit is written: the unit's example, or `other` if that one is out of bounds. A
/// plain number needs no example.
fn example(unit: &Unit, fits: impl Fn(f64) -> bool, other: Option<f64>) -> String {
    let written = unit.example.trim_matches('"');
    let of_range =
        || other.map(|value| format!("{value}{}", unit.base)).filter(|text| unit.parse(text).is_some());
    match unit.parse(written).or_else(|| written.parse().ok()) {
        _ if unit.base.is_empty() => String::new(),
        Some(value) if fits(value) => format!(", such as {}", unit.example),
        _ => of_range().map_or_else(String::new, |text| format!(", such as {}", quoted(&text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bytes, real, whole};
    use alloc::vec;
    use meshpace_units::quantity::{RATIO, TIME};

    #[test]
    fn whole_numbers_with_a_unit_may_be_text_or_a_whole_float() {
        let kind = bytes(1, 1 << 20);
        for value in [RawValue::Integer(2000), RawValue::Float(2e3), "2kB".into()] {
            assert_eq!(kind.accept(&value), Some(Setting::Whole(2000)), "{value}");
        }
        for value in [RawValue::Float(2.5), RawValue::Float(f64::NAN), "2".into(), RawValue::Integer(0)] {
            assert_eq!(kind.accept(&value), None, "{value}");
        }
        assert_eq!(kind.allowed(), "a whole number of bytes from 1 to 1048576, such as \"30kB\"");
        assert_eq!(bytes(0, 100).allowed(), "a whole number of bytes from 0 to 100");
        assert_eq!(whole(1, 5).accept(&RawValue::Float(2.0)), None, "a count is written without a point");
    }

    #[test]
    fn real_numbers_keep_their_bounds() {
        let kind = real(&TIME, 1e-6, 60.0);
        assert_eq!(kind.accept(&"50ms".into()), Some(Setting::Real(0.05)));
        assert_eq!(kind.accept(&RawValue::Float(60.5)), None);
        assert_eq!(kind.allowed(), "a time from 0.000001 s to 60 s, such as \"60s\"");
        assert_eq!(real(&TIME, 0.0, 300.0).allowed(), "a time from 0 s to 300 s, such as \"200s\"");
        assert_eq!(real(&RATIO, 0.0, 0.999).allowed(), "a number from 0 to 0.999");
        assert_eq!(crate::above(&RATIO, 1.0, 2.0).accept(&RawValue::Integer(1)), None);
    }

    #[test]
    fn a_word_that_is_a_number_of_toml_is_the_word() {
        let Kind::Real(bounds) = real(&TIME, 1e-6, 60.0) else { panic!("a real number") };
        let kind = Kind::ChoiceOrReal(&["inf"], bounds);
        for value in [RawValue::Float(f64::INFINITY), "inf".into()] {
            assert_eq!(kind.accept(&value), Some(Setting::Text("inf".into())), "{value}");
        }
        for value in [RawValue::Float(f64::NEG_INFINITY), RawValue::Float(f64::NAN)] {
            assert_eq!(kind.accept(&value), None, "{value}");
        }
        let without = Kind::ChoiceOrReal(&["off"], bounds);
        assert_eq!(without.accept(&RawValue::Float(f64::INFINITY)), None);
    }

    #[test]
    fn ascending_lists_ascend() {
        let kind = Kind::Ascending(Whole { min: 1, max: 9, unit: None }, 3);
        let list = |items: [i64; 3]| RawValue::List(items.map(RawValue::Integer).into());
        assert!(kind.accept(&list([2, 2, 9])).is_some());
        for wrong in [list([3, 2, 9]), list([0, 2, 9]), list([2, 5, 10]), RawValue::List(vec![])] {
            assert_eq!(kind.accept(&wrong), None, "{wrong:?}");
        }
    }
}
