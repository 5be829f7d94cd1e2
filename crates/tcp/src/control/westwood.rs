//! Westwood+: Reno's growth, and after a recovery the window that the measured bandwidth fills the path with.

use super::part::WindowPart;
use super::window::MINIMUM_THRESHOLD;
use super::{Ack, Asks, Congestion, Flight, Outstanding, Rules, Window};
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "westwood",
    "Reno, but a recovery leaves what the measured bandwidth fills the least round trip with (Westwood+).",
    "Grieco and Mascolo 2004; Linux, net/ipv4/tcp_westwood.c",
    |_, surroundings| Westwood::new(surroundings.rules).into(),
);

/// A sample covers a round trip, and at least this (tcp_westwood.c, `TCP_WESTWOOD_RTT_MIN`).
const LEAST: Span = Span::from_millis(50);
/// What a sample leaves of the estimate, at each of the two stages of the filter (tcp_westwood.c, `westwood_do_filter`).
const KEEPS: f64 = 7.0 / 8.0;

/// Westwood+'s window.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: Window,
    /// Bytes a second: after one stage of the filter, and after both.
    stages: Option<(f64, f64)>,
    since: Option<Instant>,
    delivered: u64,
    rtt: Option<Span>,
    least: Option<Span>,
    /// What fills the path, segments; `None` before there is a measurement.
    fill: Option<f64>,
    /// What had been sent when a loss or a mark was answered: recovery is over once that is acknowledged.
    recovers_to: Option<u64>,
}

impl Westwood {
    /// By these rules but for what a loss leaves.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let window = Window::new(rules);
        Self {
            window,
            stages: None,
            since: None,
            delivered: 0,
            rtt: None,
            least: None,
            fill: None,
            recovers_to: None,
        }
    }

    /// What is delivered in a round trip is a sample of the bandwidth.
    fn measure(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let span = now.saturating_since(since);
        if span <= self.rtt.map_or(LEAST, |rtt| rtt.max(LEAST)) {
            return;
        }
        let sample = self.delivered as f64 / span.as_secs_f64();
        let filter = |old: f64, new: f64| KEEPS * old + (1.0 - KEEPS) * new;
        self.stages = Some(self.stages.map_or((sample, sample), |(first, second)| {
            let first = filter(first, sample);
            (first, filter(second, first))
        }));
        (self.since, self.delivered) = (Some(now), 0);
    }

    /// Recovery is over: what the bandwidth fills the path with is left (tcp_westwood.c, `CA_EVENT_COMPLETE_CWR`).
    fn complete(&mut self, una: u64) {
        if self.recovers_to.is_some_and(|end| una >= end) {
            self.recovers_to = None;
            if let Some(fills) = self.fill {
                self.window.set(fills);
                self.window.set_ssthresh(fills);
            }
        }
    }

    /// Bandwidth times least round trip, segments.
    fn fills(&self, mss: u32) -> Option<f64> {
        let ((_, bandwidth), least) = self.stages.zip(self.least)?;
        Some((bandwidth * least.as_secs_f64() / f64::from(mss)).max(MINIMUM_THRESHOLD))
    }
}

impl Congestion for Westwood {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, delivery_rate: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.window.heed_mark(ack);
        if ack.ecn_signal {
            self.recovers_to = Some(ack.out.max);
        }
        if let Some(rtt) = ack.newest.or(ack.timestamp).filter(|_| ack.is_new()) {
            self.rtt = Some(rtt);
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        self.delivered += ack.rate.map_or(0, |sample| sample.acked.0);
        self.measure(ack.now);
        self.fill = self.fills(ack.mss);
    }

    fn on_progress(&mut self, ack: &Ack<'_>) {
        self.complete(ack.out.una);
        self.window.grow(ack);
    }

    /// In recovery it is Reno.
    fn on_loss(&mut self, inflation: f64, out: &Outstanding) -> f64 {
        self.recovers_to = Some(out.max);
        self.window.cut_threshold(inflation, out)
    }

    fn on_undo(&mut self) {
        self.recovers_to = None;
        self.window.undo();
    }

    fn on_flight(&mut self, ack: &Ack<'_>, _: &Flight) {
        self.complete(ack.out.una);
    }

    fn on_timeout(&mut self, _: Instant, again: bool, out: &Outstanding) {
        self.recovers_to = None;
        self.window.time_out(again, out);
        if let Some(fills) = self.fill {
            self.window.set_ssthresh(fills);
        }
        self.least = None; // the path may be another (tcp_westwood.c, `reset_rtt_min`)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, RateSample};
    use crate::tests::bare;
    use meshpace_units::Bytes;

    /// Segments of 1,000 bytes each 10 ms for a second, over a least round trip of 100 ms and a present one of 200: 100 kB/s.
    fn measured() -> Westwood {
        let mut westwood = Westwood::new(Rules::RFC);
        westwood.window.set(40.0);
        for n in 1..=100u64 {
            let una = 1 + 1000 * n;
            let out = Outstanding {
                queued: false,
                una,
                nxt: una + 20_000,
                max: una + 20_000,
                flight: 20.0,
                limit: f64::INFINITY,
            };
            let rate = RateSample {
                delivered: Bytes(1000),
                interval: Span::from_millis(10),
                rate: None,
                app_limited: false,
                prior_delivered: Bytes(0),
                acked: Bytes(1000),
                sent: Instant::ZERO,
                rtt: None,
                losses: Bytes(0),
            };
            let newest = Some(Span::from_millis(if n == 1 { 100 } else { 200 }));
            let now = Instant::ZERO + Span::from_millis(10 * n);
            let ack = Ack { now, acked: 1000, newest, rate: Some(rate), ..bare(AckKind::New, out, 1000) };
            westwood.on_ack(&ack);
        }
        westwood
    }

    fn out() -> Outstanding {
        Outstanding {
            queued: false,
            una: 101_001,
            nxt: 141_001,
            max: 141_001,
            flight: 40.0,
            limit: f64::INFINITY,
        }
    }

    #[test]
    fn a_recovery_leaves_what_fills_the_path() {
        // 100 kB/s times 100 ms are ten segments; Reno, and so recovery, has 20.
        let mut westwood = measured();
        let cwnd = westwood.on_loss(0.0, &out());
        assert_eq!((cwnd, westwood.window.ssthresh()), (20.0, 20.0));
        westwood.window.set(cwnd);
        let progress = |westwood: &mut Westwood, una: u64| {
            let out = Outstanding { una, ..out() };
            westwood.on_progress(&Ack { acked: 1000, ..bare(AckKind::New, out, 1000) });
            westwood.window.cwnd()
        };
        assert!(
            progress(&mut westwood, 141_000) >= 20.0,
            "recovery lasts until all that had been sent is acknowledged"
        );
        // And Reno's growth from there.
        let after = progress(&mut westwood, 141_001);
        assert!((after - 10.1).abs() < 0.6 && westwood.window.ssthresh() < after, "{after}");
        let next = progress(&mut westwood, 142_001);
        assert!((next - after - 1.0 / after).abs() < 1e-9, "once");
        let mut small = measured();
        small.window.set(6.0);
        let cwnd = small.on_loss(0.0, &out());
        small.window.set(cwnd);
        let after = progress(&mut small, 141_001);
        assert!((after - 10.1).abs() < 0.6, "more than there was, if that is what fills the path: {after}");
        westwood.on_timeout(Instant::ZERO, false, &out());
        assert_eq!(westwood.window.cwnd(), 1.0);
        assert!((westwood.window.ssthresh() - 10.0).abs() < 0.6);
    }

    #[test]
    fn a_mark_is_answered_in_the_same_way() {
        let mut westwood = measured();
        westwood.on_ack(&Ack { ecn_signal: true, ..bare(AckKind::New, out(), 1000) });
        assert_eq!(westwood.window.cwnd(), 20.0);
        let after = Outstanding { una: 141_001, ..out() };
        westwood.on_progress(&Ack { acked: 0, ..bare(AckKind::New, after, 1000) });
        assert!((westwood.window.cwnd() - 10.0).abs() < 0.6, "{}", westwood.window.cwnd());
    }

    #[test]
    fn a_loss_that_was_none_leaves_the_window_as_it_was() {
        let mut westwood = measured();
        westwood.window.remember();
        let cwnd = westwood.on_loss(0.0, &out());
        westwood.window.set(cwnd);
        westwood.on_undo();
        let flight = Flight { bytes: 0, before: 0, found: 0, stage: crate::control::Stage::Open };
        let ack = bare(AckKind::New, Outstanding { una: 141_001, ..out() }, 1000);
        westwood.on_flight(&ack, &flight);
        assert_eq!(westwood.window.cwnd(), 40.0);
    }

    #[test]
    fn without_a_measurement_it_is_renos_half() {
        let mut westwood = Westwood::new(Rules::RFC);
        westwood.window.set(40.0);
        assert_eq!(westwood.on_loss(0.0, &out()), 20.0);
    }
}
