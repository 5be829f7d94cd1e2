//! The service class in the IP header.

/// The codepoint that asks for a service class: the upper six bits of IPv4's type of service and IPv6's traffic class (RFC 2474,
/// section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dscp(u8);

/// What the names stand for, in their order.
const NUMBERS: [u8; 24] =
    [0, 0, 1, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 44, 46, 48, 56];

impl Dscp {
    /// The default service, which packets have without asking.
    pub const DEFAULT: Self = Self(0);
    /// Numbers go up to this one.
    pub const LARGEST: u8 = 63;

    /// IANA's names, in small letters ("Differentiated Services Field Codepoints"; RFC 2474, 2597, 3246, 5865, 8622).
    pub const NAMES: &[&str; 24] = &[
        "df", "cs0", "le", "cs1", "af11", "af12", "af13", "cs2", "af21", "af22", "af23", "cs3", "af31",
        "af32", "af33", "cs4", "af41", "af42", "af43", "cs5", "va", "ef", "cs6", "cs7",
    ];

    /// The codepoint with this number; `None`: it has more than six bits.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number <= Self::LARGEST { Some(Self(number)) } else { None }
    }

    /// The one of that [name](Self::NAMES).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().zip(NUMBERS).find(|(known, _)| **known == name);
        found.map(|(_, number)| Self(number))
    }

    /// The one in IPv4's type of service, or IPv6's traffic class; the lower two bits are no business of this type.
    #[must_use]
    pub const fn from_bits(traffic_class: u8) -> Self {
        Self(traffic_class >> 2)
    }

    /// Its six bits where the header has them.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0 << 2
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2597, section 6 (drop precedence in bits 3 and 4), RFC 3246, section 2.7, and RFC 2474, section 4.2.2.1.
    #[test]
    fn names_are_the_codepoints_of_the_rfcs() {
        for class in 1..=4u8 {
            for precedence in 1..=3u8 {
                let name = [b'a', b'f', b'0' + class, b'0' + precedence];
                let name = core::str::from_utf8(&name).expect("letters");
                assert_eq!(Dscp::named(name), Dscp::new(8 * class + 2 * precedence), "{name}");
            }
        }
        for class in 0..=7u8 {
            let name = [b'c', b's', b'0' + class];
            assert_eq!(Dscp::named(core::str::from_utf8(&name).expect("letters")), Dscp::new(8 * class));
        }
        assert_eq!(Dscp::named("ef").map(Dscp::number), Some(0b10_1110));
        assert_eq!((Dscp::named("af51"), Dscp::named("EF"), Dscp::named("")), (None, None, None));
    }

    #[test]
    fn the_lower_bits_are_those_of_congestion() {
        assert_eq!((Dscp::new(63).map(Dscp::bits), Dscp::new(64)), (Some(0xfc), None));
        assert_eq!(Dscp::from_bits(0xb8 | 0b11).number(), 46);
    }
}
