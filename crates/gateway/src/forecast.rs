//! What a flow that is only watched would get if it were paced.
//!
//! Its own samples do not tell: they are those of the queue that unpaced flows have made on the path, and the law makes a crawl
//! of them. Pacing keeps that queue away, so that the forecast takes the least round trip instead: the law's (2.1) without
//! variation, shared by the flows to that host which have data on their way.

use meshpace_pacing::RateLaw;
use meshpace_units::{Instant, Span};

/// How long a least round trip is believed. A sender that goes on with a full window shows none for so long; a path that has changed without
/// a change of its hops shows the other's.
const WINDOW: Span = Span::from_secs(600);
/// Round trips without which nothing is foretold: the first ones are of small segments, a handshake's caches, a route's search.
const SAMPLES_MIN: u64 = 8;

/// The least round trip of segments that met no queue of their own flow's: full segments that left with at most one other on its
/// way. (Two, since a receiver acknowledges the second at once and lets a single one wait: RFC 1122, section 4.2.3.2.)
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BaseRoundTrip {
    /// The least of this half of the window and of the one before.
    least: [Option<Span>; 2],
    begun: Instant,
    hops: u32,
}

impl BaseRoundTrip {
    pub fn on_round_trip(&mut self, now: Instant, rtt: Span, hops: u32) {
        if hops != self.hops {
            *self = Self { least: [None; 2], begun: now, hops };
        }
        let halves = now.saturating_since(self.begun).as_nanos() / (WINDOW / 2).as_nanos();
        if halves > 0 {
            self.least = [None, self.least[0].filter(|_| halves == 1)];
            self.begun = now;
        }
        self.least[0] = Some(self.least[0].map_or(rtt, |least| least.min(rtt)));
    }

    fn least(&self, now: Instant, hops: u32) -> Option<Span> {
        let believed = self.hops == hops && now.saturating_since(self.begun) < WINDOW;
        self.least.into_iter().flatten().min().filter(|_| believed)
    }
}

/// What pacing would make of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// One packet in this time.
    pub interval: Span,
    /// The least round trip that it follows from.
    pub base: Span,
    /// Flows to the same host that have data on their way, this one included, which share what the law gives one.
    pub sharing: u32,
}

/// Why nothing is foretold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unforeseen {
    /// Too few round trips were measured, so many.
    TooYoung(u64),
    /// No segment to the host met an empty path as far as its own flow goes: all round trips are those of a queue.
    NeverAlone,
    /// The data path does not tell what was on its way.
    NotMeasured,
    /// The law is not TCP-GAP's, and only for TCP-GAP's law it is known what it makes of the least round
    /// trip.
    OtherLaw,
}

/// Foretells from the law's latest sample, and the base round trips known of flows to the host, one of which is the flow's own.
pub(crate) fn forecast(
    now: Instant,
    law: &RateLaw,
    bases: impl Iterator<Item = BaseRoundTrip>,
    sharing: u32,
) -> Result<Forecast, Unforeseen> {
    let Some(step) = law.last().filter(|_| law.samples() >= SAMPLES_MIN) else {
        return Err(Unforeseen::TooYoung(law.samples()));
    };
    let hops = step.path.hops();
    let base = bases.filter_map(|base| base.least(now, hops)).min().ok_or(Unforeseen::NeverAlone)?;
    let delay = step.path.k_hop_delay(step.k, step.path.queueing_delay(base).max(0.0));
    Ok(Forecast {
        interval: Span::from_secs_f64(delay) * u64::from(sharing.max(1)),
        base,
        sharing: sharing.max(1),
    })
}
