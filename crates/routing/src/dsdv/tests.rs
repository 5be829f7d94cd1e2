//! Convergence, loss of links, triggered updates.

use crate::tests::harness::{Network, What, chain, jitter, ms, n};
use crate::{Control, DropReason, Dsdv, DsdvConfig, DsdvRoute, DsdvUpdate, RoutingProtocol};
use meshpace_units::{Instant, Span};

const SECOND: Span = Span::from_secs(1);
/// 0 - 1 - 2 - 3 and back to 0 through 4.
const RING: [(u32, u32); 5] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];

fn cold(links: &[(u32, u32)], config: DsdvConfig) -> Network {
    Network::new(links, move |me, _| Box::new(Dsdv::new(me, config, jitter(me))))
}

fn converged(links: &[(u32, u32)], config: DsdvConfig) -> Network {
    Network::new(links, move |me, paths| Box::new(Dsdv::converged(me, config, paths, jitter(me))))
}

fn use_mac() -> DsdvConfig {
    DsdvConfig { use_mac: true, ..DsdvConfig::default() }
}

fn updates(net: &Network, since: Instant) -> Vec<(Instant, u32, DsdvUpdate)> {
    let update = |r: &crate::tests::harness::Record| match &r.what {
        What::Control { message, .. } if r.at >= since => Some((r.at, r.node.0, message.get().cloned()?)),
        _ => None,
    };
    net.log.iter().filter_map(update).collect()
}

#[test]
fn a_cold_chain_converges() {
    let mut net = cold(&chain(4), DsdvConfig::default());
    assert_eq!(net.node(0).hops_to(ms(0), n(4)), None);
    net.run(ms(150_000));
    for a in 0..5u32 {
        for b in 0..5u32 {
            assert_eq!(net.node(a).hops_to(net.now, n(b)), Some(a.abs_diff(b)), "{a} {b}");
        }
    }
    for (at, from, update) in updates(&net, Instant::ZERO) {
        assert!(
            update.routes.iter().all(|r| r.seqno % 2 == 0 && r.hops.is_some()),
            "{from} at {at:?}: {update:?}"
        );
    }
}

#[test]
fn dumps_come_after_three_quarters_of_a_period_to_a_period() {
    let mut net = converged(&chain(2), DsdvConfig::default());
    net.run(ms(200_000));
    for node in 0..3 {
        let own: Vec<_> = updates(&net, Instant::ZERO).into_iter().filter(|u| u.1 == node).collect();
        assert!(own.iter().all(|u| u.2.routes.len() == 3), "nothing changes, so every update is a dump");
        assert!(own[0].0 < ms(15_000));
        for pair in own.windows(2) {
            let gap = pair[1].0 - pair[0].0;
            assert!(gap >= Span::from_millis(11_250) && gap <= SECOND * 15, "{gap:?}");
            let number =
                |k: usize| pair[k].2.routes.iter().find(|r| r.destination == n(node)).map(|r| r.seqno);
            assert_eq!(number(1), number(0).map(|seqno| seqno + 2));
        }
    }
}

#[test]
fn a_converged_start_has_all_routes_and_keeps_them() {
    let mut net = converged(&RING, DsdvConfig::default());
    let packet = net.send(1, 3);
    net.run(ms(100));
    assert_eq!(net.path(packet), [1, 2]);
    for (a, b, hops) in [(0, 2, 2), (0, 3, 2), (4, 1, 2), (2, 3, 1)] {
        assert_eq!(net.node(a).hops_to(net.now, n(b)), Some(hops));
    }
    let before = net.now;
    net.run(ms(300_000));
    assert_eq!(net.node(0).hops_to(net.now, n(2)), Some(2));
    let bad = updates(&net, before).into_iter().find(|u| u.2.routes.iter().any(|r| r.hops.is_none()));
    assert_eq!(bad, None);
}

#[test]
fn without_the_macs_word_a_failure_costs_one_packet() {
    let mut net = converged(&RING, DsdvConfig::default());
    net.fail(0, 1, 1);
    let (lost, next) = (net.send(0, 1), net.send(0, 1));
    net.run(ms(1000));
    assert_eq!(net.drop_of(lost), Some(DropReason::LinkFailure));
    assert!(net.delivery(next).is_some());
    assert_eq!(net.node(0).route_failures(), 0);
}

#[test]
fn with_the_macs_word_a_lost_link_is_told_at_once_and_the_ring_heals() {
    let mut net = converged(&RING, use_mac());
    net.cut(0, 1);
    let kept = net.send(0, 1);
    net.run(ms(50));
    let first = updates(&net, Instant::ZERO).into_iter().find(|u| u.1 == 0).expect("a triggered update");
    // Node 1, and node 2 behind it, are broken: odd numbers.
    let broken = |d| DsdvRoute { destination: n(d), hops: None, seqno: 25 };
    let told: Vec<_> = first.2.routes.iter().filter(|r| r.hops.is_none()).copied().collect();
    assert_eq!((first.0, told), (ms(0), vec![broken(1), broken(2)]));
    assert_eq!(net.node(0).route_failures(), 1);
    assert_eq!((net.delivery(kept), net.drop_of(kept)), (None, None));
    net.run(ms(60_000));
    assert_eq!(net.node(0).hops_to(net.now, n(1)), Some(4));
    assert!(net.delivery(kept).is_some(), "the packet waited for the new route");
    assert_eq!(net.path(kept), [0, 0, 4, 3, 2]);
}

#[test]
fn a_silent_neighbour_is_lost_after_three_periods() {
    let mut net = converged(&chain(2), DsdvConfig::default());
    net.cut(1, 2);
    net.run(ms(44_999));
    assert_eq!(net.node(1).hops_to(net.now, n(2)), Some(1));
    net.run(ms(46_000));
    assert_eq!([0, 1].map(|i| net.node(i).hops_to(net.now, n(2))), [None, None]);
}

#[test]
fn five_packets_wait_for_a_destination() {
    let mut net = cold(&chain(1), DsdvConfig::default());
    let packets: Vec<_> = (0..7).map(|_| net.send(0, 1)).collect();
    assert_eq!(packets.iter().filter(|&&p| net.drop_of(p) == Some(DropReason::SendBufferFull)).count(), 2);
    net.run(ms(20_000));
    assert!(packets[2..].iter().all(|&p| net.delivery(p).is_some()));
    assert_eq!([0, 1].map(|p| net.drop_of(p)), [Some(DropReason::SendBufferFull); 2]);
}

#[test]
fn triggered_updates_are_a_second_apart() {
    let mut net = converged(&chain(5), use_mac());
    for (k, (a, b)) in [(2, 1), (2, 3)].into_iter().enumerate() {
        net.run(ms(10 + 300 * k as u64));
        net.fail(a, b, 1);
        net.send(a, b);
    }
    net.run(ms(3000));
    let mine: Vec<_> = updates(&net, ms(10)).into_iter().filter(|u| u.1 == 2).map(|u| u.0).collect();
    assert!(mine.len() >= 2, "{mine:?}");
    assert!(mine.windows(2).all(|w| w[1] - w[0] >= SECOND), "{mine:?}");
}

#[test]
fn a_new_route_is_told_after_two_settling_times_and_a_neighbours_bad_news_with_the_next_update() {
    let config = DsdvConfig { period: SECOND * 1000, ..DsdvConfig::default() };
    let mut it: Dsdv<char> = Dsdv::new(n(0), config, jitter(n(0)));
    let mut out = Vec::new();
    // The start-up dump, of nothing but itself.
    it.handle_timeout(ms(2000), &mut out);
    out.clear();
    let update = |hops, seqno| {
        let far = DsdvRoute { destination: n(9), hops, seqno };
        let near = DsdvRoute { destination: n(1), hops: Some(0), seqno: 4 };
        Control::from(DsdvUpdate { routes: vec![near, far] })
    };
    it.on_control(ms(5000), n(1), 1, &update(Some(1), 4), &mut out);
    assert_eq!(it.poll_timeout(), Some(ms(17_000)));
    it.handle_timeout(ms(16_999), &mut out);
    assert_eq!(out, []);
    it.handle_timeout(ms(17_000), &mut out);
    assert_eq!(out.len(), 1);
    // The trigger of the other route comes a second later and repeats what is new (ns-2.35).
    it.handle_timeout(ms(18_000), &mut out);
    assert_eq!(out.len(), 2);
    it.on_control(ms(20_000), n(1), 1, &update(None, 5), &mut out);
    assert_eq!(it.hops_to(ms(20_000), n(9)), None);
    // A newer number triggers nothing (ns-2.35): the next update of another cause carries it.
    it.handle_timeout(ms(30_000), &mut out);
    assert_eq!(out.len(), 2);
}

#[test]
fn a_shorter_way_waits_for_a_still_shorter_one() {
    let config = DsdvConfig { period: SECOND * 1000, ..DsdvConfig::default() };
    let mut it: Dsdv<char> = Dsdv::new(n(0), config, jitter(n(0)));
    let mut out = Vec::new();
    it.handle_timeout(ms(2000), &mut out);
    let far = |hops| {
        let routes = vec![DsdvRoute { destination: n(9), hops: Some(hops), seqno: 4 }];
        Control::from(DsdvUpdate { routes })
    };
    it.on_control(ms(5000), n(1), 1, &far(3), &mut out);
    it.handle_timeout(ms(17_000), &mut out);
    out.clear();
    it.on_control(ms(20_000), n(2), 1, &far(1), &mut out);
    assert_eq!((it.hops_to(ms(20_000), n(9)), it.next_hop(ms(20_000), n(9))), (Some(2), Some(n(2))));
    it.handle_timeout(ms(31_999), &mut out);
    assert_eq!(out, []);
    it.handle_timeout(ms(32_000), &mut out);
    assert_eq!(out.len(), 1);
}

/// Numbers are 32 bits wide in ns-2, too: one at the end of their range stops nobody.
#[test]
fn sequence_numbers_wrap() {
    let mut it = Dsdv::<usize>::new(n(0), DsdvConfig::default(), jitter(n(0)));
    let mut out = Vec::new();
    let row = DsdvRoute { destination: n(1), hops: Some(0), seqno: u32::MAX };
    it.on_control(ms(5000), n(1), 1, &DsdvUpdate { routes: vec![row] }.into(), &mut out);
    assert_eq!(it.hops_to(ms(5000), n(1)), Some(1));
    it.handle_timeout(ms(60_000), &mut out);
    assert_eq!(it.hops_to(ms(60_000), n(1)), None, "silent for three periods");
}
