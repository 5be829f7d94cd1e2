//! Why bytes are no packet of TCP that can be relied on.

use core::fmt;

/// Why a packet is not one that could be paced. All of them are for others to deal with: pass them on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotTcp {
    /// The bytes end within the headers.
    Truncated,
    /// The length field is zero: a jumbogram (RFC 2675), or segments that the kernel has still in one piece.
    Super,
    /// A fragment, the first or a later one.
    Fragment,
    /// Another protocol, by its IANA number.
    OtherProtocol(u8),
    /// A header contradicts itself.
    Malformed(Malformed),
}

/// What is wrong with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Malformed {
    /// Neither IPv4 nor IPv6.
    Version,
    /// An IPv4 header shorter than 20 bytes, or IPv6 extension headers longer than the packet.
    IpHeader,
    /// The IP length is less than that of the headers.
    IpLength,
    /// TCP's data offset is under 20 bytes or behind the end of the packet.
    DataOffset,
}

impl fmt::Display for NotTcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the headers are cut off"),
            Self::Super => f.write_str("larger than an IP packet can be"),
            Self::Fragment => f.write_str("a fragment"),
            Self::OtherProtocol(number) => write!(f, "IP protocol {number}, not TCP"),
            Self::Malformed(Malformed::Version) => f.write_str("neither IPv4 nor IPv6"),
            Self::Malformed(Malformed::IpHeader) => f.write_str("impossible length of an IP header"),
            Self::Malformed(Malformed::IpLength) => f.write_str("IP length shorter than the headers"),
            Self::Malformed(Malformed::DataOffset) => f.write_str("impossible TCP data offset"),
        }
    }
}

impl core::error::Error for NotTcp {}
