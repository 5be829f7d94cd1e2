//! Batch means: the run is cut into batches of equally many deliveries, the first is discarded, and the goodput of
//! a flow is the mean of its goodputs in the others (the method of the TCP-GAP paper, section 5.1).

use super::Moments;
use meshpace_units::Instant;

/// Batches by deliveries of all flows together.
pub struct Batches {
    size: u64,
    total: u64,
    batches: u64,
    delivered: u64,
    finished: u64,
    batch_began: Instant,
    bytes_before: Vec<u64>,
    goodput: Vec<Moments>,
}

impl Batches {
    /// `packets` deliveries in `batches` batches; what does not divide is left to the last.
    pub fn new(packets: u64, batches: u64, flows: usize) -> Self {
        Self {
            size: packets / batches,
            total: packets,
            batches,
            delivered: 0,
            finished: 0,
            batch_began: Instant::ZERO,
            bytes_before: vec![0; flows],
            goodput: vec![Moments::default(); flows],
        }
    }

    /// `packets` more arrived; `bytes` are the flows' totals. True if the first batch ended with them.
    pub fn delivered(&mut self, now: Instant, packets: u64, bytes: impl Iterator<Item = u64>) -> bool {
        self.delivered += packets;
        let last = self.finished + 1 == self.batches;
        let goal = if last { self.total } else { self.size * (self.finished + 1) };
        if self.is_complete() || self.delivered < goal {
            return false;
        }
        let length = now.saturating_since(self.batch_began).as_secs_f64();
        for ((before, goodput), bytes) in self.bytes_before.iter_mut().zip(&mut self.goodput).zip(bytes) {
            if self.finished > 0 && length > 0.0 {
                goodput.add((bytes - *before) as f64 * 8.0 / length);
            }
            *before = bytes;
        }
        self.batch_began = now;
        self.finished += 1;
        self.finished == 1
    }

    /// True once all batches are full.
    pub fn is_complete(&self) -> bool {
        self.finished == self.batches
    }

    /// The goodputs of a flow in the batches that count, bit/s.
    pub fn goodput(&self, flow: usize) -> &Moments {
        &self.goodput[flow]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;

    #[test]
    fn the_first_batch_is_discarded() {
        // 1000 bytes a delivery, one a second in the first batch, two a second afterwards.
        let mut batches = Batches::new(9, 3, 1);
        let (mut now, mut bytes, mut firsts) = (Instant::ZERO, 0, 0);
        for i in 0..9 {
            now += Span::from_millis(if i < 3 { 1000 } else { 500 });
            bytes += 1000;
            firsts += u32::from(batches.delivered(now, 1, std::iter::once(bytes)));
            assert_eq!(batches.is_complete(), i == 8);
        }
        assert_eq!(firsts, 1);
        assert_eq!((batches.goodput(0).count(), batches.goodput(0).mean()), (2, Some(16_000.0)));
    }
}
