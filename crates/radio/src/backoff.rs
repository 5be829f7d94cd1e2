//! The backoff: whole slots that pass only while the medium is idle.

use crate::phy::Phy;
use crate::standard::BackoffRange;
use meshpace_units::random::Stream;
use meshpace_units::{Instant, Span};
use std::num::NonZeroU8;

/// The intervals that a backoff is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// DCF interframe space.
    pub difs: Span,
}

/// A backoff that has been drawn and has not run out.
///
/// It counts only after the medium has been idle for a DIFS, or for the AIFS of its category. Events do not pause and resume it: it
/// learns afterwards when the medium turned idle and busy: [`Backoff::interrupt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// It never counts before it was drawn.
    drawn: Instant,
    /// Slots of idle medium, after a SIFS, until it is over: those of the AIFS, and what is left of its own.
    until: u32,
    /// Slots before it counts (AIFSN): one at least, so that "no backoff" needs no room.
    aifsn: NonZeroU8,
}

const _: () = assert!(size_of::<Option<Backoff>>() == 16);

impl Backoff {
    /// Draws a backoff from the contention window `cw` that counts after a SIFS and `aifsn` slots.
    ///
    /// # Panics
    /// If that is no slot.
    #[must_use]
    pub fn draw(now: Instant, (cw, aifsn): (u32, u8), phy: &Phy, stream: &mut Stream) -> Self {
        let choices = match phy.backoff_range {
            BackoffRange::Ns2 => cw,
            BackoffRange::Standard => cw + 1,
        };
        let aifsn = NonZeroU8::new(aifsn).unwrap_or_else(|| panic!("a backoff counts after a slot at least"));
        Self { until: u32::from(aifsn.get()) + stream.below(choices), drawn: now, aifsn }
    }

    /// Slots that are left of it.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.until - self.aifsn.get() as u32
    }

    /// How long the medium has to be idle before it counts: DIFS, or AIFS.
    #[must_use]
    #[inline]
    pub fn waits(&self, intervals: &Intervals) -> Span {
        intervals.sifs + intervals.slot * u64::from(self.aifsn.get())
    }

    /// When it runs out if the medium is idle from `idle_since` on: DIFS first, then the slots.
    #[must_use]
    #[inline]
    pub fn expiry(&self, idle_since: Instant, intervals: &Intervals) -> Instant {
        idle_since.max(self.drawn) + intervals.sifs + intervals.slot * u64::from(self.until)
    }

    /// The medium was idle from `idle_since` and turned busy at `busy_at`: the whole slots in between have passed,
    /// the last part of one is lost (ns-2.35; ns2-behaviour 2.4).
    pub fn interrupt(&mut self, idle_since: Instant, busy_at: Instant, intervals: &Intervals) {
        let counting_from = idle_since.max(self.drawn) + self.waits(intervals);
        let passed = busy_at.saturating_since(counting_from).whole(intervals.slot);
        self.until -= u64::from(self.slots()).min(passed) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::tests::dsss;
    use proptest::prelude::*;

    fn phy() -> Phy {
        Phy { rts_threshold: None, ..dsss(34) }
    }

    fn intervals() -> Intervals {
        Intervals { slot: phy().slot(), sifs: phy().sifs(), difs: phy().difs() }
    }

    #[test]
    fn draws_cover_their_range() {
        let mut phy = phy();
        for (range, last) in [(BackoffRange::Ns2, 30), (BackoffRange::Standard, 31)] {
            phy.backoff_range = range;
            let mut stream = Stream::new(1, "backoff", 0);
            let slots: Vec<u32> =
                (0..4000).map(|_| Backoff::draw(Instant::ZERO, (31, 2), &phy, &mut stream).slots()).collect();
            assert_eq!((slots.iter().min(), slots.iter().max()), (Some(&0), Some(&last)));
        }
    }

    #[test]
    fn a_part_slot_and_the_difs_do_not_count() {
        let phy = intervals();
        let at = |us: u64| Instant::ZERO + Span::from_micros(us);
        let mut backoff = Backoff { until: 7, drawn: at(0), aifsn: NonZeroU8::new(2).unwrap() };
        backoff.interrupt(at(0), at(50), &phy);
        assert_eq!(backoff.slots(), 5);
        backoff.interrupt(at(1000), at(1000 + 50 + 59), &phy);
        assert_eq!(backoff.slots(), 3);
        assert_eq!(backoff.expiry(at(2000), &phy), at(2110));
        let patient = Backoff { until: 10, aifsn: NonZeroU8::new(7).unwrap(), ..backoff };
        assert_eq!(patient.expiry(at(2000), &phy), at(2210));
    }

    proptest! {
        #[test]
        fn interruptions_never_lengthen_it(cw in 1u32..1024, seed: u64, idle in prop::collection::vec(0u64..700, 0..20)) {
            let mut backoff = Backoff::draw(Instant::ZERO, (cw, 2), &phy(), &mut Stream::new(seed, "backoff", 0));
            let phy = intervals();
            let mut now = Instant::ZERO;
            for us in idle {
                let slot = phy.slot.as_micros();
                let before = u64::from(backoff.slots()) * slot;
                let end = now + Span::from_micros(us);
                backoff.interrupt(now, end.min(backoff.expiry(now, &phy)), &phy);
                let after = u64::from(backoff.slots()) * slot;
                prop_assert!(after <= before && after + us >= before);
                now = end + Span::from_micros(500);
            }
        }
    }
}
