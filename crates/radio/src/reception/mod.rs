//! What a receiver makes of overlapping frames.
//!
//! Two models behind one interface. Both are driven in the order of time by the station: `begins` when a frame's
//! first bit arrives, `ends` at the time that `next_end` names.

mod arrival;
mod capture;
mod curve;
mod sinr;

use crate::burst::Bitmap;
use crate::frame::FrameKind;
use crate::propagation::Thresholds;
use meshpace_units::{Instant, NodeId, Span};

pub use arrival::{Arrival, Signal};
pub use capture::Capture;
pub use curve::{Curve, survival};
pub use sinr::Sinr;

/// How a reception ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Received without error.
    Good,
    /// Damaged, or too weak to decode: the medium was busy, no more is known.
    Bad,
    /// Lost to an overlapping frame.
    Collided,
    /// Lost to noise, no other frame being about (only `sinr` with an error curve).
    Garbled,
    /// Not a reception at all: energy that ended (only `sinr`).
    Energy,
}

/// What became of a frame at a receiver that it was meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Read to its end without error.
    Read,
    /// Lost to an overlapping frame, the one captured by the receiver included.
    Overlapped,
    /// The receiver's own transmitter was active.
    Deaf,
    /// Lost to noise.
    Garbled,
}

/// A frame addressed to this node alone, strong enough to decode, and lost to an overlapping frame while the node
/// was not transmitting: what ns-2 logs as `COL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Transmitter.
    pub from: NodeId,
    /// Kind of frame.
    pub kind: FrameKind,
}

/// What the station must know of an arrival that began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Begun {
    /// The network allocation vector becomes at least this.
    pub nav: Option<Instant>,
    /// Frames lost by this.
    pub lost: Option<Collision>,
}

/// The reception model of a node.
#[derive(Clone, Debug)]
pub enum Reception {
    /// ns-2's: the order of arrival decides, interference is not summed.
    Capture(Capture),
    /// Summed interference against a threshold, no lock on a later frame.
    Sinr(Sinr),
}

/// Parameters of the models, shared by all nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceptionLimits {
    /// Capture ratio (`ns2-capture`) or least signal to interference ratio (`sinr`), linear.
    pub ratio: f64,
    /// Noise floor under `sinr`, W.
    pub noise: f64,
    /// Powers to decode and to sense at.
    pub thresholds: Thresholds,
    /// EIFS, the silence after a frame that was captured over.
    pub eifs: Span,
}

impl Reception {
    /// True while the medium is sensed busy by its energy (not by the NAV).
    #[must_use]
    pub fn busy(&self) -> bool {
        match self {
            Self::Capture(model) => model.busy(),
            Self::Sinr(model) => model.busy(),
        }
    }

    /// True if nothing is on the air, and what comes next can be judged by itself: not under `sinr`, where frames too
    /// weak to be sensed count as well.
    #[must_use]
    #[inline]
    pub fn is_silent(&self) -> bool {
        match self {
            Self::Capture(model) => !model.busy(),
            Self::Sinr(_) => false,
        }
    }

    /// True if frames too weak to be sensed count as well.
    #[must_use]
    #[inline]
    pub const fn sums(&self) -> bool {
        matches!(self, Self::Sinr(_))
    }

    /// The next end of a reception (or of energy), and whether it is a frame that `frame_ends` must handle.
    #[must_use]
    #[inline]
    pub fn next_end(&self) -> Option<(Instant, bool)> {
        match self {
            Self::Capture(model) => model.next_end(),
            Self::Sinr(model) => model.next_end(),
        }
    }

    /// The earliest time at which the medium can be idle, given what is on the air now.
    #[must_use]
    pub fn idle_not_before(&self, limits: &ReceptionLimits) -> Option<Instant> {
        match self {
            Self::Capture(model) => model.idle_not_before(limits),
            Self::Sinr(model) => model.idle_not_before(),
        }
    }

    /// The medium will be busy, or reserved, from the first bit of `arrival` until this time at least, whatever else
    /// is heard; `None` if the frame may go unnoticed.
    #[must_use]
    #[inline]
    pub fn busy_until_at_least(&self, arrival: &Arrival, limits: &ReceptionLimits) -> Option<Instant> {
        match self {
            Self::Capture(_) => {
                let silence = if arrival.mine() {
                    Span::ZERO
                } else if arrival.decodable() {
                    arrival.duration().min(limits.eifs)
                } else {
                    limits.eifs
                };
                Some(arrival.end() + silence)
            }
            // Only a frame that was locked on leaves an EIFS or a reservation, and it may not be.
            Self::Sinr(_) => (arrival.power >= limits.thresholds.sense).then(|| arrival.end()),
        }
    }

    /// A frame's first bit arrives at `arrival.start`; `transmitting` says whether the own transmitter is active.
    #[inline]
    pub fn begins(&mut self, arrival: Arrival, transmitting: bool, limits: &ReceptionLimits) -> Begun {
        match self {
            Self::Capture(model) => model.begins(arrival, transmitting, limits),
            Self::Sinr(model) => model.begins(arrival, transmitting, limits),
        }
    }

    /// The own transmitter starts: what is being received is damaged.
    pub fn transmitter_starts(&mut self) {
        match self {
            Self::Capture(model) => model.transmitter_starts(),
            Self::Sinr(model) => model.transmitter_starts(),
        }
    }

    /// The reception that ends next, ends. `None` if nothing was being received.
    #[inline]
    pub fn ends(&mut self, limits: &ReceptionLimits) -> Option<(Arrival, Verdict)> {
        match self {
            Self::Capture(model) => model.ends(),
            Self::Sinr(model) => model.ends(limits),
        }
    }

    /// Which MPDUs of a frame of several packets, on the air at these `times`, are read, if its header is, and what befell the
    /// others. To be asked at the frame's end, before [`Reception::ends`].
    pub fn mpdus_read(
        &mut self,
        times: impl Iterator<Item = (Instant, Instant)>,
        limits: &ReceptionLimits,
    ) -> (Bitmap, Verdict) {
        match self {
            // ns-2 knows no such frames: its receiver follows a frame, and all of it is good or none.
            Self::Capture(_) => (Bitmap::first(times.count()), Verdict::Good),
            Self::Sinr(model) => model.mpdus_read(times, limits),
        }
    }

    /// True if the frame of `from` that ends at `end` is still the one being received.
    #[must_use]
    pub fn is_receiving(&self, from: NodeId, end: Instant) -> bool {
        match self {
            Self::Capture(model) => model.is_receiving(from, end),
            Self::Sinr(model) => model.is_receiving(from, end),
        }
    }
}
