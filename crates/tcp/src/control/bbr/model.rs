//! What is known of the path: the greatest bandwidth of the last ten round trips, the least round trip of the last ten seconds,
//! and whether the bandwidth still grows.

use crate::control::filter::Filter;
use crate::control::{Ack, Flight};
use meshpace_units::{Instant, Span};

/// Round trips that a bandwidth is believed.
const BANDWIDTH_HOLDS: u64 = 10;
/// How long a round trip is.
const TRIP_HOLDS: Span = Span::from_secs(10);
/// By how much the bandwidth must have grown to count as growing.
const GROWS: f64 = 1.25;
/// Round trips without growth after which the path is full.
const PATIENCE: u32 = 3;

/// The path.
#[derive(Clone, Debug)]
pub(super) struct Model {
    now: Instant,
    /// Bit/s, by round trips.
    greatest: Filter,
    /// Round trips so far.
    rounds: u64,
    /// What had been delivered when the round began: it ends when something that left after that is.
    round_end: u64,
    round_began: bool,
    /// Bytes.
    delivered: u64,
    lost: u64,
    /// The bandwidth that is to be exceeded by a quarter.
    full: f64,
    full_rounds: u32,
    is_full: bool,
    least: Option<Span>,
    least_since: Instant,
    smoothed: Option<Span>,
    app_limited: bool,
    /// Samples count as limited by the application until more than this is delivered: those of a probe.
    ignore_to: u64,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            now: Instant::ZERO,
            greatest: Filter::maximum(BANDWIDTH_HOLDS),
            rounds: 0,
            round_end: 0,
            round_began: false,
            delivered: 0,
            lost: 0,
            full: 0.0,
            full_rounds: 0,
            is_full: false,
            least: None,
            least_since: Instant::ZERO,
            smoothed: None,
            app_limited: false,
            ignore_to: 0,
        }
    }
}

impl Model {
    /// The greatest bandwidth of late, bit/s; 0 before the first.
    pub(super) fn bandwidth(&self) -> f64 {
        self.greatest.best().unwrap_or(0) as f64
    }

    pub(super) const fn least_trip(&self) -> Option<Span> {
        self.least
    }

    pub(super) const fn smoothed_trip(&self) -> Option<Span> {
        self.smoothed
    }

    /// True if a round trip began with the latest acknowledgement.
    pub(super) const fn round_began(&self) -> bool {
        self.round_began
    }

    /// Bytes delivered since the connection began.
    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes found lost since the connection began.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) const fn is_app_limited(&self) -> bool {
        self.app_limited
    }

    /// An acknowledgement: rounds, and the bandwidth. A sample limited by the application counts only if it is no less than the
    /// known bandwidth.
    pub(super) fn on_sample(&mut self, ack: &Ack<'_>, flight: &Flight) {
        self.now = ack.now;
        self.lost = flight.found;
        self.round_began = false;
        if let Some(trip) = ack.newest {
            self.smoothed = Some(self.smoothed.map_or(trip, |old| (old * 7 + trip) / 8));
        }
        let Some(sample) = ack.rate else { return };
        self.delivered = sample.prior_delivered.0 + sample.delivered.0;
        self.app_limited = sample.app_limited;
        let Some(rate) = sample.rate else { return };
        if sample.prior_delivered.0 >= self.round_end {
            self.begin_round();
            self.rounds += 1;
            self.round_began = true;
        }
        let ours = self.delivered <= self.ignore_to;
        let rate = rate.as_bits_per_sec();
        if !(sample.app_limited || ours) || rate as f64 >= self.bandwidth() {
            self.greatest.update(self.rounds, rate);
        }
    }

    /// A round trip begins now.
    pub(super) const fn begin_round(&mut self) {
        self.round_end = self.delivered;
    }

    /// Three round trips in a row did not bring a quarter more: the path is full.
    pub(super) fn judge_full(&mut self, app_limited: bool) {
        if self.is_full || !self.round_began || app_limited {
            return;
        }
        if self.bandwidth() >= self.full * GROWS {
            (self.full, self.full_rounds) = (self.bandwidth(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= PATIENCE;
    }

    /// The round trip of an acknowledgement; true if the least is too old, before it is replaced.
    pub(super) fn update_trip(&mut self, ack: &Ack<'_>) -> bool {
        let expired = self.least.is_some() && ack.now.saturating_since(self.least_since) > TRIP_HOLDS;
        if let Some(trip) = ack.newest {
            if expired || self.least.is_none_or(|least| trip <= least) {
                self.trust(trip, ack.now);
            }
        }
        expired
    }

    /// The handshake's round trip, which no queue has made longer.
    pub(super) fn on_first_trip(&mut self, now: Instant, trip: Span) {
        (self.now, self.smoothed) = (now, Some(trip));
        self.trust(trip, now);
    }

    fn trust(&mut self, trip: Span, now: Instant) {
        (self.least, self.least_since) = (Some(trip), now);
    }

    /// The least round trip has been looked for.
    pub(super) const fn trust_trip(&mut self, now: Instant) {
        self.least_since = now;
    }

    /// What is in flight now was held back on purpose.
    pub(super) const fn ignore_in_flight(&mut self, bytes: u64) {
        self.ignore_to = self.delivered + bytes;
    }

    /// A timeout counts as the end of a round, and what was known of growth is void.
    pub(super) const fn on_timeout(&mut self) {
        self.full = 0.0;
        self.round_began = true;
    }

    /// A loss was none: whether the path is full is looked at anew.
    pub(super) const fn look_again(&mut self) {
        (self.full, self.full_rounds) = (0.0, 0);
    }
}
