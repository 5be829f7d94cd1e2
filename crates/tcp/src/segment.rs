//! A TCP segment without its bytes: the header fields and the length of the payload.
//!
//! The endpoints work on ranges of the byte stream. Their driver keeps the bytes (the daemon) or has none (the
//! simulator).

use meshpace_units::{Instant, Seq, Span};

/// Header flags that the endpoints use (RFC 9293, section 3.1; RFC 3168, section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags {
    /// Synchronise sequence numbers.
    pub syn: bool,
    /// The acknowledgement field is valid.
    pub ack: bool,
    /// No more data from the sender.
    pub fin: bool,
    /// Reset the connection.
    pub rst: bool,
    /// Push.
    pub psh: bool,
    /// ECN echo: a packet with the mark of congestion arrived; in SYNs: capable of ECN.
    pub ece: bool,
    /// Congestion window reduced: the answer to the echo; in SYNs: the request for ECN.
    pub cwr: bool,
}

impl Flags {
    /// No flag, as constants need it.
    pub const NONE: Self =
        Self { syn: false, ack: false, fin: false, rst: false, psh: false, ece: false, cwr: false };
}

/// The timestamps option (RFC 7323, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock when the segment left.
    pub value: u32,
    /// The most recent value received from the peer.
    pub echo: u32,
}

/// The timestamps of ns-2's TCP header: exact times, no bytes on the air. Only the profile `ns2-2005` of TCP-AP
/// reads them (schemes.md section 2, "Profiles").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ns2Stamp {
    /// When this segment left its sender.
    pub sent: Instant,
    /// On an acknowledgement: `sent` of the segment that triggered it.
    pub echo: Option<Instant>,
}

/// Up to four blocks of selectively acknowledged sequence numbers (RFC 2018, section 3), `[left, right)`.
pub type SackBlocks = [Option<(Seq, Seq)>; 4];

/// TCP options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size, in SYNs (RFC 9293, section 3.7.1).
    pub mss: Option<u16>,
    /// Window scale, in SYNs (RFC 7323, section 2).
    pub window_scale: Option<u8>,
    /// SACK permitted, in SYNs (RFC 2018, section 2).
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// TCP-GAP's measured wired round trip, whole milliseconds, at most 65,535 (schemes.md 3.2).
    pub rtt_wired: Option<Span>,
}

impl Options {
    /// No options.
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: [None; 4],
        rtt_wired: None,
    };

    /// What `rtt_wired` can say of a round trip: whole milliseconds, rounded to the nearest, at most 65,535
    /// (schemes.md 3.2).
    #[must_use]
    pub fn rtt_milliseconds(rtt: Span) -> u16 {
        u16::try_from(rtt.as_nanos().saturating_add(500_000) / 1_000_000).unwrap_or(u16::MAX)
    }
}

/// One TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first byte of payload (of the SYN, if set).
    pub seq: Seq,
    /// Acknowledgement number, valid with `flags.ack`.
    pub ack: Seq,
    /// Flags.
    pub flags: Flags,
    /// Window field as sent, unscaled.
    pub window: u16,
    /// Bytes of payload.
    pub payload: u32,
    /// Options.
    pub options: Options,
    /// ns-2's exact timestamps, outside the wire format.
    pub ns2: Option<Ns2Stamp>,
}

impl Segment {
    /// A segment with ports and a sequence number: no flags, no payload, no options. What it is to have besides is named in
    /// a literal around it: `Segment { ack, flags, ..Segment::new(..) }`.
    #[must_use]
    pub const fn new(source_port: u16, destination_port: u16, seq: Seq) -> Self {
        Self {
            source_port,
            destination_port,
            seq,
            ack: Seq(0),
            flags: Flags::NONE,
            window: 0,
            payload: 0,
            options: Options::NONE,
            ns2: None,
        }
    }

    /// Sequence space the segment occupies: payload plus one each for SYN and FIN (RFC 9293, section 3.4).
    #[must_use]
    pub fn sequence_length(&self) -> u32 {
        self.payload + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }

    /// The sequence number after the segment's last.
    #[must_use]
    pub fn end(&self) -> Seq {
        self.seq + self.sequence_length()
    }

    /// True for an acknowledgement that carries neither data nor SYN, FIN or RST.
    #[must_use]
    pub fn is_pure_ack(&self) -> bool {
        self.flags.ack && self.sequence_length() == 0 && !self.flags.rst
    }

    /// Bytes of options on the wire, padded to a multiple of four, as Linux lays them out: MSS 4, window scale 3 + 1,
    /// SACK permitted 2 (shares the padding of timestamps), timestamps 10 + 2, SACK 2 + 8n + 2, RTT option 8.
    #[must_use]
    pub fn options_length(&self) -> u32 {
        let o = &self.options;
        let blocks = o.sack.iter().flatten().count() as u32;
        let timestamps = match (o.timestamps.is_some(), o.sack_permitted) {
            (true, _) => 12,
            (false, true) => 4,
            (false, false) => 0,
        };
        4 * u32::from(o.mss.is_some())
            + 4 * u32::from(o.window_scale.is_some())
            + timestamps
            + if blocks > 0 { 4 + 8 * blocks } else { 0 }
            + 8 * u32::from(o.rtt_wired.is_some())
    }

    /// Bytes of the TCP header with its options.
    #[must_use]
    pub fn header_length(&self) -> u32 {
        20 + self.options_length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rtt_option_says_whole_milliseconds_up_to_65535() {
        let micros = |n| Options::rtt_milliseconds(Span::from_micros(n));
        assert_eq!([499, 500, 41_500, 42_499].map(micros), [0, 1, 42, 42]);
        assert_eq!(Options::rtt_milliseconds(Span::from_secs(70)), 65_535);
    }
}
