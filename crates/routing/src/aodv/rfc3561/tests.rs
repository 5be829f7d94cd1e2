//! Ring search, sequence numbers, errors, local repair (RFC 3561).

use crate::tests::harness::{Network, What, chain, is_rerr, is_rrep, is_rreq, ms, n};
use crate::{
    Action, Control, DropReason, PacketInfo, Recipient, Rerr, Rfc3561Aodv, RoutingProtocol, Rrep, Rreq,
};
use meshpace_units::{Instant, NodeId, Span};

const SECOND: Span = Span::from_secs(1);

fn node(me: u32) -> Rfc3561Aodv<char> {
    Rfc3561Aodv::new(n(me), crate::tests::harness::jitter(n(me)))
}

fn established(hops: u32) -> Network {
    let mut net = Network::rfc3561(&chain(hops));
    net.run(ms(1000));
    net.send(0, hops);
    net.run(ms(9000));
    net.stream(0, hops, Span::from_millis(50), SECOND);
    net
}

fn originated(net: &Network, since: Instant, by: u32) -> Vec<(Instant, u8)> {
    let own = |message: &Control| message.get().is_some_and(|rreq: &Rreq| rreq.originator == n(by));
    net.controls(since, own).iter().filter(|r| r.1 == by).map(|r| (r.0, r.2)).collect()
}

#[test]
fn rings_widen_and_then_the_waits_double() {
    let mut net = Network::with_nodes(3, &[(0, 1)], |me, _| {
        Box::new(Rfc3561Aodv::new(me, crate::tests::harness::jitter(me)))
    });
    let packet = net.send(0, 2);
    net.run(ms(30_000));
    // RING_TRAVERSAL_TIME 80 ms * (TTL + 2), then NET_TRAVERSAL_TIME 2.8 s doubling.
    let expected = [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35), (10_320, 35)];
    assert_eq!(originated(&net, Instant::ZERO, 0), expected.map(|(at, ttl)| (ms(at), ttl)));
    let dropped = net.log.iter().find(|r| r.what == What::Dropped { packet, reason: DropReason::NoRoute });
    assert_eq!(dropped.map(|r| r.at), Some(ms(21_520)));
    assert_eq!(net.node(0).poll_timeout(), None);
}

#[test]
fn a_search_finds_the_destination_and_both_directions_work() {
    let mut net = Network::rfc3561(&chain(3));
    let data = net.send(0, 3);
    net.run(ms(1000));
    assert_eq!(originated(&net, Instant::ZERO, 0), [(ms(0), 1), (ms(240), 3)]);
    assert_eq!(net.path(data), [0, 1, 2]);
    let back = net.send(3, 0);
    net.run(ms(1500));
    assert!(net.delivery(back).is_some());
    assert_eq!(originated(&net, Instant::ZERO, 3), []);
    assert_eq!(net.node(1).hops_to(net.now, n(3)), Some(2));
    // 3 s after the last use the routes are gone, without an event.
    net.run(ms(9000));
    assert_eq!((net.node(1).hops_to(net.now, n(3)), net.node(1).poll_timeout()), (None, None));
}

#[test]
fn the_originator_keeps_a_packet_that_its_mac_gave_up() {
    let mut net = established(4);
    let start = net.now;
    net.fail(0, 1, 1);
    let packet = net.send(0, 4);
    net.run(start + SECOND);
    assert!(net.delivery(packet).is_some());
    // Last hop count 4 + 2 (section 6.4).
    assert_eq!(originated(&net, start, 0), [(start, 6)]);
    assert!(!net.log.iter().any(|r| matches!(r.what, What::Purged { .. })));
    assert_eq!(net.node(0).route_failures(), 1);
}

#[test]
fn local_repair_succeeds_over_a_link_that_is_alive() {
    for at in 1..9 {
        let mut net = established(9);
        let start = net.now;
        net.fail(at, at + 1, 1);
        let packets = net.stream(0, 9, Span::from_millis(50), SECOND * 5);
        net.run(net.now + SECOND);
        assert!(packets.iter().all(|&p| net.delivery(p).is_some()), "failure at {at}");
        assert!(net.longest_silence(9, start, ms(15_000)) < Span::from_millis(200), "failure at {at}");
        // One request by the node of the failure, as wide as the old route or half the way back, plus 2.
        let requests = originated(&net, start, at);
        let ttl = u8::try_from((9 - at).max(at / 2) + 2).expect("small");
        assert_eq!(requests.iter().map(|r| r.1).collect::<Vec<_>>(), [ttl], "failure at {at}");
        assert_eq!(originated(&net, start, 0), []);
        let gone = |message: &Control| {
            message.get().is_some_and(|rerr: &Rerr| rerr.unreachable.iter().any(|u| u.0 == n(9)))
        };
        assert_eq!(net.controls(start, gone), []);
    }
}

#[test]
fn a_repair_that_fails_is_reported_to_the_precursors_hop_by_hop() {
    let mut net = established(6);
    let start = net.now;
    net.cut(4, 5);
    let lost = net.send(0, 6);
    net.run(start + SECOND);
    assert_eq!(net.drop_of(lost), Some(DropReason::NoRoute));
    let errors: Vec<_> = net
        .log
        .iter()
        .filter(|r| r.at >= start)
        .filter_map(|r| match &r.what {
            What::Control { message, to, .. } => {
                let rerr: &Rerr = message.get()?;
                (rerr.unreachable[0].0 == n(6)).then_some((r.node.0, *to))
            }
            _ => None,
        })
        .collect();
    assert_eq!(errors, [4, 3, 2, 1].map(|i: u32| (i, Recipient::Unicast(n(i - 1)))));
    assert!((0..5).all(|i| net.node(i).hops_to(net.now, n(6)).is_none()));
}

#[test]
fn a_repair_over_a_longer_way_says_so_without_deleting_the_route() {
    // 0 - 1 - 2 - 3 with a detour 1 - 4 - 5 - 3.
    let mut net = Network::rfc3561(&[(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (5, 3)]);
    net.run(ms(1000));
    net.stream(0, 3, Span::from_millis(100), SECOND * 3);
    net.cut(1, 2);
    let start = net.now;
    let packet = net.send(0, 3);
    net.run(start + SECOND);
    assert_eq!(net.path(packet), [0, 1, 1, 4, 5], "node 1 sent it twice");
    let notes: Vec<_> = net.controls(start, |m| {
        m.get().is_some_and(|rerr: &Rerr| rerr.no_delete && rerr.unreachable[0].0 == n(3))
    });
    assert_eq!(notes.iter().map(|r| r.1).collect::<Vec<_>>(), [1]);
    assert_eq!(net.node(0).hops_to(net.now, n(3)), Some(3), "kept");
}

#[test]
fn packets_beyond_the_reach_of_a_repair_are_dropped() {
    let mut net = established(13);
    let start = net.now;
    net.fail(1, 2, 1);
    let lost = net.send(0, 13);
    net.run(start + Span::from_millis(100));
    assert_eq!(net.drop_of(lost), Some(DropReason::LinkFailure));
    assert_eq!(net.controls(start, is_rerr).iter().map(|r| r.1).collect::<Vec<_>>(), [1]);
    assert_eq!(net.node(0).hops_to(net.now, n(13)), None);
}

#[test]
fn a_relay_answers_and_tells_the_destination_too() {
    let mut net = Network::rfc3561(&chain(4));
    net.send(1, 4);
    net.run(ms(2000));
    let start = net.now;
    let packet = net.send(0, 4);
    net.run(start + SECOND);
    assert!(net.delivery(packet).is_some());
    // The first ring reaches node 1, which has a route.
    assert_eq!(originated(&net, start, 0), [(start, 1)]);
    assert_eq!(net.controls(start, is_rrep).iter().map(|r| r.1).collect::<Vec<_>>(), [1, 1, 2, 3]);
    assert_eq!(net.node(4).hops_to(net.now, n(0)), Some(4));
}

#[test]
fn nobody_answers_with_a_route_older_than_the_one_that_broke() {
    let mut it = node(1);
    let mut out = Vec::new();
    let rrep = |destination_seqno, hops| Rrep {
        originator: n(1),
        destination: n(9),
        destination_seqno,
        hops,
        lifetime: SECOND * 6,
        request_sent: Instant::ZERO,
    };
    let rreq = |id, destination_seqno| Rreq {
        id,
        originator: n(0),
        originator_seqno: 7,
        destination: n(9),
        destination_seqno,
        hops: 1,
        sent: Instant::ZERO,
        gratuitous: false,
    };
    it.on_control(ms(0), n(2), 30, &rrep(20, 4).into(), &mut out);
    let mut answers = |id, asked| {
        let mut out = Vec::new();
        it.on_control(ms(10), n(0), 30, &rreq(id, asked).into(), &mut out);
        out.iter().any(|a| matches!(a, Action::SendControl { message, .. } if message.is::<Rrep>()))
    };
    assert!(answers(1, None) && answers(2, Some(20)) && answers(3, Some(u32::MAX)));
    assert!(!answers(4, Some(21)));
    // Acceptance: equal and fewer hops, newer; not older, not equal and longer.
    for (seqno, hops, expected) in [(20, 4, 4), (20, 5, 4), (19, 1, 4), (20, 3, 3), (21, 9, 9)] {
        it.on_control(ms(20), n(3), 30, &rrep(seqno, hops).into(), &mut out);
        assert_eq!(it.hops_to(ms(20), n(9)), Some(expected), "{seqno} {hops}");
    }
}

#[test]
fn a_relay_without_a_route_reports_at_most_ten_times_a_second() {
    let mut it = node(1);
    let info = PacketInfo { source: n(0), destination: n(9), travelled: 1, ttl: 30 };
    let mut out = Vec::new();
    for k in 0..30 {
        it.route(ms(k), 'x', &info, &mut out);
    }
    let dropped =
        out.iter().filter(|a| matches!(a, Action::Drop { reason: DropReason::NoRoute, .. })).count();
    let expected: Control = Rerr { unreachable: vec![(n(9), 0)], no_delete: false }.into();
    let reports = out.iter().filter(|a| matches!(a, Action::SendControl { message, to: Recipient::Broadcast, .. } if *message == expected));
    assert_eq!((dropped, reports.count()), (30, 10));
}

#[test]
fn searches_wait_for_the_rate_limit() {
    let mut it = node(0);
    let mut out = Vec::new();
    for destination in 1..=12 {
        let info = PacketInfo { source: n(0), destination: n(destination), travelled: 0, ttl: 64 };
        it.route(ms(0), 'x', &info, &mut out);
    }
    let requests = |out: &[Action<char>]| {
        out.iter().filter(|a| matches!(a, Action::SendControl { message, .. } if is_rreq(message))).count()
    };
    assert_eq!(requests(&out), 10);
    while let Some(at) = it.poll_timeout().filter(|&at| at < ms(1000)) {
        it.handle_timeout(at, &mut out);
    }
    assert_eq!(requests(&out), 10);
    it.handle_timeout(ms(1000), &mut out);
    assert_eq!(requests(&out), 20);
}

#[test]
fn errors_take_down_only_routes_through_their_sender() {
    let mut it = node(1);
    let mut out = Vec::new();
    let learn = |it: &mut Rfc3561Aodv<char>, destination: u32, from: u32| {
        let rrep = Rrep {
            originator: n(1),
            destination: n(destination),
            destination_seqno: 4,
            hops: 3,
            lifetime: SECOND * 6,
            request_sent: Instant::ZERO,
        };
        it.on_control(ms(0), n(from), 30, &rrep.into(), &mut Vec::new());
    };
    learn(&mut it, 8, 2);
    learn(&mut it, 9, 3);
    let rerr = |no_delete| Rerr { unreachable: vec![(n(8), 5), (n(9), 5)], no_delete }.into();
    it.on_control(ms(1), n(2), 1, &rerr(true), &mut out);
    assert_eq!(it.next_hop(ms(1), n(8)), Some(n(2)));
    it.on_control(ms(1), n(2), 1, &rerr(false), &mut out);
    let hops: Vec<Option<NodeId>> = [8, 9].map(|d| it.next_hop(ms(1), n(d))).to_vec();
    assert_eq!(hops, [None, Some(n(3))]);
    assert_eq!(out, [], "nobody uses these routes");
}

#[test]
fn traffic_keeps_its_routes_alive_in_both_directions() {
    let mut net = established(4);
    let start = net.now;
    net.stream(0, 4, SECOND * 2, SECOND * 20);
    assert_eq!(net.controls(start, |_| true), []);
    for i in 1..4 {
        assert_eq!(net.node(i).hops_to(net.now, n(0)), Some(i), "the way back from node {i}");
        assert_eq!(net.node(i).hops_to(net.now, n(4)), Some(4 - i));
    }
}

#[test]
fn a_route_through_the_asker_is_no_answer() {
    let mut it = node(1);
    let (destination, request_sent) = (n(9), Instant::ZERO);
    let rrep =
        Rrep { originator: n(1), destination, destination_seqno: 4, hops: 3, lifetime: SECOND, request_sent };
    it.on_control(ms(0), n(2), 30, &rrep.into(), &mut Vec::new());
    let mut sent_for = |id, from| {
        let (originator, sent) = (n(5), Instant::ZERO);
        let rreq = Rreq {
            id,
            originator,
            originator_seqno: id,
            destination,
            destination_seqno: None,
            hops: 2,
            sent,
            gratuitous: false,
        };
        let mut out: Vec<Action<char>> = Vec::new();
        it.on_control(ms(1), n(from), 10, &rreq.into(), &mut out);
        out.iter()
            .map(|a| matches!(a, Action::SendControl { message, .. } if message.is::<Rreq>()))
            .collect::<Vec<_>>()
    };
    assert_eq!(sent_for(1, 2), [true], "passed on");
    assert_eq!(sent_for(2, 3), [false], "answered");
}
