//! The firewall rules while the gateway runs: they follow the configuration in force, and are put back if somebody else's
//! reload took them away. What cannot be done is tried again, ever less often; packets pass meanwhile.

use crate::Failure;
use crate::config::{Config, Datapath};
use crate::events::{Event, Sink};
use crate::lease::Ports;
use crate::rules::{self, Installed, Owner, Plan, Trouble};
use meshpace_units::{Instant, Span};

/// Time between two looks at the kernel's rules.
const VERIFY: Span = Span::from_secs(10);
/// Time to the first new attempt; each further one comes after twice the time of the one before.
const SOON: Span = Span::from_secs(1);
/// The most time between two attempts.
const SELDOM: Span = Span::from_secs(30);

/// See the module's description.
#[derive(Debug)]
pub struct StandingRules {
    ports: Option<Ports>,
    events: Sink,
    in_force: Option<Plan>,
    /// How they were made last: this machine can have them so.
    made: Option<Installed>,
    verified: Instant,
    /// When to try again, and the time after that if it fails again.
    postponed: Option<(Instant, Span)>,
}

impl StandingRules {
    /// No rules yet. The lease is renewed from these ports; `None`: by nobody, and rules are made without.
    pub const fn none(ports: Option<Ports>, events: Sink) -> Self {
        Self { ports, events, in_force: None, made: None, verified: Instant::ZERO, postponed: None }
    }

    /// Makes the rules those of the configuration: none if nothing is to be more than forwarded, or the
    /// kernel does it. True if they were made anew: then the lease begins with the next sign of life.
    ///
    /// # Errors
    /// [`Failure::Operational`] with the reasons of all ways to make rules, if this machine has never had any and another try
    /// is of no use.
    pub fn follow(&mut self, now: Instant, config: &Config) -> Result<bool, Failure> {
        if self.postponed.is_some_and(|(until, _)| now < until) {
            return Ok(false);
        }
        if config.is_off() || config.datapath != Datapath::Nfqueue {
            if self.in_force.is_some()
                && let Err(why) = self.remove(config)
            {
                self.postpone(now, &why.to_string());
            }
            return Ok(false);
        }
        let plan = Plan::of(config).leased(self.ports);
        if self.in_force.as_ref() == Some(&plan) {
            return Ok(false);
        }
        match rules::install(&plan, self.made.as_ref()) {
            Ok(installed) => {
                let words = installed.to_string();
                // Each block of a guard or of a trial has another mode.
                let news = self.in_force.as_ref().is_none_or(|before| !before.is_but_for_the_mode(&plan))
                    || self.made.as_ref().is_none_or(|made| made.differs(&installed));
                if news {
                    eprintln!("meshpaced: {words}");
                }
                self.events.emit(Event::RulesMade { message: words });
                (self.in_force, self.verified) = (Some(plan), now);
                (self.made, self.postponed) = (Some(installed), None);
                Ok(true)
            }
            Err(trouble @ Trouble::Lasting(_)) if self.made.is_none() => Err(trouble.into()),
            Err(trouble) => {
                self.postpone(now, trouble.why());
                Ok(false)
            }
        }
    }

    /// Looks from time to time whether they are still there, and puts them back; true if it had to and did.
    ///
    /// # Errors
    /// As [`StandingRules::follow`].
    pub fn verify(&mut self, now: Instant, config: &Config) -> Result<bool, Failure> {
        if now.saturating_since(self.verified) < VERIFY {
            return Ok(false);
        }
        self.verified = now;
        let (Some(plan), Some(made)) = (&self.in_force, &self.made) else { return Ok(false) };
        match rules::verify(plan, made) {
            Ok(()) => Ok(false),
            // Another program is busy with the firewall: the outcome is seen at the next look.
            Err(Trouble::Passing(why)) => {
                self.failed(&format!("cannot be looked at: {why}"));
                Ok(false)
            }
            Err(Trouble::Lasting(missing)) => {
                eprintln!("meshpaced: the rules are not as they were made ({missing}): making them again");
                self.events.emit(Event::RulesChanged { message: missing });
                (self.in_force, self.postponed) = (None, None);
                self.follow(now, config)
            }
        }
    }

    /// Removes them, by whatever way they were made.
    ///
    /// # Errors
    /// [`Failure::Operational`] if something of ours is there and cannot be removed.
    pub fn remove(&mut self, config: &Config) -> Result<(), Failure> {
        rules::remove(Owner::Gateway, &rules::lock_of(config))?;
        (self.in_force, self.postponed) = (None, None);
        Ok(())
    }

    fn postpone(&mut self, now: Instant, why: &str) {
        let wait = self.postponed.map_or(SOON, |(_, wait)| wait);
        self.postponed = Some((now + wait, (wait * 2).min(SELDOM)));
        self.failed(&format!("will be tried again in {} s: {why}", wait.as_secs_f64()));
    }

    fn failed(&self, message: &str) {
        eprintln!("meshpaced: rules: {message}");
        self.events.emit(Event::RulesFailed { message: message.to_owned() });
    }
}
