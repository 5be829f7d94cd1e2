//! The memory of route requests, by which a node tells the first copy of a flood from the rest.

use meshpace_units::{Instant, NodeId, Span};
use std::collections::VecDeque;

/// Requests by originator and identifier. An identifier is never used twice, so how long it is remembered beyond the
/// life of the flood changes nothing but memory.
#[derive(Debug)]
pub(super) struct SeenRequests {
    keep: Span,
    seen: VecDeque<(Instant, NodeId, u32)>,
}

impl SeenRequests {
    pub(super) const fn new(keep: Span) -> Self {
        Self { keep, seen: VecDeque::new() }
    }

    /// Remembers the request; false if it was known.
    pub(super) fn insert(&mut self, now: Instant, originator: NodeId, id: u32) -> bool {
        while self.seen.front().is_some_and(|&(until, ..)| until <= now) {
            self.seen.pop_front();
        }
        // The newest are the likeliest: copies of a flood arrive within milliseconds.
        let known = self.seen.iter().rev().any(|&(_, o, i)| (o, i) == (originator, id));
        if !known {
            self.seen.push_back((now + self.keep, originator, id));
        }
        !known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_new_once() {
        let mut seen = SeenRequests::new(Span::from_secs(6));
        let at = |s| Instant::ZERO + Span::from_secs(s);
        assert!(seen.insert(at(0), NodeId(1), 1));
        assert!(!seen.insert(at(0), NodeId(1), 1));
        assert!(seen.insert(at(1), NodeId(2), 1));
        assert!(seen.insert(at(1), NodeId(1), 2));
        assert!(!seen.insert(at(5), NodeId(1), 1));
        assert!(seen.insert(at(6), NodeId(1), 1));
        assert_eq!(seen.seen.len(), 3);
    }
}
