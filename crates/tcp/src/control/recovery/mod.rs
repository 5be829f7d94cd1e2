//! Loss recovery: it finds losses and decides what is sent again; the window is another part's.
//!
//! A sender whose window is a [`Congestion`](super::Congestion) has one [`Recovery`] beside it; [`Recovered`](super::Recovered)
//! makes a control of both. A recovery gets every acknowledgement and every departure, and may have a deadline of its own. It
//! answers whether the window opens, stays, or is to be cut for a loss, how much may be outstanding meanwhile, and what is sent
//! again. By how much a loss cuts the window is the other part's business.
//!
//! | part | finds a loss by | sends again | file |
//! |---|---|---|---|
//! | `newreno` | three duplicates | a hole a round trip | `newreno.rs` |
//! | `sack` | what the peer reports to have | all holes in one | `sack.rs` |
//! | `go-back` | three duplicates | everything, in order | `go_back.rs` |
//! | `rack` | time: what left later has arrived | all holes in one | `rack/` |
//! | `early` | two duplicates, or as many as are said | as `newreno` | `early.rs` |
//!
//! What several share: [`Losses`] counts duplicates, [`Scoreboard`] is what the peer has, [`FastRecovery`] is NewReno's; `prr.rs`
//! is the window of RFC 9937.

mod losses;
mod prr;
mod scoreboard;

meshpace_keys::parts! {
    /// The recoveries.
    pub static RECOVERIES: RecoveryPart = [newreno, sack, go_back, early, rack];
}

pub use go_back::GoBack;
pub use losses::Losses;
pub use newreno::FastRecovery;
pub use rack::{Rack, With};
pub use sack::Selective;
pub use scoreboard::{NextSeg, Scoreboard};

use super::{Ack, Allowance, Asks, Departure, Outstanding, Reaction, Rules, Window};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::Range;
use meshpace_keys::{Part, Values};
use meshpace_units::Instant;

/// How a recovery (`recovery`) is built, within the rules of the window beside it.
pub type RecoveryPart = Part<fn(&Values, &Rules) -> Box<dyn Recovery>>;

/// What an acknowledgement means to the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// It opens.
    Open,
    /// It stays as it is.
    Hold,
    /// Something is sent again, and the window is as that wants it: this is the reaction.
    Repair(Reaction),
    /// A loss was found: the window is cut, then recovery [begins](Recovery::begin).
    Loss {
        /// Segments that recovery had added to the window.
        inflation: f64,
    },
    /// The latest loss or timeout was none: the window is what it was before.
    Undo,
}

/// Where recovery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is known to be lost.
    Open,
    /// A loss is being mended.
    Recovery,
    /// A timeout is.
    Timeout,
}

/// What is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Bytes that are neither acknowledged, nor known to have arrived, nor lost.
    pub bytes: u64,
    /// The same before the latest acknowledgement.
    pub before: u64,
    /// Bytes found lost since the connection began.
    pub found: u64,
    /// Where recovery is.
    pub stage: Stage,
}

/// A segment that was found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its positions `[start, end)`.
    pub start: u64,
    /// The position after it.
    pub end: u64,
    /// Its latest departure.
    pub sent: Instant,
}

/// What finds one sender's losses and repairs them. See the [module's page](self).
///
/// `window` is that of the part beside it: what recovery adds to it, or makes of it until the loss is repaired, it does
/// there. Equal calls must give equal answers: no clock, no random source.
pub trait Recovery: CloneRecovery + Debug + Send + Sync {
    /// What the sender has to keep for it.
    fn asks(&self) -> Asks {
        Asks::default()
    }

    /// The handshake is complete. `mss`: payload of a full segment.
    fn on_connected(&mut self, _mss: u32) {}

    /// An acknowledgement arrived that is not above what was sent.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack<'_>) -> Progress;

    /// The loss just found is answered by a window of `cwnd` segments: what is sent again, and how.
    fn begin(&mut self, window: &mut Window, cwnd: f64, out: &Outstanding) -> Reaction;

    /// The retransmission timer expired. True: a probe leaves instead, and it is no timeout yet
    /// ([`Control::probes`](super::Control::probes)).
    fn probes(&mut self, _out: &Outstanding) -> bool {
        false
    }

    /// The retransmission timer expired; true if it did so for the same segment before.
    fn on_timeout(&mut self, now: Instant, out: &Outstanding) -> bool;

    /// A SYN or a segment with payload leaves.
    fn on_departure(&mut self, _departure: &Departure) {}

    /// The payload of a full segment changed to `mss` bytes.
    fn on_mss_change(&mut self, _mss: u32) {}

    /// When it wants to be asked again, whatever arrives ([`on_deadline`](Self::on_deadline)). Recoveries with `deadlines` in [`Asks`]
    /// are asked.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Its deadline is over: what that means. The next one is later.
    fn on_deadline(&mut self, _window: &mut Window, _now: Instant, _out: &Outstanding) -> Progress {
        Progress::Hold
    }

    /// The window as what may be outstanding. `new_data`: nothing already sent would be sent again.
    fn allowance(&self, window: &Window, mss: u32, new_data: bool) -> Allowance;

    /// New segments that may follow the acknowledgement just handled; `None` sets no limit besides the window.
    fn burst(&self, _rules: &Rules) -> Option<u32> {
        None
    }

    /// Positions sent before that are to leave next, ahead of new data. Recoveries with `sack` in [`Asks`] are asked each time something
    /// may leave. `unsent`: there are new data that the peer's window lets out.
    fn hole(&self, _window: &Window, _unsent: bool) -> Option<Range<u64>> {
        None
    }

    /// This much of what [`hole`](Self::hole) gave is on its way, or is not there to be sent.
    fn on_hole_taken(&mut self, _taken: &Range<u64>) {}

    /// The first part of `range` that the peer is not known to have, which may be empty: going back, only that is sent
    /// again. Recoveries with `sack` in [`Asks`] are asked.
    fn missing(&self, range: Range<u64>) -> Range<u64> {
        range
    }

    /// Whether everything outstanding is sent again in order after a timeout
    /// ([`Control::goes_back`](super::Control::goes_back)).
    fn goes_back(&self) -> bool {
        true
    }

    /// The data found lost since the last call, for windows that need them; empty if the recovery does not keep
    /// count.
    fn take_lost(&mut self) -> Vec<Lost> {
        Vec::new()
    }

    /// The data on their way, for windows that need them; `None` if the recovery does not keep count.
    fn flight(&self) -> Option<Flight> {
        None
    }
}

/// Cloning behind the box; every [`Recovery`] that is [`Clone`] has it.
pub trait CloneRecovery {
    /// A copy in a box of its own.
    fn clone_box(&self) -> Box<dyn Recovery>;
}

impl<T: Recovery + Clone + 'static> CloneRecovery for T {
    fn clone_box(&self) -> Box<dyn Recovery> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Recovery> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box itself is no recovery.
        (**self).clone_box()
    }
}
