//! Types and ranges of parameters.

use crate::Value;
use meshpace_units::quantity::Unit;

/// What a parameter's value must be.
#[derive(Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number in this range; with a unit also as text with a suffix.
    Whole {
        /// Least value.
        min: u64,
        /// Largest value.
        max: u64,
        /// Unit, if it has one.
        unit: Option<&'static Unit>,
    },
    /// A real number of a unit, plain in the base unit or as text with a suffix.
    Real {
        /// Least value.
        min: f64,
        /// Largest value.
        max: f64,
        /// The least value itself is excluded.
        above: bool,
        /// Unit; [`RATIO`](meshpace_units::quantity::RATIO) for a pure number.
        unit: &'static Unit,
    },
    /// That many whole numbers in this range, ascending.
    Ascending {
        /// How many.
        count: usize,
        /// Least value.
        min: u64,
        /// Largest value.
        max: u64,
    },
}

impl Kind {
    /// The value in its plain form (flag, word, whole number, real number in the base unit), if it is one of this kind.
    pub(super) fn check(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Self::Flag, Value::Bool(_)) => Some(value.clone()),
            (Self::Choice(words), Value::Text(word)) => words.contains(&word.as_str()).then(|| value.clone()),
            (Self::Whole { min, max, unit }, _) => {
                let number = match (value, unit) {
                    (Value::Integer(number), _) => u64::try_from(*number).ok()?,
                    (Value::Float(number), Some(_)) => whole(*number)?, // 250e3 is a float in TOML
                    (Value::Text(text), Some(unit)) => whole(unit.parse(text)?)?,
                    _ => return None,
                };
                let number = (min..=max).contains(&&number).then_some(number)?;
                i64::try_from(number).ok().map(Value::Integer)
            }
            (Self::Real { min, max, above, unit }, _) => {
                let number = match value {
                    Value::Integer(number) => *number as f64,
                    Value::Float(number) => *number,
                    Value::Text(text) => unit.parse(text)?,
                    _ => return None,
                };
                let inside = number <= *max && if *above { number > *min } else { number >= *min };
                inside.then_some(Value::Float(number))
            }
            (Self::Ascending { count, min, max }, Value::List(items)) => {
                let number = Self::Whole { min: *min, max: *max, unit: None };
                let items: Vec<Value> = items.iter().map(|item| number.check(item)).collect::<Option<_>>()?;
                let ascends = items.windows(2).all(|pair| match pair {
                    [Value::Integer(a), Value::Integer(b)] => a <= b,
                    _ => false,
                });
                (ascends && items.len() == *count).then_some(Value::List(items))
            }
            _ => None,
        }
    }

    /// What is accepted, in words.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Choice(words) => {
                words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
            }
            Self::Whole { min, max, unit: None } => format!("a whole number from {min} to {max}"),
            Self::Whole { min, max, unit: Some(unit) } => {
                let Unit { noun, base, example, .. } = unit;
                format!("{noun} from {min} to {max}, in {base} or as text such as {example}")
            }
            Self::Real { min, max, above, unit } => {
                let from = if *above { "above" } else { "from" };
                let range = format!("{} {from} {} to {}", unit.noun, unit.show(*min), unit.show(*max));
                if unit.base.is_empty() {
                    range
                } else {
                    format!("{range}, in {} or as text such as {}", unit.base, unit.example)
                }
            }
            Self::Ascending { count, min, max } => {
                format!("a list of {count} whole numbers from {min} to {max}, ascending")
            }
        }
    }
}

/// A real number that is a whole one.
fn whole(number: f64) -> Option<u64> {
    // 2^53: below it every whole double is exact.
    ((0.0..9_007_199_254_740_992.0).contains(&number) && number == number.trunc()).then_some(number as u64)
}
