//! The gate of paced flows: one token, or a timer that ticks on its own.

use crate::FreeRunningTimer;
use core::num::NonZeroU32;
use meshpace_keys::{Key, words};
use meshpace_units::{Instant, Span};

words! {
    /// How packets that the pace holds back leave (`gap_pacer`). Source: schemes.md 1.5; docs/experiments/gap.md, O16.
    pub enum Departures {
        /// One token: after a longer pause the next packet passes at once, alone.
        Token = "token",
        /// A timer that ticks on its own, as the paper's Fig. 7 can be read ("upon expiration of rate-based timer"): a packet
        /// that comes between two ticks waits for the next.
        Timer = "timer",
    }
}

impl Departures {
    /// The key, the same at TCP-GAP's senders and gateways.
    pub const KEY: Key = Key::word(
        "gap_pacer",
        Self::WORDS,
        Self::Token.word(),
        "One packet an interval and at once after a pause, or at the ticks of a timer that runs on its own (schemes.md 1.5).",
    );
}

/// A gate that lets one packet through every `interval`; after a longer pause the next packet passes at once, alone.
///
/// The gate only withholds: whether the window allows a packet is the sender's business. A packet that bypasses the
/// gate (a fast retransmission) still takes the token through [`Pacer::on_departure`].
///
/// Source: schemes.md 1.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pacer {
    interval: Option<Span>,
    burst: NonZeroU32,
    gate: Gate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Gate {
    Token {
        last: Option<Instant>,
        next: Instant,
        /// Packets of the burst that has begun, which may leave before the gate closes.
        left: u32,
    },
    /// `None` while there is no interval.
    Timer(Option<FreeRunningTimer>),
}

impl Pacer {
    /// A pacer that spaces departures by `interval`; `None` paces nothing.
    #[must_use]
    pub const fn new(interval: Option<Span>) -> Self {
        let gate = Gate::Token { last: None, next: Instant::ZERO, left: 0 };
        Self { interval, burst: NonZeroU32::MIN, gate }
    }

    /// A pacer whose packets leave so.
    #[must_use]
    pub fn of(departures: Departures, interval: Option<Span>) -> Self {
        match departures {
            Departures::Token => Self::new(interval),
            Departures::Timer => {
                Self { gate: Gate::Timer(interval.map(FreeRunningTimer::new)), ..Self::new(interval) }
            }
        }
    }

    /// The current spacing; `None` if departures are not paced.
    #[must_use]
    pub const fn interval(&self) -> Option<Span> {
        self.interval
    }

    /// Changes the spacing. A waiting packet's release moves to the last departure plus the new interval, not
    /// earlier than `now` (schemes.md 1.5, "rate changes while waiting"); a timer ticks once more as it is armed.
    pub fn set_interval(&mut self, now: Instant, interval: Option<Span>) {
        self.interval = interval;
        match &mut self.gate {
            Gate::Token { left: 1.., .. } => {} // a burst that has begun is let through
            Gate::Token { last, next, .. } => *next = due_after(*last, interval, self.burst).max(now),
            Gate::Timer(timer) => match (timer.as_mut(), interval) {
                (Some(timer), Some(interval)) => timer.set_interval(now, interval),
                (_, interval) => *timer = interval.map(FreeRunningTimer::new),
            },
        }
    }

    /// From the next on, so many packets leave together, and then none for as many intervals. A timer lets one through a tick,
    /// whatever the burst.
    pub fn set_burst(&mut self, burst: NonZeroU32) {
        self.burst = burst;
    }

    /// Packets that are left of the burst that has begun.
    #[must_use]
    pub const fn left(&self) -> u32 {
        match self.gate {
            Gate::Token { left, .. } => left,
            Gate::Timer(_) => 0,
        }
    }

    /// True if a packet may leave at `now`.
    #[must_use]
    pub fn ready(&self, now: Instant) -> bool {
        self.release_at(now) == now
    }

    /// The earliest instant, not before `now`, at which a packet may leave.
    #[must_use]
    pub fn release_at(&self, now: Instant) -> Instant {
        match &self.gate {
            Gate::Token { next, .. } => (*next).max(now),
            Gate::Timer(timer) => timer.as_ref().map_or(now, |timer| timer.release_at(now)),
        }
    }

    /// Takes the token, or arms the timer: a packet left at `now`.
    pub fn on_departure(&mut self, now: Instant) {
        match &mut self.gate {
            Gate::Token { last, next, left } => {
                // After a pause a burst is a new one, whatever was left of the one before: idling saves up none.
                let opens = *left == 0 || due_after(*last, self.interval, self.burst) <= now;
                if opens {
                    *last = Some(now);
                }
                *left = if opens { self.burst.get() } else { *left } - 1;
                if *left == 0 {
                    *next = due_after(*last, self.interval, self.burst);
                }
            }
            Gate::Timer(timer) => {
                if let Some(timer) = timer {
                    timer.on_departure(now);
                }
            }
        }
    }
}

/// When the next burst may leave, the latest having begun at `last`.
fn due_after(last: Option<Instant>, interval: Option<Span>, burst: NonZeroU32) -> Instant {
    match (last, interval) {
        (Some(last), Some(interval)) => {
            let pause = interval.as_nanos().saturating_mul(u64::from(burst.get()));
            last.checked_add(Span::from_nanos(pause)).unwrap_or(Instant::from_nanos(u64::MAX))
        }
        (Some(last), None) => last,
        (None, _) => Instant::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    #[test]
    fn a_packet_after_idling_leaves_at_once_and_alone() {
        // schemes.md 21, item 2.
        let mut pacer = Pacer::new(Some(Span::from_millis(10)));
        assert!(pacer.ready(ms(0)));
        pacer.on_departure(ms(0));
        assert_eq!(pacer.release_at(ms(3)), ms(10));
        assert!(pacer.ready(ms(500)));
        pacer.on_departure(ms(500));
        assert!(!pacer.ready(ms(500)), "idling must not save up a burst");
        assert_eq!(pacer.release_at(ms(500)), ms(510));
    }

    #[test]
    fn a_burst_leaves_together_and_takes_as_many_intervals() {
        let mut pacer = Pacer::new(Some(Span::from_millis(10)));
        pacer.set_burst(NonZeroU32::new(3).unwrap());
        let mut sent = Vec::new();
        for _ in 0..7 {
            let at = pacer.release_at(sent.last().copied().unwrap_or(ms(5)));
            pacer.on_departure(at);
            sent.push(at);
        }
        assert_eq!(sent, [5, 5, 5, 35, 35, 35, 65].map(ms));
        // Two of the third are left: a pause saves nothing up, and what it leaves of a burst is lost.
        for _ in 0..3 {
            assert!(pacer.ready(ms(200)));
            pacer.on_departure(ms(200));
        }
        assert_eq!(pacer.release_at(ms(200)), ms(230));
        pacer.set_interval(ms(201), Some(Span::from_millis(20)));
        assert_eq!(pacer.release_at(ms(201)), ms(260), "between bursts a change counts at once");
    }

    #[test]
    fn a_new_interval_moves_the_waiting_release() {
        let mut pacer = Pacer::new(Some(Span::from_millis(10)));
        pacer.on_departure(ms(100));
        pacer.set_interval(ms(102), Some(Span::from_millis(40)));
        assert_eq!(pacer.release_at(ms(102)), ms(140));
        pacer.set_interval(ms(120), Some(Span::from_millis(5)));
        assert_eq!(pacer.release_at(ms(120)), ms(120), "105 ms is past: now");
        pacer.set_interval(ms(121), None);
        pacer.on_departure(ms(121));
        assert!(pacer.ready(ms(121)), "without an interval nothing is held");
    }

    #[test]
    fn a_timer_holds_a_packet_after_a_pause_until_its_next_tick() {
        let mut pacer = Pacer::of(Departures::Timer, None);
        pacer.on_departure(ms(1));
        assert!(pacer.ready(ms(1)), "without an interval nothing is held");
        pacer.set_interval(ms(2), Some(Span::from_millis(10)));
        assert!(pacer.ready(ms(2)), "no tick yet");
        pacer.on_departure(ms(2));
        assert_eq!(pacer.release_at(ms(5)), ms(12));
        assert_eq!(pacer.release_at(ms(503)), ms(512), "a token would let it pass at once");
        pacer.set_interval(ms(503), Some(Span::from_millis(100)));
        assert_eq!((pacer.interval(), pacer.release_at(ms(503))), (Some(Span::from_millis(100)), ms(512)));
        pacer.on_departure(ms(512));
        assert_eq!(pacer.release_at(ms(512)), ms(612));
        pacer.set_interval(ms(520), None);
        assert!(pacer.ready(ms(520)));
    }

    #[test]
    fn an_endless_interval_does_not_overflow() {
        let mut pacer = Pacer::new(Some(Span::MAX));
        pacer.on_departure(ms(1));
        assert_eq!(pacer.release_at(ms(2)), Instant::from_nanos(u64::MAX));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Wait(u64),
        Change(u64),
        SendIfReady,
        SendWhenReleased,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0u64..50_000).prop_map(Step::Wait),
            (1u64..20_000).prop_map(Step::Change),
            Just(Step::SendIfReady),
            Just(Step::SendWhenReleased),
        ]
    }

    proptest! {
        #[test]
        fn departures_keep_the_interval_in_force(steps in proptest::collection::vec(step(), 1..300)) {
            let micros = Span::from_micros;
            let mut interval = micros(1_000);
            let (mut pacer, mut now) = (Pacer::new(Some(interval)), Instant::ZERO);
            let mut sent: Vec<Instant> = Vec::new();
            for step in steps {
                match step {
                    Step::Wait(us) => now += micros(us),
                    Step::Change(us) => {
                        interval = micros(us);
                        pacer.set_interval(now, Some(interval));
                    }
                    Step::SendIfReady | Step::SendWhenReleased => {
                        // The plain rule: due one interval (the one in force now) after the last departure.
                        let due = sent.last().map_or(now, |&last| (last + interval).max(now));
                        prop_assert_eq!(pacer.release_at(now), due);
                        prop_assert_eq!(pacer.ready(now), due == now);
                        if matches!(step, Step::SendWhenReleased) {
                            now = due;
                        }
                        if pacer.ready(now) {
                            pacer.on_departure(now);
                            sent.push(now);
                        }
                    }
                }
            }
        }
    }
}
