//! A receive window that grows with what is taken in a round trip, as Linux's does (net/ipv4/tcp_input.c of Linux 6.18:
//! tcp_rcv_space_adjust, tcp_rcvbuf_grow, tcp_rcv_rtt_measure, tcp_rcv_rtt_measure_ts).

use meshpace_units::{Instant, Span};

/// What is offered first, bytes (`tcp_rmem` of 131,072, half of which is the kernel's).
const FIRST_WINDOW: u64 = 65_535;
/// Segments that are expected in the first round trip (TCP_INIT_CWND).
const FIRST_SEGMENTS: u64 = 10;

/// The window, and what it goes by.
#[derive(Clone, Debug)]
pub(super) struct Autotune {
    window: u64,
    most: u64,
    /// The most that was taken in a round trip.
    space: u64,
    /// What had been taken when the round trip began that is measured, and when that was.
    round: (u64, Option<Instant>),
    /// The round trip, smoothed.
    trip: Option<Span>,
    /// Round trips by windows: once so much has been taken one has passed, from then on.
    by_window: Option<(u64, Instant)>,
    /// The time stamp whose echo was measured last.
    echoed: Option<u32>,
}

impl Autotune {
    /// Up to `most` bytes, in whole units of the window field.
    pub(super) fn new(most: u64, unit: u64, mss: u64) -> Self {
        let window = most.min(FIRST_WINDOW.next_multiple_of(unit));
        let space = window.min(FIRST_SEGMENTS * mss).max(1);
        Self { window, most, space, round: (0, None), trip: None, by_window: None, echoed: None }
    }

    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// A segment has come; `taken` bytes have been in order so far, and what is out of order ends `beyond` bytes after them. `echo` is the
    /// time stamp that it echoes and the time since, of full segments.
    pub(super) fn on_segment(&mut self, now: Instant, taken: u64, beyond: u64, echo: Option<(u32, Span)>) {
        self.measure_by_window(now, taken);
        if let Some((echo, trip)) = echo.filter(|(echo, _)| self.echoed != Some(*echo)) {
            self.echoed = Some(echo);
            self.trip = Some(self.trip.map_or(trip, |old| (old * 7 + trip) / 8));
        }
        if beyond > 0 {
            self.grow(self.space, beyond);
        }
        let since = *self.round.1.get_or_insert(now);
        if self.trip.is_none_or(|trip| now.saturating_since(since) < trip) {
            return;
        }
        let copied = taken - self.round.0;
        if copied > self.space {
            self.grow(copied, beyond);
        }
        self.round = (taken, Some(now));
    }

    /// A window's worth takes a round trip or longer.
    fn measure_by_window(&mut self, now: Instant, taken: u64) {
        match self.by_window {
            Some((until, _)) if taken < until => return,
            Some((_, since)) => {
                let trip = now.saturating_since(since);
                self.trip = Some(self.trip.map_or(trip, |old| old.min(trip)));
            }
            None => {}
        }
        self.by_window = Some((taken + self.window, now));
    }

    /// Twice what is taken in a round trip, since it is measured a round trip late, and twice again as much as that grew by; besides
    /// what is out of order.
    fn grow(&mut self, copied: u64, beyond: u64) {
        let twice = 2 * copied;
        let more = u128::from(twice) * u128::from(copied - self.space) / u128::from(self.space);
        let wanted = u128::from(twice + beyond) + 2 * more;
        self.space = copied;
        self.window = self.window.max(u64::try_from(wanted).unwrap_or(u64::MAX).min(self.most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    const TRIP: Span = Span::from_millis(100);

    fn tuned() -> Autotune {
        Autotune::new(10_000_000, 8, 1000)
    }

    #[test]
    fn twice_what_a_round_trip_brought_and_more_while_that_grows() {
        let mut tune = tuned();
        assert_eq!(tune.window(), 65_536);
        tune.on_segment(ms(0), 1_000, 0, Some((1, TRIP)));
        tune.on_segment(ms(50), 30_000, 0, Some((2, TRIP)));
        assert_eq!(tune.window(), 65_536, "half a round trip");
        // 40,000 where 10,000 had been expected: 80,000, and twice 80,000 * 3.
        tune.on_segment(ms(100), 40_000, 0, Some((3, TRIP)));
        assert_eq!(tune.window(), 80_000 + 480_000);
        // As much in the next: nothing more, nor with less.
        tune.on_segment(ms(200), 80_000, 0, Some((4, TRIP)));
        tune.on_segment(ms(300), 90_000, 0, Some((5, TRIP)));
        assert_eq!(tune.window(), 560_000);
        // A quarter more than the most so far: 100,000 and twice 25,000, which is less than there is.
        tune.on_segment(ms(400), 140_000, 0, Some((6, TRIP)));
        assert_eq!(tune.window(), 560_000);
        tune.on_segment(ms(500), 6_000_000, 0, Some((7, TRIP)));
        assert_eq!(tune.window(), 10_000_000, "no more than there is room");
    }

    #[test]
    fn what_is_out_of_order_has_room_besides() {
        let mut tune = tuned();
        for n in 0..100 {
            tune.on_segment(ms(n), 0, n * 1_000, None);
        }
        assert_eq!(tune.window(), 20_000 + 99_000);
    }

    #[test]
    fn without_time_stamps_a_window_s_worth_is_a_round_trip() {
        let mut tune = tuned();
        for n in 0..=65 {
            tune.on_segment(ms(10 * n), 1_000 * n, 0, None);
        }
        assert_eq!((tune.window(), tune.trip), (65_536, None));
        tune.on_segment(ms(660), 66_000, 0, None);
        assert_eq!(tune.trip, Some(Span::from_millis(660)));
        assert_eq!(tune.window(), 132_000 + 2 * 132_000 * 56 / 10);
        // The shortest counts.
        tune.on_segment(ms(5_000), 2_000_000, 0, None);
        assert_eq!(tune.trip, Some(Span::from_millis(660)));
    }

    #[test]
    fn a_time_stamp_is_measured_once() {
        let mut tune = tuned();
        tune.on_segment(ms(0), 1_000, 0, Some((1, TRIP)));
        tune.on_segment(ms(1), 2_000, 0, Some((1, TRIP * 9)));
        assert_eq!(tune.trip, Some(TRIP));
        tune.on_segment(ms(2), 3_000, 0, Some((2, TRIP * 9)));
        assert_eq!(tune.trip, Some(TRIP * 2));
    }
}
