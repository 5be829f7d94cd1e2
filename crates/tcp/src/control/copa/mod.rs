//! Copa: a window that follows the rate at which a queue of a few segments is best (Arun and Balakrishnan, "Copa: Practical
//! Delay-Based Congestion Control for the Internet", NSDI 2018).
//!
//! | what | file |
//! |---|---|
//! | target rate, window, velocity, pace (section 2.1) | `mod.rs` |
//! | round trips, and whether the queue was nearly empty lately (sections 2.1 and 2.2) | `delays.rs` |
//!
//! The paper leaves four points open. Here a velocity changes the window in a round trip by no more than the window
//! itself, which is slow start's growth. A velocity above 1 ends when the target crosses the rate, not at the end of the
//! window (as in mvfst, the authors' deployment). A timeout begins slow start anew from one segment. A window that is not
//! in use does not grow.

mod delays;
#[cfg(test)]
mod tests;

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::WindowPart;
use super::{Ack, Asks, Congestion, Departure, Idled, Outstanding, Pace, PacingView, Rules, Window};
use delays::Delays;
use meshpace_keys::{Brings, Key, Need};
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "copa",
    "The window follows the rate of one over delta times the queueing delay; beside flows that fill buffers it gets as bold as they.",
    "Arun and Balakrishnan 2018, sections 2.1 and 2.2",
    |values, surroundings| {
        Copa::new(surroundings.rules, values.real("copa_delta"), values.flag("copa_competes")).into()
    },
)
.keys(&[&KEYS])
.brings(&[Brings { key: "recovery", word: Some("rack") }])
.needs(&[Need { key: "recovery", words: &["rack"] }]);

static KEYS: [Key; 2] = [
    Key::number(
        "copa_delta",
        (0.01, 1.0),
        0.5,
        "Copa's delta: its flow keeps about one over it in segments waiting (Arun and Balakrishnan 2018, section 2.2).",
    ),
    Key::flag(
        "copa_competes",
        true,
        "Whether Copa lowers its delta where the queue does not empty in five round trips (section 2.2).",
    ),
];

/// The least window but for a timeout's, segments (the authors' implementation).
const LEAST_WINDOW: f64 = 2.0;
/// Windows in a row with the same direction as the one before, from which on the velocity doubles (section 2.1, step 4).
const STEADY: u32 = 3;
/// The pace is so much faster than a window a round trip (section 2.1).
const PACE_GAIN: f64 = 2.0;

/// Where the window went in the latest round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Copa's window and pace.
#[derive(Clone, Debug)]
pub struct Copa {
    window: Window,
    /// Delta of the default mode.
    calm: f64,
    competes: bool,
    /// The delta in use: less than `calm` beside flows that fill buffers.
    delta: f64,
    /// Of the competitive mode: when delta was changed last. `None`: the default mode.
    competing: Option<Instant>,
    delays: Delays,
    slow_start: bool,
    /// Slow start before the latest loss or timeout, which may be taken back.
    slow_start_before: bool,
    velocity: f64,
    direction: Direction,
    /// Windows in a row that went as the one before.
    same: u32,
    /// The window of data that is being acknowledged: where it ends, and what the window was when it began.
    round: Option<(u64, f64)>,
    pacer: Pacer,
}

impl Copa {
    /// By these rules, of which it has the initial window; `competes`: with the competitive mode.
    #[must_use]
    pub fn new(rules: Rules, delta: f64, competes: bool) -> Self {
        let rules = Rules { whole_segments: false, ..rules };
        Self {
            window: Window::new(rules).directed(),
            calm: delta,
            competes,
            delta,
            competing: None,
            delays: Delays::default(),
            slow_start: true,
            slow_start_before: true,
            velocity: 1.0,
            direction: Direction::Up,
            same: 0,
            round: None,
            pacer: Pacer::new(None),
        }
    }

    /// Whether the rate is at most the target's: `cwnd / RTTstanding <= 1 / (delta dq)`, without a division by a queue that is
    /// empty.
    fn is_below_target(&self, standing: Span, queueing: Span) -> bool {
        self.window.cwnd() * self.delta * queueing.as_secs_f64() <= standing.as_secs_f64()
    }

    /// The mode (section 2.2), and in the competitive one an additive increase of `1/delta` a round trip.
    fn choose_mode(&mut self, now: Instant) {
        if !self.competes || self.delays.empties(now) {
            (self.competing, self.delta) = (None, self.calm);
            return;
        }
        let since = *self.competing.get_or_insert(now);
        if now.saturating_since(since) >= self.delays.smoothed() {
            self.competing = Some(now);
            self.delta = 1.0 / (1.0 / self.delta + 1.0);
        }
    }

    /// Losses are the competitive mode's multiplicative decrease of `1/delta`.
    fn yields(&mut self) {
        if self.competing.is_some() {
            self.delta = (2.0 * self.delta).min(self.calm);
        }
    }

    /// Once a window: whether it goes where it went before, and with what velocity (step 4).
    fn judge_direction(&mut self, out: &Outstanding) {
        let cwnd = self.window.cwnd();
        let Some((end, began)) = self.round else {
            self.round = Some((out.max, cwnd));
            return;
        };
        if out.una <= end {
            return;
        }
        let direction = if cwnd > began { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.same += 1;
            if self.same >= STEADY {
                self.velocity *= 2.0;
            }
        } else {
            self.turn(direction);
        }
        self.round = Some((out.max, cwnd));
    }

    fn turn(&mut self, direction: Direction) {
        (self.direction, self.same, self.velocity) = (direction, 0, 1.0);
    }

    /// Steps 2 and 3, for `acked` segments that have arrived.
    fn step(&mut self, out: &Outstanding, acked: f64, standing: Span, queueing: Span) {
        let up = self.is_below_target(standing, queueing);
        let cwnd = self.window.cwnd();
        let in_use = out.flight + acked;
        if self.slow_start {
            self.slow_start = up;
            if up && cwnd < 2.0 * in_use {
                self.window.set(cwnd + acked.min(cwnd));
            }
            if up {
                return;
            }
        }
        self.judge_direction(out);
        let wanted = if up { Direction::Up } else { Direction::Down };
        if self.velocity > 1.0 && wanted != self.direction {
            self.turn(wanted);
            self.round = Some((out.max, cwnd));
        }
        self.velocity = self.velocity.min((self.delta * cwnd).max(1.0));
        let change = acked * self.velocity / (self.delta * cwnd);
        if !up {
            self.window.set((cwnd - change).max(LEAST_WINDOW));
        } else if in_use + 1.0 >= cwnd.min(out.limit) {
            self.window.set(cwnd + change);
        }
    }

    fn begin_slow_start(&mut self) {
        self.slow_start = true;
        self.turn(Direction::Up);
        self.round = None;
    }
}

impl Congestion for Copa {
    fn asks(&self) -> Asks {
        Asks { delivery_rate: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.ecn_signal {
            self.yields();
        }
        let Some(sample) = ack.rate else { return };
        // A segment that was sent twice gives no round trip, but it has arrived: the window follows the
        // delays that are known.
        if let Some(trip) = sample.rtt {
            self.delays.on_sample(ack.now, trip);
        }
        let (Some(standing), Some(queueing)) = (self.delays.standing(), self.delays.queueing()) else {
            return;
        };
        self.choose_mode(ack.now);
        let acked = sample.acked.0 as f64 / f64::from(ack.mss);
        self.step(&ack.out, acked, standing, queueing);
        let interval = standing.as_secs_f64() / (PACE_GAIN * self.window.cwnd());
        self.pacer.set_interval(ack.now, Some(Span::from_secs_f64(interval).max(Span::from_nanos(1))));
    }

    /// Whatever arrives moves the window, in recovery, too.
    fn on_progress(&mut self, _: &Ack<'_>) {}

    fn on_loss(&mut self, _: f64, _: &Outstanding) -> f64 {
        self.slow_start_before = self.slow_start;
        self.yields();
        self.window.cwnd()
    }

    fn on_timeout(&mut self, _: Instant, again: bool, _: &Outstanding) {
        if !again {
            self.slow_start_before = self.slow_start;
            self.yields();
        }
        self.begin_slow_start();
        self.window.set(1.0);
    }

    fn on_undo(&mut self) {
        self.slow_start = self.slow_start_before;
        self.window.undo();
    }

    fn on_idle(&mut self, idled: &Idled) {
        self.window.restart(idled);
        self.delays.forget_emptiness();
        self.turn(Direction::Up);
        self.round = None;
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.window.rescale(old, new);
        self.round = None;
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}
