//! Why rules could not be made, looked at or removed: for now, or for good.

use crate::Failure;
use crate::tool::ToolError;

/// See the module's description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Another program is changing rules, or the machine is short of something: another try will do.
    #[error("{0}")]
    Passing(String),
    /// The kernel or a program refuses, and will refuse again.
    #[error("{0}")]
    Lasting(String),
}

/// What nft and iptables say (in English: see [`crate::tool`]) when another try may fare better: a lock that is taken
/// (iptables/xshared.c), EAGAIN, EBUSY, EINTR and ENOMEM in strerror(3)'s words.
const PASSING: [&str; 6] = [
    "xtables lock",
    "Resource temporarily unavailable",
    "Device or resource busy",
    "Resource busy",
    "Interrupted system call",
    "Cannot allocate memory",
];

impl Trouble {
    /// What a program said.
    pub(super) fn of(error: ToolError, in_words: impl FnOnce(&str) -> String) -> Self {
        match error {
            ToolError::TimedOut(_) => Self::Passing(error.to_string()),
            ToolError::Refused { message, .. } if PASSING.iter().any(|words| message.contains(words)) => {
                Self::Passing(in_words(&message))
            }
            ToolError::Refused { message, .. } => Self::Lasting(in_words(&message)),
            ToolError::Missing(_) | ToolError::Broken(..) => Self::Lasting(error.to_string()),
        }
    }

    /// It in words.
    pub fn why(&self) -> &str {
        let (Self::Passing(why) | Self::Lasting(why)) = self;
        why
    }

    /// Both in one; it lasts if either does.
    pub(super) fn and(&self, other: &Self) -> Self {
        let why = format!("{}; {}", self.why(), other.why());
        match (self, other) {
            (Self::Passing(_), Self::Passing(_)) => Self::Passing(why),
            _ => Self::Lasting(why),
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::operational("no way to queue packets for the daemon", trouble.why())
    }
}
