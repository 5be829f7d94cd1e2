//! The packets for one egress that are held back, and when the first of them may move.

use super::estimates::Estimates;
use super::free_timer::FreeTimer;
use super::options::{Core, Idle, Mixed, Options};
use crate::packet::Handle;
use meshpace_units::{Instant, Span};
use std::collections::VecDeque;

/// A packet on its way through the node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passenger {
    pub packet: Handle,
    /// Counts what came to the node.
    pub number: u64,
    /// When it came: T_a.
    pub arrived: Instant,
    /// It entered the mesh here; else it came by radio.
    pub own: bool,
    /// Hops to its egress from here.
    pub hops: u32,
    /// When it left the Input Queue.
    pub moved: Instant,
}

/// An Input Queue with its pacing timer.
#[derive(Debug, Default)]
pub(super) struct InputQueue {
    held: VecDeque<Passenger>,
    /// Own packets among them.
    own: usize,
    /// When a packet moved last.
    last: Option<Instant>,
    /// When the head may move.
    due: Option<Instant>,
    timer: FreeTimer,
    /// By whose rule the timer runs while nothing waits: own or relayed, and the hops.
    latest: Option<(bool, u32)>,
    /// Since when nothing has waited.
    empty_since: Option<Instant>,
}

impl InputQueue {
    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The packet that came last.
    pub fn newest(&self) -> Option<&Passenger> {
        self.held.back()
    }

    /// A packet is to wait. Its time is set if it is the first.
    pub fn push(&mut self, now: Instant, passenger: Passenger, estimates: &mut Estimates, options: &Options) {
        if self.is_empty() {
            self.idle(now, estimates, options);
            let reset = options.core == Core::SpacingClamped
                && matches!((self.empty_since, estimates.next), (Some(since), Some(next)) if now - since > next);
            if reset {
                estimates.delay = Span::ZERO;
            }
        }
        self.own += usize::from(passenger.own);
        self.latest = Some((passenger.own, passenger.hops));
        self.held.push_back(passenger);
        if self.held.len() == 1 {
            self.arm(now, estimates, options);
        }
    }

    /// The head, if it may move now. The next one's time is set.
    pub fn pop_due(&mut self, now: Instant, estimates: &Estimates, options: &Options) -> Option<Passenger> {
        if self.due.is_none_or(|due| due > now) {
            return None;
        }
        let head = self.held.front().map(|head| (head.own, head.hops));
        if let Some(spacing) = self.spacing(estimates, options, head) {
            self.timer.start(now, spacing);
        }
        let mut passenger = self.held.pop_front()?;
        self.own -= usize::from(passenger.own);
        passenger.moved = now;
        self.last = Some(now);
        self.after_removal(now, estimates, options);
        Some(passenger)
    }

    /// Takes the packet out that came last.
    pub fn pop_newest(
        &mut self,
        now: Instant,
        estimates: &Estimates,
        options: &Options,
    ) -> Option<Passenger> {
        let passenger = self.held.pop_back()?;
        self.own -= usize::from(passenger.own);
        if self.held.is_empty() {
            self.after_removal(now, estimates, options);
        }
        Some(passenger)
    }

    /// Takes out those of which `wanted` is true.
    pub fn purge(
        &mut self,
        now: Instant,
        estimates: &Estimates,
        options: &Options,
        wanted: &mut dyn FnMut(&Passenger) -> bool,
    ) {
        let head = self.held.front().map(|passenger| passenger.number);
        let was = self.held.len();
        self.held.retain(|passenger| !wanted(passenger));
        if self.held.len() == was {
            return;
        }
        self.own = self.held.iter().filter(|passenger| passenger.own).count();
        if self.held.front().map(|passenger| passenger.number) != head {
            self.after_removal(now, estimates, options);
        }
    }

    /// The estimates are about to change, or have: what the timer did under the old ones is settled.
    pub fn idle(&mut self, now: Instant, estimates: &Estimates, options: &Options) {
        if self.is_empty() {
            if let Some(spacing) = self.spacing(estimates, options, self.latest) {
                self.timer.idle_until(now, spacing);
            }
        }
    }

    /// The waiting head's time is computed anew.
    pub fn arm_again(&mut self, now: Instant, estimates: &Estimates, options: &Options) {
        if !self.is_empty() {
            let head = self.held.front().map(|head| (head.own, head.hops));
            if let Some(spacing) = self.spacing(estimates, options, head) {
                self.timer.change(now, spacing);
            }
            self.arm(now, estimates, options);
        }
    }

    fn after_removal(&mut self, now: Instant, estimates: &Estimates, options: &Options) {
        if self.is_empty() {
            self.due = None;
            self.empty_since = Some(now);
        } else {
            self.arm(now, estimates, options);
        }
    }

    /// True if the head goes by the rule of own packets (`true`) or of relayed ones.
    fn goes_by(&self, own_rule: bool, head: &Passenger, options: &Options) -> bool {
        let both = options.mixed == Mixed::Later && self.own > 0 && self.own < self.held.len();
        both || head.own == own_rule
    }

    /// Sets the time of the packet that has become the head.
    fn arm(&mut self, now: Instant, estimates: &Estimates, options: &Options) {
        let Some(head) = self.held.front() else { return };
        let mut due = now;
        if let Some(next) = estimates.next {
            for own_rule in [true, false] {
                if !self.goes_by(own_rule, head, options) {
                    continue;
                }
                let at = if !own_rule && !options.core_spaces() {
                    Some(head.arrived + estimates.delay)
                } else if runs_free(own_rule, options) {
                    self.timer.expiry()
                } else {
                    let spacing =
                        if own_rule { next * u64::from(options.k.min(head.hops)) } else { estimates.delay };
                    self.last.map(|last| last + spacing)
                };
                due = due.max(at.unwrap_or(now));
            }
        }
        self.due = Some(due);
    }

    /// The time between two expiries of the timer that never stops; `None` if there is none. `of`: by whose rule, if
    /// not both kinds wait.
    fn spacing(&self, estimates: &Estimates, options: &Options, of: Option<(bool, u32)>) -> Option<Span> {
        let (own, hops) = of?;
        let next = estimates.next?;
        let both = options.mixed == Mixed::Later && self.own > 0 && self.own < self.held.len();
        let ingress = || (own || both).then(|| next * u64::from(options.k.min(hops)));
        let core = || (!own || both).then_some(estimates.delay);
        let ingress = runs_free(true, options).then(ingress).flatten();
        let core = runs_free(false, options).then(core).flatten();
        ingress.max(core)
    }
}

/// Whether the timer of own (`true`) or of relayed packets never stops.
fn runs_free(own_rule: bool, options: &Options) -> bool {
    match options.idle {
        Idle::Token => false,
        Idle::Free => own_rule || options.core_spaces(),
        Idle::FreeCore => !own_rule && options.core_spaces(),
    }
}
