//! TCP-AP as its authors' ns-2 agent of 2005 does it (schemes.md section 2, profile `ns2-2005`).
//!
//! It queues what the window allows and lets one segment out a tick of a free-running timer, the SYN included. Every
//! acknowledgement is a sample, by ns-2's echoed timestamp. Three duplicates or a timeout empty the queue and switch
//! pacing off until the next acknowledgement. Three duplicates that find its queue empty stop its timer and nothing else, so
//! that what is queued later waits for the retransmission timeout: a defect that `ap_stall` has, and that is left out by
//! default (schemes.md section 2: never without a wake-up while data wait). `ap_agent_interval` holds its timer at an interval of
//! one's own, whatever the samples say: what measurements of fixed intervals with that agent do.

use super::khd::INITIAL_INTERVAL;
use super::part::{KEEPS_RTO, PacingPart};
use super::{Ack, Asks, Control, Departure, Discipline, Outstanding, Pace, PacingView, Reaction, law_pacer};
use alloc::boxed::Box;
use meshpace_keys::{Key, Need};
use meshpace_pacing::{AdaptiveConfig, FreeRunningTimer, RateLaw};
use meshpace_units::{Bytes, Instant, Span};

pub(super) static PART: PacingPart = PacingPart::new(
    "agent",
    "As TCP-AP's authors' ns-2 agent of 2005 does it.",
    "schemes.md 2, profile ns2-2005",
    |values, _| {
        let mut agent = Agent::new(AdaptiveConfig::from_values(values));
        if let Some(interval) = values.span_given(INTERVAL.name) {
            agent = agent.every(interval);
        }
        Some(Box::new(if values.flag(STALL.name) { agent.stalling() } else { agent }))
    },
)
// It reads stamps that only ns-2's headers carry.
.needs(&[Need { key: "tcp_profile", words: &["ns2"] }])
.keys(&[&LAW, &INITIAL_INTERVAL, &KEEPS_RTO, &OWN]);

static OWN: [Key; 3] = [AdaptiveConfig::REPLACE_QUEUEING_KEY, STALL, INTERVAL];

const INTERVAL: Key = Key::time_or(
    "ap_agent_interval",
    &["law"],
    Span::from_secs(10),
    "The agent's timer, whatever is measured; law: as its samples say.",
);

const STALL: Key = Key::flag(
    "ap_stall",
    false,
    "Whether three duplicates that find the queue empty stop the timer, so that segments wait for the retransmission timeout.",
);

static LAW: [Key; AdaptiveConfig::KEYS] = AdaptiveConfig::NS2_2005.keys();

/// TCP-AP exactly as its authors' agent does it. It takes its round trips from [`Segment::ns2`](crate::Segment::ns2)
/// stamps, hence [`HeaderSize::Flat`](crate::HeaderSize::Flat), or, where there are none, from timestamps, to the
/// millisecond.
#[derive(Clone, Debug)]
pub struct Agent {
    law: RateLaw,
    timer: FreeRunningTimer,
    /// Pacing mode: segments go through the queue. Outside it nothing arms the timer.
    pacing: bool,
    /// Samples do not move the timer.
    fixed: bool,
    /// Whether it has the agent's defect.
    stalls: bool,
    /// The timer was stopped with nothing in the queue: what comes waits for the retransmission timeout.
    stalled: bool,
    /// Something waits in the queue, as of the latest acknowledgement.
    queued: bool,
}

impl Agent {
    /// With this law.
    #[must_use]
    pub fn new(law: AdaptiveConfig) -> Self {
        let law = RateLaw::new(law);
        let timer = FreeRunningTimer::new(law.interval().unwrap_or(Span::ZERO));
        Self { law, timer, pacing: true, fixed: false, stalls: false, stalled: false, queued: false }
    }

    /// At this interval, whatever its samples say.
    #[must_use]
    pub const fn every(mut self, interval: Span) -> Self {
        (self.timer, self.fixed) = (FreeRunningTimer::new(interval), true);
        self
    }

    /// With the agent's defect, `ap_stall`.
    #[must_use]
    pub const fn stalling(mut self) -> Self {
        self.stalls = true;
        self
    }

    fn leave(&mut self) {
        (self.pacing, self.stalled) = (false, false);
        self.timer.stop();
    }
}

impl Control for Agent {
    fn asks(&self) -> Asks {
        Asks { route: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        self.queued = ack.out.queued;
        if !self.pacing {
            // The next segment goes out at once and starts the timer.
            self.pacing = true;
            self.timer.stop();
        }
        if let (Some(rtt), Some(route)) = (ack.echoed, ack.route) {
            if let Ok(interval) = self.law.on_round_trip(rtt, Bytes(u64::from(ack.mss)), route) {
                if !self.fixed {
                    self.timer.set_interval(ack.now, interval);
                }
            }
        }
        Reaction::Continue
    }

    fn on_loss(&mut self) {
        if self.stalls && self.pacing && !self.queued {
            self.stalled = true;
            return;
        }
        self.leave();
    }

    fn on_timeout(&mut self, _: Instant, _: &Outstanding) {
        self.leave();
    }

    fn on_departure(&mut self, departure: &Departure) {
        if self.pacing {
            self.timer.on_departure(departure.now);
        }
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        let interval = self.timer.interval();
        let release = if self.stalled { Instant::from_nanos(u64::MAX) } else { self.timer.release_at(now) };
        self.pacing.then_some(Pace { release, interval, discipline: Discipline::Queue })
    }

    fn pacing(&self) -> PacingView {
        let interval = if self.fixed { Some(self.timer.interval()) } else { self.law.interval() };
        law_pacer::view(&self.law, interval)
    }
}
