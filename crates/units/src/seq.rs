//! TCP sequence numbers.

use core::fmt;
use core::ops::{Add, AddAssign};

/// A TCP sequence number: arithmetic modulo 2^32, compared within half the space (RFC 9293, section 3.4).
///
/// There is no `Ord`: "less than" is not transitive on a circle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// True if `self` comes before `other` on the nearer half of the circle.
    #[must_use]
    pub const fn before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// True if `self` comes after `other` on the nearer half of the circle.
    #[must_use]
    pub const fn after(self, other: Self) -> bool {
        other.before(self)
    }

    /// True if `self` equals `other` or comes before it.
    #[must_use]
    pub const fn at_or_before(self, other: Self) -> bool {
        !self.after(other)
    }

    /// True if `self` equals `other` or comes after it.
    #[must_use]
    pub const fn at_or_after(self, other: Self) -> bool {
        !self.before(other)
    }

    /// Distance walked from `earlier` to `self`, modulo 2^32.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// The later of the two.
    #[must_use]
    pub const fn later(self, other: Self) -> Self {
        if self.before(other) { other } else { self }
    }
}

impl Add<u32> for Seq {
    type Output = Self;
    fn add(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, n: u32) {
        self.0 = self.0.wrapping_add(n);
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        let last = Seq(u32::MAX);
        assert!(last.before(last + 1));
        assert!((last + 10).after(last));
        assert_eq!((last + 10).since(last), 10);
        assert_eq!(last.later(last + 3), Seq(2));
    }
}
