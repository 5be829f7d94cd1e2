//! TCP-AP as its authors' ns-2 agent of 2005 does it (schemes.md section 2, profile `ns2-2005`).
//!
//! It queues what the window allows and lets one segment out a tick of a free-running timer, the SYN included. Every
//! acknowledgement is a sample, by ns-2's echoed timestamp. Three duplicates or a timeout empty the queue and switch
//! pacing off until the next acknowledgement. In one thing this differs: the agent stalls until the retransmission
//! timeout if the three duplicates find its queue empty; here it leaves pacing mode then, too.

use super::{AckSample, PacingLaw};
use crate::sender::Chunk;
use alloc::collections::VecDeque;
use meshpace_pacing::{FreeRunningTimer, LawConfig, LinkRates, RateLaw};
use meshpace_units::{Bytes, Instant, Span};

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    config: PacingLaw,
    law: RateLaw,
    timer: FreeRunningTimer,
    queue: VecDeque<Chunk>,
    /// The tick that the first of the queue waits for. A driver with a real clock comes after it, never at it.
    promised: Option<Instant>,
    pacing: bool,
}

impl Agent {
    pub(super) fn new(config: &PacingLaw) -> Self {
        let law = RateLaw::new(LawConfig::Adaptive(config.law));
        let timer = FreeRunningTimer::new(law.interval().unwrap_or(Span::ZERO));
        Self { config: config.clone(), law, timer, queue: VecDeque::new(), promised: None, pacing: true }
    }

    pub(super) const fn law(&self) -> &RateLaw {
        &self.law
    }

    /// True in pacing mode: segments go through the queue.
    pub(crate) const fn is_pacing(&self) -> bool {
        self.pacing
    }

    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.queue.push_back(chunk);
    }

    pub(crate) fn pop(&mut self) -> Option<Chunk> {
        self.queue.pop_front()
    }

    /// Takes everything before `una` out of the queue.
    pub(crate) fn drop_acknowledged(&mut self, una: u64) {
        while let Some(first) = self.queue.front_mut().filter(|first| first.start < una) {
            let acknowledged = (una - first.start).min(u64::from(first.length)) as u32;
            if first.end() > una {
                first.start += u64::from(acknowledged);
                first.length -= acknowledged;
                return;
            }
            self.queue.pop_front();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn ready(&self, now: Instant) -> bool {
        !self.pacing || self.timer.ready(now) || self.promised.is_some_and(|tick| tick <= now)
    }

    pub(super) fn release_at(&self, now: Instant) -> Instant {
        let tick = self.promised.unwrap_or_else(|| self.timer.release_at(now));
        if self.pacing { tick.max(now) } else { now }
    }

    /// Notes which tick the queue waits for from `now` on, if it did not wait before.
    pub(crate) fn promise(&mut self, now: Instant) {
        if self.queue.is_empty() {
            self.promised = None;
        } else if self.pacing && self.promised.is_none() {
            self.promised = Some(self.timer.release_at(now));
        }
    }

    /// Outside pacing mode nothing arms the timer.
    pub(super) fn on_departure(&mut self, now: Instant) {
        self.promised = None;
        if self.pacing {
            self.timer.on_departure(now);
        }
    }

    pub(super) fn set_rates(&mut self, rates: LinkRates) {
        self.config.rates = rates;
    }

    pub(super) fn on_ack(&mut self, sample: &AckSample) {
        if !self.pacing {
            // The next segment goes out at once and starts the timer.
            self.pacing = true;
            self.timer.stop();
        }
        let Some(rtt) = sample.echoed else { return };
        let payload = Bytes(u64::from(sample.mss));
        let hops = sample.hops.unwrap_or(0);
        let Some(path) = self.config.law.path_over(hops, payload, self.config.rates.clone()) else { return };
        if let Ok(interval) = self.law.on_sample(rtt, &path) {
            self.timer.set_interval(sample.now, interval);
        }
    }

    pub(super) fn leave(&mut self) {
        self.pacing = false;
        self.queue.clear();
        self.promised = None;
        self.timer.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_pacing::AdaptiveConfig;
    use meshpace_units::Rate;

    #[test]
    fn what_was_acknowledged_leaves_the_queue() {
        let rates = LinkRates::Uniform(Rate::bits_per_sec(2_000_000));
        let mut agent = Agent::new(&PacingLaw { law: AdaptiveConfig::NS2_2005, rates });
        let chunk = |start, length, fin| Chunk { start, length, fin };
        for chunk in [chunk(1, 100, false), chunk(101, 100, false), chunk(201, 50, true)] {
            agent.push(chunk);
        }
        agent.drop_acknowledged(1);
        assert_eq!(agent.len(), 3);
        agent.drop_acknowledged(131);
        assert_eq!((agent.len(), agent.queue[0]), (2, chunk(131, 70, false)));
        agent.drop_acknowledged(251);
        assert_eq!((agent.len(), agent.queue[0]), (1, chunk(251, 0, true)), "all but the FIN");
        agent.drop_acknowledged(252);
        assert_eq!(agent.pop(), None);
    }
}
