//! Points in time and lengths of time, in whole nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const NANOS_PER_SEC: f64 = 1e9;

/// A point in time: nanoseconds since the driver's zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A length of time in nanoseconds; never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Instant {
    /// The zero of the driver's clock.
    pub const ZERO: Self = Self(0);

    /// The earlier of two deadlines, as far as there are any.
    #[must_use]
    #[inline]
    pub fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (Some(at), None) | (None, Some(at)) => Some(at),
            (None, None) => None,
        }
    }

    /// `nanos` nanoseconds after zero.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since zero.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since zero, as a real number (exact to 2^-53 relative).
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC
    }

    /// The time since `earlier`, or `None` if `earlier` is later than `self`.
    #[must_use]
    pub fn checked_since(self, earlier: Self) -> Option<Span> {
        self.0.checked_sub(earlier.0).map(Span)
    }

    /// The time since `earlier`, zero if `earlier` is later than `self`.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, or `None` past the end of time (584 years).
    #[must_use]
    pub fn checked_add(self, span: Span) -> Option<Self> {
        self.0.checked_add(span.0).map(Self)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// One nanosecond.
    pub const NANOSECOND: Self = Self(1);
    /// The longest span, 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// `n` nanoseconds.
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// `secs` seconds, rounded to the nearest nanosecond; `None` if negative, not finite or longer than 584 years.
    #[must_use]
    pub fn try_from_secs_f64(secs: f64) -> Option<Self> {
        let nanos = secs * NANOS_PER_SEC;
        // 2^64 is exactly representable; anything below it converts without saturation. `+ 0.5` then truncation
        // rounds to nearest for every value a double resolves to half a nanosecond.
        (0.0..18_446_744_073_709_551_616.0).contains(&nanos).then_some(Self((nanos + 0.5) as u64))
    }

    /// `secs` seconds, rounded to the nearest nanosecond.
    ///
    /// # Panics
    /// If `secs` is negative, not finite or longer than 584 years.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self::try_from_secs_f64(secs).unwrap_or_else(|| panic!("not a span: {secs} s"))
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds as a real number.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC
    }

    /// `self - other`, zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self - other`, or `None` if `other` is longer.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// `self * factor`, rounded to the nearest nanosecond; `None` where [`Span::try_from_secs_f64`] is.
    #[must_use]
    pub fn checked_mul_f64(self, factor: f64) -> Option<Self> {
        Self::try_from_secs_f64(self.as_secs_f64() * factor)
    }

    /// How many whole `part`s fit in this span.
    ///
    /// # Panics
    /// If `part` is zero.
    #[must_use]
    pub const fn whole(self, part: Self) -> u64 {
        self.0 / part.0
    }

    /// True for the empty span.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Instant {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.checked_sub(span.0).unwrap_or_else(|| panic!("{self:?} - {span:?} is before zero")))
    }
}

impl Sub for Instant {
    type Output = Span;
    /// # Panics
    /// If `earlier` is later than `self`: such a difference is a bug of the caller.
    fn sub(self, earlier: Self) -> Span {
        self.checked_since(earlier).unwrap_or_else(|| panic!("{self:?} - {earlier:?} is negative"))
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Self;
    /// # Panics
    /// If `other` is longer than `self`.
    fn sub(self, other: Self) -> Self {
        self.checked_sub(other).unwrap_or_else(|| panic!("{self:?} - {other:?} is negative"))
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    /// Rounds down.
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}

impl core::iter::Sum for Span {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}us", self.0 / 1_000, self.0 % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Span::from_secs_f64(1.000_000_000_4).as_nanos(), 1_000_000_000);
        assert_eq!(Span::from_secs_f64(1.000_000_000_6).as_nanos(), 1_000_000_001);
        assert_eq!(Span::try_from_secs_f64(-1e-9), None);
        assert_eq!(Span::try_from_secs_f64(f64::NAN), None);
        assert_eq!(Span::try_from_secs_f64(f64::INFINITY), None);
    }

    #[test]
    #[should_panic(expected = "is negative")]
    fn earlier_minus_later_fails_loudly() {
        let _ = Instant::ZERO - Instant::from_nanos(1);
    }

    #[test]
    fn whole_slots_are_rounded_down() {
        assert_eq!(Span::from_micros(59).whole(Span::from_micros(20)), 2);
    }
}
