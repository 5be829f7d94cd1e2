//! What every relay that schemes can choose must hold to.

use super::{Bench, at, packet, radio};
use crate::RELAYS;
use crate::packet::{Class, Handle};
use meshpace_units::{Bytes, Ecn, NodeId, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Step {
    /// Milliseconds later a packet of a flow comes, to a next hop; one in eight is routing's.
    Put(u64, u16, u32, u64, bool, u8),
    /// The transmitter asks so many times.
    Get(u8),
    /// It asks for what goes in one frame with others for a next hop, of so many bytes at the most.
    GetTo(u32, u64),
    /// A next hop is gone.
    Purge(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..40u64, 0..5u16, 0..3u32, 40..1500u64, any::<bool>(), any::<u8>())
            .prop_map(|(ms, flow, hop, size, free, kind)| Step::Put(ms, flow, hop, size, free, kind)),
        4 => (0..4u8).prop_map(Step::Get),
        2 => (0..3u32, 40..1500u64).prop_map(|(hop, room)| Step::GetTo(hop, room)),
        1 => (0..3u32).prop_map(Step::Purge),
    ]
}

proptest! {
    /// Every packet comes out once, or is dropped once. At most `limit - 1` packets wait. A flow's packets keep their order
    /// (with `mac80211`, which has a queue for each neighbour, those to one next hop). A purge takes the packets that it names
    /// and no other. A packet whose transport does not know marks is not marked.
    #[test]
    fn packets_go_out_once_in_order_or_are_dropped(limit in 0..20usize, steps in vec(step(), 1..300)) {
        for part in RELAYS {
            let mut bench = Bench::new(part.about.word, &radio(limit));
            // What waits: handle to flow and next hop.
            let mut waiting: BTreeMap<Handle, (u16, u32)> = BTreeMap::new();
            let mut deaf: BTreeSet<Handle> = BTreeSet::new();
            let mut came: BTreeMap<Handle, usize> = BTreeMap::new();
            let mut latest: BTreeMap<(u16, Option<u32>), usize> = BTreeMap::new();
            for (number, step) in steps.iter().enumerate() {
                bench.dropped.clear();
                let mut out = Vec::new();
                match *step {
                    Step::Put(ms, flow, hop, size, free, kind) => {
                        bench.now += Span::from_millis(ms);
                        let mut packet = packet(flow, hop, size);
                        packet.class = if kind % 8 == 0 { Class::Control } else { Class::Data };
                        packet.ecn = if kind & 16 == 0 { Ecn::NotEct } else { Ecn::Ect0 };
                        // A transmitter that is free has taken whatever the relay gives out.
                        bench.free = free && bench.relay.is_empty();
                        let routing = packet.class == Class::Control;
                        let handle = bench.put(packet);
                        waiting.insert(handle, (if routing { u16::MAX } else { flow }, hop));
                        came.insert(handle, number);
                        if kind & 16 == 0 { deaf.insert(handle); } else { deaf.remove(&handle); }
                        if bench.free {
                            prop_assert!(bench.dropped.is_empty(), "{}: dropped before a free transmitter", part.about.word);
                            out.extend(bench.get());
                            prop_assert_eq!(&out, &[handle]);
                        }
                        bench.free = false;
                    }
                    Step::Get(times) => {
                        for _ in 0..times {
                            out.extend(bench.get());
                        }
                    }
                    Step::GetTo(hop, room) => {
                        let found = bench.get_to(NodeId(hop), Bytes(room));
                        if let Some(packet) = found.map(|handle| bench.packets.get(handle)) {
                            prop_assert!(packet.next_hop == Some(NodeId(hop)) && packet.size <= Bytes(room));
                        }
                        out.extend(found);
                    }
                    Step::Purge(hop) => {
                        bench.purge(|packet| packet.next_hop == Some(NodeId(hop)));
                        let mut gone = bench.dropped.clone();
                        gone.sort_unstable();
                        let named: Vec<_> = waiting.iter().filter(|(_, (_, to))| *to == hop).map(|(h, _)| *h).collect();
                        prop_assert_eq!(gone, named);
                    }
                }
                for handle in &out {
                    let (flow, hop) = waiting.remove(handle).expect("it waited");
                    if flow != u16::MAX {
                        let queue = (part.about.word == "mac80211").then_some(hop);
                        let before = latest.insert((flow, queue), came[handle]);
                        prop_assert!(before.is_none_or(|before| before < came[handle]), "flow {flow} out of order");
                    }
                }
                for handle in &bench.dropped {
                    prop_assert!(waiting.remove(handle).is_some(), "{handle} dropped, and was not there");
                }
                for handle in &out {
                    bench.sent(*handle, Span::from_micros(400));
                }
                for handle in out.into_iter().chain(bench.dropped.clone()) {
                    let was = bench.packets.take(handle);
                    prop_assert_eq!(was.ecn == Ecn::NotEct, deaf.contains(&handle));
                }
                prop_assert_eq!(bench.relay.len(), waiting.len(), "{}", part.about.word);
                prop_assert!(waiting.len() <= limit.saturating_sub(1));
                prop_assert_eq!(bench.packets.count(), waiting.len());
            }
            bench.dropped.clear();
            bench.now = at(1_000_000);
            let left = bench.drain().len() + bench.dropped.len();
            prop_assert_eq!(left, waiting.len(), "{}", part.about.word);
        }
    }
}

#[test]
fn relays_describe_themselves() {
    for (place, part) in RELAYS.iter().enumerate() {
        let words = RELAYS.iter().filter(|other| other.about.word == part.about.word);
        assert_eq!(words.count(), 1, "{}", part.about.word);
        assert!(!part.about.doc.is_empty() && !part.about.source.is_empty());
        let listens = part.about.word.ends_with("winf") || part.about.word == "wcp";
        assert_eq!(
            Bench::new(part.about.word, &radio(50)).relay.asks().frames,
            listens,
            "{}",
            part.about.word
        );
        assert_eq!(place == 0, part.about.word == "drop-tail", "the first is everybody's default");
    }
}

/// Frames of several packets are filled from every queue, but for laws about packets one by one: those that space them, and
/// those that measure how long each takes.
#[test]
fn whatever_holds_nothing_back_fills_frames() {
    for part in RELAYS {
        let word = part.about.word;
        let one_by_one = ["llap", "throttle"].contains(&word) || word.ends_with("winf");
        let mut bench = Bench::new(word, &radio(50));
        let [first, second] = [(); 2].map(|()| bench.put(packet(1, 1, 1000)));
        assert_eq!(bench.get(), Some(first), "{word}");
        assert_eq!(bench.get_to(NodeId(1), Bytes(999)), None, "{word}: no room");
        assert_eq!(bench.get_to(NodeId(2), Bytes(1000)), None, "{word}: another neighbour");
        let next = bench.get_to(NodeId(1), Bytes(1000));
        assert_eq!(next, (!one_by_one).then_some(second), "{word}");
        bench.sent(first, Span::from_micros(400));
        bench.now = at(1000);
        bench.call(|relay, here| relay.handle_timeout(here));
        assert_eq!(bench.get(), one_by_one.then_some(second), "{word}: it comes, once");
    }
}

/// What was taken out of a queue and did not fit goes first later on, behind routing's packets.
#[test]
fn what_did_not_fit_keeps_its_turn() {
    for word in ["drop-tail", "fq-codel", "mac80211", "split"] {
        let mut bench = Bench::new(word, &radio(50));
        let [first, second] = [(); 2].map(|()| bench.put(packet(1, 1, 1000)));
        assert_eq!(bench.get_to(NodeId(1), Bytes(500)), None, "{word}");
        let routing = bench.routing();
        assert_eq!(bench.drain(), [routing, first, second], "{word}");
    }
}
