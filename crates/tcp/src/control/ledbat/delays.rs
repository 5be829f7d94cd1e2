//! LEDBAT's delays: that of the path, and that of now (RFC 6817, section 2.4.2).

use meshpace_units::{Instant, Span};

/// Minutes that the delay of the path is remembered (BASE_HISTORY; RFC 6817, section 2.5).
const MINUTES: usize = 10;
const MINUTE: Span = Span::from_secs(60);
/// Samples of which the least is the delay of now (CURRENT_FILTER).
const SAMPLES: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    smoothed: Option<Span>,
    /// The latest samples, in a ring.
    latest: [Option<Span>; SAMPLES],
    at: usize,
    /// The least of each of the latest minutes, this one first.
    minutes: [Option<Span>; MINUTES],
    /// The minute that is first.
    minute: u64,
}

impl Delays {
    /// A round trip.
    pub(super) fn on_sample(&mut self, now: Instant, trip: Span) {
        self.smoothed = Some(self.smoothed.map_or(trip, |smoothed| (smoothed * 7 + trip) / 8));
        self.latest[self.at] = Some(trip);
        self.at = (self.at + 1) % SAMPLES;
        let minute = now.as_nanos() / MINUTE.as_nanos();
        let passed = (minute - self.minute).min(MINUTES as u64) as usize;
        self.minute = minute;
        self.minutes.rotate_right(passed % MINUTES);
        self.minutes[..passed].fill(None);
        self.minutes[0] = Some(self.minutes[0].map_or(trip, |least| least.min(trip)));
    }

    /// The smoothed round trip; nothing before the first.
    pub(super) fn smoothed(&self) -> Span {
        self.smoothed.unwrap_or(Span::ZERO)
    }

    /// The delay of the path (base delay); `None` before the first sample.
    pub(super) fn base(&self) -> Option<Span> {
        self.minutes.iter().flatten().min().copied()
    }

    /// How much longer it takes now.
    pub(super) fn queueing(&self) -> Span {
        let current = self.latest.iter().flatten().min().copied();
        current.zip(self.base()).map_or(Span::ZERO, |(current, base)| current.saturating_sub(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(delays: &mut Delays, second: u64, trips: &[u64]) -> (Option<u64>, u64) {
        let now = Instant::ZERO + Span::from_secs(second);
        trips.iter().for_each(|trip| delays.on_sample(now, Span::from_millis(*trip)));
        let ms = |span: Span| (span.as_secs_f64() * 1e3) as u64;
        (delays.base().map(ms), ms(delays.queueing()))
    }

    #[test]
    fn the_delay_of_now_is_the_least_of_four_and_that_of_the_path_of_ten_minutes() {
        let mut delays = Delays::default();
        assert_eq!((delays.base(), delays.queueing()), (None, Span::ZERO));
        assert_eq!(told(&mut delays, 30, &[50, 80, 90, 80]), (Some(50), 0));
        assert_eq!(told(&mut delays, 30, &[90]), (Some(50), 30));
        // The half-minute in which it was 50 is part of the ten minutes until the eleventh begins.
        assert_eq!(told(&mut delays, 599, &[80, 80, 80, 80]), (Some(50), 30));
        assert_eq!(told(&mut delays, 600, &[80]), (Some(80), 0));
        // Nothing for half an hour: all are forgotten.
        assert_eq!(told(&mut delays, 2_400, &[100, 100, 100, 100]), (Some(100), 0));
    }
}
