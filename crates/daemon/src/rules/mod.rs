//! The firewall rules that hand packets to the daemon: TCP of both IP versions, at the FORWARD hook, with bypass, so
//! that packets pass untouched while no daemon listens.
//!
//! nft where the kernel has its queue expression, else iptables on nftables, else the old iptables (a kernel may have
//! any of them). Everything of ours is in a table or chain of its own called `meshpaced`, or bears the comment
//! `meshpaced`: it is found again after a crash, replaced in one transaction, and removed without touching anybody
//! else's rules.

mod nft;
mod plan;
mod xtables;

pub use nft::nft_can_queue;
pub use plan::{Match, Plan, lock_of};

use crate::Failure;
use crate::tool::is_installed;
use std::fmt;
use std::path::Path;
use xtables::{Family, Xtables};

/// Name of the table, of the chain, and of the comment on rules elsewhere.
const TAG: &str = "meshpaced";

/// A way to make the rules, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A table of nftables.
    Nft,
    /// iptables on nftables.
    IptablesNft,
    /// The old iptables.
    IptablesLegacy,
    /// An iptables without a second name, from before there were two.
    Iptables,
}

/// Rules in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// By which way.
    pub backend: Backend,
    /// Why the ways before it did not work.
    pub refused: Vec<String>,
    /// What was found of an earlier daemon and replaced or removed.
    pub replaced: Vec<String>,
}

impl Backend {
    /// The ways whose programs are installed. The nameless iptables is one of the two others where those exist.
    fn installed() -> impl Iterator<Item = Self> {
        let named = [Self::Nft, Self::IptablesNft, Self::IptablesLegacy];
        let named: Vec<_> = named.into_iter().filter(|backend| is_installed(backend.name())).collect();
        let nameless =
            named.iter().all(|backend| *backend == Self::Nft) && is_installed(Self::Iptables.name());
        named.into_iter().chain(nameless.then_some(Self::Iptables))
    }

    /// As commands call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nft => "nft",
            Self::IptablesNft => "iptables-nft",
            Self::IptablesLegacy => "iptables-legacy",
            Self::Iptables => "iptables",
        }
    }

    /// Installs or replaces the rules in one transaction an IP version; true if there were some.
    fn install(self, plan: &Plan) -> Result<bool, String> {
        let Some(xtables) = self.xtables(plan.lock()) else { return nft::install(plan) };
        let mut replaced = false;
        for family in Family::present() {
            match xtables.install(family, plan) {
                Ok(found) => replaced |= found,
                Err(why) => {
                    // Half a set of rules would pace one IP version only, without saying so.
                    let undone = xtables.remove(Family::V4);
                    return Err(undone.err().map_or(why.clone(), |more| format!("{why}; {more}")));
                }
            }
        }
        Ok(replaced)
    }

    /// Removes whatever is ours; what it was, in words.
    fn remove(self, lock: &Path) -> Result<Vec<String>, String> {
        let Some(xtables) = self.xtables(lock) else { return nft::remove() };
        let mut removed = Vec::new();
        for family in Family::present() {
            removed.extend(xtables.remove(family)?);
        }
        Ok(removed)
    }

    /// `Ok` if exactly the rules of the plan are in force.
    fn verify(self, plan: &Plan) -> Result<(), String> {
        let Some(xtables) = self.xtables(plan.lock()) else { return nft::verify(plan) };
        Family::present().try_for_each(|family| xtables.verify(family, plan))
    }

    fn xtables(self, lock: &Path) -> Option<Xtables> {
        let variant = match self {
            Self::Nft => return None,
            Self::IptablesNft => "-nft",
            Self::IptablesLegacy => "-legacy",
            Self::Iptables => "",
        };
        Some(Xtables::new(variant, lock))
    }
}

/// Puts the plan in force, by the first way that works. Rules of an earlier daemon are replaced without a moment without
/// any; those that it made by another way are removed afterwards.
///
/// # Errors
/// [`Failure::Operational`] with the reasons of all ways.
pub fn install(plan: &Plan) -> Result<Installed, Failure> {
    let mut refused = Vec::new();
    for backend in Backend::installed() {
        match backend.install(plan) {
            Ok(found) => {
                let mut replaced: Vec<_> =
                    found.then(|| format!("{}: earlier rules", backend.name())).into_iter().collect();
                for other in Backend::installed().filter(|other| *other != backend) {
                    let removed = other.remove(plan.lock());
                    replaced
                        .extend(removed.map_err(|why| Failure::operational("removing earlier rules", why))?);
                }
                return Ok(Installed { backend, refused, replaced });
            }
            Err(why) => refused.push(format!("{}: {why}", backend.name())),
        }
    }
    let why = if refused.is_empty() {
        "neither nft nor iptables is installed".to_owned()
    } else {
        refused.join(" | ")
    };
    Err(Failure::operational("no way to queue packets for the daemon", why))
}

/// Tells whether the rules that were installed are still in force: another program may have reloaded the firewall.
///
/// # Errors
/// What is missing.
pub fn verify(plan: &Plan, installed: &Installed) -> Result<(), String> {
    installed.backend.verify(plan)
}

/// What was removed where rules cannot be listed: nothing, since a way that the kernel does not have made none; unless it
/// is this process that may not look.
fn nothing_unless_forbidden(why: String) -> Result<Vec<String>, String> {
    let forbidden = ["Operation not permitted", "Permission denied"].iter().any(|words| why.contains(words));
    if forbidden { Err(why) } else { Ok(Vec::new()) }
}

/// Whether exactly the plan's rules are in force, by whatever way they were made; `None` if no way is installed.
#[must_use]
pub fn in_force(plan: &Plan) -> Option<bool> {
    let mut found = None;
    for backend in Backend::installed() {
        *found.get_or_insert(false) |= backend.verify(plan).is_ok();
    }
    found
}

/// Removes all rules that any daemon of ours made, by whatever way; says what it removed. `lock` is as in [`Plan`].
///
/// # Errors
/// [`Failure::Operational`] if something of ours is there and cannot be removed.
pub fn remove(lock: &Path) -> Result<Vec<String>, Failure> {
    let mut removed = Vec::new();
    for backend in Backend::installed() {
        let more = backend.remove(lock).map_err(|why| Failure::operational(backend.name(), why))?;
        removed.extend(more);
    }
    Ok(removed)
}

impl fmt::Display for Installed {
    /// One line: the way, and why not the ones before.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rules by {}", self.backend.name())?;
        if !self.refused.is_empty() {
            write!(f, " (not by {})", self.refused.join(", not by "))?;
        }
        if !self.replaced.is_empty() {
            write!(f, "; replaced {}", self.replaced.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
