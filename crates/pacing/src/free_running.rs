//! The departure timer of the TCP-AP authors' agent.

use meshpace_units::{Instant, Span};

/// A timer that ticks on its own and lets one packet through a tick; profile `ns2-2005`.
///
/// A tick that finds nothing to send re-arms, so a packet arriving between two ticks waits for the next. A new
/// interval takes effect when the timer is armed the next time, never for the tick already armed. Passed ticks are
/// counted when asked, hence its driver must ask at each tick's instant while data waits (a simulator does).
///
/// Source: schemes.md 1.5 and section 2, "Profiles"; the authors' ns-2 agent of 2005.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeRunningTimer {
    interval: Span,
    armed: Option<Instant>,
}

impl FreeRunningTimer {
    /// A stopped timer: the first packet leaves at once and starts it.
    #[must_use]
    pub const fn new(interval: Span) -> Self {
        Self { interval, armed: None }
    }

    /// The interval that the next arming uses.
    #[must_use]
    pub const fn interval(&self) -> Span {
        self.interval
    }

    /// Sets the interval for the armings after `now`.
    pub fn set_interval(&mut self, now: Instant, interval: Span) {
        // Ticks before now re-armed themselves with the old interval.
        self.armed = self.armed.map(|armed| self.tick_at_or_after(armed, now));
        self.interval = interval;
    }

    /// True if `now` is a tick, or the timer stands still.
    #[must_use]
    pub fn ready(&self, now: Instant) -> bool {
        self.release_at(now) == now
    }

    /// The earliest tick not before `now`; `now` itself if the timer stands still.
    #[must_use]
    pub fn release_at(&self, now: Instant) -> Instant {
        self.armed.map_or(now, |armed| self.tick_at_or_after(armed, now))
    }

    /// A packet left at `now`: arms the next tick with the current interval.
    pub fn on_departure(&mut self, now: Instant) {
        self.armed = Some(now.checked_add(self.interval).unwrap_or(Instant::from_nanos(u64::MAX)));
    }

    /// Cancels the timer (three duplicate ACKs, retransmission timeout): the next packet leaves at once.
    pub fn stop(&mut self) {
        self.armed = None;
    }

    fn tick_at_or_after(&self, armed: Instant, now: Instant) -> Instant {
        let late = now.saturating_since(armed).as_nanos();
        let interval = self.interval.as_nanos().max(1); // a timer of zero ticks every nanosecond
        let missed = late.div_ceil(interval);
        Instant::from_nanos(armed.as_nanos().saturating_add(missed.saturating_mul(interval)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    #[test]
    fn a_packet_waits_for_the_next_tick() {
        let mut timer = FreeRunningTimer::new(Span::from_millis(50));
        assert!(timer.ready(ms(7)), "a timer that stands still holds nothing");
        timer.on_departure(ms(0));
        assert_eq!(timer.release_at(ms(1)), ms(50));
        assert!(timer.ready(ms(50)));
        assert_eq!(timer.release_at(ms(51)), ms(100), "the tick at 50 found the queue empty");
    }

    #[test]
    fn a_new_interval_waits_for_the_next_arming() {
        let mut timer = FreeRunningTimer::new(Span::from_millis(50));
        timer.on_departure(ms(0));
        // Two empty ticks at 50 and 100, the third is armed for 150.
        timer.set_interval(ms(120), Span::from_millis(10));
        assert_eq!(timer.release_at(ms(120)), ms(150));
        assert_eq!(timer.release_at(ms(151)), ms(160), "the tick at 150 re-armed with the new interval");
    }

    #[test]
    fn stopping_lets_the_next_packet_go() {
        let mut timer = FreeRunningTimer::new(Span::from_millis(50));
        timer.on_departure(ms(0));
        timer.stop();
        assert!(timer.ready(ms(1)));
    }

    proptest! {
        #[test]
        fn ticks_are_found_as_by_counting(interval in 1u64..1_000, waits in proptest::collection::vec(0u64..5_000, 1..100)) {
            let mut timer = FreeRunningTimer::new(Span::from_nanos(interval));
            timer.on_departure(Instant::ZERO);
            let (mut now, mut tick) = (Instant::ZERO, Instant::from_nanos(interval));
            for wait in waits {
                now += Span::from_nanos(wait);
                while tick < now {
                    tick += Span::from_nanos(interval);
                }
                prop_assert_eq!(timer.release_at(now), tick);
                timer.set_interval(now, Span::from_nanos(interval));
            }
        }
    }
}
