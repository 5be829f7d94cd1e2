//! What relays hear of frames that are for others.

use meshpace_radio::FrameKind;
use meshpace_relay::Asks;

/// The frames that a relay wants to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listens {
    /// None.
    No,
    /// Data frames for others.
    Data,
    /// All.
    All,
}

impl Listens {
    /// What a relay asks for.
    #[must_use]
    pub fn of(asks: Asks) -> Self {
        match asks {
            Asks { frames: true, .. } => Self::All,
            Asks { data_frames: true, .. } => Self::Data,
            _ => Self::No,
        }
    }

    /// True if it hears frames of this kind that are for others.
    #[must_use]
    pub fn to(self, kind: FrameKind) -> bool {
        self == Self::All || (self == Self::Data && kind == FrameKind::Data)
    }

    /// True if it hears those for this node, too.
    #[must_use]
    pub fn to_all(self) -> bool {
        self == Self::All
    }
}
