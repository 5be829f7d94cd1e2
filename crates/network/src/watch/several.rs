//! Several watchers at once: a pair watches with both, an option if there is one.

use crate::air::AirId;
use crate::watch::{NodeState, Watch};
use meshpace_radio::{Frame, FrameEnd};
use meshpace_relay::packet::Packet;
use meshpace_units::{Instant, NodeId};

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn wants_frames(&self) -> bool {
        self.0.wants_frames() || self.1.wants_frames()
    }

    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        self.0.frame(now, air, frame, packets);
        self.1.frame(now, air, frame, packets);
    }

    fn lost(&mut self, now: Instant, air: AirId, at: NodeId, frame: &Frame, end: &FrameEnd) {
        self.0.lost(now, air, at, frame, end);
        self.1.lost(now, air, at, frame, end);
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
    fn wants_frames(&self) -> bool {
        self.as_ref().is_some_and(Watch::wants_frames)
    }

    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        if let Some(watch) = self {
            watch.frame(now, air, frame, packets);
        }
    }

    fn lost(&mut self, now: Instant, air: AirId, at: NodeId, frame: &Frame, end: &FrameEnd) {
        if let Some(watch) = self {
            watch.lost(now, air, at, frame, end);
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
    use meshpace_radio::{FrameKind, Header, Outcome, Standard};
    use meshpace_units::{Bytes, Span};

    /// Counts what it sees: frames, queues, losses.
    #[derive(Default)]
    struct Count([u32; 3], bool);

    impl Watch for Count {
        fn frame(&mut self, _: Instant, _: AirId, _: &Frame, _: &[&Packet]) {
            self.0[0] += 1;
        }

        fn node(&mut self, _: Instant, _: usize, _: NodeState) {
            self.0[1] += 1;
        }

        fn lost(&mut self, _: Instant, _: AirId, _: NodeId, _: &Frame, _: &FrameEnd) {
            self.0[2] += 1;
        }

        fn wants_nodes(&self) -> bool {
            self.1
        }
    }

    fn show(watch: &mut dyn Watch) {
        let mode = Standard::named("802.11b").expect("a row").lowest();
        let ack = Frame::new(Header {
            kind: FrameKind::Ack,
            from: NodeId(0),
            to: Some(NodeId(1)),
            airtime: Span::from_micros(304),
            duration: Span::ZERO,
            mode,
            size: Bytes(14),
            data_mode: mode,
            retry: false,
            protected: false,
            packet: None,
        });
        for _ in 0..3 {
            watch.frame(Instant::ZERO, AirId::default(), &ack, &[]);
        }
        watch.node(Instant::ZERO, 0, NodeState::default());
        for _ in 0..4 {
            let end = FrameEnd::whole(Outcome::Deaf);
            watch.lost(Instant::ZERO, AirId::default(), NodeId(1), &ack, &end);
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
