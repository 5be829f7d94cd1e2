//! The Internet checksum: computing it (RFC 1071) and updating it (RFC 1624).

use core::net::IpAddr;

/// A ones' complement sum of 16-bit words, not yet folded. Sums of parts add up if all but the last have an even
/// length.
#[derive(Clone, Copy, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes; a last odd one is filled up with a zero (RFC 1071, section 1). Four bytes at a time: carries out of
    /// the lower half are folded in later, with those out of the upper (section 2 (C)). 2^32 words fit.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(4);
        let mut sum: u64 = words
            .by_ref()
            .map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]])))
            .sum();
        let mut last = [0; 4];
        let rest = words.remainder();
        last[..rest.len()].copy_from_slice(rest);
        sum += u64::from(u32::from_be_bytes(last));
        Self(self.0 + sum)
    }

    /// Adds one word.
    #[must_use]
    pub const fn word(self, word: u16) -> Self {
        Self(self.0 + word as u64)
    }

    /// Adds what a TCP or UDP checksum covers besides the packet above IP (RFC 9293, section 3.1; RFC 8200, section
    /// 8.1). The upper half of IPv6's 32-bit length is zero: there are no such long packets here.
    #[must_use]
    pub fn pseudo_header(self, source: IpAddr, destination: IpAddr, protocol: u8, length: u16) -> Self {
        let address = |sum: Self, address| match address {
            IpAddr::V4(address) => sum.bytes(&address.octets()),
            IpAddr::V6(address) => sum.bytes(&address.octets()),
        };
        address(address(self, source), destination).word(protocol.into()).word(length)
    }

    /// The sum in 16 bits.
    #[must_use]
    pub const fn fold(self) -> u16 {
        // 64 bits to 33, 33 to 18, 18 to 17, 17 to 16.
        let sum = (self.0 >> 32) + (self.0 & 0xffff_ffff);
        let sum = (sum >> 16) + (sum & 0xffff);
        let sum = (sum >> 16) + (sum & 0xffff);
        ((sum >> 16) + (sum & 0xffff)) as u16
    }

    /// The checksum: the complement of the sum.
    #[must_use]
    pub const fn checksum(self) -> u16 {
        !self.fold()
    }
}

/// The checksum after words that add up to `old` were replaced by such that add up to `new`: HC' = ~(~HC + ~m + m')
/// (RFC 1624, section 3, equation 3).
#[must_use]
pub const fn update(checksum: u16, old: Sum, new: Sum) -> u16 {
    Sum(0).word(!checksum).word(!old.fold()).word(new.fold()).checksum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_rfc() {
        // RFC 1071, section 3.
        let sum = Sum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!((sum.fold(), sum.checksum()), (0xddf2, !0xddf2));
        let halves = Sum::default().bytes(&[0x00, 0x01]).bytes(&[0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(halves.fold(), 0xddf2);
        assert_eq!(Sum::default().bytes(&[0x12, 0x34, 0x56]).fold(), 0x1234 + 0x5600);
        assert_eq!(Sum::default().bytes(&[0x12]).fold(), 0x1200);
    }

    #[test]
    fn an_update_gives_the_zero_of_the_rfc() {
        // RFC 1624, section 4: what RFC 1141 makes ffff.
        assert_eq!(update(0xdd2f, Sum::default().word(0x5555), Sum::default().word(0x3285)), 0x0000);
    }

    #[test]
    fn long_sums_do_not_overflow() {
        let sum = (0..5_000).fold(Sum::default(), |sum, _| sum.bytes(&[0xff; 65_535 / 4 * 4]));
        assert_eq!(sum.fold(), 0xffff);
        assert_eq!(sum.word(1).fold(), 1);
        // 0001 + 0000 + ffff + ffff: the carry of a carry.
        assert_eq!(Sum(0x0001_0000_ffff_ffff).fold(), 1);
    }
}
