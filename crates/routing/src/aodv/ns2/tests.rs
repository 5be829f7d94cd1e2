//! Discovery, link failures near the source, expiry (schemes.md 18; ns2-behaviour 5 and 7).

mod repair;

use crate::tests::harness::{HOP, Network, Record, What, chain, is_rerr, is_rrep, is_rreq, jitter, ms, n};
use crate::{Control, DropReason, Ns2Aodv, Recipient, Rerr, RoutingProtocol, Rrep, Rreq};
use meshpace_units::{Instant, Span};

/// A chain with a route from end to end, used at 1 s.
fn established(hops: u32) -> Network {
    let mut net = Network::ns2(&chain(hops));
    net.run(ms(1000));
    net.send(0, hops);
    net.run(ms(1500));
    net
}

#[test]
fn the_first_search_covers_the_network_and_the_reply_comes_back_hop_by_hop() {
    let net = established(5);
    let requests = net.controls(Instant::ZERO, is_rreq);
    assert_eq!(requests[0], (ms(1000), 0, 30));
    assert_eq!(
        requests.iter().map(|r| (r.1, r.2)).collect::<Vec<_>>(),
        [(0, 30), (1, 29), (2, 28), (3, 27), (4, 26)]
    );
    let replies: Vec<_> = net.controls(Instant::ZERO, is_rrep).iter().map(|r| (r.1, r.2)).collect();
    assert_eq!(replies, [(5, 30), (4, 29), (3, 28), (2, 27), (1, 26)]);
    assert_eq!(net.path(0), [0, 1, 2, 3, 4]);
    assert!(net.delivery(0).is_some());
    for i in 0..5 {
        assert_eq!(net.node(i).hops_to(net.now, n(5)), Some(5 - i));
        assert_eq!(net.node(i + 1).hops_to(net.now, n(0)), Some(i + 1));
    }
    assert_eq!(net.node(2).next_hop(net.now, n(5)), Some(n(3)));
}

#[test]
fn only_relayed_requests_are_jittered() {
    let net = established(5);
    for Record { node, what, .. } in &net.log {
        if let What::Control { message, delay, .. } = what {
            let relayed = is_rreq(message) && node.0 > 0;
            assert_eq!(relayed, !delay.is_zero(), "{what:?}");
            assert!(*delay < Span::from_millis(10));
        }
    }
}

#[test]
fn the_destination_answers_with_an_even_number_newer_than_any() {
    let net = established(3);
    let seqno = net.log.iter().find_map(|r| match &r.what {
        What::Control { message, .. } => message.get(),
        _ => None,
    });
    let seqno = seqno.map(|rrep: &Rrep| (rrep.destination_seqno, rrep.lifetime, rrep.hops));
    assert_eq!(seqno, Some((4, Span::from_secs(10), 1)));
}

#[test]
fn buffered_packets_leave_ten_milliseconds_apart() {
    let mut net = Network::ns2(&chain(2));
    let packets: Vec<_> = (0..4).map(|_| net.send(0, 2)).collect();
    net.run(ms(1000));
    let first = net.delivery(packets[0]).expect("delivered");
    for (k, &packet) in (0..).zip(&packets) {
        assert_eq!(net.delivery(packet), Some(first + Span::from_millis(10) * k));
    }
}

#[test]
fn a_request_from_the_destination_releases_packets_at_once() {
    let mut net = Network::ns2(&chain(1));
    net.cut(0, 1);
    let waiting = [net.send(0, 1), net.send(0, 1)];
    net.run(ms(100));
    net.join(0, 1);
    net.run(ms(300));
    net.send(1, 0);
    net.run(ms(400));
    assert_eq!(waiting.map(|packet| net.delivery(packet)), [Some(ms(300) + HOP * 2); 2]);
}

#[test]
fn a_failure_near_the_source_takes_the_route_down_and_the_source_searches_again() {
    let mut net = established(8);
    let start = net.now;
    net.fail(2, 3, 1);
    let lost = net.send(0, 8);
    net.run(start + Span::from_millis(500));
    assert_eq!(net.drop_of(lost), Some(DropReason::LinkFailure));
    let at_two: Vec<_> =
        net.log.iter().filter(|r| r.at >= start && r.node == n(2)).map(|r| r.what.clone()).collect();
    let rerr = |delay| What::Control {
        message: Rerr { unreachable: vec![(n(8), 5)], no_delete: false }.into(),
        to: Recipient::Broadcast,
        ttl: 1,
        delay,
    };
    assert_eq!(
        at_two,
        [
            What::Sent { packet: lost, to: n(3) },
            What::Dropped { packet: lost, reason: DropReason::LinkFailure },
            What::Purged { next_hop: n(3) },
            rerr(Span::ZERO),
        ]
    );
    // Node 1 has node 0 as a precursor and passes it on; node 0 has none.
    let errors: Vec<_> = net.controls(start, is_rerr).iter().map(|r| r.1).collect();
    assert_eq!(errors, [2, 1]);
    assert!(net.log.iter().any(|r| r.node == n(1) && r.what == What::Purged { next_hop: n(2) }));
    for i in 0..3 {
        assert_eq!(net.node(i).hops_to(net.now, n(8)), None, "node {i}");
    }
    assert_eq!((net.node(2).route_failures(), net.node(1).route_failures()), (1, 0));
    // The next packet searches, network-wide since the route had more than 6 hops, and gets through soon.
    let again = net.now;
    let next = net.send(0, 8);
    net.run(again + Span::from_secs(1));
    assert_eq!(net.controls(again, is_rreq)[0], (again, 0, 30));
    assert!(net.delivery(next).is_some_and(|at| at < again + Span::from_millis(200)));
}

#[test]
fn after_a_short_route_the_search_is_a_ring() {
    let mut net = established(4);
    net.fail(0, 1, 1);
    net.send(0, 4);
    net.run(net.now + Span::from_millis(100));
    let again = net.now;
    net.send(0, 4);
    net.run(again + Span::from_millis(100));
    assert_eq!(net.controls(again, is_rreq)[0], (again, 0, 6));
}

#[test]
fn without_precursors_an_error_stops_after_one_hop() {
    // Acknowledgements use the reverse route, which no reply made: it has no precursors (ns2-behaviour 5.8).
    let mut net = established(8);
    let start = net.now;
    net.fail(6, 5, 1);
    net.send(8, 0);
    net.run(start + Span::from_millis(200));
    assert_eq!(net.controls(start, is_rerr).iter().map(|r| r.1).collect::<Vec<_>>(), [6]);
    assert_eq!(net.node(7).hops_to(net.now, n(0)), None);
    assert_eq!(net.node(8).hops_to(net.now, n(0)), Some(8), "node 8 has not heard");
    // Each further packet is dropped at node 7, which says so; then node 8 searches.
    let again = net.now;
    let (lost, next) = (net.send(8, 0), net.send(8, 0));
    net.run(again + Span::from_millis(100));
    assert_eq!([net.drop_of(lost), net.drop_of(next)], [Some(DropReason::NoRoute); 2]);
    assert_eq!(net.controls(again, is_rerr).iter().map(|r| r.1).collect::<Vec<_>>(), [7, 7]);
    assert_eq!(net.node(8).hops_to(net.now, n(0)), None);
    let found = net.send(8, 0);
    net.run(net.now + Span::from_millis(300));
    assert!(net.delivery(found).is_some());
}

#[test]
fn four_searches_then_ten_seconds_of_silence() {
    // Node 2 does not exist for the others.
    let mut net = Network::with_nodes(3, &[(0, 1)], |me, _| Box::new(Ns2Aodv::new(me, jitter(me))));
    net.run(ms(1200));
    let packets: Vec<_> = (0..70).map(|_| net.send(0, 2)).collect();
    net.run(ms(31_000));
    let own = |r: &&(Instant, u32, u8)| r.1 == 0;
    let times: Vec<_> = net.controls(Instant::ZERO, is_rreq).iter().filter(own).map(|r| r.0).collect();
    // Timeouts 1.8, 3.6, 5.4, 7.2 s, each noticed at the next multiple of 0.5 s.
    assert_eq!(times, [ms(1200), ms(3000), ms(7000), ms(12_500)]);
    let drops = |reason| packets.iter().filter(|&&p| net.drop_of(p) == Some(reason)).count();
    assert_eq!((drops(DropReason::SendBufferFull), drops(DropReason::NoRoute)), (6, 64));
    let given_up =
        net.log.iter().find(|r| matches!(r.what, What::Dropped { reason: DropReason::NoRoute, .. }));
    assert_eq!(given_up.map(|r| r.at), Some(ms(20_000)));
    // Nothing is sent before the pause is over, not even for a new packet.
    net = Network::with_nodes(3, &[(0, 1)], |me, _| Box::new(Ns2Aodv::new(me, jitter(me))));
    net.run(ms(1200));
    net.stream(0, 2, Span::from_millis(100), Span::from_secs(40));
    let times: Vec<_> = net.controls(Instant::ZERO, is_rreq).iter().filter(own).map(|r| r.0).collect();
    assert!(times.windows(2).any(|w| w[1] - w[0] >= Span::from_secs(10)), "{times:?}");
}

#[test]
fn unused_routes_expire_at_the_purge_timer_and_idle_nodes_have_no_timer() {
    let mut net = Network::ns2(&[(0, 1), (1, 2), (3, 4)]);
    for i in 0..5 {
        assert_eq!(net.node(i).poll_timeout(), None);
    }
    net.run(ms(1200));
    let used = net.send(0, 2);
    net.run(ms(2000));
    let at = net.delivery(used).expect("delivered") - HOP * 2;
    assert!(at > ms(1200) && at < ms(1250), "{at:?}");
    net.run(ms(11_000));
    assert_eq!(net.node(0).hops_to(net.now, n(2)), Some(2));
    net.run(ms(11_500));
    assert_eq!(net.node(0).hops_to(net.now, n(2)), None);
    net.run(ms(12_000));
    for i in 0..5 {
        assert_eq!(net.node(i).poll_timeout(), None, "node {i}");
    }
}

#[test]
fn every_forwarded_packet_keeps_the_route_to_its_destination_but_not_back() {
    let mut net = established(2);
    net.stream(0, 2, Span::from_secs(4), Span::from_secs(20));
    assert_eq!(net.node(0).hops_to(net.now, n(2)), Some(2));
    assert_eq!(net.node(2).hops_to(net.now, n(0)), None);
    assert_eq!(net.controls(ms(1500), is_rreq), []);
}

#[test]
fn a_packet_back_at_its_source_or_too_old_is_dropped() {
    let mut node = Ns2Aodv::new(n(0), jitter(n(0)));
    let mut out = Vec::new();
    let info =
        |source, travelled, ttl| crate::PacketInfo { source: n(source), destination: n(9), travelled, ttl };
    node.route(ms(0), 'a', &info(0, 3, 20), &mut out);
    node.route(ms(0), 'b', &info(1, 3, 0), &mut out);
    assert_eq!(
        out,
        [
            crate::Action::Drop { packet: 'a', reason: DropReason::Loop },
            crate::Action::Drop { packet: 'b', reason: DropReason::Expired },
        ]
    );
}

/// Numbers are 32 bits wide in ns-2, too: one at the end of their range, heard from whomever, stops nobody.
#[test]
fn sequence_numbers_wrap() {
    let mut node = Ns2Aodv::new(n(0), jitter(n(0)));
    let request = |id, destination, seqno| {
        let (hops, sent, gratuitous) = (1, Instant::ZERO, false);
        Control::from(Rreq {
            id,
            originator: n(9),
            originator_seqno: seqno,
            destination: n(destination),
            destination_seqno: Some(u32::MAX),
            hops,
            sent,
            gratuitous,
        })
    };
    let mut out = Vec::<crate::Action<char>>::new();
    node.on_control(ms(0), n(9), 30, &request(1, 0, 7), &mut out);
    let answered = out.iter().find_map(|action| match action {
        crate::Action::SendControl { message, .. } => message.get().map(|rrep: &Rrep| rrep.destination_seqno),
        _ => None,
    });
    assert_eq!(answered, Some(0));
    // A route with the last number fails, and another expires.
    let info = crate::PacketInfo { source: n(0), destination: n(9), travelled: 0, ttl: 30 };
    node.on_control(ms(10), n(9), 30, &request(2, 0, u32::MAX), &mut out);
    out.clear();
    node.on_link_failure(ms(20), n(9), 'a', &info, &mut out);
    let told = out.iter().find_map(|action| match action {
        crate::Action::SendControl { message, .. } => {
            message.get().map(|rerr: &Rerr| rerr.unreachable.clone())
        }
        _ => None,
    });
    assert_eq!(told, Some(vec![(n(9), 0)]));
    node.on_control(ms(30), n(9), 30, &request(3, 0, u32::MAX), &mut out);
    node.handle_timeout(ms(60_000), &mut out);
    assert_eq!(node.next_hop(ms(60_000), n(9)), None);
}
