//! The gate of paced flows: one token, or a timer that ticks on its own.

use crate::FreeRunningTimer;
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
    gate: Gate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Gate {
    Token {
        last: Option<Instant>,
        next: Instant,
    },
    /// `None` while there is no interval.
    Timer(Option<FreeRunningTimer>),
}

impl Pacer {
    /// A pacer that spaces departures by `interval`; `None` paces nothing.
    #[must_use]
    pub const fn new(interval: Option<Span>) -> Self {
        Self { interval, gate: Gate::Token { last: None, next: Instant::ZERO } }
    }

    /// A pacer whose packets leave so.
    #[must_use]
    pub fn of(departures: Departures, interval: Option<Span>) -> Self {
        match departures {
            Departures::Token => Self::new(interval),
            Departures::Timer => Self { interval, gate: Gate::Timer(interval.map(FreeRunningTimer::new)) },
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
            Gate::Token { last, next } => *next = due_after(*last, interval).max(now),
            Gate::Timer(timer) => match (timer.as_mut(), interval) {
                (Some(timer), Some(interval)) => timer.set_interval(now, interval),
                (_, interval) => *timer = interval.map(FreeRunningTimer::new),
            },
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
            Gate::Token { last, next } => {
                *last = Some(now);
                *next = due_after(*last, self.interval);
            }
            Gate::Timer(timer) => {
                if let Some(timer) = timer {
                    timer.on_departure(now);
                }
            }
        }
    }
}

fn due_after(last: Option<Instant>, interval: Option<Span>) -> Instant {
    match (last, interval) {
        (Some(last), Some(interval)) => last.checked_add(interval).unwrap_or(Instant::from_nanos(u64::MAX)),
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
