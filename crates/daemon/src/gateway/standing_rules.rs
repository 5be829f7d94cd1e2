//! The firewall rules while the gateway runs: they follow the configuration in force, and are put back if somebody else's
//! reload took them away.

use crate::Failure;
use crate::config::{Config, Datapath};
use crate::lease::Ports;
use crate::rules::{self, Installed, Plan};
use meshpace_units::{Instant, Span};

/// Time between two looks at the kernel's rules.
const VERIFY: Span = Span::from_secs(30);

/// See the module's description.
#[derive(Debug)]
pub struct StandingRules {
    ports: Option<Ports>,
    in_force: Option<(Plan, Installed)>,
    verified: Instant,
}

impl StandingRules {
    /// No rules yet. The lease is renewed from these ports; `None`: by nobody, and rules are made without.
    pub const fn none(ports: Option<Ports>) -> Self {
        Self { ports, in_force: None, verified: Instant::ZERO }
    }

    /// Makes the rules those of the configuration: none if nothing is to be more than forwarded, or the
    /// kernel does it. True if they were made anew: then the lease begins with the next sign of life.
    ///
    /// # Errors
    /// [`Failure::Operational`] with the reasons of all ways to make rules.
    pub fn follow(&mut self, now: Instant, config: &Config) -> Result<bool, Failure> {
        if config.is_off() || config.datapath != Datapath::Nfqueue {
            return if self.in_force.is_some() { self.remove(config).map(|()| false) } else { Ok(false) };
        }
        let plan = Plan::of(config).leased(self.ports);
        if self.in_force.as_ref().is_none_or(|(known, _)| *known != plan) {
            let installed = rules::install(&plan)?;
            eprintln!("meshpaced: {installed}");
            self.in_force = Some((plan, installed));
            self.verified = now;
            return Ok(true);
        }
        Ok(false)
    }

    /// Looks from time to time whether they are still there, and puts them back; true if it had to.
    ///
    /// # Errors
    /// As [`StandingRules::follow`].
    pub fn verify(&mut self, now: Instant, config: &Config) -> Result<bool, Failure> {
        if now.saturating_since(self.verified) < VERIFY {
            return Ok(false);
        }
        self.verified = now;
        let Some((plan, installed)) = &self.in_force else { return Ok(false) };
        if let Err(missing) = rules::verify(plan, installed) {
            eprintln!("meshpaced: the rules are not as they were made ({missing}): making them again");
            self.in_force = None;
            return self.follow(now, config);
        }
        Ok(false)
    }

    /// Removes them, by whatever way they were made.
    ///
    /// # Errors
    /// [`Failure::Operational`] if something of ours is there and cannot be removed.
    pub fn remove(&mut self, config: &Config) -> Result<(), Failure> {
        self.in_force = None;
        rules::remove(&rules::lock_of(config)).map(drop)
    }
}
