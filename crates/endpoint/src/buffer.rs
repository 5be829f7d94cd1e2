//! The bytes of a connection's two streams.
//!
//! `meshpace-tcp` speaks of ranges of a stream; these hold what is in the ranges. Positions are stream offsets, counted
//! from the first byte ever sent.

use std::collections::VecDeque;

/// What was written and is not yet acknowledged.
#[derive(Debug)]
pub struct SendBuffer {
    /// Stream offset of the first byte.
    base: u64,
    bytes: VecDeque<u8>,
    capacity: usize,
}

impl SendBuffer {
    /// An empty buffer that takes up to `capacity` bytes. Memory is taken as it is needed.
    pub fn new(capacity: usize) -> Self {
        Self { base: 0, bytes: VecDeque::new(), capacity }
    }

    /// Bytes that fit.
    pub fn free(&self) -> usize {
        self.capacity.saturating_sub(self.bytes.len())
    }

    /// Bytes that are not yet acknowledged.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends as much of `data` as fits and says how much that is.
    pub fn write(&mut self, data: &[u8]) -> usize {
        let length = data.len().min(self.free());
        self.bytes.extend(&data[..length]);
        length
    }

    /// The bytes `[offset, offset + length)`, in two pieces.
    ///
    /// # Panics
    /// If some of them are not there: then the connection sends what was acknowledged or never written.
    pub fn range(&self, offset: u64, length: usize) -> (&[u8], &[u8]) {
        let start = offset.checked_sub(self.base).and_then(|start| usize::try_from(start).ok());
        let start = start.filter(|start| start + length <= self.bytes.len()).unwrap_or_else(|| {
            panic!("{length} bytes at {offset} of {} at {}", self.bytes.len(), self.base);
        });
        let (front, back) = self.bytes.as_slices();
        if start >= front.len() {
            let start = start - front.len();
            (&back[start..start + length], &[])
        } else {
            let in_front = length.min(front.len() - start);
            (&front[start..start + in_front], &back[..length - in_front])
        }
    }

    /// Forgets everything before `offset`.
    pub fn acknowledge(&mut self, offset: u64) {
        let gone = offset.saturating_sub(self.base).min(self.bytes.len() as u64);
        self.bytes.drain(..gone as usize);
        self.base += gone;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.base += self.bytes.len() as u64;
        self.bytes = VecDeque::new();
    }
}

/// Data that have arrived and were not yet read, with gaps where data are missing.
#[derive(Debug, Default)]
pub struct ReceiveBuffer {
    /// Stream offset of the first byte.
    base: u64,
    /// From `base` on; what has not arrived is zero.
    bytes: VecDeque<u8>,
}

impl ReceiveBuffer {
    /// Stores `data` at `offset`. What was read before is left out. How far ahead of the reader data may be is the
    /// receive window's business.
    pub fn place(&mut self, offset: u64, data: &[u8]) {
        let known = self.base.saturating_sub(offset).min(data.len() as u64);
        let data = &data[known as usize..];
        let start = (offset + known - self.base) as usize;
        if start >= self.bytes.len() {
            self.bytes.resize(start, 0);
            self.bytes.extend(data);
            return;
        }
        let inside = data.len().min(self.bytes.len() - start);
        let (overwrite, append) = data.split_at(inside);
        let (front, back) = self.bytes.as_mut_slices();
        if start >= front.len() {
            back[start - front.len()..][..inside].copy_from_slice(overwrite);
        } else {
            let in_front = inside.min(front.len() - start);
            front[start..start + in_front].copy_from_slice(&overwrite[..in_front]);
            back[..inside - in_front].copy_from_slice(&overwrite[in_front..]);
        }
        self.bytes.extend(append);
    }

    /// Moves the first `out.len()` bytes out.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn read(&mut self, out: &mut [u8]) {
        let (front, back) = self.bytes.as_slices();
        let in_front = out.len().min(front.len());
        let (first, second) = out.split_at_mut(in_front);
        first.copy_from_slice(&front[..in_front]);
        second.copy_from_slice(&back[..second.len()]);
        self.discard(out.len());
    }

    /// Forgets the first `length` bytes.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn discard(&mut self, length: usize) {
        self.bytes.drain(..length);
        self.base += length as u64;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.base += self.bytes.len() as u64;
        self.bytes = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn byte(offset: u64) -> u8 {
        (offset * 7 + offset / 251) as u8
    }

    proptest! {
        #[test]
        fn what_is_sent_is_what_was_written(steps in proptest::collection::vec((0usize..700, 0u64..700, 0usize..64), 1..60)) {
            let mut buffer = SendBuffer::new(1000);
            let (mut written, mut acknowledged) = (0u64, 0u64);
            for (write, ack, ask) in steps {
                let data: Vec<u8> = (written..written + write as u64).map(byte).collect();
                let taken = buffer.write(&data);
                prop_assert_eq!(taken, write.min(1000 - (written - acknowledged) as usize));
                written += taken as u64;
                acknowledged = (acknowledged + ack).min(written);
                buffer.acknowledge(acknowledged);
                buffer.acknowledge(acknowledged / 2); // an old acknowledgement changes nothing
                prop_assert_eq!(buffer.len() as u64, written - acknowledged);
                let length = ask.min(buffer.len());
                let from = acknowledged + (buffer.len() - length) as u64 / 2;
                let (first, second) = buffer.range(from, length);
                let got: Vec<u8> = first.iter().chain(second).copied().collect();
                prop_assert_eq!(got, (from..from + length as u64).map(byte).collect::<Vec<_>>());
            }
        }

        #[test]
        fn what_is_read_is_what_arrived(pieces in proptest::collection::vec((0u64..900, 1u64..200), 1..80), reads in proptest::collection::vec(1usize..300, 1..80)) {
            let mut buffer = ReceiveBuffer::default();
            let (mut arrived, mut read) = (std::collections::BTreeSet::new(), 0u64);
            for ((ahead, length), want) in pieces.into_iter().zip(reads) {
                // As a receiver does: nothing before what is expected next, no further than a window ahead of the reader.
                let next = (read..).find(|offset| !arrived.contains(offset)).unwrap_or(read);
                let offset = next + ahead.saturating_sub(100);
                let length = length.min((read + 1000).saturating_sub(offset));
                let data: Vec<u8> = (offset..offset + length).map(byte).collect();
                buffer.place(offset, &data);
                arrived.extend(offset..offset + length);
                let next = (read..).find(|offset| !arrived.contains(offset)).unwrap_or(read);
                let mut out = vec![0; want.min((next - read) as usize)];
                buffer.read(&mut out);
                let expected: Vec<u8> = (read..read + out.len() as u64).map(byte).collect();
                prop_assert_eq!(&out, &expected);
                read += out.len() as u64;
            }
        }
    }

    #[test]
    #[should_panic(expected = "5 bytes at 0 of 3 at 2")]
    fn acknowledged_bytes_are_gone() {
        let mut buffer = SendBuffer::new(10);
        buffer.write(b"hello");
        buffer.acknowledge(2);
        let _ = buffer.range(0, 5);
    }
}
