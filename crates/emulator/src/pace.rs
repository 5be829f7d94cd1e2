//! Simulated time by the clock.

use meshpace_units::{Instant, Span};

/// Where simulated time begins on a clock, and how many of the clock's seconds a simulated one takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    origin: Instant,
    dilation: f64,
}

impl Pace {
    /// Time 0 is `origin` on the clock; each simulated second takes `dilation` of the clock's.
    ///
    /// # Panics
    /// If `dilation` is not a number from 1 on.
    #[must_use]
    pub fn new(origin: Instant, dilation: f64) -> Self {
        assert!(dilation >= 1.0 && dilation.is_finite(), "time dilated by {dilation}");
        Self { origin, dilation }
    }

    /// The simulated time at a time of the clock; 0 before the beginning.
    #[must_use]
    pub fn simulated(&self, clock: Instant) -> Instant {
        let passed = clock.saturating_since(self.origin);
        if self.dilation > 1.0 {
            Instant::ZERO + Span::from_nanos((passed.as_nanos() as f64 / self.dilation) as u64)
        } else {
            Instant::ZERO + passed
        }
    }

    /// The time of the clock at which a simulated time has come; `None`: never, on this clock.
    #[must_use]
    pub fn clock(&self, simulated: Instant) -> Option<Instant> {
        let ahead = simulated.saturating_since(Instant::ZERO);
        if self.dilation > 1.0 {
            let passed = ahead.checked_mul_f64(self.dilation)?;
            // The division rounds down: without these nanoseconds it might be a moment too early.
            let rounding = Span::from_nanos(self.dilation.ceil() as u64 + (passed.as_nanos() >> 50));
            self.origin.checked_add(passed)?.checked_add(rounding)
        } else {
            self.origin.checked_add(ahead)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_by_the_clock_has_come() {
        let origin = Instant::from_nanos(7_000_000_001);
        for dilation in [1.0, 1.5, 3.0, 10.7] {
            let pace = Pace::new(origin, dilation);
            assert_eq!(pace.simulated(Instant::ZERO), Instant::ZERO, "before the beginning");
            for nanos in [0, 1, 2, 999, 1_000_000_007, 3_600_000_000_001, 40_000_000_000_000_003] {
                let simulated = Instant::from_nanos(nanos);
                let clock = pace.clock(simulated).expect("it comes");
                assert!(pace.simulated(clock) >= simulated, "{nanos} ns by {dilation}");
                let early = (clock - origin).as_secs_f64() - simulated.as_secs_f64() * dilation;
                assert!(early < 1e-6 && early > -1e-6, "{nanos} ns by {dilation}: {early} s off");
            }
        }
        assert_eq!(Pace::new(origin, 2.0).clock(Instant::from_nanos(u64::MAX)), None);
    }

    #[test]
    fn a_dilated_second_takes_longer() {
        let pace = Pace::new(Instant::ZERO + Span::from_secs(5), 4.0);
        assert_eq!(pace.simulated(Instant::ZERO + Span::from_secs(13)), Instant::ZERO + Span::from_secs(2));
    }
}
