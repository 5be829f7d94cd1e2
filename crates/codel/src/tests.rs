//! The RFC's pseudocode on a queue that is fed too fast.

use super::*;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A packet: when it came, and whether it may be marked.
type Packet = (Instant, bool);

#[derive(Default)]
struct Plain {
    waiting: VecDeque<Packet>,
    dropped: usize,
    marked: usize,
}

impl Queue for Plain {
    type Packet = Packet;

    fn pop(&mut self) -> Option<Packet> {
        self.waiting.pop_front()
    }

    fn since(packet: &Packet) -> Instant {
        packet.0
    }

    fn backlog(&self) -> Bytes {
        Bytes(1_500 * self.waiting.len() as u64)
    }

    fn mark(&mut self, packet: &mut Packet) -> bool {
        self.marked += usize::from(packet.1);
        packet.1
    }

    fn drop(&mut self, _: Packet) {
        self.dropped += 1;
    }
}

const CONFIG: Config =
    Config { target: Span::from_millis(5), interval: Span::from_millis(100), spared: Bytes(1_500) };

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// 40 packets that all came at 0 leave one each 10 ms: when packets were dropped or marked.
fn signals(capable: bool) -> (Plain, Vec<u64>) {
    let mut queue = Plain { waiting: [(ms(0), capable); 40].into(), ..Plain::default() };
    let mut law = Codel::default();
    let mut at = Vec::new();
    for n in 0.. {
        let before = queue.dropped + queue.marked;
        if law.dequeue(ms(10 * n), &CONFIG, &mut queue).is_none() {
            break;
        }
        at.extend((before..queue.dropped + queue.marked).map(|_| 10 * n));
    }
    (queue, at)
}

#[test]
fn the_first_drop_comes_an_interval_after_the_target_is_passed_the_others_by_the_control_law() {
    // Above the target from 10 ms on; then 110 + 100, + 100/sqrt(2), + 100/sqrt(3) = 210, 280.7, 338.4: at the departures
    // that follow.
    let (queue, at) = signals(false);
    assert_eq!(at, [110, 210, 290, 340]);
    assert_eq!((queue.dropped, queue.marked), (4, 0));
}

#[test]
fn what_may_be_marked_is_not_dropped() {
    let (queue, at) = signals(true);
    assert_eq!(at[..4], [110, 210, 290, 340]);
    assert_eq!(queue.dropped, 0);
}

#[test]
fn a_packet_that_waits_alone_is_never_dropped() {
    let mut queue = Plain::default();
    let mut law = Codel::default();
    for n in 1..100 {
        queue.waiting.push_back((ms(100 * (n - 1)), false));
        assert!(law.dequeue(ms(100 * n), &CONFIG, &mut queue).is_some());
    }
    assert_eq!(queue.dropped, 0);
}
