//! Explicit congestion notification in the IP header.

/// The two bits of the IP header that say whether a packet may be marked instead of dropped, and whether it was
/// (RFC 3168, section 5, figure 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Ecn {
    /// The transport does not react to marks: congestion drops the packet.
    #[default]
    NotEct,
    /// The transport reacts to marks. RFC 8311, section 3.1, keeps this codepoint for experiments (L4S: RFC 9331).
    Ect1,
    /// The transport reacts to marks as RFC 3168 wants it.
    Ect0,
    /// A queue on the way marked the packet: congestion experienced.
    Ce,
}

impl Ecn {
    /// The lower two bits of IPv4's type of service and IPv6's traffic class; the others are no business of this type.
    #[must_use]
    pub const fn from_bits(traffic_class: u8) -> Self {
        match traffic_class & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The two bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotEct => 0b00,
            Self::Ect1 => 0b01,
            Self::Ect0 => 0b10,
            Self::Ce => 0b11,
        }
    }

    /// True if a queue may mark the packet instead of dropping it. One that is marked already stays so.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// The codepoint after a queue has marked the packet; `None` if this packet's congestion signal is its loss.
    #[must_use]
    pub const fn marked(self) -> Option<Self> {
        if self.is_capable() { Some(Self::Ce) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_are_those_of_figure_1() {
        let all = [(0, Ecn::NotEct), (1, Ecn::Ect1), (2, Ecn::Ect0), (3, Ecn::Ce)];
        for (bits, ecn) in all {
            assert_eq!((Ecn::from_bits(bits), ecn.bits()), (ecn, bits));
            assert_eq!(Ecn::from_bits(0xfc | bits), ecn, "the service class does not matter");
        }
        let marked = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(Ecn::marked);
        assert_eq!(marked, [None, Some(Ecn::Ce), Some(Ecn::Ce), Some(Ecn::Ce)]);
    }
}
