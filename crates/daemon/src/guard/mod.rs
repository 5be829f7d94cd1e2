//! A guard: after pacing was switched on, blocks with and without it take turns, and if it costs too much it goes back.
//!
//! Sans-IO. [`Guard`] gets once a second how much the flows concerned got. It says when to change sides, and in the end what it
//! found. The order within each pair of blocks is drawn from a random stream of its own, so that regular events do not always meet
//! the same side. [`Acknowledged`] counts what flows have got, between two looks.

mod acknowledged;

pub use acknowledged::Acknowledged;

use crate::config::GuardTerms;
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, Span};

/// Of each block so much is not counted: what was on its way, and senders that find their rates. One third.
const SETTLES: u64 = 3;
/// Pairs that suffice if each of them says the same.
const EARLY: u32 = 4;
/// Pairs tried at most, for each that is asked for: those without traffic do not count.
const TRIES: u32 = 3;
/// Departures that the kernel was given are kept when pacing ends (docs/ebpf.md): a block without pacing begins when none is left, or after so
/// long, the horizon of sch_fq.
const LINGERS: Span = Span::from_secs(10);
/// A block counts if there was traffic at this part of its looks: flows wanted more, or got this much. Over short paths nothing may be
/// on its way at a look, and yet there is a download.
const BUSY: f64 = 0.5;
const TRAFFIC: Bytes = Bytes(10_000);

/// With pacing, or as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// As asked for.
    Paced,
    /// As before.
    Before,
}

/// How the flows concerned do at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Look {
    /// What was acknowledged since the last one.
    pub acknowledged: Bytes,
    /// Some of them want more.
    pub want: bool,
    /// Packets of them wait at the gateway.
    pub wait: bool,
}

/// What the guard asks for at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The other side is to act from now on.
    Change(Side),
    /// The comparison is over: pacing stays.
    Stays(Verdict),
    /// The comparison is over: it goes back.
    GoesBack(Verdict),
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Verdict {
    /// Pairs that counted.
    pub pairs: u32,
    /// Those of them in which pacing brought less.
    pub less: u32,
    /// Goodput with pacing over that without; `None` while no pair counted.
    pub ratio: Option<f64>,
}

/// A block's outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    bytes: u64,
    looks: u32,
    busy: u32,
}

impl Outcome {
    fn counts(&self) -> bool {
        self.looks > 0 && f64::from(self.busy) >= BUSY * f64::from(self.looks)
    }
}

/// See the module's description.
#[derive(Debug)]
pub struct Guard {
    terms: GuardTerms,
    order: Stream,
    /// Since when the present block runs, and which it is: 0 is the first, which does not count.
    since: Instant,
    /// And since when its side acts.
    changed: Instant,
    block: u32,
    /// Which side of the present pair is first, once one has begun.
    first: Side,
    running: Outcome,
    /// The first block's of the present pair.
    half: Outcome,
    sums: [u64; 2],
    pairs: u32,
    less: u32,
    clear: u32,
}

impl Guard {
    /// Pacing begins at `now`. A first block with it does not count: connections find their rates.
    #[must_use]
    pub fn new(terms: GuardTerms, seed: u64, number: u64, now: Instant) -> Self {
        Self {
            terms,
            order: Stream::new(seed, "guard", number),
            since: now,
            changed: now,
            block: 0,
            first: Side::Paced,
            running: Outcome::default(),
            half: Outcome::default(),
            sums: [0; 2],
            pairs: 0,
            less: 0,
            clear: 0,
        }
    }

    /// The side that acts now.
    #[must_use]
    pub fn side(&self) -> Side {
        match (self.block, self.block % 2 == 1, self.first) {
            (0, ..) => Side::Paced,
            (_, true, first) => first,
            (_, false, Side::Paced) => Side::Before,
            (_, false, Side::Before) => Side::Paced,
        }
    }

    /// How long the comparison takes at least, if there is traffic all the time.
    #[must_use]
    pub fn length(terms: &GuardTerms) -> Span {
        terms.block * u64::from(1 + 2 * terms.pairs)
    }

    /// What was found so far.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let [paced, before] = self.sums.map(|bytes| bytes as f64);
        let ratio = (self.pairs > 0 && before > 0.0).then(|| paced / before);
        Verdict { pairs: self.pairs, less: self.less, ratio }
    }

    /// Another look, a second or so after the last.
    pub fn look(&mut self, now: Instant, look: Look) -> Option<Order> {
        let Look { acknowledged, want, wait } = look;
        if wait && self.side() == Side::Before && now.saturating_since(self.changed) < LINGERS {
            (self.since, self.running) = (now, Outcome::default());
            return None;
        }
        let elapsed = now.saturating_since(self.since);
        if elapsed > self.terms.block / SETTLES {
            self.running.bytes += acknowledged.0;
            self.running.looks += 1;
            self.running.busy += u32::from(want || acknowledged >= TRAFFIC);
        }
        if elapsed < self.terms.block {
            return None;
        }
        self.end_block();
        if let Some(order) = self.decide() {
            return Some(order);
        }
        let before = self.side();
        (self.since, self.changed) = (now, now);
        self.block += 1;
        if self.block % 2 == 1 {
            self.first = if self.order.below(2) == 0 { Side::Paced } else { Side::Before };
        }
        let side = self.side();
        (side != before).then_some(Order::Change(side))
    }

    fn end_block(&mut self) {
        let outcome = std::mem::take(&mut self.running);
        if self.block % 2 == 1 {
            self.half = outcome;
            return;
        }
        let half = std::mem::take(&mut self.half);
        // Bytes are compared by the look: a block may have had one more.
        if self.block == 0 || !half.counts() || !outcome.counts() {
            return;
        }
        let looks = u64::from(half.looks.min(outcome.looks));
        let [one, other] = [half, outcome].map(|block| block.bytes * looks / u64::from(block.looks));
        let (paced, before) = match self.first {
            Side::Paced => (one, other),
            Side::Before => (other, one),
        };
        self.pairs += 1;
        self.sums[0] += paced;
        self.sums[1] += before;
        self.less += u32::from(paced < before);
        self.clear += u32::from((paced as f64) < (1.0 - self.terms.loss) * before as f64);
    }

    /// The end, if it has come: at the end of a pair.
    fn decide(&self) -> Option<Order> {
        if self.block % 2 == 1 || self.block == 0 {
            return None;
        }
        let (verdict, asked) = (self.verdict(), self.terms.pairs);
        let costs = verdict.ratio.is_some_and(|ratio| ratio < 1.0 - self.terms.loss);
        let early = self.pairs >= EARLY.min(asked) && self.clear == self.pairs;
        // One pair may have met a bad moment.
        let late = self.pairs >= asked && costs && self.less + 1 >= self.pairs;
        if early || late {
            return Some(Order::GoesBack(verdict));
        }
        let tried = self.block / 2;
        (self.pairs >= asked || tried >= TRIES * asked).then_some(Order::Stays(verdict))
    }
}

#[cfg(test)]
mod tests;
