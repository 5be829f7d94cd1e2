//! The 802.11 parameters as written: values, not yet frame times or powers.

use super::RadioLink;
use meshpace_radio::rate_control;
use meshpace_radio::{BackoffRange, Building, Links, Preamble, Propagation, Standard};
use meshpace_settings::Values;
use meshpace_units::{Bytes, NodeId, Rate, Span};

/// The radio of every mesh node.
#[derive(Clone, Debug, PartialEq)]
pub struct Radio {
    /// Frame timing and the rates there are.
    pub standard: Standard,
    /// What the standard was made of: the values of its own keys.
    pub own: Values,
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
    /// What besides distance makes a link.
    pub building: Building,
    /// How the strength of links changes with time; `None`: not at all.
    pub fading: Option<Fading>,
    /// Metres up to which a frame can be decoded.
    pub tx_range: f64,
    /// Metres up to which a frame is sensed; at least `tx_range`.
    pub cs_range: f64,
    /// Slots of a backoff.
    pub backoff_range: BackoffRange,
    /// Nodes ask for a neighbour's address before they send to it.
    pub arp: bool,
    /// What time-outs grant the way there and back.
    pub ack_timeout: Span,
    /// Exceptions from `rate`, those of `[[radio_link]]` included.
    pub link_rates: Vec<LinkRate>,
    /// What chooses the mode of each data frame.
    pub rate_control: RateControl,
}

/// A rate control as a file chooses it.
#[derive(Clone, Debug, PartialEq)]
pub struct RateControl {
    /// Its word ([`meshpace_radio::rate_control::WORDS`]).
    pub word: &'static str,
    /// The values of its own keys.
    pub own: Values,
}

impl RateControl {
    /// False if the modes of links are given.
    #[must_use]
    pub fn chooses(&self) -> bool {
        self.word != rate_control::WORDS[0]
    }
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
    /// Each bit of the frame survives by its rate's error curve at the ratio to noise and the sum of all others.
    SinrCurve,
}

impl Reception {
    /// True if interference is summed.
    #[must_use]
    pub const fn sums(&self) -> bool {
        matches!(self, Self::Sinr { .. } | Self::SinrCurve)
    }
}

/// Slow fading: a pair's strength in dB wanders around its mean, normally distributed, both directions alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Standard deviation, dB.
    pub spread_db: f64,
    /// After this time the autocorrelation is 1/e.
    pub correlation: Span,
}

/// An exception from the common data rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRate {
    /// The sender.
    pub from: NodeId,
    /// The receiver; `None`: every receiver.
    pub to: Option<NodeId>,
    /// Centre of the channel that it holds on, MHz; `None`: every channel.
    pub mhz: Option<u16>,
    /// The rate of unicast data frames.
    pub rate: Rate,
}

impl Radio {
    /// Which nodes hear which by distance and building, in a run with this seed, with the links that the file lists.
    #[must_use]
    pub fn links(&self, seed: u64, listed: &[RadioLink]) -> Links {
        Links {
            propagation: self.propagation,
            ranges: (self.tx_range, self.cs_range),
            summed_interference: self.reception.sums(),
            seed,
            listed: listed.iter().map(|link| (link.from, link.to)).collect(),
            building: self.building.clone(),
        }
    }

    /// The rate of data frames from one node to another: that of the link, else that of the sender, else the common one. Of several
    /// channels [`Channel::radio`](super::Channel::radio) has that of one.
    #[must_use]
    pub fn rate_between(&self, from: NodeId, to: NodeId) -> Rate {
        let exception = |receiver| self.link_rates.iter().find(|e| e.from == from && e.to == receiver);
        exception(Some(to)).or_else(|| exception(None)).map_or(self.rate, |e| e.rate)
    }
}
