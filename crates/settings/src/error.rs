//! What is wrong with a file, and where.

use std::fmt;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of the file, counted from 1.
    Line(usize),
    /// A command-line option, as typed without its value: `--set radio.rate`, `--scheme`.
    Option(String),
}

/// A value's address: the file, the line or option that gave it, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name as the user gave it.
    pub file: Arc<str>,
    /// The line of the file, or the option that replaced it.
    pub origin: Origin,
    /// The dotted path of the key, arrays indexed from 0: `flow[1].rate`.
    pub key: String,
}

/// A file that cannot be used: one message that names file, line, key, what was found and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: found {found}; allowed: {allowed}")]
pub struct FileError {
    /// Where the offending value stands; for something missing, where it was expected.
    pub at: Box<Location>,
    /// What was found there.
    pub found: String,
    /// What would have been accepted.
    pub allowed: String,
}

/// A name in a file and where it stands.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub at: Location,
}

impl Location {
    /// The error that the value here is not acceptable.
    ///
    /// For the interpreters of values that this crate only carries.
    #[must_use]
    pub fn error(&self, found: impl Into<String>, allowed: impl Into<String>) -> FileError {
        FileError { at: Box::new(self.clone()), found: found.into(), allowed: allowed.into() }
    }

    /// The heading that is allowed for a list of tables: the whole path, without numbers.
    pub(crate) fn tables(&self) -> String {
        let names = self.key.split('.').map(|name| name.split('[').next().unwrap_or_default());
        format!("tables [[{}]]", names.collect::<Vec<_>>().join("."))
    }
}

impl fmt::Display for Location {
    /// `chain.toml:12: radio.rate`, or `chain.toml: --set radio.rate` for an override of just this key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, origin, key } = self;
        match origin {
            Origin::Line(line) => write!(f, "{file}:{line}: {key}"),
            // The option already names the key; naming it twice would only lengthen the message.
            Origin::Option(option) if same_key(option, key) => write!(f, "{file}: {option}"),
            Origin::Option(option) => write!(f, "{file}: {option}: {key}"),
        }
    }
}

/// True if `--set flow.0.rate` names the key `flow[0].rate`.
fn same_key(option: &str, key: &str) -> bool {
    let named = option.rsplit(' ').next().unwrap_or_default();
    let plain = |path: &str| path.replace('[', ".").replace(']', "");
    plain(named) == plain(key)
}
