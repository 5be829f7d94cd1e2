//! Vegas: the window follows how many of its segments wait in queues on the way.

use super::part::WindowPart;
use super::window::MINIMUM_THRESHOLD;
use super::{Ack, Asks, Congestion, Departure, Idled, Outstanding, Rules, Sent, Window};
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "vegas",
    "The window grows and shrinks by a segment a round trip, by how many of its segments wait in queues.",
    "Brakmo and Peterson 1995; Linux, net/ipv4/tcp_vegas.c",
    |values, surroundings| {
        let [alpha, beta, gamma] = ["vegas_alpha", "vegas_beta", "vegas_gamma"].map(|key| values.real(key));
        Vegas { alpha, beta, gamma, ..Vegas::new(surroundings.rules) }.into()
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 3] = [
    Key::number(
        "vegas_alpha",
        (0.0, 1_000.0),
        2.0,
        "Segments in queues below which Vegas's window grows (tcp_vegas.c).",
    ),
    Key::number(
        "vegas_beta",
        (0.0, 1_000.0),
        4.0,
        "Segments in queues above which Vegas's window shrinks (tcp_vegas.c).",
    ),
    Key::number(
        "vegas_gamma",
        (0.0, 1_000.0),
        1.0,
        "Segments in queues that end Vegas's slow start (tcp_vegas.c).",
    ),
];

/// Round trips of a round that tell something: fewer may be delayed acknowledgements, and Reno's growth takes their place.
const SAMPLES: u32 = 3;

/// Share of the window that the threshold is at least after each round (tcp_vegas.c, `tcp_current_ssthresh`).
const KEPT: f64 = 0.75;

/// Vegas's window, with Linux's constants and its rule of a round trip.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: Window,
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// The least round trip of all: that of the path without queues.
    base: Option<Span>,
    /// The least round trip of this round, and how many there were.
    least: Option<Span>,
    samples: u32,
    /// The round is over when this is acknowledged.
    end: u64,
    /// Vegas is in charge: not from a loss until its recovery is over.
    counts: bool,
    /// Nothing is on its way.
    empty: bool,
}

impl Vegas {
    /// By these rules, with 2, 4 and 1 segments.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            window: Window::new(rules),
            alpha: 2.0,
            beta: 4.0,
            gamma: 1.0,
            base: None,
            least: None,
            samples: 0,
            end: 0,
            counts: true,
            empty: false,
        }
    }

    /// The threshold is no more than the window, so that slow start does not begin again (`tcp_vegas_ssthresh`).
    fn threshold(&self) -> f64 {
        self.window.ssthresh().min(self.window.cwnd()).max(MINIMUM_THRESHOLD)
    }

    /// The path may be another one: its least round trip is looked for anew (`tcp_vegas_init`).
    fn begin_again(&mut self) {
        (self.base, self.least, self.samples, self.counts) = (None, None, 0, true);
    }

    fn yields_to_reno(&mut self, end: u64) {
        (self.counts, self.end) = (false, end);
    }

    /// Once a round trip: the window by what waits in queues, which is what arrives later than in `base`.
    fn judge(&mut self, ack: &Ack<'_>, base: Span, least: Span) {
        let cwnd = self.window.cwnd();
        let ratio = least.as_secs_f64() / base.as_secs_f64().max(1e-9);
        let queued = cwnd * (ratio - 1.0);
        let slow_start = cwnd < self.window.ssthresh();
        if slow_start && queued > self.gamma {
            // What fills the path, and a segment to see what more would do.
            self.window.set(cwnd.min(cwnd / ratio + 1.0).max(MINIMUM_THRESHOLD));
            self.window.set_ssthresh(self.threshold());
        } else if slow_start {
            self.window.grow(ack);
        } else if queued > self.beta {
            self.window.set((cwnd - 1.0).max(MINIMUM_THRESHOLD));
            self.window.set_ssthresh(self.threshold());
        } else if queued < self.alpha {
            self.window.set(cwnd + 1.0);
        }
        // tcp_current_ssthresh: what a timeout would find is at least three quarters of the window.
        let threshold = self.window.ssthresh().max(KEPT * self.window.cwnd());
        self.window.set_ssthresh(threshold);
    }
}

impl Congestion for Vegas {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.window.heed_mark(ack);
        self.empty = ack.out.una == ack.out.max;
        if let Some(trip) = ack.newest.or(ack.timestamp) {
            self.base = Some(self.base.map_or(trip, |base| base.min(trip)));
            self.least = Some(self.least.map_or(trip, |least| least.min(trip)));
            self.samples += 1;
        }
    }

    fn on_progress(&mut self, ack: &Ack<'_>) {
        if ack.ecn_echo {
            return;
        }
        if !self.counts {
            self.window.grow(ack);
            if ack.out.una > self.end {
                // Recovery is over. Round trips measured in it count for nothing: a whole round of new data
                // comes first (tcp_vegas.c, `vegas_enable`).
                (self.counts, self.end, self.least, self.samples) = (true, ack.out.nxt, None, 0);
            }
            return;
        }
        if ack.out.una <= self.end {
            if self.window.cwnd() < self.window.ssthresh() {
                self.window.grow(ack);
            }
            return;
        }
        match self.base.zip(self.least).filter(|_| self.samples >= SAMPLES) {
            Some((base, least)) => self.judge(ack, base, least),
            None => self.window.grow(ack),
        }
        (self.end, self.least, self.samples) = (ack.out.nxt, None, 0);
    }

    fn on_loss(&mut self, inflation: f64, out: &Outstanding) -> f64 {
        self.yields_to_reno(out.max);
        self.window.cut_threshold(inflation, out)
    }

    fn on_timeout(&mut self, _: Instant, again: bool, out: &Outstanding) {
        self.yields_to_reno(out.max);
        self.window.time_out(again, out);
    }

    fn on_idle(&mut self, idled: &Idled) {
        self.begin_again();
        self.window.restart(idled);
    }

    /// Data that leave when nothing is on its way begin anew, however short the pause (`CA_EVENT_TX_START`).
    fn on_departure(&mut self, departure: &Departure) {
        if let Sent::Data { start, .. } = departure.sent {
            if core::mem::take(&mut self.empty) {
                self.begin_again();
                self.end = start;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, InitialWindow};
    use crate::tests::bare;

    /// Rounds of as many acknowledgements as the window has segments, of round trips in ms; the window after each.
    fn windows(first: f64, ssthresh: f64, trips: &[u64]) -> std::vec::Vec<f64> {
        let mut vegas = Vegas::new(Rules { initial_window: InitialWindow::Segments(first), ..Rules::RFC });
        vegas.on_connected(false, 1000);
        vegas.window.set_ssthresh(ssthresh);
        vegas.base = Some(Span::from_millis(100));
        let (mut nxt, mut after) = (1u64, std::vec::Vec::new());
        for trip in trips {
            let segments = vegas.window.cwnd() as u64;
            let una = nxt;
            nxt += 1000 * segments;
            for n in 1..=segments {
                let out = Outstanding {
                    queued: false,
                    una: una + 1000 * n,
                    nxt: nxt + 1000 * n,
                    max: nxt + 1000 * n,
                    flight: segments as f64,
                    limit: f64::INFINITY,
                };
                let newest = Some(Span::from_millis(*trip));
                let ack = Ack { acked: 1000, newest, ..bare(AckKind::New, out, 1000) };
                vegas.on_ack(&ack);
                vegas.on_progress(&ack);
            }
            after.push(vegas.window.cwnd());
        }
        after
    }

    #[test]
    fn two_to_four_segments_in_queues_are_wanted() {
        // 10 segments in 100 ms of path: at 115 ms 1.5 wait, at 130 ms 3, at 150 ms 5. The first acknowledgement of a round judges
        // the round before; the very first has none, and adds a tenth as Reno.
        let near = |windows: std::vec::Vec<f64>, wanted: [f64; 3]| {
            assert!(windows.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{windows:?}");
        };
        near(windows(10.0, 5.0, &[115, 115, 115]), [10.1, 11.1, 12.1]);
        near(windows(10.0, 5.0, &[130, 130, 130]), [10.1, 10.1, 10.1]);
        near(windows(10.0, 5.0, &[150, 150, 150]), [10.1, 9.1, 8.1]);
    }

    #[test]
    fn slow_start_ends_when_more_than_one_waits() {
        // 20 segments at 110 ms: 1.8 wait; 18.2 fill the path, and one more.
        let after = windows(10.0, f64::INFINITY, &[100, 110, 110]);
        assert!(after[0] >= 19.0 && after[2] < after[1] + 2.0, "{after:?}");
    }

    #[test]
    fn round_trips_of_a_recovery_judge_nothing() {
        let mut vegas = Vegas::new(Rules::RFC);
        vegas.on_connected(false, 1000);
        vegas.base = Some(Span::from_millis(100));
        let out = |una: u64| {
            let nxt = una + 10_000;
            Outstanding { queued: false, una, nxt, max: nxt, flight: 10.0, limit: f64::INFINITY }
        };
        vegas.window.set(20.0);
        vegas.window.set_ssthresh(10.0);
        let cwnd = vegas.on_loss(0.0, &out(1)); // recovery until 10,001
        vegas.window.set(cwnd);
        let mut windows = std::vec::Vec::new();
        for n in 1..=22u64 {
            // 200 ms are five segments in queues until recovery is over, 100 ms none afterwards.
            let newest = Some(Span::from_millis(if n <= 11 { 200 } else { 100 }));
            let ack = Ack { acked: 1000, newest, ..bare(AckKind::New, out(1 + 1000 * n), 1000) };
            vegas.on_ack(&ack);
            vegas.on_progress(&ack);
            windows.push(vegas.window.cwnd());
        }
        // Recovery is over with the 11th, everything that was outstanding then has arrived with the 22nd.
        assert!(windows[11..21].iter().all(|window| *window == windows[10]), "{windows:?}");
        assert_eq!(windows[21], windows[10] + 1.0, "{windows:?}");
    }

    #[test]
    fn a_pause_and_a_timeout_begin_anew() {
        let fresh = || {
            let mut vegas = Vegas::new(Rules::RFC);
            vegas.on_connected(false, 1000);
            vegas.base = Some(Span::from_millis(100));
            vegas
        };
        let out = |una: u64, max: u64| Outstanding {
            queued: false,
            una,
            nxt: max,
            max,
            flight: 0.0,
            limit: f64::INFINITY,
        };
        let leave = |vegas: &mut Vegas| {
            let sent = Sent::Data { start: 2001, length: 1000, first: true };
            vegas.on_departure(&Departure { now: Instant::ZERO, token: Instant::ZERO, sent });
        };
        let mut vegas = fresh();
        vegas.on_ack(&bare(AckKind::New, out(1001, 2001), 1000));
        leave(&mut vegas);
        assert_eq!(vegas.base, Some(Span::from_millis(100)), "something was on its way");
        vegas.on_ack(&bare(AckKind::New, out(2001, 2001), 1000));
        leave(&mut vegas);
        assert_eq!((vegas.base, vegas.end), (None, 2001));
        let mut vegas = fresh();
        vegas.on_idle(&Idled { mss: 1000, timeouts: 1 });
        assert_eq!(vegas.base, None);
        // A timeout yields to Reno until all that was outstanding is acknowledged; the least round trip stays.
        let mut vegas = fresh();
        vegas.window.set(20.0);
        vegas.on_timeout(Instant::ZERO, false, &out(1001, 21_001));
        assert_eq!((vegas.counts, vegas.end, vegas.base), (false, 21_001, Some(Span::from_millis(100))));
    }

    #[test]
    fn the_threshold_is_between_three_quarters_of_the_window_and_the_window() {
        let mut vegas = Vegas::new(Rules::RFC);
        vegas.window.set(20.0);
        vegas.window.set_ssthresh(4.0);
        let trip = Span::from_millis(100);
        let ack = bare(
            AckKind::New,
            Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: 1e9 },
            1000,
        );
        vegas.judge(&ack, trip, trip);
        assert_eq!((vegas.window.cwnd(), vegas.window.ssthresh()), (21.0, 15.75));
        vegas.window.set_ssthresh(30.0);
        vegas.judge(&ack, trip, trip * 2); // slow start, with as much waiting as on its way
        assert_eq!((vegas.window.cwnd(), vegas.window.ssthresh()), (11.5, 11.5));
    }

    #[test]
    fn a_round_of_too_few_round_trips_grows_as_renos() {
        assert_eq!(windows(1.0, 1.0, &[500]), [2.0]);
    }
}
