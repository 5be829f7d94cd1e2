//! When the data thread wakes for departures: on time while they are few, and for many at once where they are many.
//!
//! A wake-up costs more than the packet that it lets go: a system call to wait, one to receive, one for the verdict, one for the next
//! timer. At hundreds of Mbit/s there would be one every ten microseconds, which no processor keeps up with.

use meshpace_units::{Instant, Span};

/// So many wake-ups may come one close after the other, each on time: what two or three flows do by chance, and no more than a burst does.
const ON_TIME: u64 = 16;

/// Wake-ups as a generic cell rate algorithm counts cells (ITU-T I.371, annex A): one each `apart` in the long run, and [`ON_TIME`] at once.
/// 10 Mbit/s of full packets take 833 a second, and never wait for one.
#[derive(Debug, Default)]
pub struct Wakeups {
    /// When the next is expected, the earlier ones having come at that pace.
    expected: Option<Instant>,
}

impl Wakeups {
    /// When to wake for what is due at `due`; it is put off until `latest` at the most.
    pub fn at(&self, due: Instant, apart: Span, latest: impl FnOnce() -> Option<Instant>) -> Instant {
        let soonest =
            self.expected.map_or(0, |at| at.as_nanos().saturating_sub((apart * ON_TIME).as_nanos()));
        if soonest <= due.as_nanos() {
            return due;
        }
        latest().map_or(due, |latest| latest.min(Instant::from_nanos(soonest)).max(due))
    }

    /// The timer has woken the thread.
    pub fn woke(&mut self, now: Instant, apart: Span) {
        self.expected = Some(self.expected.map_or(now, |at| at.max(now)) + apart);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APART: Span = Span::from_micros(500);

    fn us(n: u64) -> Instant {
        Instant::ZERO + Span::from_micros(n)
    }

    /// Wakes for a departure every `gap` that may wait for `patience`; how many wake-ups a second, and how late the latest was.
    fn driven(gap: u64, patience: u64) -> (usize, Span) {
        let mut wakeups = Wakeups::default();
        let (mut due, mut woke, mut late) = (us(1_000_000), 0, Span::ZERO);
        while due < us(2_000_000) {
            let now = wakeups.at(due, APART, || Some(due + Span::from_micros(patience)));
            wakeups.woke(now, APART);
            woke += 1;
            late = late.max(now.saturating_since(due));
            while due <= now {
                due += Span::from_micros(gap);
            }
        }
        (woke, late)
    }

    #[test]
    fn few_are_woken_for_on_time_and_many_together() {
        // 10 Mbit/s of packets of 1,500 bytes.
        assert_eq!(driven(1_200, 500), (834, Span::ZERO));
        let (woke, late) = driven(12, 500);
        assert!((1_900..2_100).contains(&woke), "1 Gbit/s: {woke} wake-ups");
        assert!(late <= APART, "{late:?}");
    }

    #[test]
    fn who_cannot_wait_is_not_waited_with() {
        let (woke, late) = driven(12, 0);
        assert_eq!((woke, late), (83_334, Span::ZERO));
        let (_, late) = driven(12, 100);
        assert!(late <= Span::from_micros(100), "{late:?}");
    }

    #[test]
    fn without_a_burst_all_are_on_time() {
        let mut wakeups = Wakeups::default();
        for n in 0..100 {
            let due = us(1_000 + n);
            assert_eq!(wakeups.at(due, Span::ZERO, || Some(us(9_000))), due);
            wakeups.woke(due, Span::ZERO);
        }
    }
}
