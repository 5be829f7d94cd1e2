//! How a command fails.

use std::process::ExitCode;

/// Why a command ended without doing its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user can mend it: a configuration, an argument. Exit status 2.
    #[error("{0}")]
    User(String),
    /// The machine refused: a right, a kernel part, a socket. Exit status 1.
    #[error("{0}")]
    Operational(String),
}

impl Failure {
    /// An operational failure: what was tried, and what came of it.
    pub fn operational(what: impl std::fmt::Display, why: impl std::fmt::Display) -> Self {
        Self::Operational(format!("{what}: {why}"))
    }

    /// Prints the message on standard error and tells the exit status.
    #[must_use]
    pub fn report(&self) -> ExitCode {
        eprintln!("meshpaced: {self}");
        match self {
            Self::User(_) => ExitCode::from(2),
            Self::Operational(_) => ExitCode::FAILURE,
        }
    }
}
