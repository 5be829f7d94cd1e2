//! How controls are built from the values of their keys.

use super::{Congestion, Control, Recovered, RecoveryPart, Rules};
use alloc::boxed::Box;
use meshpace_keys::{Brings, Key, Part, Values};

/// What a control is built into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// The rules of the TCP profile around it.
    pub rules: Rules,
    /// Payload of a full segment, bytes.
    pub segment: u32,
    /// Whether the sender is in the mesh: some parts act only there.
    pub from_mesh: bool,
}

/// How a window part (`congestion`) is built.
pub type WindowPart = Part<fn(&Values, &Surroundings) -> SenderPart>;

/// What a window part is.
#[derive(Debug)]
pub enum SenderPart {
    /// A window; what finds its losses stands beside it.
    Window(Box<dyn Congestion>),
    /// All there is: it finds its losses itself, and its part [brings](OWN_RECOVERY) no recovery.
    Whole(Box<dyn Control>),
}

impl<T: Congestion + 'static> From<T> for SenderPart {
    fn from(window: T) -> Self {
        Self::Window(Box::new(window))
    }
}

impl SenderPart {
    /// The control that it makes with a recovery beside it, built from the recovery's values.
    #[must_use]
    pub fn control(self, recovery: &RecoveryPart, values: &Values) -> Box<dyn Control> {
        match self {
            Self::Window(window) => {
                let recovery = (recovery.build)(values, window.window().rules());
                Box::new(Recovered::new(window, recovery))
            }
            Self::Whole(control) => control,
        }
    }
}

/// What a part brings that finds its losses itself: no other recovery has a place beside it.
pub const OWN_RECOVERY: Brings = Brings { key: "recovery", word: None };

/// How a pacing part (`pacing`) is built; `None`: it does not act in these surroundings. Every one has a key
/// [`RTO_BACKOFF`], since pacing decides whether a timeout doubles the next.
pub type PacingPart = Part<fn(&Values, &Surroundings) -> Option<Box<dyn Control>>>;

/// The key by which a pacing part says whether a timeout doubles the next one.
pub const RTO_BACKOFF: &str = "ap_rto_backoff";

/// Most do.
pub(super) static BACKS_OFF: [Key; 1] = [rto_backoff(true)];
/// TCP-AP does not (schemes.md section 2, "RTO back-off").
pub(super) static KEEPS_RTO: [Key; 1] = [rto_backoff(false)];

const fn rto_backoff(default: bool) -> Key {
    Key::flag(
        RTO_BACKOFF,
        default,
        "Whether a timeout doubles the next; not in TCP-AP (schemes.md 2, \"RTO back-off\").",
    )
}

/// The relays that answer a sender of XCP.
pub(super) static XCP_RELAYS: &[&str] = &["xcp", "xcp-b", "xcp-winf"];
/// The relays that answer a sender of RCP.
pub(super) static RCP_RELAYS: &[&str] = &["rcp", "rcp-winf"];
/// The relays that mark for a source of WCP.
pub(super) static WCP_RELAYS: &[&str] = &["wcp"];
/// The relays that tell a source of WCPCap its share.
pub(super) static WCPCAP_RELAYS: &[&str] = &["wcpcap"];

/// The key of senders that ask relays: bytes of the header on the air.
pub(super) const EXPLICIT_HEADER: &str = "explicit_header";
pub(super) static HEADER: [Key; 1] = [Key::count(
    EXPLICIT_HEADER,
    (0, 40),
    0,
    "Bytes that the header for relays takes on the air, both ways: none is printed, so none; XCP's are 20 (schemes.md 11.1).",
)];
