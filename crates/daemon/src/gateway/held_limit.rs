//! How many packets may be held in the kernel's queue.
//!
//! Never more than leaves room in the queue for those on their way to a decision: a packet that finds the queue full passes
//! by fail-open, before the held ones of its flow. And on kernels that look for the packet of a verdict in a list (before
//! "netfilter: nfnetlink_queue: optimize verdict lookup with hash table"), no more than that search can take: there a
//! verdict cost 0.06 ms with 1,000 packets held and 0.3 ms with 20,000, measured on Linux 6.1. The change was carried back to
//! stable kernels (6.18.44 has it), so the version says nothing; what verdicts cost does.

use meshpace_units::Span;

/// The most that a kernel with a list may hold.
const LISTED: usize = 1_000;
/// Verdicts of which only the quickest counts: an interrupt, other packets' work or a preemption between two clock readings
/// takes milliseconds, a search through a list takes its time always.
const GROUP: u32 = 8;
/// Groups timed of either kind before the kernel is judged.
const SAMPLES: u32 = 25;
/// A kernel is judged to have a list where verdicts with more than [`LISTED`] held take this many times as long ...
const RATIO: f64 = 3.0;
/// ... and this much longer, so that a few cache misses are not a verdict on the kernel.
const EXCESS: Span = Span::from_micros(10);
/// Weight of a new measurement in the mean.
const WEIGHT: f64 = 1.0 / 8.0;

/// The limit, and the time that verdicts take with few and with many packets held.
#[derive(Debug)]
pub struct HeldLimit {
    limit: usize,
    few: Mean,
    many: Mean,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    seconds: f64,
    /// Groups in the mean.
    samples: u32,
    /// The quickest of the group that is being filled, and how many it has.
    quickest: f64,
    filled: u32,
}

impl Mean {
    fn add(&mut self, each: f64) {
        self.quickest = if self.filled == 0 { each } else { self.quickest.min(each) };
        self.filled += 1;
        if self.filled < GROUP {
            return;
        }
        self.filled = 0;
        let weight = WEIGHT.max(1.0 / f64::from(self.samples + 1));
        self.seconds += weight * (self.quickest - self.seconds);
        self.samples = self.samples.saturating_add(1);
    }
}

impl HeldLimit {
    /// For a queue of that length: a quarter of it stays free.
    pub fn new(queue_length: u32) -> Self {
        Self {
            limit: (queue_length - queue_length / 4) as usize,
            few: Mean::default(),
            many: Mean::default(),
        }
    }

    /// The most packets to hold.
    pub const fn get(&self) -> usize {
        self.limit
    }

    /// Verdicts were carried out, `count` of them in `took`, while `held` packets waited. True if the limit changed.
    pub fn on_verdicts(&mut self, held: usize, count: usize, took: Span) -> bool {
        if count == 0 || self.limit <= LISTED {
            return false;
        }
        let mean = if held > LISTED { &mut self.many } else { &mut self.few };
        mean.add(took.as_secs_f64() / count as f64);
        let listed = self.few.samples >= SAMPLES
            && self.many.samples >= SAMPLES
            && self.many.seconds > RATIO * self.few.seconds
            && self.many.seconds > self.few.seconds + EXCESS.as_secs_f64();
        if listed {
            self.limit = LISTED;
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `us` a verdict with few packets held, `more_us` with 5,000; the limit after 300 batches of 4 of both kinds.
    fn judged(us: u64, more_us: u64) -> usize {
        let mut limit = HeldLimit::new(8192);
        for _ in 0..300 {
            limit.on_verdicts(10, 4, Span::from_micros(4 * us));
            limit.on_verdicts(5_000, 4, Span::from_micros(4 * more_us));
        }
        limit.get()
    }

    #[test]
    fn a_quarter_of_the_queue_stays_free() {
        assert_eq!(HeldLimit::new(8192).get(), 6144);
        assert_eq!(HeldLimit::new(1).get(), 1);
    }

    #[test]
    fn a_search_through_a_list_is_noticed_and_noise_is_not() {
        assert_eq!(judged(3, 3), 6144);
        assert_eq!(judged(3, 8), 6144, "a few microseconds");
        assert_eq!(judged(20, 50), 6144, "a slow machine, a kernel with a hash table");
        assert_eq!(judged(3, 40), LISTED);
        assert_eq!(judged(30, 111), LISTED);
    }

    #[test]
    fn interruptions_are_no_search() {
        let mut limit = HeldLimit::new(8192);
        for round in 0..10_000_u64 {
            limit.on_verdicts(10, 1, Span::from_micros(3));
            // Every fifth takes 15 ms longer: another process had the processor.
            let took = if round % 5 == 0 { Span::from_micros(15_003) } else { Span::from_micros(3) };
            assert!(!limit.on_verdicts(5_000, 1, took), "after {round}");
        }
    }

    #[test]
    fn it_takes_more_than_one_slow_moment() {
        let mut limit = HeldLimit::new(8192);
        for _ in 0..1_000 {
            assert!(!limit.on_verdicts(10, 1, Span::from_micros(3)));
        }
        for _ in 1..SAMPLES * GROUP {
            assert!(!limit.on_verdicts(2_000, 1, Span::from_micros(100)));
        }
        assert!(limit.on_verdicts(2_000, 1, Span::from_micros(100)));
        assert!(!limit.on_verdicts(2_000, 1, Span::from_micros(100)), "once");
    }
}
