//! Several watchers at once: a pair watches with both, an option if there is one.

use crate::watch::Watch;
use meshpace_packet::Packet;
use meshpace_radio::{Frame, Outcome};
use meshpace_units::{Instant, NodeId};

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn frame(&mut self, now: Instant, frame: &Frame, packet: Option<&Packet>) {
        self.0.frame(now, frame, packet);
        self.1.frame(now, frame, packet);
    }

    fn lost(&mut self, now: Instant, at: NodeId, frame: &Frame, outcome: Outcome) {
        self.0.lost(now, at, frame, outcome);
        self.1.lost(now, at, frame, outcome);
    }

    fn queue(&mut self, now: Instant, node: usize, waiting: usize) {
        self.0.queue(now, node, waiting);
        self.1.queue(now, node, waiting);
    }

    fn wants_queues(&self) -> bool {
        self.0.wants_queues() || self.1.wants_queues()
    }
}

impl<P: Watch> Watch for Option<P> {
    fn frame(&mut self, now: Instant, frame: &Frame, packet: Option<&Packet>) {
        if let Some(watch) = self {
            watch.frame(now, frame, packet);
        }
    }

    fn lost(&mut self, now: Instant, at: NodeId, frame: &Frame, outcome: Outcome) {
        if let Some(watch) = self {
            watch.lost(now, at, frame, outcome);
        }
    }

    fn queue(&mut self, now: Instant, node: usize, waiting: usize) {
        if let Some(watch) = self {
            watch.queue(now, node, waiting);
        }
    }

    fn wants_queues(&self) -> bool {
        self.as_ref().is_some_and(Watch::wants_queues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_radio::FrameKind;
    use meshpace_units::{Bytes, Rate, Span};

    /// Counts what it sees: frames, queues, losses.
    #[derive(Default)]
    struct Count([u32; 3], bool);

    impl Watch for Count {
        fn frame(&mut self, _: Instant, _: &Frame, _: Option<&Packet>) {
            self.0[0] += 1;
        }

        fn queue(&mut self, _: Instant, _: usize, _: usize) {
            self.0[1] += 1;
        }

        fn lost(&mut self, _: Instant, _: NodeId, _: &Frame, _: Outcome) {
            self.0[2] += 1;
        }

        fn wants_queues(&self) -> bool {
            self.1
        }
    }

    fn show(watch: &mut dyn Watch) {
        let ack = Frame {
            kind: FrameKind::Ack,
            from: NodeId(0),
            to: Some(NodeId(1)),
            airtime: Span::from_micros(304),
            duration: Span::ZERO,
            rate: Rate::bits_per_sec(1_000_000),
            size: Bytes(14),
            data_rate: Rate::bits_per_sec(1_000_000),
            seq: 0,
            retry: false,
            protected: false,
            packet: None,
        };
        for _ in 0..3 {
            watch.frame(Instant::ZERO, &ack, None);
        }
        watch.queue(Instant::ZERO, 0, 0);
        for _ in 0..4 {
            watch.lost(Instant::ZERO, NodeId(1), &ack, Outcome::Deaf);
        }
    }

    #[test]
    fn both_of_a_pair_see_everything() {
        let mut pair = (Count::default(), Some(Count::default()));
        show(&mut pair);
        assert_eq!(pair.0.0, [3, 1, 4]);
        assert_eq!(pair.1.map(|count| count.0), Some([3, 1, 4]));
    }

    #[test]
    fn queues_are_wanted_if_one_wants_them() {
        let count = |wants| Count([0; 3], wants);
        assert!((count(true), count(false)).wants_queues());
        assert!((count(false), Some(count(true))).wants_queues());
        assert!(!(count(false), Some(count(false))).wants_queues());
        assert!(!None::<Count>.wants_queues());
        show(&mut None::<Count>);
    }
}
