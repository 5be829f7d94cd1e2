//! Drop-tail at a radio and at a wire.

use super::{Bench, packet, radio, wired};

/// ```text
/// transmitter | p |
/// queue         | 0 1 2 ... 48 |  49 ... 99 dropped
/// ```
#[test]
fn forty_nine_wait_behind_one_at_the_transmitter() {
    for queue in [radio(50), wired(50)] {
        let mut bench = Bench::new("drop-tail", &queue);
        let all: Vec<_> = (0..100).map(|_| bench.data()).collect();
        assert_eq!(bench.dropped, all[49..]);
        assert_eq!(bench.relay.len(), 49);
        assert_eq!(bench.drain(), all[..49]);
        assert_eq!((bench.get(), bench.relay.is_empty()), (None, true));
    }
}

#[test]
fn a_free_transmitter_takes_a_packet_whatever_the_limit() {
    for queue in [radio(0), radio(1), wired(1)] {
        let mut bench = Bench::new("drop-tail", &queue);
        bench.free = true;
        let first = bench.data();
        assert_eq!((bench.get(), &bench.dropped[..]), (Some(first), &[][..]));
        let second = bench.routing();
        assert_eq!((bench.get(), &bench.dropped[..]), (Some(second), &[][..]));
        bench.free = false;
        let third = bench.data();
        assert_eq!((bench.get(), &bench.dropped[..]), (None, &[third][..]));
    }
}

/// ```text
/// 0 1 ... 48     full
/// r 0 ... 47     a routing packet at the head; 48 is dropped
/// s r ... 46     another one before it; 47 is dropped
/// ```
#[test]
fn routing_goes_first_and_pushes_the_last_one_out() {
    let mut bench = Bench::new("drop-tail", &radio(50));
    let data: Vec<_> = (0..49).map(|_| bench.data()).collect();
    let (r, s) = (bench.routing(), bench.routing());
    assert_eq!(bench.dropped, [data[48], data[47]]);
    assert_eq!((bench.get(), bench.get(), bench.get()), (Some(s), Some(r), Some(data[0])));
}

#[test]
fn purging_keeps_the_order_of_the_rest() {
    let mut bench = Bench::new("drop-tail", &radio(50));
    let all: Vec<_> = (0..6).map(|i| bench.put(packet(1, i % 2, 1000))).collect();
    bench.purge(|packet| packet.next_hop == Some(meshpace_units::NodeId(0)));
    assert_eq!(bench.dropped, [all[0], all[2], all[4]]);
    assert_eq!(bench.drain(), [all[1], all[3], all[5]]);
}

/// ```text
/// to 0, to 0 (1,000 bytes), to 1, to 0
/// ```
#[test]
fn what_goes_in_one_frame_is_what_waits_first_for_one_neighbour() {
    let mut bench = Bench::new("drop-tail", &radio(50));
    let all: Vec<_> =
        [(0, 500), (0, 1000), (1, 500), (0, 500)].map(|(hop, size)| bench.put(packet(1, hop, size))).into();
    let to = |hop| meshpace_units::NodeId(hop);
    let room = meshpace_units::Bytes;
    assert_eq!(bench.get_to(to(1), room(1500)), None, "it is not the first");
    assert_eq!(bench.get(), Some(all[0]));
    assert_eq!(bench.get_to(to(0), room(999)), None, "too large");
    assert_eq!(bench.get_to(to(0), room(1000)), Some(all[1]));
    assert_eq!(bench.get_to(to(0), room(1000)), None, "one for somebody else waits before");
    assert_eq!(bench.drain(), [all[2], all[3]]);
    assert_eq!(bench.get_to(to(0), room(1000)), None);
}
