//! Dynamic delayed acknowledgements: more segments share one as the connection ages.

use super::delayed::Delayed;
use super::{AckPolicy, AckPolicyPart, InOrder, When};
use alloc::boxed::Box;
use meshpace_keys::{Key, Kind, Preset, Values, Whole, words};
use meshpace_units::Span;

/// A few segments for an acknowledgement, more as the connection ages (Altman and Jimenez; schemes.md 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicDelayed {
    /// From which segments on the second, third and fourth of `steps` hold.
    pub thresholds: [u64; 3],
    /// What the thresholds count.
    pub unit: AckUnit,
    /// Segments that share an acknowledgement.
    pub steps: [u64; 4],
    /// What arrives out of order or fills a gap.
    pub out_of_order: OutOfOrder,
    /// Whose timestamp is echoed.
    pub echo: Echo,
    /// The longest wait.
    pub delay: Span,
}

words! {
    /// What thresholds count (`ack_unit`).
    pub enum AckUnit {
        /// Segments, 1 the first.
        Packets = "packets",
        /// The sequence number of a segment's first byte, that of the SYN being 1.
        Bytes = "bytes",
    }
}

words! {
    /// What is done about segments out of order (`ack_out_of_order`).
    pub enum OutOfOrder {
        /// They are acknowledged at once (RFC 5681, section 4.2).
        Now = "now",
        /// They count like others.
        Count = "count",
    }
}

words! {
    /// Which timestamp an acknowledgement echoes (`ack_echo`).
    pub enum Echo {
        /// That of the oldest segment that waits (RFC 7323, section 4.3).
        Oldest = "oldest",
        /// That of the latest arrival.
        Newest = "newest",
    }
}

/// What it says of itself.
pub static PART: AckPolicyPart = AckPolicyPart::new(
    "dynamic-delayed",
    "One to four in-order segments share an acknowledgement, more as the connection ages.",
    "schemes.md 7.1; Altman and Jimenez 2003",
    DynamicDelayed::from_values,
)
.keys(&[&KEYS]);

static KEYS: [Key; 6] = DynamicDelayed::PAPER.keys();

impl DynamicDelayed {
    /// The original paper's: thresholds of 2, 5 and 9 packets, 100 ms (schemes.md 7.1).
    pub const PAPER: Self = Self {
        thresholds: [2, 5, 9],
        unit: AckUnit::Packets,
        steps: [1, 2, 3, 4],
        out_of_order: OutOfOrder::Now,
        echo: Echo::Oldest,
        delay: Delayed::SECOND.delay,
    };

    /// The keys with these values as defaults.
    pub(super) const fn keys(&'static self) -> [Key; 6] {
        let any = Whole { min: 1, max: 1 << 40, unit: None };
        let few = Whole { min: 1, max: 1_000, unit: None };
        [
            Key::new(
                "ack_thresholds",
                Kind::Ascending(any, 3),
                "Segments, or bytes, from which on the second, third and fourth of ack_steps hold (schemes.md 7.1).",
            )
            .preset(Preset::Wholes(&self.thresholds)),
            Key::word(
                "ack_unit",
                AckUnit::WORDS,
                self.unit.word(),
                "What ack_thresholds count: packets, or sequence numbers from the SYN's 1 on (schemes.md 7.1).",
            ),
            Key::new(
                "ack_steps",
                Kind::Ascending(few, 4),
                "Segments that share an acknowledgement, below and from each threshold on (schemes.md 7.1).",
            )
            .preset(Preset::Wholes(&self.steps)),
            Key::word(
                "ack_out_of_order",
                OutOfOrder::WORDS,
                self.out_of_order.word(),
                "Whether a segment out of order is acknowledged at once or counts like others (schemes.md 7.1).",
            ),
            Key::word(
                "ack_echo",
                Echo::WORDS,
                self.echo.word(),
                "Whose timestamp an acknowledgement echoes: the oldest segment's that waits, or the latest arrival's (schemes.md 7.1).",
            ),
            super::delayed::DELAY[0],
        ]
    }

    pub(super) fn from_values(values: &Values) -> Box<dyn AckPolicy> {
        Box::new(Self {
            thresholds: values.wholes("ack_thresholds"),
            unit: values.word("ack_unit"),
            steps: values.wholes("ack_steps"),
            out_of_order: values.word("ack_out_of_order"),
            echo: values.word("ack_echo"),
            delay: values.span("ack_delay"),
        })
    }

    /// (7.1): how many share the acknowledgement of this one.
    fn share(&self, arrived: &InOrder) -> u64 {
        let at = match self.unit {
            AckUnit::Packets => arrived.number,
            AckUnit::Bytes => arrived.offset + 2, // the SYN has 1
        };
        self.steps[self.thresholds.iter().filter(|from| at >= **from).count()]
    }
}

impl AckPolicy for DynamicDelayed {
    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        if u64::from(arrived.waiting) >= self.share(arrived) {
            When::Now
        } else {
            When::AfterFirst(self.delay)
        }
    }

    fn counts_disorder(&self) -> bool {
        self.out_of_order == OutOfOrder::Count
    }

    fn echoes_latest(&self) -> bool {
        self.echo == Echo::Newest
    }
}
