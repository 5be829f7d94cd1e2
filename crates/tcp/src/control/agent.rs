//! TCP-AP as its authors' ns-2 agent of 2005 does it (schemes.md section 2, profile `ns2-2005`).
//!
//! It queues what the window allows and lets one segment out a tick of a free-running timer, the SYN included. Every
//! acknowledgement is a sample, by ns-2's echoed timestamp. Three duplicates or a timeout empty the queue and switch
//! pacing off until the next acknowledgement. In one thing this differs: the agent stalls until the retransmission
//! timeout if the three duplicates find its queue empty; here it leaves pacing mode then, too.

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
    |values, _| Some(Box::new(Agent::new(AdaptiveConfig::from_values(values)))),
)
// It reads stamps that only ns-2's headers carry.
.needs(&[Need { key: "tcp_profile", words: &["ns2"] }])
.keys(&[&LAW, &INITIAL_INTERVAL, &KEEPS_RTO]);

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
}

impl Agent {
    /// With this law.
    #[must_use]
    pub fn new(law: AdaptiveConfig) -> Self {
        let law = RateLaw::new(law);
        let timer = FreeRunningTimer::new(law.interval().unwrap_or(Span::ZERO));
        Self { law, timer, pacing: true }
    }

    fn leave(&mut self) {
        self.pacing = false;
        self.timer.stop();
    }
}

impl Control for Agent {
    fn asks(&self) -> Asks {
        Asks { route: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if !self.pacing {
            // The next segment goes out at once and starts the timer.
            self.pacing = true;
            self.timer.stop();
        }
        if let (Some(rtt), Some(route)) = (ack.echoed, ack.route) {
            if let Ok(interval) = self.law.on_round_trip(rtt, Bytes(u64::from(ack.mss)), route) {
                self.timer.set_interval(ack.now, interval);
            }
        }
        Reaction::Continue
    }

    fn on_loss(&mut self) {
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
        let (release, interval) = (self.timer.release_at(now), self.timer.interval());
        self.pacing.then_some(Pace { release, interval, discipline: Discipline::Queue })
    }

    fn pacing(&self) -> PacingView {
        law_pacer::view(&self.law, self.law.interval())
    }
}
