//! Forecasts held against what came: what was foretold of flows while they were only watched, and what they then got paced.
//!
//! [`Foresight`] gets forecasts when pacing is switched on (by an operator, a guard's block or a trial's), and looks at the flows once a
//! second. It asks no other process. A forecast counts if the pace decided what the flow got: a forecast says nothing about a sender that
//! has no more to send. With [`Kept`] the outcomes outlive the daemon.

pub(crate) mod kept;

pub use kept::Kept;

use crate::state::{FlowReport, Snapshot};
use meshpace_gateway::{FlowKey, Treatment};
use meshpace_units::{Bytes, Instant, Rate, Span};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Not counted at the beginning: the queue that the unpaced flow has made in the mesh empties, its round trips are forgotten. A guard's
/// blocks of ten seconds leave as much out.
const SETTLES: Span = Span::from_secs(3);
/// Less than this tells no goodput.
const LEAST: Span = Span::from_secs(5);
/// A forecast is of the present: what comes a minute later is no longer what was foretold.
const MOST: Span = Span::from_secs(60);
/// A flow that got less than this of its pace, and of which hardly ever a packet waited here, was held by something else.
const USED: f64 = 0.7;
/// Without a packet for so long a flow rests.
const RESTS: Span = Span::from_secs(1);
/// Flows foretold at a time.
pub const FLOWS: usize = 32;
/// Outcomes that the means are of, the latest ones.
const OUTCOMES: usize = 100;

/// What a watched flow would get if it were paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foretold {
    /// The flow.
    pub key: FlowKey,
    /// When it began.
    pub opened: Instant,
    /// Payload.
    pub rate: Rate,
}

/// What was foretold and what came.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was foretold, bit/s.
    pub foretold_bps: f64,
    /// What the flow got, bit/s.
    pub measured_bps: f64,
}

impl Outcome {
    /// By which part of what was foretold the flow got more; negative: less.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.measured_bps / self.foretold_bps - 1.0
    }
}

/// A flow whose forecast was just held against what came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The flow.
    pub key: FlowKey,
    /// What came.
    pub outcome: Outcome,
    /// At this time.
    pub at: Instant,
}

/// How far off forecasts were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Forecasts that the means are of.
    pub compared: usize,
    /// The mean of their errors: below zero if too much was foretold.
    pub mean: f64,
    /// The mean of their sizes, whichever way.
    pub mean_size: f64,
}

/// What a flow has got since it is counted, and how.
#[derive(Clone, Copy, Debug)]
struct Counted {
    from: (Instant, Bytes),
    until: (Instant, Bytes),
    looks: u32,
    /// Looks at which packets of it waited here.
    waited: u32,
    /// What its pace allowed, summed over looks, bit/s.
    allowed: f64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    foretold: Foretold,
    since: Instant,
    counted: Option<Counted>,
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct Foresight {
    pending: Vec<Pending>,
    outcomes: VecDeque<Outcome>,
    latest: Option<Compared>,
    /// Forecasts of flows that something else than their pace held.
    undecided: u64,
}

/// How a look at a flow ends.
enum Seen {
    Goes,
    Ends,
    Vanished,
}

impl Foresight {
    /// What earlier daemons have found.
    #[must_use]
    pub fn with(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut this = Self::default();
        outcomes.into_iter().for_each(|outcome| this.push(outcome));
        this
    }

    /// These were foretold just now, and are paced from now on. Earlier forecasts of the same flows that have not come to an end are given
    /// up.
    pub fn foretell(&mut self, now: Instant, told: impl IntoIterator<Item = Foretold>) {
        for foretold in told.into_iter().take(FLOWS) {
            self.pending.retain(|pending| pending.foretold.key != foretold.key);
            self.pending.push(Pending { foretold, since: now, counted: None });
        }
    }

    /// Looks at the flows; tells which forecasts are now held against what came.
    pub fn look(&mut self, snapshot: &Snapshot) -> Vec<Compared> {
        let mut done = Vec::new();
        let mut pending = std::mem::take(&mut self.pending);
        pending.retain_mut(|pending| match seen(pending, snapshot) {
            Seen::Goes => true,
            Seen::Vanished => false,
            Seen::Ends => {
                match judged(pending) {
                    Some(Some(outcome)) => {
                        done.push(Compared { key: pending.foretold.key, outcome, at: snapshot.at });
                    }
                    Some(None) => self.undecided += 1,
                    None => {}
                }
                false
            }
        });
        self.pending = pending;
        done.iter().for_each(|compared| self.push(compared.outcome));
        self.latest = done.last().copied().or(self.latest);
        done
    }

    fn push(&mut self, outcome: Outcome) {
        if self.outcomes.len() == OUTCOMES {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back(outcome);
    }

    /// The latest outcomes, oldest first.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        self.outcomes.iter().copied()
    }

    /// The flow compared last by this daemon.
    #[must_use]
    pub const fn latest(&self) -> Option<Compared> {
        self.latest
    }

    /// Forecasts of flows that something else than their pace held, which are not counted.
    #[must_use]
    pub const fn undecided(&self) -> u64 {
        self.undecided
    }

    /// How far off forecasts were; `None` before the first.
    #[must_use]
    pub fn errors(&self) -> Option<Errors> {
        let compared = self.outcomes.len();
        let mean = |of: fn(f64) -> f64| {
            self.outcomes.iter().map(|outcome| of(outcome.error())).sum::<f64>() / compared as f64
        };
        (compared > 0).then(|| Errors { compared, mean: mean(|error| error), mean_size: mean(f64::abs) })
    }
}

/// Counts what the flow has got as of a snapshot.
fn seen(pending: &mut Pending, snapshot: &Snapshot) -> Seen {
    let Foretold { key, opened, .. } = pending.foretold;
    // A snapshot has its flows in the order of their keys.
    let found = snapshot.flows.binary_search_by(|flow| flow.stats.key.cmp(&key));
    let flow = found.ok().map(|at| &snapshot.flows[at]).filter(|flow| flow.opened == opened);
    let age = snapshot.at.saturating_since(pending.since);
    let Some(flow) = flow else { return Seen::Vanished };
    if flow.treatment != Treatment::Pace || !flow.stats.paced {
        // The look may be of the moment before.
        return if pending.counted.is_some() || age > SETTLES { Seen::Ends } else { Seen::Goes };
    }
    // A sender with a small window has now and then nothing on its way. A sender that rests for longer has had what it
    // wanted.
    if snapshot.at.saturating_since(flow.last_activity) > RESTS {
        return Seen::Vanished;
    }
    let Some(total) = flow.stats.goodput_down.map(|goodput| goodput.total()) else { return Seen::Goes };
    if age < SETTLES {
        return Seen::Goes;
    }
    let here = (snapshot.at, total);
    let start = Counted { from: here, until: here, looks: 0, waited: 0, allowed: 0.0 };
    let counted = pending.counted.get_or_insert(start);
    counted.until = here;
    counted.looks += 1;
    counted.waited += u32::from(flow.stats.queued > 0);
    counted.allowed += allowed(flow);
    if snapshot.at.saturating_since(counted.from.0) >= MOST { Seen::Ends } else { Seen::Goes }
}

/// What its pace allows a flow, payload bit/s.
fn allowed(flow: &FlowReport) -> f64 {
    let interval = flow.stats.interval.filter(|interval| !interval.is_zero());
    interval.map_or(0.0, |interval| flow.segment.bits() as f64 / interval.as_secs_f64())
}

/// What came of a forecast: nothing in too short a time; in it nothing if something else than its pace held the flow.
fn judged(pending: &Pending) -> Option<Option<Outcome>> {
    let Counted { from, until, looks, waited, allowed } = pending.counted?;
    let over = until.0.saturating_since(from.0);
    if over < LEAST {
        return None;
    }
    let measured_bps = (until.1 - from.1).bits() as f64 / over.as_secs_f64();
    let paced = waited * 2 >= looks || measured_bps >= USED * allowed / f64::from(looks);
    let foretold_bps = pending.foretold.rate.as_bits_per_sec() as f64;
    Some((paced && foretold_bps > 0.0).then_some(Outcome { foretold_bps, measured_bps }))
}

#[cfg(test)]
mod tests;
