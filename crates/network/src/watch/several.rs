//! Several watchers at once: a pair watches with both, an option if there is one.

use crate::watch::{NodeState, Watch};
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

    fn node(&mut self, now: Instant, node: usize, state: NodeState) {
        self.0.node(now, node, state);
        self.1.node(now, node, state);
    }

    fn wants_nodes(&self) -> bool {
        self.0.wants_nodes() || self.1.wants_nodes()
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

    fn node(&mut self, now: Instant, node: usize, state: NodeState) {
        if let Some(watch) = self {
            watch.node(now, node, state);
        }
    }

    fn wants_nodes(&self) -> bool {
        self.as_ref().is_some_and(Watch::wants_nodes)
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

        fn node(&mut self, _: Instant, _: usize, _: NodeState) {
            self.0[1] += 1;
        }

        fn lost(&mut self, _: Instant, _: NodeId, _: &Frame, _: Outcome) {
            self.0[2] += 1;
        }

        fn wants_nodes(&self) -> bool {
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
        watch.node(Instant::ZERO, 0, NodeState::default());
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
        assert!((count(true), count(false)).wants_nodes());
        assert!((count(false), Some(count(true))).wants_nodes());
        assert!(!(count(false), Some(count(false))).wants_nodes());
        assert!(!None::<Count>.wants_nodes());
        show(&mut None::<Count>);
    }
}
