//! Each option where it differs from the default.

use super::{Node, at, packet};
use crate::packet::Class;
use meshpace_keys::RawValue;
use meshpace_units::{Bytes, NodeId};

fn node(hops: u32, key: &'static str, word: &str) -> Node {
    Node::new(hops, &[(key, RawValue::from(word))])
}

/// Received 1000, DATA ended 2800, ACK 3114, DATA of n2 ended 5200; DATA take 944.
#[test]
fn clocks() {
    for (clock, estimates) in
        [("data-end", [1800, 2400, 600]), ("ack-end", [2114, 2086, 0]), ("algorithm-2", [1170, 2086, 916])]
    {
        let mut node = node(3, "llap_clock", clock);
        node.pass(7, 1000, 2800, 5200);
        assert_eq!(node.estimates(), estimates, "{clock}");
    }
}

/// HT 1800 and NHT 2400, then a packet that is held and one that is not overheard.
#[test]
fn core_laws() {
    for (core, pd, due) in [
        ("integrator", 600, 10_600),
        ("hold", 650, 10_650),
        // Between two packets: the one before moved at 1050.
        ("spacing", 600, 10_050),
        ("spacing-clamped", 600, 10_050),
    ] {
        let mut node = node(3, "llap_core", core);
        node.pass(7, 1000, 2800, 5200);
        assert_eq!(node.estimates(), [1800, 2400, pd], "{core}");
        node.relayed(8, 10_000);
        let waits = node.get(10_050).is_none();
        assert_eq!((waits, node.deadline()), (due > 10_050, (due > 10_050).then_some(due)), "{core}");
    }
}

/// Three packets at once, with a spacing of 7000 at the core.
#[test]
fn a_spacing_keeps_packets_apart_and_a_clamp_forgets_it_after_a_rest() {
    for (core, third) in [("spacing", None), ("spacing-clamped", Some(3))] {
        let mut node = node(3, "llap_core", core);
        node.pass(1, 0, 1000, 9000);
        assert_eq!(node.estimates(), [1000, 8000, 7000]);
        node.relayed(2, 10_000);
        assert_eq!(node.get(10_050), Some(2));
        node.sent(11_000);
        // NHT has been known for longer than itself, and nothing has waited.
        node.relayed(3, 12_000);
        assert_eq!(node.get(12_050), third, "{core}");
    }
}

#[test]
fn pd_moves_with_each_packet_if_asked() {
    for (update, pd) in [("nht-sample", 600), ("packet", 1140)] {
        let mut node = node(3, "llap_update", update);
        node.pass(7, 1000, 2800, 5200);
        node.relayed(8, 6000);
        node.wake(6600);
        node.get(6600);
        node.sent(8400);
        assert_eq!(node.estimates(), [1860, 2400, pd], "{update}");
    }
}

/// The timer of a core spacing of 7000 that never stops: it started when the spacing was known, at 9000.
#[test]
fn a_free_timer_lets_packets_move_at_its_expiries_alone() {
    for (idle, free) in [("token", false), ("free", true), ("free-core", true)] {
        let said = [("llap_core", RawValue::from("spacing")), ("llap_idle", RawValue::from(idle))];
        let mut node = Node::new(3, &said);
        node.pass(1, 0, 1000, 9000);
        node.relayed(2, 40_000);
        let expected = if free { (None, Some(9000 + 5 * 7000)) } else { (Some(2), None) };
        assert_eq!((node.get(40_050), node.deadline()), expected, "{idle}");
        if free {
            assert_eq!(node.get(43_999), None);
            assert_eq!(node.get(44_000), Some(2));
        }
    }
    for (idle, free) in [("token", false), ("free", true), ("free-core", false)] {
        let mut node = node(3, "llap_idle", idle);
        node.own(1, 0);
        node.get(0);
        node.sent(1000);
        node.overhear(3000, 2, 1);
        node.own(2, 40_000);
        // 3 * 2000 us from 3000 on: 39 000 is over, 45 000 comes.
        let expected = if free { (None, Some(45_000)) } else { (Some(2), None) };
        assert_eq!((node.get(40_000), node.deadline()), expected, "{idle}");
    }
}

/// 2 waits until 40 000 + PD; meanwhile NHT grows.
#[test]
fn a_new_pd_counts_at_once_or_from_the_next_head_on() {
    for (change, due) in [("next", 48_000), ("at-once", 40_000 + 15_500)] {
        let mut node = node(3, "llap_pd_change", change);
        node.pass(1, 0, 1000, 10_000);
        assert_eq!(node.estimates(), [1000, 9000, 8000]);
        // A packet that passes the MAC now, listened for while the next one waits.
        node.relayed(5, 20_000);
        node.wake(28_000);
        assert_eq!(node.get(28_000), Some(5));
        node.sent(29_000);
        node.relayed(2, 40_000);
        assert_eq!(node.deadline(), Some(48_000));
        node.overhear(41_000, 2, 5);
        assert_eq!(node.estimates(), [1800, 9300, 15_500]);
        assert_eq!(node.deadline(), Some(due), "{change}");
    }
}

/// Two relayed packets and an own one wait; the first of them moves at 56 000.
#[test]
fn the_head_of_a_queue_with_both_kinds_goes_by_the_later_rule_or_by_its_own() {
    for (mixed, due) in [("later", 56_000 + 3 * 12_000), ("own-rule", 50_000 + 11_000)] {
        let mut node = node(3, "llap_mixed", mixed);
        node.pass(1, 0, 1000, 13_000);
        assert_eq!(node.estimates(), [1000, 12_000, 11_000]);
        node.relayed(2, 45_000);
        node.relayed(3, 50_000);
        node.own(4, 51_000);
        assert_eq!(node.deadline(), Some(56_000), "it was alone when it became the head");
        node.wake(56_000);
        assert_eq!((node.get(56_000), node.deadline()), (Some(2), Some(due)), "{mixed}");
    }
}

#[test]
fn a_miss_may_be_skipped_or_capped() {
    let said = |key, value| [(key, value)];
    for (said, nht) in [
        (said("llap_miss", RawValue::from("skip")), 200_000),
        // 0.9 * 200 + 0.1 * 500, * 800, * 100.
        (said("llap_penalty_cap", RawValue::from("500ms")), 230_000),
        (said("llap_penalty_cap", RawValue::from("1h")), 260_000),
        (said("llap_timer", RawValue::Float(0.5)), 190_000),
    ] {
        let mut node = Node::new(3, &said);
        node.pass(1, 0, 199_000, 399_000);
        node.relayed(2, 1_000_000);
        while node.relay.transmission.is_empty() {
            let due = node.deadline().expect("it is held");
            node.wake(due);
        }
        let now = node.now.saturating_since(at(0)).as_micros();
        node.get(now);
        node.sent(now + 1000);
        let expiry = node.deadline().expect("it is listened for");
        node.wake(expiry);
        assert_eq!(node.estimates()[1], nht, "{said:?}");
    }
}

#[test]
fn the_last_copy_is_known_once_the_next_hop_sends_something_else() {
    let mut node = node(3, "llap_copy", "last");
    node.relayed(7, 1000);
    node.get(1050);
    node.sent(2800);
    node.overhear(4000, 2, 7);
    node.overhear(6000, 2, 7);
    node.overhear(6500, 0, 8);
    assert_eq!(node.estimates()[1], 0, "it may try once more");
    node.overhear(9000, 2, 8);
    assert_eq!(node.estimates()[1], 3200);
    // The timer, too, is an end.
    node.relayed(8, 20_000);
    node.wake(21_400);
    node.get(21_400);
    node.sent(22_800);
    node.overhear(25_000, 2, 8);
    let expiry = node.deadline().expect("the timer");
    assert_eq!(expiry, 22_800 + 314 + 4 * 3200);
    node.wake(expiry);
    assert_eq!(node.estimates()[1], 3100);
}

#[test]
fn acknowledgements_may_pass() {
    for (acks, held) in [("paced", true), ("pass", false)] {
        let mut node = node(3, "llap_acks", acks);
        node.pass(1, 0, 1000, 10_000);
        let mut ack = packet(2, NodeId(2), Some(at(20_000)));
        ack.class = Class::Ack;
        node.put(at(20_050), ack);
        assert_eq!(node.get(20_050).is_none(), held, "{acks}");
        if !held {
            node.sent(30_000);
            assert_eq!((node.estimates()[0], node.deadline()), (1000, None), "it tells nothing");
        }
    }
}

#[test]
fn the_ingress_may_add_an_identity() {
    for bytes in 0..=4 {
        let mut node = Node::new(3, &[("llap_id_bytes", RawValue::Integer(bytes))]);
        let (own, relayed) = (node.own(1, 0), node.relayed(2, 10));
        let size = |node: &Node, handle| node.packets.get(handle).size;
        assert_eq!((size(&node, own), size(&node, relayed)), (Bytes(1000 + bytes as u64), Bytes(1000)));
    }
}

#[test]
fn alpha_and_k() {
    let said = [("llap_alpha", RawValue::Float(0.5)), ("llap_k", RawValue::Integer(2))];
    let mut node = Node::new(5, &said);
    node.own(1, 0);
    node.get(0);
    node.sent(1000);
    node.overhear(3000, 2, 1);
    node.own(2, 20_000);
    node.get(20_000);
    node.sent(21_000);
    node.overhear(25_000, 2, 2);
    assert_eq!(node.estimates()[1], 3000);
    node.own(3, 25_500);
    assert_eq!(node.deadline(), Some(26_000));
}
