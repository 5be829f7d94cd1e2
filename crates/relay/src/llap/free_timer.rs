//! A pacing timer that goes on while nothing waits (Algorithm 1): it starts anew at each expiry, with the spacing of that
//! moment. What it does meanwhile is computed at the next look.

use meshpace_units::{Instant, Span};

/// A spacing below this lets packets move at once (schemes.md 8).
const LEAST: Span = Span::from_micros(100);

/// The timer; `None`: it does not run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FreeTimer(Option<Run>);

#[derive(Clone, Copy, Debug)]
struct Run {
    started: Instant,
    length: Span,
}

impl FreeTimer {
    /// Brings it up to now, when nothing has waited and the spacing has been the same since it was looked at last.
    pub fn idle_until(&mut self, now: Instant, spacing: Span) {
        if spacing < LEAST {
            self.0 = None;
            return;
        }
        let Some(run) = &mut self.0 else { return self.start(now, spacing) };
        let expiry = run.started + run.length;
        if expiry <= now {
            let more = (now - expiry).whole(spacing);
            *run = Run { started: expiry + spacing * more, length: spacing };
        }
    }

    /// It has expired now, and starts anew.
    pub fn start(&mut self, now: Instant, spacing: Span) {
        self.0 = (spacing >= LEAST).then_some(Run { started: now, length: spacing });
    }

    /// Takes a new spacing for the period that runs.
    pub fn change(&mut self, now: Instant, spacing: Span) {
        match &mut self.0 {
            Some(run) if spacing >= LEAST => run.length = spacing,
            _ => self.start(now, spacing),
        }
    }

    /// When it expires next.
    pub fn expiry(&self) -> Option<Instant> {
        self.0.map(|run| run.started + run.length)
    }
}
