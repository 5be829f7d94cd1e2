//! A window spread over the round trip: how Linux paces senders whose control says nothing of a pace, where a queue of its own
//! (sch_fq) or the socket asks for it (net/ipv4/tcp_input.c, tcp_update_pacing_rate).

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::{BACKS_OFF, PacingPart};
use super::{Ack, Asks, Control, Departure, Pace, PacingView, Reaction};
use alloc::boxed::Box;
use core::num::NonZeroU32;
use meshpace_keys::Key;
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};

pub(super) static PART: PacingPart = PacingPart::new(
    "window",
    "The window spread over the round trip: twice that in slow start, 1.2 times that later, as Linux paces under sch_fq.",
    "Linux, net/ipv4/tcp_input.c (tcp_update_pacing_rate), tcp_output.c (tcp_tso_autosize)",
    |values, _| Some(Box::new(WindowPace { bursts: values.flag("pace_bursts"), ..WindowPace::new() })),
)
.keys(&[&KEYS, &BACKS_OFF]);

static KEYS: [Key; 1] = [Key::flag(
    "pace_bursts",
    false,
    "Segments leave in bursts as TSO makes them: a millisecond's worth at the pace, at least two (tcp_min_tso_segs).",
)];

/// Of what a window a round trip is, in slow start and later (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const SLOW_START: f64 = 2.0;
const LATER: f64 = 1.2;
/// A burst is what the pace makes in 1/1024 s (`sk_pacing_shift` of 10), at least two segments.
const BURSTS_A_SECOND: f64 = 1024.0;
const LEAST_BURST: u32 = 2;

/// The window part beside it, spread.
#[derive(Clone, Debug)]
pub struct WindowPace {
    pacer: Pacer,
    srtt: Option<Span>,
    bursts: bool,
}

impl WindowPace {
    const fn new() -> Self {
        Self { pacer: Pacer::new(None), srtt: None, bursts: false }
    }
}

impl Control for WindowPace {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let Some(rtt) = ack.newest.or(ack.timestamp).filter(|_| ack.is_new()) {
            self.srtt = Some(self.srtt.map_or(rtt, |old| (old * 7 + rtt) / 8));
        }
        Reaction::Continue
    }

    fn on_window(&mut self, now: Instant, cwnd: f64, ssthresh: Option<f64>) {
        let Some(srtt) = self.srtt else { return };
        let slow_start = ssthresh.is_none_or(|ssthresh| cwnd < ssthresh / 2.0);
        let segments_a_second =
            (if slow_start { SLOW_START } else { LATER }) * cwnd / srtt.as_secs_f64().max(1e-9);
        if self.bursts {
            let burst = (segments_a_second / BURSTS_A_SECOND) as u32;
            self.pacer.set_burst(NonZeroU32::new(burst.max(LEAST_BURST)).unwrap_or(NonZeroU32::MIN));
        }
        self.pacer.set_interval(now, Some(Span::from_secs_f64(1.0 / segments_a_second.max(1e-3))));
    }

    fn on_departure(&mut self, departure: &Departure) {
        take_token(&mut self.pacer, departure);
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn pacing(&self) -> PacingView {
        PacingView { interval: self.pacer.interval(), ..PacingView::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckKind, Outstanding};
    use crate::tests::bare;

    #[test]
    fn a_window_takes_half_a_round_trip_in_slow_start_and_five_sixths_later() {
        let out =
            Outstanding { queued: false, una: 1001, nxt: 9001, max: 9001, flight: 8.0, limit: f64::INFINITY };
        let ack = Ack { acked: 1000, newest: Some(Span::from_millis(100)), ..bare(AckKind::New, out, 1000) };
        let mut pace = WindowPace::new();
        pace.on_window(Instant::ZERO, 10.0, None);
        assert_eq!(pace.pacing().interval, None, "no round trip is known");
        let _ = pace.on_ack(&ack);
        let mut interval = |cwnd, ssthresh| {
            pace.on_window(Instant::ZERO, cwnd, ssthresh);
            pace.pacing().interval
        };
        assert_eq!(interval(10.0, None), Some(Span::from_millis(5)));
        assert_eq!(interval(10.0, Some(21.0)), Some(Span::from_millis(5)));
        // From half of the threshold on as later: 100 ms / 12.
        assert_eq!(interval(10.0, Some(20.0)).map(Span::as_micros), Some(8_333));
    }
}
