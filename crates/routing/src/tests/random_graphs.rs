//! Properties that hold on any graph: packets arrive where there is a way, none travels in a circle, and the same
//! input gives the same run.

use crate::metric::{METRICS, metric};
use crate::tests::harness::{Network, Node, What, babel, jitter, ms};
use crate::{
    Cost, DropReason, Dsdv, DsdvConfig, Handle, Ns2Aodv, PROTOCOLS, Profile, Rfc3561Aodv, ShortestPaths,
    Site, StaticRoutes,
};
use meshpace_keys::Values;
use meshpace_units::random::Stream;
use meshpace_units::{NodeId, Span};
use proptest::prelude::*;
use std::sync::Arc;

type Links = Vec<(u32, u32)>;
type Make = fn(NodeId, &Arc<ShortestPaths>) -> Node;

const AODV: [Make; 2] =
    [|me, _| Box::new(Ns2Aodv::new(me, jitter(me))), |me, _| Box::new(Rfc3561Aodv::new(me, jitter(me)))];
const CONVERGED: [Make; 2] = [
    |me, paths| Box::new(StaticRoutes::new(me, Arc::clone(paths))),
    |me, paths| Box::new(Dsdv::converged(me, DsdvConfig::default(), paths, jitter(me))),
];

/// A row of the table, its keys at their defaults.
fn build(profile: &Profile, me: NodeId, paths: &Arc<ShortestPaths>) -> Node {
    let keys = PROTOCOLS.iter().flat_map(|part| part.about.keys());
    let stream = |name| Stream::new(1, name, u64::from(me.0));
    let metric = metric(METRICS[0].about.word);
    (profile.build)(&Site { me, values: &Values::defaults(keys), paths, metric, stream: &stream })
}

/// Up to 14 nodes and any links between them.
fn graph() -> impl Strategy<Value = (usize, Links)> {
    (2usize..14).prop_flat_map(|count| {
        let end = 0..count as u32;
        let links = proptest::collection::vec((end.clone(), end), 0..2 * count);
        (Just(count), links).prop_map(|(count, links)| {
            let mut links: Links =
                links.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
            links.sort_unstable();
            links.dedup();
            (count, links)
        })
    })
}

/// Hops between all pairs, the plain way.
fn floyd_warshall(count: usize, links: &Links) -> Vec<Vec<Option<u32>>> {
    let mut hops = vec![vec![None; count]; count];
    for (node, row) in hops.iter_mut().enumerate() {
        row[node] = Some(0);
    }
    for &(a, b) in links {
        hops[a as usize][b as usize] = Some(1);
        hops[b as usize][a as usize] = Some(1);
    }
    for via in 0..count {
        for a in 0..count {
            for b in 0..count {
                if let (Some(first), Some(second)) = (hops[a][via], hops[via][b]) {
                    hops[a][b] =
                        Some(hops[a][b].map_or(first + second, |known: u32| known.min(first + second)));
                }
            }
        }
    }
    hops
}

fn network(count: usize, links: &Links, make: Make) -> Network {
    Network::with_nodes(count, links, make)
}

/// Packets between pairs of nodes, `gap` apart.
fn exchange(net: &mut Network, count: usize, pairs: &[(u32, u32)], gap: Span) -> Vec<(Handle, u32, u32)> {
    let mut sent = Vec::new();
    for &(from, to) in pairs {
        let (from, to) = (from % count as u32, to % count as u32);
        if from != to {
            sent.push((net.send(from, to), from, to));
        }
        net.run(net.now + gap);
    }
    sent
}

fn visits_no_node_twice(net: &Network, packet: Handle) -> bool {
    let mut path = net.path(packet);
    path.sort_unstable();
    path.windows(2).all(|pair| pair[0] != pair[1])
}

/// A destination and a node from which next hops towards it lead back.
fn circle(net: &Network, count: usize) -> Option<(usize, usize)> {
    let nodes = || 0..count;
    nodes().flat_map(|to| nodes().map(move |from| (to, from))).find(|&(to, from)| {
        let mut at = NodeId::from_index(from);
        // As many hops as there are nodes visit one twice.
        (0..count).all(|_| {
            let next = net.node(at.0).next_hop(net.now, NodeId::from_index(to)).filter(|_| at.index() != to);
            next.inspect(|next| at = *next).is_some()
        })
    })
}

/// Cuts the link of this number, counted round, or joins it again.
fn switch(net: &mut Network, links: &Links, there: &mut [bool], link: usize) {
    let Some(&(a, b)) = links.get(link % links.len().max(1)) else { return };
    let there = &mut there[link % links.len()];
    if *there {
        net.cut(a, b);
    } else {
        net.join(a, b);
    }
    *there = !*there;
}

/// The links that are there.
fn left(links: &Links, there: &[bool]) -> Links {
    links.iter().zip(there).filter(|(_, there)| **there).map(|(link, _)| *link).collect()
}

fn pairs() -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0..100u32, 0..100u32), 1..12)
}

proptest! {
    #[test]
    fn static_routes_are_shortest_paths((count, links) in graph()) {
        let hops = floyd_warshall(count, &links);
        let mut neighbours = vec![Vec::new(); count];
        for &(a, b) in &links {
            neighbours[a as usize].push(NodeId(b));
            neighbours[b as usize].push(NodeId(a));
        }
        let paths = ShortestPaths::new(&neighbours, |_, _| Cost::ONE);
        for (a, row) in hops.iter().enumerate() {
            for (b, &expected) in row.iter().enumerate() {
                let (from, to) = (NodeId::from_index(a), NodeId::from_index(b));
                prop_assert_eq!(paths.hops(from, to), expected);
                let nearer = |v: &NodeId| hops[v.index()][b].map(|hops| hops + 1) == expected;
                let next = neighbours[a].iter().copied().filter(nearer).min().filter(|_| expected.is_some_and(|hops| hops > 0));
                prop_assert_eq!(paths.next_hop(from, to), next);
            }
        }
    }

    #[test]
    fn converged_protocols_take_shortest_paths((count, links) in graph(), pairs in pairs()) {
        let hops = floyd_warshall(count, &links);
        for make in CONVERGED {
            let mut net = network(count, &links, make);
            let sent = exchange(&mut net, count, &pairs, Span::ZERO);
            net.run(ms(100));
            for (packet, from, to) in sent {
                let expected = hops[from as usize][to as usize];
                prop_assert_eq!(net.delivery(packet).map(|_| net.path(packet).len() as u32), expected);
            }
        }
    }

    /// Later, DSDV follows the newest number for a while, even over a longer way, but in no circle.
    #[test]
    fn dsdv_stays_free_of_loops((count, links) in graph(), pairs in pairs()) {
        let hops = floyd_warshall(count, &links);
        let mut net = network(count, &links, CONVERGED[1]);
        for (packet, from, to) in exchange(&mut net, count, &pairs, Span::from_millis(7300)) {
            prop_assert_eq!(net.delivery(packet).is_some(), hops[from as usize][to as usize].is_some());
            prop_assert!(visits_no_node_twice(&net, packet), "{:?}", net.path(packet));
        }
    }

    /// Whatever comes and goes: at no time do next hops make a circle (Perkins and Bhagwat 1994, section 3.4).
    #[test]
    fn next_hops_of_dsdv_make_no_circle_while_links_come_and_go(
        (count, links) in graph(), changes in proptest::collection::vec((0..100usize, 0..20_000u64), 1..25),
        use_mac in any::<bool>(), warm in any::<bool>(),
    ) {
        let config = DsdvConfig { use_mac, ..DsdvConfig::default() };
        let mut net = Network::with_nodes(count, &links, |me, paths| {
            Box::new(match warm {
                true => Dsdv::converged(me, config, paths, jitter(me)),
                false => Dsdv::new(me, config, jitter(me)),
            })
        });
        let mut there = vec![true; links.len()];
        for (link, pause) in changes {
            let end = net.now + Span::from_millis(pause);
            while net.now < end {
                // Packets find out that a link is gone, if the MAC's reports are used.
                let (from, to) = (link % count, pause as usize % count);
                if from != to {
                    net.send(from as u32, to as u32);
                }
                net.run((net.now + Span::from_millis(500)).min(end));
                prop_assert_eq!(circle(&net, count), None);
            }
            switch(&mut net, &links, &mut there, link);
        }
        // With time to hear of it all every way is found again, and no other is left. After a cold start settling times of 12 s, which
        // a new number every 11 to 15 s begins anew, keep some ways from being told for minutes.
        net.run(net.now + Span::from_secs(150));
        prop_assert_eq!(circle(&net, count), None);
        let hops = floyd_warshall(count, &left(&links, &there));
        for (from, row) in hops.iter().enumerate() {
            for (to, hops) in row.iter().enumerate().filter(|(to, _)| *to != from) {
                let found = net.node(from as u32).next_hop(net.now, NodeId::from_index(to));
                prop_assert!(found.is_none() || hops.is_some(), "{} to {}", from, to);
                prop_assert!(!warm || found.is_some() || hops.is_none(), "{} to {}", from, to);
            }
        }
    }

    /// Unless a route runs out on the way: a relay's reply carries what is left of its own route's lifetime (RFC 3561,
    /// section 6.6.2; ns-2.35), which may be over when the data follow. Without pauses no route is that old.
    #[test]
    fn aodv_delivers_wherever_there_is_a_way(
        (count, links) in graph(), pairs in pairs(), gap in prop_oneof![Just(0u64), 1..50u64, 1000..15_000u64],
    ) {
        let hops = floyd_warshall(count, &links);
        for make in AODV {
            let mut net = network(count, &links, make);
            let sent = exchange(&mut net, count, &pairs, Span::from_millis(gap));
            net.run(net.now + Span::from_secs(60));
            for (packet, from, to) in sent {
                let connected = hops[from as usize][to as usize].is_some();
                let ran_out = gap >= 1000 && connected && net.drop_of(packet) == Some(DropReason::NoRoute);
                prop_assert_eq!(net.delivery(packet).is_some(), connected && !ran_out, "{} to {}", from, to);
                prop_assert_eq!(net.drop_of(packet).is_none(), connected && !ran_out);
                prop_assert!(visits_no_node_twice(&net, packet), "{:?}", net.path(packet));
            }
        }
    }

    #[test]
    fn every_packet_ends_once_whatever_the_mac_gives_up(
        (count, links) in graph(), pairs in pairs(), failures in proptest::collection::vec((0..100usize, 1..4usize), 0..6),
    ) {
        for profile in PROTOCOLS.iter().flat_map(|part| part.build) {
            let run = || {
                let mut net = Network::with_nodes(count, &links, |me, paths| build(profile, me, paths));
                for &(link, times) in failures.iter().filter(|_| !links.is_empty()) {
                    let (a, b) = links[link % links.len()];
                    let (a, b) = if link % 2 == 0 { (a, b) } else { (b, a) };
                    net.fail(a, b, times);
                }
                let mut sent = exchange(&mut net, count, &pairs, Span::from_millis(500));
                sent.extend(exchange(&mut net, count, &pairs, Span::from_millis(500)));
                net.run(net.now + Span::from_secs(100));
                (net, sent)
            };
            let (net, sent) = run();
            for (packet, ..) in sent {
                let ended = |what: &What| matches!(what,
                    What::Delivered { packet: p } | What::Dropped { packet: p, .. } if *p == packet);
                let ends = net.log.iter().filter(|r| ended(&r.what)).count();
                // DSDV keeps the last packets for a destination that nobody tells of.
                let waits = profile.title.starts_with("DSDV") && ends == 0;
                prop_assert!(ends == 1 || waits, "packet {} ended {} times", packet, ends);
            }
            prop_assert_eq!(&net.log, &run().0.log);
        }
    }
}

proptest! {
    // Every node talks all the time: a case takes as long as dozens of the others.
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever comes, goes and is lost: at no time do next hops make a circle (RFC 8966, section 2.4). When all has been told, every way
    /// is found that there is.
    #[test]
    fn next_hops_of_babel_make_no_circle_while_links_come_go_and_lose(
        (count, links) in graph(), changes in proptest::collection::vec((0..100usize, 0..20_000u64, 0.0..0.9f64), 1..12),
        wired in any::<bool>(),
    ) {
        let mut net = Network::with_nodes(count, &links, |me, paths| babel(me, paths, wired));
        let mut there = vec![true; links.len()];
        for (link, pause, loss) in changes {
            let end = net.now + Span::from_millis(pause);
            while net.now < end {
                net.run((net.now + Span::from_millis(100)).min(end));
                prop_assert_eq!(circle(&net, count), None);
            }
            switch(&mut net, &links, &mut there, link);
            if let Some(&(a, b)) = links.get(pause as usize % links.len().max(1)) {
                net.lose(a, b, loss);
            }
        }
        links.iter().for_each(|&(a, b)| net.lose(a, b, 0.0));
        net.run(net.now + Span::from_secs(150));
        prop_assert_eq!(circle(&net, count), None);
        let hops = floyd_warshall(count, &left(&links, &there));
        for (from, row) in hops.iter().enumerate() {
            for (to, hops) in row.iter().enumerate().filter(|(to, _)| *to != from) {
                let found = net.node(from as u32).next_hop(net.now, NodeId::from_index(to));
                prop_assert_eq!(found.is_some(), hops.is_some(), "{} to {}", from, to);
            }
        }
    }
}
