//! BBR of version 3 by its draft's steps; names of tests in brackets are those of the draft's appendix A.

mod cycle;
mod losses;
mod paths;
mod probe_trip;
mod startup;

use super::cycle::AckPhase;
use super::*;
use crate::control::{AckKind, RateSample};
use crate::tests::bare;
use alloc::vec::Vec;
use meshpace_units::{Bytes, Rate};
use proptest::prelude::*;

const MSS: u32 = 1000;
const TRIP: Span = Span::from_millis(100);

/// A sender that gets a report each 10 ms, of a segment that left one round trip before: 100 kB/s, ten segments a
/// round trip of 100 ms.
struct ScriptedSender {
    bbr: Bbr3,
    now: Instant,
    delivered: u64,
    /// Delivered with each of the latest acknowledgements.
    history: Vec<u64>,
    rate: f64,
    app_limited: bool,
}

impl ScriptedSender {
    fn new() -> Self {
        let mut bbr = Bbr3::new(Rules::LINUX);
        bbr.on_connected(false, MSS);
        Self { bbr, now: Instant::ZERO, delivered: 0, history: Vec::new(), rate: 100e3, app_limited: false }
    }

    /// The same with a pipe that is known to be full: in the cycle, cruising.
    fn cruising() -> Self {
        let mut told = Self::new();
        told.acks(60, 10);
        assert!(told.bbr.full.reached);
        told.acks(30, 8);
        assert!(told.bbr.state.probes_bandwidth(), "{:?}", told.bbr.state);
        told.bbr.state = State::Cruise;
        told
    }

    /// A segment leaves now with `in_flight` segments on their way, itself included.
    fn leave(&mut self, in_flight: u64) {
        let bytes = in_flight * u64::from(MSS);
        let end = 1 + self.delivered + 20 * u64::from(MSS); // known for 200 ms
        self.bbr.departures.push(self.now, end, bytes, self.bbr.lost);
    }

    /// So many acknowledgements of a segment, with `in_flight` segments on their way.
    fn acks(&mut self, count: u64, in_flight: u64) {
        for _ in 0..count {
            self.ack(in_flight, Stage::Open, false);
        }
    }

    fn ack(&mut self, in_flight: u64, stage: Stage, marked: bool) {
        // What left ten acknowledgements ago.
        let prior = self.history.len().checked_sub(10).map_or(0, |n| self.history[n]);
        self.arrive(1, prior, in_flight, stage, marked);
    }

    /// Ten segments are acknowledged at once, a round trip after the ten before them.
    fn lump(&mut self, in_flight: u64) {
        let prior = self.history.last().copied().unwrap_or(0);
        self.arrive(10, prior, in_flight, Stage::Open, false);
    }

    /// So many segments of 10 ms each arrive; `prior` had when the latest of them left.
    fn arrive(&mut self, segments: u64, prior: u64, in_flight: u64, stage: Stage, marked: bool) {
        self.leave(in_flight);
        self.now += Span::from_millis(10 * segments);
        let length = segments * u64::from(MSS);
        self.delivered += length;
        self.history.push(self.delivered);
        let bytes = in_flight * u64::from(MSS);
        let una = 1 + self.delivered;
        let max = una + bytes;
        let out =
            Outstanding { queued: false, una, nxt: max, max, flight: in_flight as f64, limit: f64::INFINITY };
        let sample = RateSample {
            delivered: Bytes(self.delivered - prior),
            interval: TRIP,
            rate: Some(Rate::bits_per_sec((8.0 * self.rate) as u64)),
            app_limited: self.app_limited,
            prior_delivered: Bytes(prior),
            acked: Bytes(length),
            sent: Instant::ZERO + self.now.saturating_since(Instant::ZERO + TRIP),
            rtt: Some(TRIP),
            losses: Bytes(0),
        };
        let ack = Ack {
            now: self.now,
            acked: length,
            rate: Some(sample),
            ecn_signal: marked,
            ..bare(AckKind::New, out, MSS)
        };
        self.bbr.on_ack(&ack);
        self.bbr.on_flight(&ack, &Flight { bytes, before: bytes, found: self.bbr.lost, stage });
    }

    /// The segment that left `ms` ago is found lost, one that touches no other.
    fn lose(&mut self, ms: u64) {
        let sent = Instant::ZERO + self.now.saturating_since(Instant::ZERO + Span::from_millis(ms));
        let start = self.bbr.losses.last_end + 5 * u64::from(MSS);
        self.bbr.on_lost(self.now, &Lost { start, end: start + u64::from(MSS), sent });
    }

    fn segments(&self, bytes: f64) -> f64 {
        bytes / f64::from(MSS)
    }

    fn until(&mut self, state: State, in_flight: u64) {
        for _ in 0..600 {
            if self.bbr.state == state {
                return;
            }
            self.acks(1, in_flight);
        }
        panic!("{:?}, not {state:?}", self.bbr.state);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any reports: no panic, and a window that is a number of at least a segment.
    #[test]
    fn any_samples_will_do(told in proptest::collection::vec((0u64..500, 0u64..400_000, 0u8..14, 1u64..60), 1..400)) {
        let mut sender = ScriptedSender::new();
        for (wait, rate, what, in_flight) in told {
            sender.now += Span::from_millis(wait);
            sender.rate = rate as f64;
            sender.app_limited = what == 5;
            let out = Outstanding { queued: false, una: 1, nxt: 1, max: 1, flight: 0.0, limit: f64::INFINITY };
            match what {
                0 => { sender.lose(wait); let _ = sender.bbr.on_loss(0.0, &out); }
                1 => sender.bbr.on_timeout(sender.now, false, &out),
                2 => sender.bbr.on_undo(),
                3 => sender.bbr.on_idle(&Idled { mss: MSS, timeouts: 1 }),
                4 => (0..in_flight).for_each(|_| sender.lose(wait)),
                6 => sender.ack(in_flight, Stage::Recovery, false),
                7 => sender.ack(in_flight, Stage::Timeout, true),
                _ => sender.ack(in_flight, Stage::Open, what == 8),
            }
            let cwnd = sender.bbr.window.cwnd();
            prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{cwnd}");
            prop_assert!(sender.bbr.pace.is_finite() && sender.bbr.pace > 0.0);
            prop_assert!(sender.bbr.long_term > 0.0);
        }
    }
}
