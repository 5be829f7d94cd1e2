//! Local repair: the defect that decides the goodput of long chains (schemes.md 18, items 7 and 8; ns2-behaviour 5.7).

use crate::tests::harness::{Network, What, chain, is_rerr, is_rreq, jitter, ms, n};
use crate::{Action, Control, DropReason, Ns2Aodv, PacketInfo, Recipient, Rerr, RoutingProtocol, Rrep, Rreq};
use meshpace_units::{Instant, Span};

const SECOND: Span = Span::from_secs(1);

/// Nine hops with data from end to end, every 50 ms, until 10 s.
fn nine_hops() -> Network {
    let mut net = Network::ns2(&chain(9));
    net.run(ms(1000));
    net.stream(0, 9, Span::from_millis(50), SECOND * 9);
    net
}

/// One false failure at node 5 while data flow; returns its time and the silence that follows.
fn stall(net: &mut Network) -> (Instant, Span) {
    let start = net.now;
    net.fail(5, 6, 1);
    net.stream(0, 9, Span::from_millis(50), SECOND * 25);
    (start, net.longest_silence(9, start, net.now))
}

fn own_requests(net: &Network, since: Instant, node: u32) -> Vec<(Instant, u8)> {
    let originated = |message: &Control| message.get().is_some_and(|rreq: &Rreq| rreq.originator == n(node));
    net.controls(since, originated).iter().filter(|r| r.1 == node).map(|r| (r.0, r.2)).collect()
}

#[test]
fn repair_past_the_middle_keeps_the_packet_silently_and_stalls_for_eleven_seconds() {
    let mut net = nine_hops();
    let (start, silence) = stall(&mut net);
    assert!((SECOND * 11..SECOND * 12).contains(&silence), "{silence:?}");
    // No RERR, no purge; node 6 answers node 5's searches with what node 5 knows already.
    assert_eq!(net.controls(start, is_rerr), []);
    assert!(!net.log.iter().any(|r| r.at >= start && matches!(r.what, What::Purged { .. })));
    let requests = own_requests(&net, start, 5);
    assert_eq!(requests[0].1, 30, "the node never had this route down");
    assert_eq!(requests.len(), 4, "{requests:?}");
    let after = |k: usize| (requests[k].0 - requests[0].0).as_secs_f64();
    assert!(
        (1.8..2.4).contains(&after(1)) && (5.4..6.0).contains(&after(2)) && (10.8..11.6).contains(&after(3))
    );
    assert_eq!(net.node(5).route_failures(), 1);
    // The source never heard: no search of its own.
    assert_eq!(own_requests(&net, start, 0), []);
}

#[test]
fn with_latencies_measured_four_searches_are_used_up_and_a_pause_follows() {
    let mut net = nine_hops();
    stall(&mut net);
    let (start, silence) = stall(&mut net);
    assert!((SECOND * 15..SECOND * 16 + Span::from_millis(500)).contains(&silence), "{silence:?}");
    let given_up = net.log.iter().filter(|r| {
        r.at >= start && r.node == n(5) && matches!(r.what, What::Dropped { reason: DropReason::NoRoute, .. })
    });
    assert!(given_up.count() > 0);
    assert_eq!(net.controls(start, is_rerr), []);
}

#[test]
fn one_hop_before_the_middle_there_is_no_stall() {
    let mut net = nine_hops();
    let start = net.now;
    net.fail(4, 5, 1);
    net.stream(0, 9, Span::from_millis(50), SECOND * 25);
    assert!(net.longest_silence(9, start, net.now) < SECOND);
    assert_ne!(net.controls(start, is_rerr), []);
}

#[test]
fn a_search_by_the_destination_ends_the_stall() {
    let mut net = nine_hops();
    let start = net.now;
    net.fail(5, 6, 1);
    let kept = net.send(0, 9);
    net.run(start + SECOND);
    assert_eq!((net.delivery(kept), net.drop_of(kept)), (None, None));
    // The reverse routes are gone (6 s unused), so that an acknowledgement makes node 9 search.
    net.send(9, 0);
    net.run(start + SECOND * 2);
    assert!(own_requests(&net, start, 9).len() == 1 && net.delivery(kept).is_some());
}

#[test]
fn the_repair_timer_is_armed_with_an_absolute_time_and_says_nothing() {
    let mut net = nine_hops();
    let start = net.now;
    assert_eq!(start, ms(10_000));
    net.cut(5, 6);
    net.send(0, 9);
    net.run(ms(10_500));
    let failed = own_requests(&net, start, 5)[0].0;
    // Search timeout 2 * 30 * 30 ms after the failure; ns-2's clock is a second ahead of ours.
    let fires = failed + (failed - Instant::ZERO) + Span::from_millis(1800) + SECOND;
    net.run(fires - Span::NANOSECOND);
    assert_eq!(net.node(5).hops_to(net.now, n(9)), Some(4), "still in repair");
    net.run(fires);
    assert_eq!(net.node(5).hops_to(net.now, n(9)), None);
    assert_eq!(net.controls(start, is_rerr), []);
}

#[test]
fn packets_that_follow_into_a_repair_wait_with_the_first() {
    let mut net = nine_hops();
    let start = net.now;
    net.fail(5, 6, 2);
    // Both are on their way when the first fails; the second fails too and arms a second timer.
    let (first, second) = (net.send(0, 9), net.send(0, 9));
    net.run(start + Span::from_millis(200));
    let third = net.send(0, 9);
    net.run(start + SECOND * 14);
    let at: Vec<_> = [first, second, third].map(|p| net.delivery(p).expect("kept")).to_vec();
    assert_eq!([at[1] - at[0], at[2] - at[1]], [Span::from_millis(10); 2]);
    assert_eq!(net.controls(start, is_rreq).first().map(|r| r.1), Some(5));
    assert_eq!(net.node(5).route_failures(), 1);
}

fn rrep(destination_seqno: u32, hops: u8) -> Control {
    let request_sent = Instant::ZERO;
    Rrep { originator: n(5), destination: n(9), destination_seqno, hops, lifetime: SECOND * 10, request_sent }
        .into()
}

fn rreq(originator_seqno: u32) -> Control {
    let (id, destination_seqno) = (originator_seqno, Some(0));
    let (originator, destination) = (n(1), n(9));
    let sent = Instant::ZERO;
    Rreq {
        id,
        originator,
        originator_seqno,
        destination,
        destination_seqno,
        hops: 2,
        sent,
        gratuitous: false,
    }
    .into()
}

/// Node 5 with a route to 9 through 6, used by nobody yet.
fn node_five(now: Instant) -> Ns2Aodv<char> {
    let mut it = Ns2Aodv::new(n(5), jitter(n(5)));
    it.on_control(now, n(6), 30, &rrep(4, 4), &mut Vec::new());
    it
}

#[test]
fn a_route_that_is_never_used_expires_too() {
    let it = node_five(ms(1200));
    assert_eq!(it.poll_timeout(), Some(ms(11_500)));
}

#[test]
fn a_node_in_repair_answers_with_a_lifetime_that_has_wrapped() {
    let mut it = node_five(ms(20_000));
    let info = PacketInfo { source: n(0), destination: n(9), travelled: 5, ttl: 25 };
    let mut out = Vec::new();
    it.on_link_failure(ms(20_300), n(6), 'x', &info, &mut out);
    out.clear();
    it.on_control(ms(20_400), n(4), 20, &rreq(6), &mut out);
    let lifetime = SECOND * ((1 << 32) - 20);
    let (originator, destination, request_sent) = (n(1), n(9), Instant::ZERO);
    let answer = Rrep { originator, destination, destination_seqno: 4, hops: 5, lifetime, request_sent };
    let to = Recipient::Unicast(n(4));
    assert_eq!(out, [Action::SendControl { message: answer.into(), to, ttl: 30, delay: Span::ZERO }]);
}

#[test]
fn an_error_passed_on_forgets_who_was_told() {
    let mut it = node_five(ms(0));
    let rerr = |seqno| Rerr { unreachable: vec![(n(9), seqno)], no_delete: false }.into();
    let passed_on = |out: &[Action<char>]| {
        out.iter().any(|a| matches!(a, Action::SendControl { message, .. } if is_rerr(message)))
    };
    it.on_control(ms(1), n(4), 20, &rreq(6), &mut Vec::new());
    let mut out = Vec::new();
    it.on_control(ms(2), n(6), 1, &rerr(5), &mut out);
    assert!(passed_on(&out), "node 4 uses the route");
    it.on_control(ms(3), n(6), 30, &rrep(6, 4), &mut Vec::new());
    out.clear();
    it.on_control(ms(4), n(6), 1, &rerr(7), &mut out);
    assert_eq!(out, [Action::PurgeQueue { next_hop: n(6), unaddressed: false }]);
}
