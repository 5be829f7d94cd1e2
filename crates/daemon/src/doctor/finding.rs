//! What the doctor says.

use serde::Serialize;
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Looked at and good.
    Good,
    /// Worth knowing.
    Note,
    /// Something works less well than it could.
    Warning,
    /// Pacing will not work, or harm, until it is mended.
    Serious,
}

/// One thing looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The subject of the check, in a word or two.
    pub subject: &'static str,
    /// What was found, and why it matters.
    pub found: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Finding {
    /// Looked at and good.
    #[must_use]
    pub fn good(subject: &'static str, found: impl Into<String>) -> Self {
        Self { severity: Severity::Good, subject, found: found.into(), remedy: None }
    }

    /// Worth knowing.
    #[must_use]
    pub fn note(subject: &'static str, found: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::good(subject, found) }
    }

    /// Something works less well than it could.
    #[must_use]
    pub fn warning(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, remedy: Some(remedy.into()), ..Self::good(subject, found) }
    }

    /// Pacing will not work.
    #[must_use]
    pub fn serious(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity: Severity::Serious, ..Self::warning(subject, found, remedy) }
    }
}

impl Severity {
    /// In lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Serious => "serious",
        }
    }
}

impl fmt::Display for Finding {
    /// A line, and an indented one for the remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8} {}: {}", self.severity.name(), self.subject, self.found)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, "\n         -> {remedy}"))
    }
}
