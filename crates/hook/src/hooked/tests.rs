//! Scripted packets, and any.

use super::*;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use meshpace_units::{Bytes, Span};
use proptest::prelude::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

fn passing(bytes: u64) -> Passing<'static> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    Passing { source: here, destination: here, segment: None, says_more: false, length: Bytes(bytes) }
}

/// Does with a packet what its length says.
#[derive(Debug, Default)]
struct ByLength {
    held: Vec<Ticket>,
    gone: usize,
    deadline: Option<Instant>,
}

const PASS: u64 = 0;
const REWRITE: u64 = 1;
const HOLD: u64 = 2;
const DROP: u64 = 3;
/// Passes all that it holds before this one, or drops it.
const PASS_ALL: u64 = 4;
const DROP_ALL: u64 = 5;
const AT_A_DEADLINE: u64 = 6;

impl PacketHook for ByLength {
    fn on_packet(
        &mut self,
        _: Direction,
        ticket: Ticket,
        packet: &Passing<'_>,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict {
        match packet.length.0 {
            PASS => return Verdict::Pass,
            REWRITE => return Verdict::Rewrite(Rewrite { window: Some(7), mark: true }),
            DROP => return Verdict::Drop,
            PASS_ALL => self.held.drain(..).for_each(|held| orders.pass(held)),
            DROP_ALL => self.held.drain(..).for_each(|held| orders.drop(held)),
            AT_A_DEADLINE => {
                self.deadline = Some(now + Span::from_millis(3));
                self.held.push(ticket);
                return Verdict::HoldUntil(now + Span::from_secs(100));
            }
            _ => {
                self.held.push(ticket);
                return Verdict::HoldUntil(now + Span::from_millis(10));
            }
        }
        Verdict::Pass
    }

    fn on_gone(&mut self, held: Ticket) {
        self.held.retain(|&ours| ours != held);
        self.gone += 1;
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn on_deadline(&mut self, _: Instant, orders: &mut Orders) {
        self.deadline = None;
        self.held.drain(..).for_each(|held| orders.drop(held));
    }
}

fn hooked(most: usize) -> Hooked<u32> {
    Hooked::new(Box::new(ByLength::default()), most)
}

fn left(hooked: &mut Hooked<u32>) -> Vec<Leaving<u32>> {
    core::iter::from_fn(|| hooked.poll()).collect()
}

fn meet(hooked: &mut Hooked<u32>, at: Instant, kind: u64, packet: u32) -> Met<u32> {
    hooked.handle(at, Direction::Up, &passing(kind), packet)
}

const AS_IT_IS: Rewrite = Rewrite { window: None, mark: false };

#[test]
fn verdicts_are_carried_out() {
    let mut h = hooked(9);
    assert_eq!(meet(&mut h, ms(0), PASS, 1), Met::Passes(1, AS_IT_IS));
    assert_eq!(meet(&mut h, ms(0), REWRITE, 2), Met::Passes(2, Rewrite { window: Some(7), mark: true }));
    assert_eq!(meet(&mut h, ms(0), DROP, 3), Met::Dropped(3));
    assert_eq!(meet(&mut h, ms(1), HOLD, 4), Met::Held);
    assert_eq!((h.len(), h.poll_timeout()), (1, Some(ms(11))));
    h.handle_timeout(ms(10));
    assert_eq!(left(&mut h), [], "early");
    h.handle_timeout(ms(11));
    assert_eq!(left(&mut h), [Leaving::Passes(4, AS_IT_IS)]);
    assert_eq!((h.is_empty(), h.poll_timeout()), (true, None));
}

#[test]
fn what_is_ordered_to_go_goes_before_the_packet_that_ordered_it() {
    let mut h = hooked(9);
    meet(&mut h, ms(0), HOLD, 1);
    meet(&mut h, ms(1), HOLD, 2);
    assert_eq!(meet(&mut h, ms(2), PASS_ALL, 3), Met::Held, "behind those two");
    let all = [1, 2, 3].map(|packet| Leaving::Passes(packet, AS_IT_IS));
    assert_eq!(left(&mut h), all);
    meet(&mut h, ms(3), HOLD, 4);
    assert_eq!(meet(&mut h, ms(4), DROP_ALL, 5), Met::Passes(5, AS_IT_IS), "nothing goes before it");
    assert_eq!(left(&mut h), [Leaving::Dropped(4)]);
}

#[test]
fn its_own_deadline_is_kept() {
    let mut h = hooked(9);
    meet(&mut h, ms(0), AT_A_DEADLINE, 1);
    assert_eq!(h.poll_timeout(), Some(ms(3)));
    h.handle_timeout(ms(3));
    assert_eq!(left(&mut h), [Leaving::Dropped(1)]);
}

#[test]
fn more_than_may_wait_do_not() {
    let mut h = hooked(2);
    for packet in 1..=4 {
        meet(&mut h, ms(u64::from(packet)), HOLD, packet);
    }
    assert_eq!(
        left(&mut h),
        [1, 2].map(|packet| Leaving::Passes(packet, AS_IT_IS)),
        "those that waited longest"
    );
    h.purge(|&packet| packet == 3);
    assert_eq!(left(&mut h), [Leaving::Dropped(3)]);
    h.let_go();
    assert_eq!(left(&mut h), [Leaving::Passes(4, AS_IT_IS)]);
}

proptest! {
    #[test]
    fn every_packet_comes_out_once(
        most in 0usize..4,
        steps in proptest::collection::vec((0u64..8, 0u64..6), 1..100),
    ) {
        let (mut h, mut now, mut out) = (hooked(most), ms(0), Vec::new());
        let packet_of = |leaving| match leaving { Leaving::Passes(p, _) | Leaving::Dropped(p) => p };
        for (packet, &(kind, wait)) in (0u32..).zip(&steps) {
            match meet(&mut h, now, kind, packet) {
                Met::Passes(p, _) => {
                    out.extend(left(&mut h).into_iter().map(packet_of));
                    out.push(p);
                }
                Met::Dropped(p) => out.push(p),
                Met::Held => {}
            }
            now += Span::from_millis(wait);
            h.handle_timeout(now);
            out.extend(left(&mut h).into_iter().map(packet_of));
            prop_assert!(h.len() <= most);
        }
        now += Span::from_secs(1000);
        h.handle_timeout(now);
        out.extend(left(&mut h).into_iter().map(packet_of));
        out.sort_unstable();
        let all: Vec<u32> = (0u32..).take(steps.len()).collect();
        prop_assert_eq!(out, all);
        prop_assert_eq!((h.len(), h.poll_timeout()), (0, None));
    }
}
