//! Frames at given times: what a node concludes, to the microsecond.

use super::{Node, at, packet, us};
use crate::packet::{Class, PacketId};
use meshpace_keys::RawValue;
use meshpace_units::{Instant, NodeId};

/// ```text
/// n0 -> n1   DATA ends 1000 | n1 -> n2  DATA ends 2800, ACK 3114 | n2 -> n3  DATA ends 5200
///            T_a                        T_d: HT 1800                         NHT 2400, PD 600
/// ```
#[test]
fn a_core_node_delays_the_next_packet_by_what_the_next_hop_takes_longer() {
    let mut node = Node::new(3, &[]);
    node.relayed(7, 1000);
    assert_eq!(node.get(1050), Some(7), "nothing is known yet: it moves at once");
    node.sent(2800);
    assert_eq!((node.estimates(), node.deadline()), ([1800, 0, 0], Some(3114 + 500_000)));
    node.overhear(5200, 2, 7);
    assert_eq!((node.estimates(), node.deadline()), ([1800, 2400, 600], None));
    // T_a + PD, exactly.
    node.relayed(8, 6000);
    assert_eq!((node.get(6050), node.deadline()), (None, Some(6600)));
    assert_eq!(node.get(6599), None);
    node.wake(6600);
    assert_eq!(node.get(6600), Some(8));
    // 600 us held, 1800 us otherwise: HT 0.9 * 1800 + 0.1 * 2400 = 1860; PD is computed anew with NHT alone.
    node.sent(8400);
    assert_eq!(node.estimates(), [1860, 2400, 600]);
    node.overhear(10_800, 2, 8);
    assert_eq!(node.estimates(), [1860, 2400, 1140]);
}

#[test]
fn the_ingress_sends_a_packet_every_four_times_the_next_hops_time() {
    for (hops, k) in [(7, 4), (4, 4), (3, 3), (2, 2)] {
        let mut node = Node::new(hops, &[]);
        for id in 1..=4 {
            node.own(id, 0);
        }
        assert_eq!(node.get(0), Some(1));
        node.sent(1000);
        // While nothing is known own packets go at once too.
        assert_eq!(node.get(1314), Some(2));
        node.overhear(2500, 2, 1);
        assert_eq!(node.estimates(), [0, 1500, 0], "own packets are no sample of HT");
        node.sent(2800);
        assert_eq!(node.get(3114), Some(3), "it became the head, and moved, before anything was known");
        node.sent(4000);
        assert_eq!(node.get(4314), Some(4));
        node.sent(5000);
        node.overhear(5500, 2, 2);
        assert_eq!(node.estimates()[1], 1620, "0.9 * 1500 + 0.1 * 2700");
        // The four packets moved at time 0. By now the spacing is over: no delay for packets that come seldom.
        node.own(5, 7000);
        assert_eq!(node.get(7000), Some(5), "{hops} hops");
        node.sent(8000);
        node.own(6, 8400);
        let due = 7000 + k * 1620;
        assert_eq!((node.get(8400), node.deadline()), (None, Some(due)), "{hops} hops");
        assert_eq!(node.get(due - 1), None);
        assert_eq!(node.get(due), Some(6), "{hops} hops");
    }
}

#[test]
fn only_the_next_hops_own_copy_of_the_packet_counts_and_only_its_first() {
    let mut node = Node::new(3, &[]);
    node.relayed(7, 1000);
    node.get(1050);
    // Its DATA was read, its ACK lost: n2 sends it on before we know that it has it. No sample.
    node.overhear(2000, 2, 7);
    node.sent(2800);
    assert_eq!(node.estimates(), [1800, 0, 0]);
    node.overhear(3500, 0, 7);
    node.overhear(3600, 2, 6);
    assert_eq!(node.estimates()[1], 0, "another packet, or another node with the same one");
    node.overhear(4000, 2, 7);
    node.overhear(6000, 2, 7);
    assert_eq!(node.estimates()[1], 1200, "n2 tried again");
}

#[test]
fn one_packet_is_listened_for_at_a_time() {
    let mut node = Node::new(3, &[]);
    node.relayed(1, 0);
    node.relayed(2, 100);
    node.get(150);
    node.sent(1000);
    node.get(1314);
    node.sent(2500);
    node.overhear(4000, 2, 2);
    assert_eq!(node.estimates()[1], 0, "2 does not replace 1");
    node.overhear(4500, 2, 1);
    assert_eq!(node.estimates()[1], 3500);
}

/// ```text
/// sent 3114 ... not overheard ... 3114 + 4 NHT: a sample of 4 NHT, so that NHT grows by 1.3
/// ```
#[test]
fn a_frame_that_is_missed_counts_as_the_timers_length() {
    let mut node = Node::new(3, &[]);
    node.pass(1, 0, 1500, 3000);
    assert_eq!(node.estimates(), [1500, 1500, 0]);
    node.relayed(2, 10_000);
    node.get(10_050);
    node.sent(11_500);
    assert_eq!(node.deadline(), Some(11_814 + 6000));
    node.wake(17_813);
    assert_eq!(node.estimates()[1], 1500);
    node.wake(17_814);
    assert_eq!((node.estimates(), node.deadline()), ([1500, 1950, 450], None));
    // It comes after all: too late.
    node.overhear(17_900, 2, 2);
    assert_eq!(node.estimates()[1], 1950);
}

#[test]
fn an_unknown_time_has_no_penalty() {
    let mut node = Node::new(3, &[]);
    node.relayed(1, 0);
    node.get(50);
    node.sent(1000);
    assert_eq!(node.deadline(), Some(501_314));
    node.wake(501_314);
    assert_eq!((node.estimates(), node.deadline()), ([1000, 0, 0], None));
    node.pass(2, 600_000, 601_000, 602_500);
    assert_eq!(node.estimates()[1], 1500, "the place was free");
}

/// A neighbour that takes every packet and sends none on, from the start or after a while: packets go on leaving, two
/// seconds apart at the most, since a penalty is half a second at the most.
#[test]
fn a_next_hop_that_swallows_packets_stalls_nobody() {
    for (known, own) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut node = Node::new(5, &[]);
        if known {
            node.pass(1000, 0, 10_000, 50_000);
        }
        let (mut now, mut gone, mut longest) = (node.now, 0, us(0));
        for id in 0..60 {
            let before = now;
            node.put(now, packet(id, NodeId(2), (!own).then_some(now)));
            loop {
                let clock = now.saturating_since(Instant::ZERO).as_micros();
                if let Some(id_out) = node.get(clock) {
                    assert_eq!(id_out, id);
                    node.sent(clock + 1000);
                    now = at(clock + 1314);
                    gone += 1;
                    break;
                }
                let next = node.deadline().expect("what is held has a deadline") + 1; // of the microsecond
                now = at(next).max(now);
                node.wake(next);
            }
            longest = longest.max(now.saturating_since(before));
        }
        assert_eq!((gone, node.relay.held), (60, 0));
        // 4 * 0.5 s at the ingress; PD may go beyond NHT for a while at the core.
        let bound = if own { 2_100_000 } else { 5_000_000 };
        assert!(longest < us(bound), "known {known}, own {own}: {longest:?}");
    }
}

/// A neighbour that is dead: every packet is given up after 30 ms. The next goes 4 NHT after the one before it, or PD after it
/// came, as long as that is known; nothing is listened for, nothing is learnt, nothing stays.
#[test]
fn a_next_hop_that_is_dead_stalls_nobody() {
    for own in [false, true] {
        let mut node = Node::new(5, &[]);
        node.pass(1000, 0, 1000, 2500);
        assert_eq!((node.estimates(), node.deadline()), ([1000, 1500, 500], None));
        for id in 0..60 {
            let came = 10_000 + 31_000 * id;
            let handed_over = if own { node.own(id, came) } else { node.relayed(id, came) };
            let due = if own { came } else { came + 500 };
            assert_eq!(node.get(due), Some(id), "own {own}: {handed_over:?}");
            node.given_up(due + 30_000);
            assert_eq!(
                (node.estimates(), node.deadline()),
                ([1000, 1500, 500], None),
                "own {own}, packet {id}"
            );
        }
        assert_eq!((node.relay.held, node.relay.counts.listened), (0, 1));
        // It comes back.
        node.pass_held(99, 2_000_000, 500, 2_001_500, 2_003_000);
        assert_eq!(node.estimates(), [1050, 1500, 950]);
    }
}

/// ```text
/// what n2 sends is lost on n1 three times (a hidden node sends, too), then heard
/// ```
#[test]
fn frames_that_collide_here_are_missed_and_one_that_is_read_is_a_sample() {
    let mut node = Node::new(3, &[]);
    node.pass(1, 0, 1500, 3000);
    let (mut nht, mut now) = (1500, 10_000);
    for id in 2..5 {
        node.own(id, now);
        assert_eq!(node.get(now), Some(id), "k NHT after the last one at the latest");
        node.sent(now + 1000);
        // A frame of somebody else's, read; its own is not.
        node.overhear(now + 1400, 4, id);
        let expires = now + 1314 + 4 * nht;
        assert_eq!(node.deadline(), Some(expires));
        node.wake(expires);
        nht = nht * 9 / 10 + 4 * nht / 10;
        assert_eq!(node.estimates()[1], nht, "0.9 NHT + 0.1 * 4 NHT");
        now += 40_000;
    }
    node.own(5, now);
    node.get(now);
    node.sent(now + 1000);
    node.overhear(now + 3000, 2, 5);
    assert_eq!(node.estimates()[1], nht * 9 / 10 + 200, "0.9 NHT + 0.1 * 2000");
}

#[test]
fn the_last_relay_and_unknown_routes_hold_nothing_and_listen_for_nothing() {
    for hops in [Some(1), None] {
        let mut node = Node::new(1, &[]);
        node.told.hops = hops;
        for id in 1..=5 {
            node.relayed(id, id * 100);
        }
        for id in 1..=5 {
            assert_eq!(node.get(id * 2000), Some(id));
            node.sent(id * 2000 + 1000);
            assert_eq!(node.deadline(), None);
        }
        // The last relay knows its own time, for reports.
        assert_eq!(node.relay.egresses.len(), usize::from(hops.is_some()));
    }
}

#[test]
fn a_packet_that_was_given_up_tells_nothing() {
    let mut node = Node::new(3, &[]);
    node.relayed(1, 0);
    node.get(50);
    node.given_up(30_000);
    assert_eq!((node.estimates(), node.deadline()), ([0, 0, 0], None));
    node.pass(2, 40_000, 41_000, 42_500);
    assert_eq!(node.estimates(), [1000, 1500, 500]);
}

/// ```text
/// NHT 9000, PD 8000: 2 waits until 28 000; n2 is gone at 22 000, and 2 with it; n4 is unknown
/// ```
#[test]
fn of_another_next_hop_nothing_is_known() {
    let mut node = Node::new(3, &[]);
    node.pass(1, 0, 1000, 10_000);
    assert_eq!(node.estimates(), [1000, 9000, 8000]);
    let second = node.relayed(2, 20_000);
    assert_eq!((node.get(20_050), node.deadline()), (None, Some(28_000)));
    node.told.next_hop = None;
    node.call(at(22_000), |relay, here| {
        crate::Relay::purge(relay, here, &mut |packet| packet.next_hop == Some(NodeId(2)));
    });
    assert_eq!((&node.dropped[..], node.estimates(), node.deadline()), (&[second][..], [1000, 0, 0], None));
    let mut other = packet(3, NodeId(4), Some(at(23_000)));
    node.put(at(23_050), other.clone());
    assert_eq!(node.get(23_050), Some(3));
    node.sent(24_000);
    node.overhear(25_000, 4, 3);
    assert_eq!(node.estimates()[1], 1000);
    // Back to n2, which learns of it from the packet alone.
    (other.id, other.next_hop, other.arrived) = (PacketId(4), Some(NodeId(2)), at(26_000));
    node.put(at(26_050), other);
    assert_eq!(node.estimates()[1], 0);
}

/// ```text
/// 25 at the node: one in the MAC, 24 wait; the 25th that comes is dropped, whichever queue is long
/// ```
#[test]
fn the_node_has_room_for_25_and_routing_pushes_out_what_came_last() {
    let mut node = Node::new(5, &[]);
    node.pass(1000, 0, 1000, 200_000);
    node.free = false;
    let mut all: Vec<_> = (1..=12).map(|id| node.own(id, 300_000 + id)).collect();
    all.extend((13..=30).map(|id| node.relayed(id, 300_000 + id)));
    assert_eq!(node.dropped, all[24..], "24 wait");
    node.dropped.clear();
    let mut routing = packet(99, NodeId(2), None);
    (routing.class, routing.next_hop) = (Class::Control, None);
    node.put(at(300_100), routing);
    assert_eq!(node.dropped, [all[23]]);
    node.free = true;
    assert_eq!(node.get(300_100), Some(99), "and it is never held");
}

#[test]
fn places_can_be_kept_for_relayed_packets() {
    let mut node = Node::new(5, &[("llap_reserve", RawValue::Integer(5))]);
    node.free = false;
    let own: Vec<_> = (0..25).map(|id| node.own(id, id)).collect();
    assert_eq!(node.dropped, own[19..]);
    let relayed: Vec<_> = (30..40).map(|id| node.relayed(id, id)).collect();
    assert_eq!(node.dropped[6..], relayed[5..]);
}
