//! The firewall rules that hand packets to the daemon, at the FORWARD hook. They take TCP of both IP versions; where hosts are shaped,
//! everything that goes into the mesh; where the rate is found, also everything that comes from there. With bypass, packets pass untouched
//! while no daemon listens.
//!
//! They lead to the queue only while the data thread gets on ([`crate::lease`]): bypass alone would leave packets to a
//! thread that hangs.
//!
//! They stand behind the firewall's filter: what it drops takes no place in the flow table. What the connection tracker
//! calls invalid goes on as it came. Where the kernel lacks a part for that, the next best [`Form`] is taken.
//!
//! nft where the kernel has its queue expression, else iptables on nftables, else the old iptables (a kernel may have
//! any of them). Everything of ours is in a table or chain of its own called `meshpaced` (the edge's: `meshpaced_edge`), or
//! bears that as its comment: it is found again after a crash, replaced in one transaction, and removed without touching anybody
//! else's rules.

mod form;
mod nft;
mod plan;
mod trouble;
mod xtables;

pub use form::{Form, Hook};
pub use nft::nft_can_queue;
pub use plan::{Match, Owner, Plan, lock_beside, lock_of};
pub use trouble::Trouble;

use crate::Failure;
use crate::config::Config;
use crate::tool::is_installed;
use std::fmt;
use std::path::Path;
use xtables::{Family, Xtables};

/// Packets that the gateway sends again bear this mark (SO_MARK), by which the rules know them. One bit, high up: rules for routing
/// by mark, which look at low bits or at whole small numbers, take it for no mark.
pub const REPAIR_MARK: u32 = 0x4000_0000;

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
    /// Where they stand and what they spare.
    pub form: Form,
    /// What the kernel refused of a better form, and why.
    pub lacking: Option<String>,
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

    /// Installs or replaces the rules in one transaction an IP version, in the best of the `wanted` forms that the kernel takes.
    fn install(self, plan: &Plan, wanted: impl Fn(&Form) -> bool) -> Result<Installed, Trouble> {
        let (mut best, mut refused) = (None, None);
        let possible = |form: &Form| (!form.leased || plan.ports().is_some()) && wanted(form);
        for form in self.forms(plan).filter(possible) {
            match self.install_as(plan, form) {
                Ok(found) => {
                    let replaced =
                        found.then(|| format!("{}: earlier rules", self.name())).into_iter().collect();
                    let installed =
                        Installed { backend: self, form, lacking: best, refused: Vec::new(), replaced };
                    return Ok(installed);
                }
                // Another form would fare no better, or would be taken for want of patience.
                Err(trouble @ Trouble::Passing(_)) => return Err(trouble),
                Err(Trouble::Lasting(why)) => {
                    best.get_or_insert_with(|| format!("{form} refused: {why}"));
                    refused = Some(why);
                }
            }
        }
        // The plainest form's reason is the one that keeps all of them from being made.
        Err(Trouble::Lasting(refused.unwrap_or_else(|| "no form of the rules is possible".to_owned())))
    }

    /// The forms that it knows, the best first.
    fn forms(self, plan: &Plan) -> impl Iterator<Item = Form> + use<> {
        let (owner, sampled) = (plan.owner(), plan.sample().is_some());
        // A chain of nftables has any priority; only iptables has tables that may be missing.
        let forms = Form::all().filter(move |form| self != Self::Nft || form.hook == Hook::AfterFilter);
        // An edge sends nothing again.
        let forms = forms.filter(move |form| owner == Owner::Gateway || !form.repairs_untracked);
        forms.filter(move |form| sampled || !form.samples)
    }

    /// Installs or replaces the rules; true if there were some.
    fn install_as(self, plan: &Plan, form: Form) -> Result<bool, Trouble> {
        let Some(xtables) = self.xtables(plan.lock()) else { return nft::install(plan, form) };
        let mut replaced = false;
        for family in Family::present() {
            match xtables.install(family, plan, form) {
                Ok(found) => replaced |= found,
                Err(why) => {
                    // Half a set of rules would pace one IP version only, without saying so.
                    return Err(match xtables.remove(plan.owner(), Family::V4) {
                        Ok(_) => why,
                        Err(more) => why.and(&more),
                    });
                }
            }
        }
        Ok(replaced)
    }

    /// Removes whatever is ours; what it was, in words.
    fn remove(self, owner: Owner, lock: &Path) -> Result<Vec<String>, Trouble> {
        let Some(xtables) = self.xtables(lock) else { return nft::remove(owner) };
        let mut removed = Vec::new();
        for family in Family::present() {
            removed.extend(xtables.remove(owner, family)?);
        }
        Ok(removed)
    }

    /// `Ok` if exactly the rules of the plan are in force, in that form.
    fn verify(self, plan: &Plan, form: Form) -> Result<(), Trouble> {
        let Some(xtables) = self.xtables(plan.lock()) else { return nft::verify(plan, form) };
        Family::present().try_for_each(|family| xtables.verify(family, plan, form))
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

/// Puts the plan in force. Rules of an earlier daemon are replaced without a moment without any; those that it made by another way are
/// removed afterwards.
///
/// Rules that this process made are changed by the way and in the form of these `earlier` ones, so that no packet that waits in the queue
/// is lost. The kernel empties all queues of a namespace, and drops what waits in them, whenever a chain at a hook goes: also if a transaction
/// is called off that would have made one, as a try of a way that this kernel does not have (Linux 6.1: `nf_tables_abort`, net/netfilter/nf_tables_api.c;
/// `__nf_unregister_net_hook`, net/netfilter/core.c; `nfqnl_nf_hook_drop`, net/netfilter/nfnetlink_queue.c). Without earlier rules, or if
/// that fails, the first way that works is taken.
///
/// # Errors
/// [`Trouble::Passing`] if a way could not be tried now, so that a worse one is not taken for it; [`Trouble::Lasting`] with
/// the reasons of all ways.
pub fn install(plan: &Plan, earlier: Option<&Installed>) -> Result<Installed, Trouble> {
    let passing = |backend: Backend, why| Trouble::Passing(format!("{}: {why}", backend.name()));
    if let Some(earlier) = earlier {
        let alike = |form: &Form| Form { samples: earlier.form.samples, ..*form } == earlier.form;
        match earlier.backend.install(plan, alike) {
            Ok(installed) => {
                let lacking = installed.lacking.or_else(|| earlier.lacking.clone());
                return Ok(Installed { lacking, refused: earlier.refused.clone(), ..installed });
            }
            Err(Trouble::Passing(why)) => return Err(passing(earlier.backend, why)),
            Err(Trouble::Lasting(_)) => {}
        }
    }
    let mut refused = Vec::new();
    for backend in Backend::installed() {
        match backend.install(plan, |_| true) {
            Ok(mut installed) => {
                for other in Backend::installed().filter(|other| *other != backend) {
                    installed.replaced.extend(other.remove(plan.owner(), plan.lock())?);
                }
                installed.refused = refused;
                return Ok(installed);
            }
            Err(Trouble::Passing(why)) => return Err(passing(backend, why)),
            Err(Trouble::Lasting(why)) => refused.push(format!("{}: {why}", backend.name())),
        }
    }
    Err(Trouble::Lasting(if refused.is_empty() {
        "neither nft nor iptables is installed".to_owned()
    } else {
        refused.join(" | ")
    }))
}

/// Tells whether the rules that were installed are still in force: another program may have reloaded the firewall.
///
/// # Errors
/// [`Trouble::Lasting`] with what is missing; [`Trouble::Passing`] if the answer is not known now.
pub fn verify(plan: &Plan, installed: &Installed) -> Result<(), Trouble> {
    installed.backend.verify(plan, installed.form)
}

/// The rules removed where rules cannot be listed. If the kernel lacks a way to make rules, it made none, and nothing was
/// removed. It is an error if this process may not list them, or cannot just now.
fn nothing_unless_forbidden(trouble: Trouble) -> Result<Vec<String>, Trouble> {
    let forbidden =
        |why: &str| ["Operation not permitted", "Permission denied"].iter().any(|words| why.contains(words));
    match trouble {
        Trouble::Lasting(why) if !forbidden(&why) => Ok(Vec::new()),
        other => Err(other),
    }
}

/// What was found of the plan's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// They are in force, in this form.
    InForce(Form),
    /// They are, but other rules stand behind the jump to them, which accepted packets do not see.
    NotLast,
    /// They are not there, or not as planned.
    Otherwise,
}

/// Whether exactly the plan's rules are in force, by whatever way they were made; `None` if no way is installed.
#[must_use]
pub fn in_force(plan: &Plan) -> Option<Found> {
    let mut backends = Backend::installed().peekable();
    backends.peek()?;
    let mut found = Found::Otherwise;
    for (backend, form) in backends.flat_map(|backend| backend.forms(plan).map(move |form| (backend, form))) {
        match backend.verify(plan, form) {
            Ok(()) => return Some(Found::InForce(form)),
            Err(why) if why.why().ends_with(xtables::NOT_LAST) => found = Found::NotLast,
            Err(_) => {}
        }
    }
    Some(found)
}

/// The same of a gateway's rules, whatever mode was set at run time: that decides whether hosts are shaped, and the file does not tell.
#[must_use]
pub fn in_force_by_any_mode(config: &Config) -> Option<Found> {
    let plan = Plan::of(config);
    let found = in_force(&plan)?;
    let sampled = plan.clone().with_the_other_sampling(config);
    let shaped = config.hosts.shaper.map(|_| plan.clone().with_the_other_shaping(config));
    let both = shaped.clone().map(|shaped| shaped.with_the_other_sampling(config));
    let others = std::iter::once(sampled).chain(shaped).chain(both).filter(|other| *other != plan);
    let stands = |found: &Found| matches!(found, Found::InForce(_));
    if stands(&found) {
        return Some(found);
    }
    others.filter_map(|other| in_force(&other)).find(stands).or(Some(found))
}

/// Removes all rules that any daemon of this kind made, by whatever way; says what it removed. `lock` is as in [`Plan`].
///
/// # Errors
/// [`Failure::Operational`] if something of ours is there and cannot be removed.
pub fn remove(owner: Owner, lock: &Path) -> Result<Vec<String>, Failure> {
    let mut removed = Vec::new();
    for backend in Backend::installed() {
        let more = backend.remove(owner, lock).map_err(|why| Failure::operational(backend.name(), why))?;
        removed.extend(more);
    }
    Ok(removed)
}

impl Installed {
    /// True if the other rules were made by another way, or stand elsewhere or spare other packets, but for a sample.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let whole = |made: &Self| Form { samples: false, ..made.form };
        self.backend != other.backend || whole(self) != whole(other)
    }
}

impl fmt::Display for Installed {
    /// One line: the way, and why not the ones before.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rules by {}, {}", self.backend.name(), self.form)?;
        if let Some(lacking) = &self.lacking {
            write!(f, " ({lacking})")?;
        }
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
