//! The 802.11 parameters as written: values, not yet frame times or powers.

use meshpace_units::{Bytes, NodeId, Rate};

/// The radio of every mesh node.
#[derive(Clone, Debug, PartialEq)]
pub struct Radio {
    /// Frame timing and the rates there are.
    pub standard: Standard,
    /// Rate of unicast data frames.
    pub rate: Rate,
    /// Rate of RTS, CTS, ACK and broadcast frames.
    pub basic_rate: Rate,
    /// DSSS preamble.
    pub preamble: Preamble,
    /// Which frames are preceded by an RTS.
    pub rts: RtsThreshold,
    /// Transmissions of an RTS, or of a data frame sent without one, before the packet is dropped; 0 acts as 1.
    pub retry_short: u32,
    /// Transmissions of a data frame sent after an RTS before the packet is dropped; 0 acts as 1.
    pub retry_long: u32,
    /// Packets of the interface queue, the one in the MAC included (as ns-2.35 counts).
    pub queue: u32,
    /// MAC header, LLC header if any, and FCS of a data frame.
    pub mac_overhead: Bytes,
    /// How overlapping frames fare.
    pub reception: Reception,
    /// How power falls with distance.
    pub propagation: Propagation,
    /// Metres up to which a frame can be decoded.
    pub tx_range: f64,
    /// Metres up to which a frame is sensed; at least `tx_range`.
    pub cs_range: f64,
    /// Slots of a backoff.
    pub backoff_range: BackoffRange,
    /// Exceptions from `rate`.
    pub link_rates: Vec<LinkRate>,
}

/// Which 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// DSSS and CCK at 2.4 GHz.
    B,
    /// OFDM at 5 GHz.
    A,
    /// OFDM at 2.4 GHz, no 802.11b station near.
    G,
    /// What ns-2 makes of 54 Mbit/s: 802.11b's timing and preamble with a higher data rate (schemes.md 17.3).
    GNs2,
}

/// The DSSS preamble (802.11b); OFDM has but one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 144 + 48 bits at 1 Mbit/s.
    Long,
    /// 72 bits at 1 Mbit/s, 48 bits at 2 Mbit/s.
    Short,
}

/// Which unicast data frames are preceded by an RTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtsThreshold {
    /// All.
    Always,
    /// None.
    Never,
    /// Those whose MPDU has at least this many bytes.
    From(Bytes),
}

/// How overlapping frames fare at a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reception {
    /// ns-2.35: the first frame survives if it is stronger by the threshold, else both are lost (schemes.md 17.1).
    Ns2Capture {
        /// In dB.
        capture_threshold_db: f64,
    },
    /// The frame survives if it stays above the sum of all others by the threshold.
    Sinr {
        /// In dB.
        sinr_threshold_db: f64,
    },
}

/// How power falls with distance. The ranges fix the two thresholds, whatever the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Propagation {
    /// Friis up to the crossover, then the fourth power (schemes.md 17.1).
    TwoRay,
    /// A power of the distance, with log-normal shadowing a link.
    LogDistance {
        /// The power.
        exponent: f64,
        /// Standard deviation in dB; 0: none.
        shadowing_db: f64,
    },
    /// No power at all: decodable within `tx_range`, sensed within `cs_range`.
    Ranges,
}

/// From how many slots a backoff is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffRange {
    /// `0..=cw - 1` as ns-2 does (schemes.md 17.2).
    Ns2,
    /// `0..=cw` as IEEE 802.11 says.
    Standard,
}

/// An exception from the common data rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRate {
    /// The sender.
    pub from: NodeId,
    /// The receiver; `None`: every receiver.
    pub to: Option<NodeId>,
    /// The rate of unicast data frames.
    pub rate: Rate,
}

impl Radio {
    /// The rate of data frames from one node to another: that of the link, else that of the sender, else the common one.
    #[must_use]
    pub fn rate_between(&self, from: NodeId, to: NodeId) -> Rate {
        let exception = |receiver| self.link_rates.iter().find(|e| e.from == from && e.to == receiver);
        exception(Some(to)).or_else(|| exception(None)).map_or(self.rate, |e| e.rate)
    }
}
