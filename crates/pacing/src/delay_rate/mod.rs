//! The law of rate by delay: a flow's rate settles where a certain number of its packets waits on the way (docs/law.md).
//!
//! Copa's target (Arun and Balakrishnan, NSDI 2018, equation 1) for a rate: with a mean queueing delay `q` the rate is to be
//! `1 / (delta q)`, so `1 / delta` packets of each flow wait. Towards that it moves by a share of the way, as a ratio, so that a step is
//! the same at 10 and at 10,000 packets a second. It knows no hops, no link rates and no window.
//! Beside flows that fill queues its losses give it a floor (`friendly.rs`).

mod config;
mod friendly;
mod least;
mod long;
#[cfg(test)]
mod tests;
mod trains;
mod unit;

pub use config::DelayRateConfig;
pub use least::Least;
pub use trains::TrainsInFlight;
pub use unit::Unit;

use core::f64::consts::LN_2;
use friendly::Friendly;
use libm::{exp, log};
use long::{DRAIN, Kind, LONG, SHARE, scale, shortest_queue, towards};
use meshpace_units::{Instant, Span};

/// No queue is shorter than what clocks and drivers tell apart, seconds.
const SHORTEST_QUEUE: f64 = 1e-5;
/// The most that clocks, interrupts and schedulers of hosts add to a round trip, seconds; and a share of a packet's time and of the empty
/// path, as a hop's back-offs are a quarter of that.
const JITTER: f64 = 2e-4;
const JITTER_SHARE: f64 = 16.0;
/// Acknowledgements of which two take so many empty paths are thinned: a receiver answers every second segment, and more of these are on
/// their way.
const SELDOM: f64 = 4.0;
/// Between these the rate stays, packets a second: a packet in five seconds, and what 100 Gbit/s carry.
const SLOWEST: f64 = 0.2;
const FASTEST: f64 = 1e7;
/// For so many steps after its start a flow climbs so many times as fast. Where others were first, the start ends at their queue, and steps
/// as small as theirs bring it no nearer to its share (docs/law.md, "What it cannot do").
const YOUNG: u32 = 16;
const YOUNG_RISE: f64 = 2.0;
/// A rate is in use if so much of it arrives. What arrives in the start was sent a round trip ago, at half of the rate.
const IN_USE: f64 = 0.4;

/// The law, of one flow or of one host's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRate {
    config: DelayRateConfig,
    /// Packets a second.
    rate: f64,
    least: Least,
    /// The least round trip that counted at the latest sample, seconds.
    base: Option<f64>,
    /// The mean queueing delay of the latest step, seconds.
    queue: Option<f64>,
    /// No queue has shown itself yet.
    starting: bool,
    /// Steps that it counts as a newcomer still.
    young: u32,
    /// Packets that travel together: as many accesses of so many wait.
    unit: f64,
    /// Packets that the sender hands down at once.
    burst: f64,
    /// How long it takes until a step shows in what comes, seconds, where that is longer than a round trip.
    answered: Option<f64>,
    /// Round trips have the jitter of a host in them.
    on_host: bool,
    step: Option<Step>,
    usage: Usage,
    path: Kind,
    /// What is its own beside flows that fill queues; `None` if losses are not told.
    friendly: Option<Friendly>,
}

/// The round trips since the rate was changed last.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    since: Instant,
    samples: u32,
    /// Sum of the round trips, seconds.
    sum: f64,
}

impl Step {
    const fn new(since: Instant) -> Self {
        Self { since, samples: 0, sum: 0.0 }
    }
}

/// Whether the rate is in use. A rate that no driver reports on counts as in use.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Usage {
    in_use: bool,
    since: Option<Instant>,
    /// Packets that arrived since then, if told.
    arrived: Option<f64>,
}

impl Usage {
    /// Judges what arrived since the latest judgement. Returns the packets that arrived a second, if a driver reported
    /// any.
    fn judge(&mut self, now: Instant, rate: f64) -> Option<f64> {
        let arrived = self.arrived?;
        let elapsed = self.since.map_or(Span::ZERO, |since| now.saturating_since(since)).as_secs_f64();
        *self = Self { in_use: arrived >= IN_USE * rate * elapsed, since: Some(now), arrived: None };
        (elapsed > 0.0).then(|| arrived / elapsed)
    }
}

impl DelayRate {
    /// A flow of which nothing is known yet.
    #[must_use]
    pub fn new(config: DelayRateConfig) -> Self {
        Self {
            config,
            rate: config.start,
            least: Least::new(config.horizon),
            base: None,
            queue: None,
            starting: true,
            young: 0,
            unit: 1.0,
            burst: 1.0,
            answered: None,
            on_host: false,
            step: None,
            usage: Usage { in_use: true, since: None, arrived: None },
            path: Kind::default(),
            friendly: None,
        }
    }

    /// The same with a floor: `share` of the rate that a TCP flow would have at the [losses](Self::on_loss) reported, where losses are
    /// more frequent than `lossy` a packet.
    #[must_use]
    pub fn friendly(self, share: f64, lossy: f64) -> Self {
        Self { friendly: Some(Friendly::new(share, lossy)), ..self }
    }

    /// The same without a start of its own, which doubles the rate until a queue shows: it goes up from `start` by steps.
    #[must_use]
    pub const fn begun(self) -> Self {
        Self { starting: false, ..self }
    }

    /// The same at a host whose clocks, interrupts and scheduler are in its round trips: where these vary no more than by that, the path is
    /// a wire, too. Simulated wires do not vary.
    #[must_use]
    pub fn on_host(self) -> Self {
        Self { on_host: true, ..self }
    }

    /// What it goes by.
    #[must_use]
    pub const fn config(&self) -> &DelayRateConfig {
        &self.config
    }

    /// Goes by these parameters from now on.
    pub fn set_config(&mut self, config: DelayRateConfig) {
        if config.horizon != self.config.horizon {
            self.least = Least::new(config.horizon);
        }
        self.config = config;
    }

    /// From now on so many packets travel together. What was known of the empty path was of others.
    pub fn set_unit(&mut self, now: Instant, packets: u32) {
        self.unit = f64::from(packets);
        self.least = Least::new(self.config.horizon);
        (self.base, self.queue) = (None, None);
        self.step = self.step.map(|_| Step::new(now));
    }

    /// From now on the sender hands so many packets down at once: as many wait behind each other at the first link, however empty it is.
    pub fn set_burst(&mut self, packets: f64) {
        self.burst = packets;
    }

    /// From now on a step shows in what comes after so long only: the law stands on the way, and the sender that it holds back answers then.
    /// A step that took less counts as much as its part of that (docs/law.md, "At a gateway").
    pub fn set_answered(&mut self, after: Option<Span>) {
        self.answered = after.map(Span::as_secs_f64);
    }

    /// It is no slower than this.
    pub fn raise(&mut self, rate: f64) {
        self.rate = self.rate.max(rate).min(FASTEST);
    }

    /// It is no faster than this.
    pub fn bound(&mut self, rate: f64) {
        self.rate = self.rate.min(rate).max(SLOWEST);
    }

    /// Packets a second.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Time between two packets.
    #[must_use]
    pub fn spacing(&self) -> Span {
        Span::from_secs_f64(1.0 / self.rate)
    }

    /// The least round trip that counts, seconds; `None` before the first.
    #[must_use]
    pub const fn base(&self) -> Option<f64> {
        self.base
    }

    /// The mean queueing delay that the latest step went by, seconds; `None` before the first.
    #[must_use]
    pub const fn queue(&self) -> Option<f64> {
        self.queue
    }

    /// So many packets arrived.
    pub fn on_arrived(&mut self, packets: f64) {
        if let Some(friendly) = &mut self.friendly {
            friendly.on_arrived(packets);
        }
        self.usage.arrived = Some(self.usage.arrived.unwrap_or(0.0) + packets);
    }

    /// A round trip was measured; true if the rate changed.
    pub fn on_round_trip(&mut self, now: Instant, rtt: Span) -> bool {
        let base = self.least.on_sample(now, rtt);
        self.on_round_trip_over(now, base, rtt)
    }

    /// The same over one of several paths; the caller knows that this path takes `base` when it is empty.
    pub fn on_round_trip_over(&mut self, now: Instant, base: Span, rtt: Span) -> bool {
        let (base, rtt) = (base.as_secs_f64(), rtt.as_secs_f64());
        self.base = Some(base);
        let before = self.rate;
        match &mut self.step {
            None => {
                // What was sent until now was sent blindly.
                self.rate = self.rate.max(self.config.first / rtt.max(SHORTEST_QUEUE));
                self.usage = Usage { since: Some(now), arrived: None, ..self.usage };
                self.step = Some(Step::new(now));
            }
            Some(step) => {
                step.samples += 1;
                step.sum += rtt;
                let step = *step;
                self.path.on_round_trip(self.on_host && self.unit == 1.0 && rtt - base <= self.jitter(base));
                if let Some((queue, thinned)) = self.ends(&step, now, rtt, base) {
                    self.step = Some(Step::new(now));
                    let elapsed = now.saturating_since(step.since).as_secs_f64();
                    let share = self.answered.map_or(1.0, |after| (elapsed / after).min(1.0));
                    self.go(now, base, queue.max(SHORTEST_QUEUE), thinned, share);
                }
            }
        }
        self.rate = self.rate.clamp(SLOWEST, FASTEST);
        self.rate != before
    }

    /// The queueing delay that a step found, if the round trip `rtt` ends it, seconds; and whether its acknowledgements were thinned.
    fn ends(&self, step: &Step, now: Instant, rtt: f64, base: f64) -> Option<(f64, bool)> {
        let elapsed = now.saturating_since(step.since).as_secs_f64();
        let holds = self.holds(base);
        // The start of a long path sees what a step did before it goes on, and ends as soon as that shows: one further step would
        // overflow whatever is there.
        let (rounds, shows) = match self.starting {
            true if holds > LONG => (2.0, rtt - base > 2.0 * self.waiting(base) / self.rate),
            true => (1.0, false),
            false => (self.config.rounds, false),
        };
        if step.samples < self.config.samples {
            None
        } else if shows && elapsed >= rtt {
            Some((rtt - base, false))
        } else if elapsed < rounds * rtt {
            None
        } else if self.thinned(step, elapsed, base) {
            Some((rtt.min(step.sum - rtt) - base, true))
        } else {
            Some((step.sum / f64::from(step.samples) - base, false))
        }
    }

    /// At a host: acknowledgements come so seldom that something on the way thins them, and of two round trips one may have in it what the
    /// acknowledgement waited for its deadline there, which is no queue.
    fn thinned(&self, step: &Step, elapsed: f64, base: f64) -> bool {
        let two = step.samples == 2 && self.config.samples == 2;
        self.on_host && two && self.unit == 1.0 && !self.starting && elapsed >= SELDOM * base
    }

    /// A step, by the least round trip and the queueing delay that was found, seconds; `thinned`: it took some empty paths.
    fn go(&mut self, now: Instant, base: f64, queue: f64, thinned: bool, share: f64) {
        let gain = self.config.gain * share;
        self.queue = Some(queue);
        let holds = self.holds(base);
        // The round trips of whole trains may all be alike.
        self.path.on_step(self.unit == 1.0 && queue <= SHORTEST_QUEUE);
        let waiting = self.waiting(base);
        let target = waiting / queue;
        let arrives = self.usage.judge(now, self.rate);
        let in_use = self.usage.in_use;
        if self.starting {
            if target <= self.rate {
                // What shows now was sent a round trip ago, at half of this rate: the rate becomes what that queue asks for, and no less
                // than half; on a long path no faster than it arrives now.
                (self.starting, self.young) = (false, YOUNG);
                let before = self.rate;
                self.rate = target.max(before / 2.0);
                let arrives = arrives.filter(|_| holds > LONG);
                self.raise(arrives.unwrap_or(0.0).min(before));
            } else if in_use {
                self.rate *= 2.0;
            }
            return;
        }
        // What is not used says nothing: an idle path has no queue at any rate.
        let faster = match (thinned, self.young > 0) {
            (true, _) => SELDOM,
            (false, true) => YOUNG_RISE,
            (false, false) => 1.0,
        };
        self.young = self.young.saturating_sub(1);
        let rise = if in_use { self.config.rise } else { 0.0 } * faster;
        let floor = self.friendly.map_or(0.0, |friendly| friendly.floor(base + queue));
        // Beside flows that fill the queue nothing drains it.
        let alone = self.on_host && self.unit == 1.0 && floor == 0.0;
        let drained = arrives.filter(|arrives| alone && self.path.drains(arrives * queue, waiting));
        if let Some(arrives) = drained {
            let rate = towards(DRAIN, waiting, arrives, queue, base + queue);
            self.rate = rate.min(self.rate * exp(gain * rise));
            return;
        }
        let mut way = log(target.max(floor) / self.rate);
        let arrives = arrives.filter(|_| in_use && way < LN_2 && self.path.is_clear(holds));
        if let Some(arrives) = arrives {
            let rate = towards(SHARE, waiting, arrives, queue, base + queue);
            way = log(rate.max(floor).max(SLOWEST) / self.rate) / gain;
        }
        self.rate *= exp(gain * way.clamp(-self.config.fall, rise));
    }

    /// Packets or trains on their way in an empty path whose round trip is `base` seconds.
    fn holds(&self, base: f64) -> f64 {
        self.rate * base / self.unit
    }

    /// How many packets may wait, where an empty path takes `base` seconds: `1 / delta` of them, and at least of what comes in the time
    /// that clocks tell apart. Of a burst longer than a train the last one waits for the others on an empty path, too, and counts besides.
    fn waiting(&self, base: f64) -> f64 {
        let delta = if self.unit > 1.0 { self.config.delta_trains } else { self.config.delta };
        let units = self.unit.max(self.rate * shortest_queue(self.on_host, base)) / delta;
        let bursts = if self.burst > self.unit { self.burst - 1.0 + self.burst / delta } else { 0.0 };
        units.max(bursts) * scale(self.rate * base)
    }

    /// What the jitter of hosts adds to a round trip at the most, seconds.
    fn jitter(&self, base: f64) -> f64 {
        // A span that is just as long counts, however the difference was rounded.
        (base.min(1.0 / self.rate) / JITTER_SHARE).min(JITTER) * (1.0 + 1e-9)
    }

    /// A loss was found, the first of a round trip. It changes no rate by itself: over a mesh collisions lose packets at any.
    pub fn on_loss(&mut self) {
        if let Some(friendly) = &mut self.friendly {
            friendly.on_loss();
        }
    }

    /// Nothing came back for so long that everything is sent again.
    pub fn on_timeout(&mut self, now: Instant) {
        self.on_loss();
        self.starting = false;
        self.rate = (self.rate * self.config.after_timeout).max(SLOWEST);
        self.step = self.step.map(|_| Step::new(now));
    }
}
