//! Linux's queues: flows under FQ-CoDel, neighbours by air time, little below.

use super::{Bench, packet, radio};
use crate::QueueConfig;
use crate::packet::Handle;
use meshpace_radio::{Categories, Category, Peer, Priority, Standard};
use meshpace_units::{Bytes, Dscp, NodeId, Span};

fn queues(limit: usize) -> Bench {
    Bench::new("mac80211", &radio(limit))
}

/// So many packets of 1,500 bytes of a flow come for a neighbour.
fn fill(bench: &mut Bench, packets: u32, flow: u16, to: u32) -> Vec<Handle> {
    (0..packets).map(|_| bench.put(packet(flow, to, 1500))).collect()
}

/// How many packets for each of three neighbours go below before the queue gives no more.
fn below(bench: &mut Bench) -> [usize; 3] {
    let mut count = [0; 3];
    while let Some(packet) = bench.get() {
        let to = bench.packets.get(packet).next_hop.expect("a neighbour");
        count[to.index()] += 1;
    }
    count
}

/// Six turns of 300 bytes let a packet of 1,500 go: small ones go before.
#[test]
fn flows_of_a_neighbour_take_turns_by_bytes() {
    let mut bench = queues(1000);
    fill(&mut bench, 2, 1, 0);
    for _ in 0..12 {
        bench.put(packet(2, 0, 100));
    }
    let out = bench.drain();
    let flows: Vec<_> = out.into_iter().map(|handle| bench.packets.get(handle).body.ports().0).collect();
    assert_eq!(flows[..4], [1, 2, 2, 2]);
    assert_eq!(flows.iter().rposition(|flow| *flow == 1), Some(13), "{flows:?}");
}

/// At 65 Mbit/s 1,538 bytes take 189.3 us, and a sixteenth of 36 us comes on top: 63 are the first to reach 12 ms, 27 to reach 5.
#[test]
fn no_more_lies_below_than_the_limits_of_air_time_allow() {
    let mut bench = queues(1000);
    fill(&mut bench, 100, 1, 0);
    assert_eq!(below(&mut bench), [63, 0, 0]);
    fill(&mut bench, 100, 1, 1);
    assert_eq!(below(&mut bench), [0, 63, 0], "together they have 24 ms");
    fill(&mut bench, 100, 1, 2);
    assert_eq!(below(&mut bench), [0, 0, 27], "the third has 5 ms, and the others nothing more");
    assert_eq!(bench.get(), None);
}

/// What the MAC is through with makes room.
#[test]
fn a_report_lets_the_next_packet_go() {
    let mut bench = queues(1000);
    fill(&mut bench, 100, 1, 0);
    let first = bench.get().expect("a packet waits");
    assert_eq!(below(&mut bench), [62, 0, 0]);
    bench.sent(first, Span::from_micros(200));
    assert_eq!(below(&mut bench), [1, 0, 0]);
}

/// A slower mode has fewer packets below, and without high throughput the whole preamble counts: at 6 Mbit/s 2,071 us, 6 reach 12 ms.
#[test]
fn the_mode_says_how_long_a_packet_takes() {
    let mut bench = queues(1000);
    bench.node.mode = Standard::named("802.11a").expect("a row").lowest();
    fill(&mut bench, 100, 1, 0);
    assert_eq!(below(&mut bench), [6, 0, 0]);
}

/// A neighbour whose packets take four times as long gets a fourth of the packets.
#[test]
fn neighbours_share_the_air_not_packets() {
    let mut bench = queues(1000);
    fill(&mut bench, 400, 1, 0);
    fill(&mut bench, 400, 1, 1);
    let mut count = [0, 0];
    for _ in 0..250 {
        let packet = bench.get().expect("both have packets");
        let to = bench.packets.get(packet).next_hop.expect("a neighbour").index();
        count[to] += 1;
        bench.sent(packet, Span::from_micros(if to == 0 { 1_000 } else { 4_000 }));
    }
    assert!((198..=202).contains(&count[0]), "{count:?}");
}

/// fq_impl.h: half of the longest queue, 32 packets at the most, those that came first.
#[test]
fn a_full_node_drops_half_of_its_longest_queue() {
    let mut bench = queues(41);
    let long = fill(&mut bench, 30, 1, 0);
    fill(&mut bench, 11, 2, 1);
    assert_eq!(bench.dropped, long[..15]);
    let mut large = queues(101);
    let long = fill(&mut large, 101, 1, 0);
    assert_eq!(large.dropped, long[..32]);
}

/// What does not fit into the frame that there is goes first into the next one.
#[test]
fn what_does_not_fit_is_the_next_one() {
    let mut bench = queues(1000);
    let sent = fill(&mut bench, 3, 1, 0);
    assert_eq!(bench.get_to(NodeId(0), Bytes(1500)), Some(sent[0]));
    assert_eq!(bench.get_to(NodeId(0), Bytes(1499)), None);
    assert_eq!(bench.get_to(NodeId(1), Bytes(1500)), None);
    assert_eq!(bench.relay.len(), 2);
    assert_eq!(bench.get(), Some(sent[1]));
    assert_eq!(bench.get_to(NodeId(0), Bytes(1500)), Some(sent[2]));
}

/// Aggregates of one neighbour do not take what the limits leave to none.
#[test]
fn the_limits_hold_for_what_goes_with_others_too() {
    let mut bench = queues(1000);
    fill(&mut bench, 100, 1, 0);
    let taken = std::iter::from_fn(|| bench.get_to(NodeId(0), Bytes(2000))).count();
    assert_eq!(taken, 63);
}

/// So many packets of 1,500 bytes that ask for a service class come for a neighbour.
fn fill_class(bench: &mut Bench, packets: u32, name: &str, to: u32) -> Vec<Handle> {
    let dscp = Dscp::named(name).expect("a name");
    let one = || {
        let mut asking = packet(1, to, 1500);
        asking.dscp = dscp;
        asking
    };
    (0..packets).map(|_| bench.put(one())).collect()
}

/// The highest category that the transmitter takes goes first, whatever came first; one that it does not take waits.
#[test]
fn the_higher_category_goes_first() {
    let mut bench = queues(1000);
    let background = fill_class(&mut bench, 1, "cs1", 0);
    let best_effort = fill_class(&mut bench, 1, "df", 0);
    let video = fill_class(&mut bench, 1, "af41", 0);
    let voice = fill_class(&mut bench, 1, "cs6", 0);
    let all = bench.asked;
    bench.asked = Categories::only(Category::BestEffort);
    assert_eq!((bench.get(), bench.get()), (Some(best_effort[0]), None));
    bench.asked = all;
    let rest: Vec<_> = std::iter::from_fn(|| bench.get()).collect();
    assert_eq!(rest, [voice[0], video[0], background[0]]);
}

/// Each category of a neighbour may have as much below as another; what all have together counts for all.
#[test]
fn the_limits_below_are_a_categorys_own() {
    let mut bench = queues(1000);
    let names = ["df", "af41", "cs6"];
    for name in names {
        fill_class(&mut bench, 100, name, 0);
    }
    let mut count = [0; 3];
    while let Some(packet) = bench.get() {
        let dscp = bench.packets.get(packet).dscp;
        count[names.iter().position(|name| Dscp::named(name) == Some(dscp)).expect("one of them")] += 1;
    }
    // Voice and video 12 ms each, which are the 24 of all: best effort has 5.
    assert_eq!(count, [27, 63, 63]);
}

/// Two priorities of one category have queues of their own, which take turns by what the neighbour may use of the air.
#[test]
fn priorities_of_a_category_share_its_turns() {
    let mut bench = queues(1000);
    let first = fill_class(&mut bench, 40, "df", 0);
    fill_class(&mut bench, 40, "cs3", 0);
    let drained = bench.drain();
    let df = drained[..40].iter().filter(|packet| first.contains(packet)).count();
    assert!((10..=30).contains(&df), "{df} of the first 40");
    assert_eq!(drained.len(), 80);
}

/// What goes with others in a frame is of their priority.
#[test]
fn a_frame_gets_packets_of_its_priority() {
    let mut bench = queues(1000);
    let voice = fill_class(&mut bench, 1, "cs6", 0);
    let priority = Priority::of(Dscp::named("cs6").expect("a name"));
    assert_eq!(bench.get_to(NodeId(0), Bytes(1500)), None);
    assert_eq!(bench.get_to_as(Peer { node: NodeId(0), priority }, Bytes(1500)), Some(voice[0]));
}

/// Where the transmitter has no categories, all packets wait in one queue.
#[test]
fn without_categories_a_codepoint_says_nothing() {
    let mut bench = Bench::new("mac80211", &QueueConfig { categories: false, ..radio(1000) });
    assert!(!bench.relay.asks().categories && queues(1000).relay.asks().categories);
    let first = fill_class(&mut bench, 1, "df", 0);
    let second = fill_class(&mut bench, 1, "cs6", 0);
    bench.asked = Categories::only(Category::BestEffort);
    assert_eq!((bench.get(), bench.get()), (Some(first[0]), Some(second[0])));
}

/// A packet of another category than best effort does not count as taken at once where the transmitter takes best effort alone.
#[test]
fn a_full_node_makes_room_for_what_is_not_taken_at_once() {
    for (name, waiting) in [("df", 1), ("cs6", 0)] {
        let mut bench = queues(1);
        bench.free = true;
        fill_class(&mut bench, 1, name, 0);
        assert_eq!(bench.relay.len(), waiting, "{name}");
    }
}
