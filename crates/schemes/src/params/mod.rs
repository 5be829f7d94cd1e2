//! Parameters of schemes as data: one row a parameter, read by the checker, the JSON Schema and the lists.

mod forms;
mod kind;
mod parts;
mod places;
mod rows;

pub use kind::Kind;

use crate::{Scheme, Value};

/// A parameter.
#[derive(Debug)]
pub struct Param {
    /// Its key in `[scheme.NAME]`.
    pub key: &'static str,
    /// Type, range and unit.
    pub kind: Kind,
    /// What it is, with its source.
    pub doc: &'static str,
    /// Its value; `None` where the scheme has no such part.
    get: fn(&Scheme) -> Option<Value>,
    /// Sets a value that `kind` has checked; the error is what would be allowed.
    set: fn(&mut Scheme, Value) -> Result<(), &'static str>,
}

/// A setting that is not acceptable: what was found and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: found {found}; allowed: {allowed}")]
pub struct ParamError {
    /// The parameter.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What would be accepted.
    pub allowed: String,
}

/// All parameters: those that choose parts, then those of the parts.
pub fn parameters() -> impl Iterator<Item = &'static Param> {
    parts::PARTS.iter().chain(&rows::ROWS)
}

/// The place of a key in the order in which settings are applied.
pub(crate) fn rank(key: &str) -> usize {
    parameters().position(|param| param.key == key).unwrap_or(usize::MAX)
}

impl Param {
    /// The parameter's value in `scheme`; `None` where the scheme has no part that it belongs to.
    #[must_use]
    pub fn value_in(&self, scheme: &Scheme) -> Option<Value> {
        (self.get)(scheme)
    }
}

impl Scheme {
    /// A parameter's value; `None` if this scheme has no such parameter.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        parameters().find(|param| param.key == key)?.value_in(self)
    }

    /// The parameters that this scheme has, with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Param, Value)> {
        parameters().filter_map(|param| Some((param, param.value_in(self)?)))
    }

    /// Sets a parameter. A key that chooses a part resets that part's own parameters, so set it first.
    ///
    /// # Errors
    /// [`ParamError`] if the scheme has no such parameter or the value is not one of it; the scheme is unchanged.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), ParamError> {
        let error = |found: String, allowed: String| ParamError { key: key.to_owned(), found, allowed };
        let Some(param) = parameters().find(|param| param.key == key && param.value_in(self).is_some())
        else {
            let keys: Vec<_> = self.parameters().map(|(param, _)| param.key).collect();
            let known = parameters().any(|param| param.key == key);
            let found = if known { "a parameter of other schemes" } else { "no such parameter" };
            return Err(error(
                found.to_owned(),
                format!("the parameters of {}: {}", self.name, keys.join(", ")),
            ));
        };
        let checked =
            param.kind.check(value).ok_or_else(|| error(value.to_string(), param.kind.allowed()))?;
        (param.set)(self, checked).map_err(|allowed| error(value.to_string(), allowed.to_owned()))
    }
}
