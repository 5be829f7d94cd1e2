//! The least round trip, and the small window that lets it show (draft-ietf-ccwg-bbr-06, section 5.3.4).

use super::cycle::AckPhase;
use super::{Bbr3, PROBE_TRIP_GAIN, State};
use meshpace_units::{Instant, Span};

/// How long a round trip is believed (MinRTTFilterLen).
const HOLDS: Span = Span::from_secs(10);
/// Time between two probes (ProbeRTTInterval).
const INTERVAL: Span = Span::from_secs(5);
/// How long one keeps the small window (ProbeRTTDuration).
const DURATION: Span = Span::from_millis(200);

/// Least round trips, and where a probe of them is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trips {
    /// The least of ten seconds (min_rtt), and since when.
    least: Option<(Span, Instant)>,
    /// The least of five (probe_rtt_min_delay), and since when.
    lately: Option<(Span, Instant)>,
    expired: bool,
    /// When the probe may end (probe_rtt_done_stamp), and whether a round of it is over.
    pub(super) done: Option<Instant>,
    round_done: bool,
}

impl Trips {
    pub(super) fn least(&self) -> Option<Span> {
        self.least.map(|(trip, _)| trip)
    }

    /// UpdateMinRTT.
    fn update(&mut self, now: Instant, trip: Option<Span>) {
        let older = |seen: Option<(Span, Instant)>, than: Span| {
            seen.is_some_and(|(_, since)| now.saturating_since(since) > than)
        };
        self.expired = older(self.lately, INTERVAL);
        if let Some(trip) = trip {
            if self.expired || self.lately.is_none_or(|(lately, _)| trip < lately) {
                self.lately = Some((trip, now));
            }
        }
        let lower = self.lately.is_some_and(|(lately, _)| self.least.is_none_or(|(least, _)| lately < least));
        if lower || older(self.least, HOLDS) {
            self.least = self.lately;
        }
    }
}

impl Bbr3 {
    /// UpdateMinRTT and CheckProbeRTT.
    pub(super) fn update_trips(&mut self, now: Instant) {
        self.trips.update(now, self.seen.trip);
        if self.state != State::ProbeTrip && self.trips.expired && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeTrip;
            self.trips.done = None;
            self.cycle.phase = AckPhase::Stopping;
            self.rounds.begin(self.delivered);
        }
        if self.state == State::ProbeTrip {
            self.probe_trip(now);
        }
        self.idle_restart &= self.seen.delivered <= 0.0;
    }

    /// HandleProbeRTT.
    fn probe_trip(&mut self, now: Instant) {
        self.ignore_to = self.delivered + self.in_flight;
        match self.trips.done {
            None if self.in_flight as f64 <= self.probe_window() => {
                self.trips.done = now.checked_add(DURATION);
                self.trips.round_done = false;
                self.rounds.begin(self.delivered);
            }
            None => {}
            Some(_) => {
                self.trips.round_done |= self.rounds.started;
                if self.trips.round_done {
                    self.check_probe_trip_done(now);
                }
            }
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT.
    pub(super) fn check_probe_trip_done(&mut self, now: Instant) {
        if self.trips.done.is_none_or(|done| now <= done) {
            return;
        }
        self.trips.lately = self.trips.lately.map(|(trip, _)| (trip, now));
        self.restore_window();
        self.losses.forget_bounds();
        if self.full.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// The window of a probe, bytes (ProbeRTTCwnd).
    pub(super) fn probe_window(&self) -> f64 {
        self.product(self.bandwidth, PROBE_TRIP_GAIN).max(self.least_window())
    }
}
