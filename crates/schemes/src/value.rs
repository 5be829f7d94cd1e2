//! Values of parameters, as a scenario file or a command line gives them.

use meshpace_settings::RawValue;
use std::fmt;

/// Longest piece of a user's text that a message repeats, in characters.
const SHOWN: usize = 60;

/// A value without its meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A real number; may be NaN or infinite.
    Float(f64),
    /// A string.
    Text(String),
    /// A list of values.
    List(Vec<Value>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&RawValue> for Value {
    fn from(raw: &RawValue) -> Self {
        match raw {
            RawValue::Bool(flag) => Self::Bool(*flag),
            RawValue::Integer(number) => Self::Integer(*number),
            RawValue::Float(number) => Self::Float(*number),
            RawValue::Text(text) => Self::Text(text.clone()),
            RawValue::List(items) => Self::List(items.iter().map(Self::from).collect()),
        }
    }
}

impl fmt::Display for Value {
    /// As TOML, long text cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) => {
                let cut = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
                let shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
                write!(f, "\"{shown}{cut}\"")
            }
            Self::List(items) => {
                f.write_str("[")?;
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}
