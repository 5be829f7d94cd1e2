//! How slow start ends where no loss ends it.
//!
//! | word | ends slow start by | file |
//! |---|---|---|
//! | `standard` | a loss | |
//! | `hystart` | acknowledgements that follow each other for half a round trip; round trips that grow | `hystart.rs` |
//! | `hystart++` | round trips that grow, if that lasts | `plus_plus.rs` |

mod hystart;
mod plus_plus;

use super::{Ack, Window};
use hystart::HyStart;
use meshpace_keys::{Key, words};
use meshpace_units::Span;
use plus_plus::PlusPlus;

words! {
    /// How slow start ends (`slow_start`).
    pub enum SlowStartKind {
        /// By a loss (RFC 5681).
        Standard = "standard",
        /// As Linux's CUBIC (Ha and Rhee 2011).
        HyStart = "hystart",
        /// HyStart++ (RFC 9406).
        PlusPlus = "hystart++",
    }
}

pub(super) static KEYS: [Key; 1] = [Key::word(
    "slow_start",
    SlowStartKind::WORDS,
    SlowStartKind::Standard.word(),
    "How slow start ends: by a loss; by trains of acknowledgements and by round trips that grow, as in Linux's CUBIC; by round trips \
     that grow, through a conservative stage (HyStart++, RFC 9406).",
)];

/// One sender's slow start.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// It goes on until a loss.
    Standard,
    /// HyStart.
    HyStart(HyStart),
    /// HyStart++.
    PlusPlus(PlusPlus),
}

impl SlowStart {
    /// One that ends so.
    #[must_use]
    pub fn new(kind: SlowStartKind) -> Self {
        match kind {
            SlowStartKind::Standard => Self::Standard,
            SlowStartKind::HyStart => Self::HyStart(HyStart::default()),
            SlowStartKind::PlusPlus => Self::PlusPlus(PlusPlus::default()),
        }
    }

    /// Something new is acknowledged while the window is below its threshold: the window grows, or slow start ends where it is.
    pub fn grow(&mut self, window: &mut Window, ack: &Ack<'_>) {
        match self {
            Self::Standard => window.grow(ack),
            Self::HyStart(hystart) => {
                if hystart.ends(ack, window.cwnd()) {
                    window.set_ssthresh(window.cwnd());
                } else {
                    window.grow(ack);
                }
            }
            Self::PlusPlus(plus_plus) => plus_plus.grow(window, ack),
        }
    }

    /// Something is reported to have arrived out of order while the window is below its threshold: slow start may end where it is
    /// (tcp_cubic.c, cubictcp_acked, which every acknowledgement with a round trip comes to).
    pub fn on_report(&mut self, window: &mut Window, ack: &Ack<'_>) {
        if let Self::HyStart(hystart) = self {
            if hystart.ends(ack, window.cwnd()) {
                window.set_ssthresh(window.cwnd());
            }
        }
    }

    /// A timeout: slow start begins anew.
    pub fn restart(&mut self) {
        match self {
            Self::Standard | Self::PlusPlus(_) => {}
            Self::HyStart(hystart) => hystart.restart(),
        }
    }
}

/// An eighth of a round trip, 4 to 16 ms: what tells a queue from noise (tcp_cubic.c; RFC 9406, section 4.3).
fn threshold(round_trip: Span) -> Span {
    (round_trip / 8).clamp(Span::from_millis(4), Span::from_millis(16))
}

/// Samples of a round before its least one counts (both).
const SAMPLES: u32 = 8;

/// A round: until what had been sent when it began is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// What had been sent.
    end: Option<u64>,
    /// The least round trip of it.
    least: Option<Span>,
    samples: u32,
}

impl Round {
    fn beginning(end: u64) -> Self {
        Self { end: Some(end), least: None, samples: 0 }
    }

    /// Everything before `una` is acknowledged: whether that ends it.
    fn is_over(&self, una: u64) -> bool {
        self.end.is_none_or(|end| una > end)
    }

    fn sample(&mut self, trip: Span) {
        self.least = Some(self.least.map_or(trip, |least| least.min(trip)));
        self.samples += 1;
    }
}
