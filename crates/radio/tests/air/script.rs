//! Scripted exchanges: what is expected of whom, when, and nothing else.

use super::{Action, Air, Setup, at, us_between};
use meshpace_radio::BackoffRange;
use meshpace_radio::FrameKind;
use meshpace_units::Instant;
use meshpace_units::random::Stream;

/// What a station does, as a script names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Rts,
    Cts,
    Data,
    Ack,
    BlockAck,
    BlockAckReq,
    Deliver,
    Release,
    Sent,
    GaveUp,
    Exchanged,
}

impl From<&Action> for What {
    fn from(action: &Action) -> Self {
        match action {
            Action::Transmit(frame) => match frame.kind {
                FrameKind::Rts => Self::Rts,
                FrameKind::Cts => Self::Cts,
                FrameKind::Data => Self::Data,
                FrameKind::Ack => Self::Ack,
                FrameKind::BlockAck => Self::BlockAck,
                FrameKind::BlockAckReq => Self::BlockAckReq,
            },
            Action::Deliver { .. } => Self::Deliver,
            Action::Release { .. } => Self::Release,
            Action::Sent(_) => Self::Sent,
            Action::GaveUp(_) => Self::GaveUp,
            Action::Exchanged(_) => Self::Exchanged,
        }
    }
}

impl Air {
    /// Runs until `end` (microseconds). Since the last call, all stations together did exactly this, at these
    /// microseconds (to the nanosecond).
    #[track_caller]
    pub fn expect(&mut self, end: f64, script: &[(f64, u32, What)]) {
        self.run_until(at(end));
        let micros = |when: Instant| us_between(Instant::ZERO, when);
        let done: Vec<_> =
            self.log[self.checked..].iter().map(|e| (micros(e.at), e.node, What::from(&e.action))).collect();
        self.checked = self.log.len();
        let same = done.len() == script.len()
            && done.iter().zip(script).all(|(a, b)| (a.0 - b.0).abs() < 0.0015 && (a.1, a.2) == (b.1, b.2));
        assert!(same, "until {end} us\n  expected {script:?}\n  happened {done:?}");
    }
}

/// The draws that a station will make, foretold: a copy of its stream. A draw that should not have been made, or one
/// from another window, moves all later ones.
pub struct Draws {
    stream: Stream,
    range: BackoffRange,
    slot: f64,
}

impl Draws {
    /// Of station `node`.
    pub fn of(setup: &Setup, node: u32) -> Self {
        let stream = Stream::new(setup.seed, "backoff", u64::from(node));
        Self {
            stream,
            range: setup.phy.backoff_range,
            slot: us_between(Instant::ZERO, Instant::ZERO + setup.phy.slot()),
        }
    }

    /// The next backoff from window `cw`, in slots.
    pub fn slots(&mut self, cw: u32) -> u32 {
        self.stream.below(match self.range {
            BackoffRange::Ns2 => cw,
            BackoffRange::Standard => cw + 1,
        })
    }

    /// The next backoff from window `cw`, in microseconds.
    pub fn backoff(&mut self, cw: u32) -> f64 {
        f64::from(self.slots(cw)) * self.slot
    }

    /// The first seed from `setup`'s on with which the first draw of station `node` satisfies `wanted`.
    pub fn seed_with(setup: &Setup, node: u32, cw: u32, wanted: impl Fn(u32) -> bool) -> Setup {
        let seeds = (setup.seed..).map(|seed| setup.clone().seed(seed));
        seeds.into_iter().find(|s| wanted(Self::of(s, node).slots(cw))).expect("some seed will do")
    }
}
