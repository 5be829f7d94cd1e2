//! LEDBAT++: background traffic that keeps its queue below a delay and gives way (Balasubramanian, Ertugay, Havey,
//! draft-irtf-iccrg-ledbat-plus-plus-01; RFC 6817 for what that builds on).
//!
//! | what | file |
//! |---|---|
//! | slow start, window, slowdowns (sections 4.1 to 4.4) | `mod.rs` |
//! | least round trip of ten minutes, least of the last four samples (RFC 6817, section 2.4.2) | `delays.rs` |
//!
//! Delays are round trips, as in the draft: no clock of the peer's is needed, and a queue on the way back counts, too. Losses and
//! timeouts are Reno's (RFC 6817, section 2.4.2), which recovery finds as for any window.

mod delays;
#[cfg(test)]
mod tests;

use super::part::WindowPart;
use super::{Ack, Asks, Congestion, InitialWindow, Outstanding, Rules, Window};
use delays::Delays;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "ledbat",
    "Background traffic: the window keeps its queue below a delay, grows more slowly than Reno's, and empties it from time to time (LEDBAT++).",
    "draft-irtf-iccrg-ledbat-plus-plus-01; RFC 6817",
    |values, surroundings| Ledbat::new(surroundings.rules, values.span("ledbat_target")).into(),
)
.keys(&[&KEYS]);

static KEYS: [Key; 1] = [Key::time(
    "ledbat_target",
    Span::from_secs(1),
    TARGET,
    "Queueing delay that LEDBAT++ does not exceed (draft-irtf-iccrg-ledbat-plus-plus-01, section 4.5).",
)];

/// The delay that it does not exceed (section 4.5).
pub const TARGET: Span = Span::from_millis(60);
/// The least window, and the one that a connection begins with, segments (RFC 6817, section 2.5: MIN_CWND, INIT_CWND).
const LEAST_WINDOW: f64 = 2.0;
/// The least gain is one over this (section 4.2).
const GAIN_DIVISOR: f64 = 16.0;
/// Share of the target that ends the initial slow start (section 4.1).
const ENDS_SLOW_START: f64 = 0.75;
/// The most that a round trip takes of the window (section 4.3).
const MOST_DECREASE: f64 = 0.5;
/// Round trips from the end of the initial slow start to the first slowdown, and that a slowdown keeps the least window (section
/// 4.4).
const SLOWDOWN_ROUNDS: u64 = 2;
/// So much longer than a slowdown is the time until the next (section 4.4).
const SLOWDOWN_WAIT: u64 = 9;

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The initial slow start.
    Initial,
    /// After it; `next`: when the next slowdown begins, `None` while slow start goes on after a loss or a timeout.
    Steady { next: Option<Instant> },
    /// A slowdown keeps the least window.
    Frozen { since: Instant, until: Instant },
    /// A slowdown goes back to the window that it began with.
    Ramp { since: Instant },
}

/// LEDBAT++'s window.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: Window,
    target: Span,
    delays: Delays,
    phase: Phase,
}

impl Ledbat {
    /// By these rules but for the initial window, with this target.
    #[must_use]
    pub fn new(rules: Rules, target: Span) -> Self {
        let initial = InitialWindow::Segments(LEAST_WINDOW);
        let rules = Rules { initial_window: initial, restart_window: Some(initial), ..rules };
        Self { window: Window::new(rules), target, delays: Delays::default(), phase: Phase::Initial }
    }

    /// Segments that a round trip adds (section 4.2): Reno's one where the path is longer than two targets.
    fn gain(&self) -> f64 {
        let base = self.delays.base().map_or(0.0, Span::as_secs_f64).max(1e-9);
        1.0 / libm::ceil(2.0 * self.target.as_secs_f64() / base).clamp(1.0, GAIN_DIVISOR)
    }

    /// The queueing delay, in targets.
    fn queueing(&self) -> f64 {
        self.delays.queueing().as_secs_f64() / self.target.as_secs_f64().max(1e-9)
    }

    /// Slow start: what is acknowledged times the gain, up to the threshold (section 4.1).
    fn ramp(&mut self, acked: f64) {
        let cwnd = self.window.cwnd();
        self.window.set((cwnd + self.gain() * acked).min(self.window.ssthresh().max(cwnd)));
    }

    fn is_below_threshold(&self) -> bool {
        self.window.cwnd() < self.window.ssthresh()
    }

    /// Additive increase below the target, multiplicative decrease above it (section 4.3), a window's share at a time.
    fn avoid(&mut self, ack: &Ack<'_>) {
        let (cwnd, acked) = (self.window.cwnd(), ack.segments());
        let over = self.queueing() - 1.0;
        let a_round = if over <= 0.0 {
            if ack.out.flight + acked + 1.0 < cwnd.min(ack.out.limit) {
                return; // a window that is not in use does not grow (RFC 6817, section 2.4.2, max_allowed_cwnd)
            }
            self.gain()
        } else {
            (self.gain() - cwnd * over).max(-MOST_DECREASE * cwnd)
        };
        let cwnd = (cwnd + a_round * (acked / cwnd).min(1.0)).max(LEAST_WINDOW);
        self.window.set(cwnd);
        // Congestion avoidance goes on wherever the window goes.
        self.window.set_ssthresh(self.window.ssthresh().min(cwnd));
    }

    /// The window is as small as it can be, so that the queue empties and the path shows (section 4.4).
    fn slow_down(&mut self, now: Instant) {
        let until = now.checked_add(self.delays.smoothed() * SLOWDOWN_ROUNDS).unwrap_or(now);
        self.window.set_ssthresh(self.window.cwnd().max(LEAST_WINDOW));
        self.window.set(LEAST_WINDOW);
        self.phase = Phase::Frozen { since: now, until };
    }

    fn begin_steady(&mut self, now: Instant, wait: Span) {
        self.phase = Phase::Steady { next: now.checked_add(wait) };
    }
}

impl Congestion for Ledbat {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.window.heed_mark(ack);
        if let Some(trip) = ack.newest.or(ack.timestamp).filter(|_| ack.is_new()) {
            self.delays.on_sample(ack.now, trip);
        }
    }

    fn on_progress(&mut self, ack: &Ack<'_>) {
        if ack.ecn_echo {
            return;
        }
        let now = ack.now;
        match self.phase {
            Phase::Initial if self.is_below_threshold() && self.queueing() <= ENDS_SLOW_START => {
                self.ramp(ack.segments());
            }
            Phase::Initial => {
                self.window.set_ssthresh(self.window.ssthresh().min(self.window.cwnd()));
                self.begin_steady(now, self.delays.smoothed() * SLOWDOWN_ROUNDS);
            }
            Phase::Steady { next } if next.is_some_and(|next| next <= now) => self.slow_down(now),
            Phase::Steady { .. } if self.is_below_threshold() => self.ramp(ack.segments()),
            Phase::Steady { next } => {
                if next.is_none() {
                    self.begin_steady(now, self.delays.smoothed() * SLOWDOWN_ROUNDS);
                }
                self.avoid(ack);
            }
            Phase::Frozen { until, .. } if now < until => {}
            Phase::Frozen { since, .. } | Phase::Ramp { since } => {
                self.phase = Phase::Ramp { since };
                self.ramp(ack.segments());
                if !self.is_below_threshold() {
                    self.begin_steady(now, now.saturating_since(since) * SLOWDOWN_WAIT);
                }
            }
        }
    }

    fn on_loss(&mut self, inflation: f64, out: &Outstanding) -> f64 {
        if self.phase == Phase::Initial {
            self.phase = Phase::Steady { next: None };
        }
        let cwnd = self.window.cwnd();
        self.window.cut_threshold(inflation, out).min(cwnd)
    }

    fn on_timeout(&mut self, _: Instant, again: bool, out: &Outstanding) {
        self.phase = match self.phase {
            Phase::Initial => Phase::Steady { next: None },
            Phase::Frozen { since, .. } => Phase::Ramp { since },
            phase => phase,
        };
        self.window.time_out(again, out);
    }
}
