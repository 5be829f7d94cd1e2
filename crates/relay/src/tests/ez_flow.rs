//! What a node concludes of the next one's queue, and how it contends then.

use super::{Bench, packet, radio, wired};
use crate::Heard;
use crate::packet::PacketId;
use meshpace_radio::{Frame, FrameKind, Header, MacPacket, Mpdu, Priority};
use meshpace_units::{Bytes, NodeId, Span};

const NEXT: u32 = 1;
const END: u32 = 9;

struct Node {
    bench: Bench,
    /// Packets sent so far.
    sent: u64,
}

impl Node {
    fn new() -> Self {
        Self { bench: Bench::new("ez-flow", &radio(50)), sent: 0 }
    }

    /// The next packet goes to the next node, and is acknowledged there. What the station contends with for it, a power of 2.
    fn send(&mut self, exit: u32) -> u8 {
        let mut one = packet(1, NEXT, 1000);
        (one.id, one.exit) = (PacketId(self.sent), NodeId(exit));
        self.sent += 1;
        let handle = self.bench.put(one);
        assert_eq!(self.bench.get(), Some(handle));
        self.bench.sent(handle, Span::from_micros(1_000));
        self.bench.node.ecw_min
    }

    /// Some node sends that packet.
    fn hear(&mut self, from: u32, id: u64) {
        let mut carried = packet(1, 2, 1000);
        carried.id = PacketId(id);
        let handle = self.bench.packets.add(carried);
        let mac = MacPacket {
            handle,
            to: Some(NodeId(2)),
            size: Bytes(1000),
            mode: self.bench.node.mode,
            priority: Priority::BEST_EFFORT,
        };
        let frame = Frame::new(Header {
            kind: FrameKind::Data,
            from: NodeId(from),
            to: mac.to,
            airtime: Span::from_micros(1_000),
            duration: Span::ZERO,
            mode: mac.mode,
            size: mac.size,
            data_mode: mac.mode,
            retry: false,
            protected: false,
            packet: Some(Mpdu { packet: mac, seq: 1, retry: false, losses: 0 }),
        });
        let heard = Heard { frame: &frame, read: None, mine: false };
        self.bench.call(|relay, here| relay.heard(here, &heard));
        self.bench.packets.remove(handle);
    }

    /// Packets, each of which the next node sends on once the given number of packets wait there. The windows
    /// of each are returned.
    fn behind(&mut self, queue: u64, packets: u64) -> Vec<u8> {
        let one = |_| {
            let window = self.send(END);
            if let Some(id) = (self.sent - 1).checked_sub(queue) {
                self.hear(NEXT, id);
            }
            window
        };
        (0..packets).map(one).collect()
    }
}

/// ```text
/// 21 wait, of 50 packets each   long  long  long  long  long        2^5 -> 2^6
/// 0 wait                        short x 9                           2^6 -> 2^5
/// ```
#[test]
fn a_window_of_2_to_5_doubles_after_five_long_means_and_halves_after_nine_short_ones() {
    let mut node = Node::new();
    node.behind(21, 21);
    let all = node.behind(21, 252);
    assert_eq!((&all[..250], &all[250..]), (&[5; 250][..], &[6; 2][..]), "250 samples, and the next packet");
    // Two long samples are in the next mean, which is not short; then come nine that are.
    let all = node.behind(0, 500);
    let falls = all.iter().position(|power| *power == 5);
    assert_eq!(falls, Some(48 + 9 * 50));
}

#[test]
fn a_mean_between_the_bounds_begins_anew() {
    let mut node = Node::new();
    node.behind(21, 21);
    node.behind(21, 200);
    node.behind(10, 100);
    assert!(node.behind(21, 200).iter().all(|power| *power == 5));
}

#[test]
fn neither_what_ends_there_nor_what_others_send_on_counts() {
    let mut node = Node::new();
    (0..2_000).for_each(|id| {
        node.send(NEXT);
        node.hear(NEXT, id);
    });
    (2_000..4_000).for_each(|id| {
        node.send(END);
        node.hear(2, id);
    });
    assert_eq!(node.send(END), 5, "neither grown nor fallen");
    node.hear(NEXT, 3_999);
    let of = |node: &Node| format!("{:?}", node.bench.relay);
    assert!(of(&node).contains("sent: [PacketId(4000)]"), "what was sent before is forgotten: {}", of(&node));
}

#[test]
fn a_wire_has_drop_tail_alone() {
    let asks = Bench::new("ez-flow", &wired(50)).relay.asks();
    assert!(!asks.data_frames && !asks.reports);
    assert!(Bench::new("ez-flow", &radio(50)).relay.asks().data_frames);
}
