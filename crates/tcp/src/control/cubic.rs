//! CUBIC: after a loss the window grows by the time since then, in a cubic around the window at which it was lost.

use super::part::WindowPart;
use super::recovery::FastRecovery;
use super::slow_start::{self, SlowStart};
use super::window::MINIMUM_THRESHOLD;
use super::{Ack, Asks, Congestion, Idled, Outstanding, Recovered, Rules, Window};
use alloc::boxed::Box;
use meshpace_keys::{Key, words};
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "cubic",
    "The window grows as a cubic function of the time since the last loss.",
    "RFC 9438",
    |values, surroundings| {
        let slow_start = SlowStart::new(values.word("slow_start"));
        Cubic { slow_start, ahead: values.word("cubic_ahead"), ..Cubic::new(surroundings.rules) }.into()
    },
)
.keys(&[&slow_start::KEYS, &KEYS]);

words! {
    /// How far ahead the cubic is read (`cubic_ahead`).
    pub enum Ahead {
        /// The smoothed round trip (RFC 9438, section 4.2).
        Smoothed = "smoothed",
        /// The least round trip, as Linux has it (tcp_cubic.c, `delay_min`).
        Least = "least",
    }
}

static KEYS: [Key; 1] = [Key::word(
    "cubic_ahead",
    Ahead::WORDS,
    Ahead::Smoothed.word(),
    "How far ahead the cubic is read: by the smoothed round trip (RFC 9438, section 4.2), or by the least one as in Linux.",
)];

/// Scale of the cubic, segments a cubic second (RFC 9438, section 5).
const C: f64 = 0.4;
/// What a loss leaves of the window (RFC 9438, section 4.6).
const BETA: f64 = 0.7;

/// Linux takes no round trip for the least one so long after congestion avoidance began: those of a recovery tell nothing of the
/// path (tcp_cubic.c, `cubictcp_acked`).
const SETTLES: Span = Span::from_secs(1);

/// CUBIC's window (RFC 9438). `Rules` give the initial window and slow start; what a loss cuts, and how congestion avoidance
/// grows, is CUBIC's own.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: Window,
    /// The window at the last loss, lowered if that came before the one before it was reached again (section 4.7).
    w_max: Option<f64>,
    /// The window before the last reduction.
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
    /// The end of the data sent when a mark was answered. A loss below it belongs to the same window of data, and is not
    /// answered by another cut (RFC 3168, section 6.1.2).
    marked: Option<u64>,
    /// Round trip by which the cubic is read ahead: smoothed (RFC 6298, section 2), or the least.
    rtt: Option<Span>,
    ahead: Ahead,
    slow_start: SlowStart,
    /// Before the latest reduction, which may be taken back (section 4.9).
    before: Option<Before>,
}

/// What a loss changes besides the window.
#[derive(Clone, Copy, Debug)]
struct Before {
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance (section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// Seconds from the start to the plateau (equation 2).
    k: f64,
    /// The plateau of the cubic.
    plateau: f64,
    /// What Reno's growth would have made of the window (section 4.3).
    w_est: f64,
}

impl Cubic {
    /// By these rules, besides CUBIC's own.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            window: Window::new(rules),
            w_max: None,
            cwnd_prior: None,
            epoch: None,
            marked: None,
            rtt: None,
            ahead: Ahead::Smoothed,
            slow_start: SlowStart::Standard,
            before: None,
        }
    }

    /// A loss (sections 4.6 and 4.7); returns the window for going on without slow start.
    fn cut(&mut self) -> f64 {
        let cwnd = self.window.cwnd();
        let Self { w_max, cwnd_prior, epoch, .. } = *self;
        self.before = Some(Before { w_max, cwnd_prior, epoch });
        // Fast convergence: a flow that did not get back to where it was has company, and makes room.
        let lower = self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if lower { cwnd * (1.0 + BETA) / 2.0 } else { cwnd });
        self.cwnd_prior = Some(cwnd);
        self.epoch = None;
        let threshold = (cwnd * BETA).max(MINIMUM_THRESHOLD);
        self.window.set_ssthresh(threshold);
        threshold
    }

    /// Congestion avoidance (sections 4.2 to 4.5).
    fn grow(&mut self, now: Instant, acked: f64) {
        let cwnd = self.window.cwnd();
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            // Slow start that ends without a loss begins at the plateau (section 4.8).
            let plateau = w_max.unwrap_or(cwnd).max(cwnd);
            let k = libm::cbrt((plateau - cwnd) / C);
            Epoch { start: now, k, plateau, w_est: cwnd }
        });
        // Reno's increase by as much as makes its mean window CUBIC's (equation 4), until it is back where it was.
        let below = self.cwnd_prior.is_some_and(|prior| epoch.w_est < prior);
        let alpha = if below { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        let t = now.saturating_since(epoch.start).as_secs_f64();
        let cubic = |t: f64| {
            let from_plateau = t - epoch.k;
            C * from_plateau * from_plateau * from_plateau + epoch.plateau
        };
        let next = if cubic(t) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            let ahead = cubic(t + self.rtt.map_or(0.0, Span::as_secs_f64));
            let target = ahead.clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * acked
        };
        self.window.set(next);
    }
}

impl Congestion for Cubic {
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
        if ack.ecn_signal {
            // As a loss, with nothing sent again (section 4.6; RFC 3168, section 6.1.2).
            let cwnd = self.cut();
            self.window.set(cwnd);
            self.marked = Some(ack.out.max);
        }
        if !ack.is_new() && self.window.cwnd() < self.window.ssthresh() {
            self.slow_start.on_report(&mut self.window, ack);
        }
        let counts = self.ahead == Ahead::Smoothed
            || self.epoch.is_none_or(|epoch| ack.now.saturating_since(epoch.start) >= SETTLES);
        if let Some(rtt) = ack.sample.filter(|_| counts) {
            self.rtt = Some(match (self.rtt, self.ahead) {
                (None, _) => rtt,
                (Some(old), Ahead::Smoothed) => (old * 7 + rtt) / 8,
                (Some(old), Ahead::Least) => old.min(rtt),
            });
        }
    }

    fn on_progress(&mut self, ack: &Ack<'_>) {
        let acked = ack.segments();
        if self.window.cwnd() < self.window.ssthresh() {
            self.slow_start.grow(&mut self.window, ack);
        } else if ack.ecn_echo {
            // A marked window does not open (RFC 3168, section 6.1.2).
        } else if ack.out.flight + acked >= self.window.cwnd().min(ack.out.limit) - 1.0 {
            // Only a window that was in use grows (section 5.8).
            self.grow(ack.now, acked);
        } else {
            self.epoch = None;
        }
    }

    fn on_loss(&mut self, _: f64, out: &Outstanding) -> f64 {
        let answered = self.marked.is_some_and(|marked| out.una < marked);
        if answered { self.window.cwnd() } else { self.cut() }
    }

    /// Section 4.8: as a loss, but from one segment, and the cubic begins anew where slow start ends. The threshold is
    /// held if the same segment times out again (RFC 5681, section 3.1).
    fn on_timeout(&mut self, _: Instant, again: bool, out: &Outstanding) {
        if !again && out.una > 0 {
            self.cut();
        }
        (self.w_max, self.cwnd_prior, self.epoch) = (None, None, None);
        if self.ahead == Ahead::Least {
            self.rtt = None; // bictcp_reset
        }
        self.slow_start.restart();
        self.window.collapse();
    }

    /// Section 4.9: all that the reduction changed is as before.
    fn on_undo(&mut self) {
        if let Some(Before { w_max, cwnd_prior, epoch }) = self.before.take() {
            (self.w_max, self.cwnd_prior, self.epoch) = (w_max, cwnd_prior, epoch);
        }
        self.window.undo();
    }

    fn on_idle(&mut self, idled: &Idled) {
        self.epoch = None; // the time since the last loss did not count while nothing was sent (section 4.2.1)
        self.window.restart(idled);
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        let factor = f64::from(old) / f64::from(new);
        self.w_max = self.w_max.map(|w_max| w_max * factor);
        self.cwnd_prior = self.cwnd_prior.map(|prior| prior * factor);
        self.epoch = None;
        self.window.rescale(old, new);
    }
}

/// CUBIC with NewReno's recovery: it recovers without selective acknowledgements.
#[must_use]
pub fn cubic(rules: Rules) -> Recovered {
    Recovered::new(Box::new(Cubic::new(rules)), Box::new(FastRecovery::new(&rules)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::AckKind;
    use crate::control::slow_start::SlowStartKind;
    use crate::tests::bare;

    const MSS: u32 = 1000;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    /// An acknowledgement of a segment while `flight` are out, after a round trip of 100 ms.
    fn ack(now: Instant, kind: AckKind, una: u64, flight: f64) -> Ack<'static> {
        let max = una + (flight * f64::from(MSS)) as u64;
        let out = Outstanding { queued: false, una, nxt: max, max, flight, limit: f64::INFINITY };
        let acked = u64::from(MSS) * u64::from(kind == AckKind::New);
        let sample = (kind == AckKind::New).then_some(Span::from_millis(100));
        Ack { now, acked, sample, ..bare(kind, out, MSS) }
    }

    /// 100 segments, the first of them lost and repaired at `now`: 70 are left, and 100 are the plateau.
    fn after_a_loss(now: Instant) -> (Cubic, u64) {
        let mut cubic = Cubic::new(Rules::RFC);
        cubic.window.set(100.0);
        let cwnd = cubic.on_loss(0.0, &ack(now, AckKind::Duplicate, 1001, 100.0).out);
        assert_eq!((cwnd, cubic.window.ssthresh()), (70.0, 70.0));
        cubic.window.set(cwnd);
        (cubic, 1001 + 100 * u64::from(MSS))
    }

    /// What is acknowledged outside recovery.
    fn on_ack(cubic: &mut Cubic, ack: &Ack<'_>) {
        cubic.on_ack(ack);
        cubic.on_progress(ack);
    }

    /// Acknowledges a window a round trip of 100 ms, for `seconds`.
    fn run(cubic: &mut Cubic, una: &mut u64, from: u64, seconds: f64) {
        let mut now = from as f64;
        while now < from as f64 + 1e3 * seconds {
            let cwnd = cubic.window.cwnd();
            *una += u64::from(MSS);
            on_ack(cubic, &ack(at(now as u64), AckKind::New, *una, cwnd - 1.0));
            now += 100.0 / cwnd;
        }
    }

    #[test]
    fn the_cubic_is_back_at_the_plateau_after_k_seconds_and_beyond_it_after_twice_that() {
        // K = cbrt(30 / 0.4) = 4.217 s (RFC 9438, equation 2).
        let (mut cubic, mut una) = after_a_loss(at(0));
        run(&mut cubic, &mut una, 0, 2.1086);
        // Half-way, an eighth of the drop is left; the window follows the cubic one round trip ahead.
        assert!((cubic.window.cwnd() - 96.25).abs() < 0.6, "{}", cubic.window.cwnd());
        run(&mut cubic, &mut una, 2_109, 2.1086);
        assert!((cubic.window.cwnd() - 100.0).abs() < 0.1, "{}", cubic.window.cwnd());
        run(&mut cubic, &mut una, 4_217, 4.2172);
        assert!((cubic.window.cwnd() - 130.0).abs() < 2.5, "{}", cubic.window.cwnd());
    }

    #[test]
    fn it_aims_at_half_more_than_the_window_at_the_most() {
        // RFC 9438, section 4.2. The window is far below its cubic: after 40 s that is 100 + 0.4 * 36^3.
        let (mut cubic, mut una) = after_a_loss(at(0));
        run(&mut cubic, &mut una, 0, 0.1);
        cubic.window.set(80.0);
        una += u64::from(MSS);
        on_ack(&mut cubic, &ack(at(40_000), AckKind::New, una, 79.0));
        assert_eq!(cubic.window.cwnd(), 80.0 + (120.0 - 80.0) / 80.0);
    }

    #[test]
    fn after_a_timeout_the_cubic_begins_where_slow_start_ends() {
        // RFC 9438, section 4.8: K = 0, and the plateau is the window there; 60 segments are far from Reno's growth.
        let (mut cubic, mut una) = after_a_loss(at(0));
        cubic.on_timeout(at(1_000), false, &ack(at(0), AckKind::Other, una, 70.0).out);
        assert_eq!(cubic.window.ssthresh(), 49.0);
        cubic.window.set(49.0);
        run(&mut cubic, &mut una, 2_000, 0.01);
        let epoch = cubic.epoch.expect("congestion avoidance");
        assert_eq!((epoch.k, epoch.plateau, epoch.w_est > 49.0), (0.0, 49.0, true));
    }

    #[test]
    fn where_reno_would_be_quicker_it_grows_as_reno() {
        // 10 segments: K = 1.96 s, 20 round trips, in which Reno's estimate gains 0.53 each.
        let mut cubic = Cubic::new(Rules::RFC);
        cubic.window.set(10.0);
        let cwnd = cubic.cut();
        cubic.window.set(cwnd);
        let mut una = 1001;
        run(&mut cubic, &mut una, 0, 0.5);
        assert!((cubic.window.cwnd() - (7.0 + 5.0 * 9.0 / 17.0)).abs() < 0.3, "{}", cubic.window.cwnd());
    }

    #[test]
    fn fast_convergence_makes_room() {
        let (mut cubic, _) = after_a_loss(at(0));
        cubic.window.set(80.0);
        assert_eq!(cubic.cut(), 56.0);
        assert_eq!(cubic.w_max, Some(68.0), "80 * 1.7 / 2, since 100 was not reached again");
        cubic.window.set(100.0);
        assert_eq!((cubic.cut(), cubic.w_max), (70.0, Some(100.0)));
    }

    #[test]
    fn a_mark_cuts_as_a_loss_and_an_echo_opens_nothing() {
        let (mut cubic, una) = after_a_loss(at(0));
        let marked = |ecn_signal, n: u64| {
            let plain = ack(at(10), AckKind::New, una + n * u64::from(MSS), 70.0);
            Ack { ecn_echo: true, ecn_signal, ..plain }
        };
        on_ack(&mut cubic, &marked(true, 1));
        assert!((cubic.window.cwnd() - 49.0).abs() < 1e-9 && cubic.window.ssthresh() == cubic.window.cwnd());
        let before = cubic.window.cwnd();
        on_ack(&mut cubic, &marked(false, 2));
        assert_eq!(cubic.window.cwnd(), before);
        // A loss in the marked window is mended without a second cut.
        let duplicate = ack(at(20), AckKind::Duplicate, una + 2 * u64::from(MSS), 60.0);
        assert_eq!(cubic.on_loss(0.0, &duplicate.out), before);
    }

    #[test]
    fn the_least_round_trip_is_linuxs_not_of_the_first_second_of_an_epoch_nor_of_before_a_timeout() {
        let (mut cubic, una) = after_a_loss(at(0));
        cubic.ahead = Ahead::Least;
        let mut rtt = |now: u64, n: u64, trip: u64| {
            let sample = Some(Span::from_millis(trip));
            on_ack(&mut cubic, &Ack { sample, ..ack(at(now), AckKind::New, una + n * u64::from(MSS), 69.0) });
            cubic.rtt
        };
        assert_eq!(rtt(0, 1, 100), Some(Span::from_millis(100)), "the epoch begins with it");
        assert_eq!(rtt(999, 2, 80), Some(Span::from_millis(100)));
        assert_eq!(rtt(1_000, 3, 80), Some(Span::from_millis(80)));
        cubic.on_timeout(at(2_000), false, &ack(at(0), AckKind::Other, una, 70.0).out);
        assert_eq!(cubic.rtt, None);
    }

    #[test]
    fn reports_of_longer_round_trips_end_slow_start_where_the_window_is() {
        let after = |kind: SlowStartKind| {
            let mut cubic = Cubic::new(Rules::RFC);
            (cubic.ahead, cubic.slow_start) = (Ahead::Least, SlowStart::new(kind));
            cubic.window.set(20.0);
            let trip = |ms: u64| Some(Span::from_millis(ms));
            on_ack(&mut cubic, &Ack { sample: trip(40), ..ack(at(0), AckKind::New, 1001, 19.0) });
            // The first round's end is acknowledged with it: of the next, nine longer than an eighth.
            for n in 1..=9 {
                let mut report = ack(at(100 + 3 * n), AckKind::Duplicate, 21_001, 20.0);
                report.out.nxt = 60_000;
                cubic.on_ack(&Ack { sample: trip(46), ..report });
            }
            (cubic.window.cwnd(), cubic.window.ssthresh())
        };
        assert_eq!(after(SlowStartKind::HyStart), (21.0, 21.0));
        assert_eq!(after(SlowStartKind::Standard), (21.0, f64::INFINITY));
    }

    #[test]
    fn a_loss_that_was_none_leaves_the_cubic_as_it_was() {
        let (mut cubic, mut una) = after_a_loss(at(0));
        run(&mut cubic, &mut una, 0, 1.0);
        let before = (cubic.window.cwnd(), cubic.w_max, cubic.epoch.map(|epoch| (epoch.start, epoch.k)));
        cubic.window.remember();
        let cwnd = cubic.on_loss(0.0, &ack(at(1_000), AckKind::Duplicate, una, 80.0).out);
        cubic.window.set(cwnd);
        assert_ne!(cubic.w_max, before.1);
        cubic.on_undo();
        let after = (cubic.window.cwnd(), cubic.w_max, cubic.epoch.map(|epoch| (epoch.start, epoch.k)));
        assert_eq!((after, cubic.window.ssthresh()), (before, 70.0));
    }

    #[test]
    fn a_window_that_is_not_in_use_does_not_grow() {
        let (mut cubic, una) = after_a_loss(at(0));
        for n in 1..100 {
            on_ack(&mut cubic, &ack(at(100 * n), AckKind::New, una + n * u64::from(MSS), 10.0));
        }
        assert_eq!(cubic.window.cwnd(), 70.0);
    }

    #[test]
    fn a_timeout_starts_from_one_segment_and_is_answered_once_a_segment() {
        let (mut cubic, una) = after_a_loss(at(0));
        let out = ack(at(0), AckKind::Other, una, 70.0).out;
        cubic.on_timeout(at(1_000), false, &out);
        assert_eq!((cubic.window.cwnd(), cubic.window.ssthresh()), (1.0, 49.0));
        cubic.on_timeout(at(3_000), true, &out);
        assert_eq!((cubic.window.cwnd(), cubic.window.ssthresh()), (1.0, 49.0));
    }
}
