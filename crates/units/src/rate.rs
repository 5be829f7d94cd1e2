//! Sizes and bit rates.

use crate::Span;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub};

/// A size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A bit rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The size in bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl Rate {
    /// `n` bits per second.
    #[must_use]
    pub const fn bits_per_sec(n: u64) -> Self {
        Self(n)
    }

    /// Bits per second.
    #[must_use]
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }

    /// Time to serialise `n`, rounded up to the next nanosecond so that a pacer never runs fast; `None` at rate
    /// zero or past 584 years.
    #[must_use]
    pub fn time_to_send(self, n: Bytes) -> Option<Span> {
        if self.0 == 0 {
            return None;
        }
        // 64 bits are enough for two gigabytes, and several times faster.
        if let Some(bit_nanos) = n.0.checked_mul(8_000_000_000) {
            return Some(Span::from_nanos(bit_nanos.div_ceil(self.0)));
        }
        let bit_nanos = u128::from(n.0) * 8_000_000_000;
        u64::try_from(bit_nanos.div_ceil(u128::from(self.0))).ok().map(Span::from_nanos)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).unwrap_or_else(|| panic!("{self:?} - {other:?} is negative")))
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialising_rounds_up() {
        let rate = Rate::bits_per_sec(11_000_000);
        // 1534 bytes at 11 Mbit/s: 1115.636363... us.
        assert_eq!(rate.time_to_send(Bytes(1534)), Some(Span::from_nanos(1_115_637)));
        assert_eq!(Rate::bits_per_sec(0).time_to_send(Bytes(1)), None);
        // Past 64 bits in between: 4 GB at 8 Gbit/s take 4 s and a bit.
        let large = Rate::bits_per_sec(8_000_000_000).time_to_send(Bytes(4_000_000_001));
        assert_eq!(large, Some(Span::from_nanos(4_000_000_001)));
        assert_eq!(Rate::bits_per_sec(1).time_to_send(Bytes(u64::MAX)), None);
    }
}
