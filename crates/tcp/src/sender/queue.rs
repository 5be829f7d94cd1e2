//! Segments that the windows let out and whose turn has not come ([`Discipline::Queue`](crate::control::Discipline)).

use super::Chunk;
use alloc::collections::VecDeque;

/// First in, first out.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    chunks: VecDeque<Chunk>,
}

impl SendQueue {
    pub(crate) fn push(&mut self, chunk: Chunk) {
        self.chunks.push_back(chunk);
    }

    pub(crate) fn pop(&mut self) -> Option<Chunk> {
        self.chunks.pop_front()
    }

    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Takes everything before `una` out of the queue.
    pub(crate) fn drop_acknowledged(&mut self, una: u64) {
        while let Some(first) = self.chunks.front_mut().filter(|first| first.start < una) {
            let acknowledged = (una - first.start).min(u64::from(first.length)) as u32;
            if first.end() > una {
                first.start += u64::from(acknowledged);
                first.length -= acknowledged;
                return;
            }
            self.chunks.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_leaves_the_queue() {
        let mut queue = SendQueue::default();
        let chunk = |start, length, fin| Chunk { start, length, fin };
        for chunk in [chunk(1, 100, false), chunk(101, 100, false), chunk(201, 50, true)] {
            queue.push(chunk);
        }
        queue.drop_acknowledged(1);
        assert_eq!(queue.len(), 3);
        queue.drop_acknowledged(131);
        assert_eq!((queue.len(), queue.chunks[0]), (2, chunk(131, 70, false)));
        queue.drop_acknowledged(251);
        assert_eq!((queue.len(), queue.chunks[0]), (1, chunk(251, 0, true)), "all but the FIN");
        queue.drop_acknowledged(252);
        assert_eq!(queue.pop(), None);
    }
}
