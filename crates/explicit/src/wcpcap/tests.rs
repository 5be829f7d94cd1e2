use super::*;
use proptest::prelude::*;

/// Links, each in one neighbourhood with all links in the list.
fn link(airtime: f64, flows: &[usize], near: &[usize]) -> Link {
    Link { airtime, flows: flows.to_vec(), near: near.to_vec() }
}

#[track_caller]
fn are(shares: &[Option<f64>], expected: &[f64]) {
    assert_eq!(shares.len(), expected.len());
    for (share, expected) in shares.iter().zip(expected) {
        assert!(share.is_some_and(|share| (share / expected - 1.0).abs() < 1e-12), "{shares:?}");
    }
}

#[test]
fn a_header_survives_the_wire() {
    for header in [Header::default(), Header { rate: Some(12.5) }] {
        assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
    }
    assert_eq!(Header::from_bytes(&[0; 7]), None);
}

/// Data take 2 ms, acknowledgements 0.5 ms: 0.8/2.5 ms = 320 packets/s.
#[test]
fn one_hop_has_the_air_to_itself() {
    are(&shares(&[link(2e-3, &[0], &[0, 1]), link(5e-4, &[0], &[0, 1])], 1, 0.8), &[320.0]);
}

/// Both hops share the air: half of it. Where the second cannot be heard each hop has all.
#[test]
fn two_hops_share_the_air_if_they_are_near() {
    let near = [link(2e-3, &[0], &[0, 1]), link(2e-3, &[0], &[0, 1])];
    are(&shares(&near, 1, 0.8), &[200.0]);
    let far = [link(2e-3, &[0], &[0]), link(2e-3, &[0], &[1])];
    are(&shares(&far, 1, 0.8), &[400.0]);
}

/// The parking lot: three links a millisecond each, none near another, one flow over all of them, one over the first, two over the
/// second. The second freezes three flows at 800/3; the one over the first alone takes what is left of it, 800 - 800/3.
#[test]
fn the_parking_lot_by_hand() {
    let lot = [link(1e-3, &[0, 1], &[0]), link(1e-3, &[0, 2, 3], &[1]), link(1e-3, &[0], &[2])];
    let third = 800.0 / 3.0;
    are(&shares(&lot, 4, 0.8), &[third, 800.0 - third, third, third]);
}

#[test]
fn what_goes_over_no_link_is_not_limited() {
    assert_eq!(shares(&[link(1e-3, &[1], &[0])], 2, 0.5), [None, Some(500.0)]);
    assert!(shares(&[], 0, 0.8).is_empty());
}

prop_compose! {
    fn meshes()(
        flows in 1_usize..6,
        number in 1_usize..8,
    )(
        links in prop::collection::vec(
            (1e-4_f64..1e-2, prop::collection::btree_set(0..flows, 1..=flows), prop::collection::btree_set(0..number, 0..=number)),
            number,
        ),
        flows in Just(flows),
    ) -> (Vec<Link>, usize) {
        let links = links.into_iter().enumerate().map(|(at, (airtime, flows, mut near))| {
            near.insert(at);
            Link { airtime, flows: flows.into_iter().collect(), near: near.into_iter().collect() }
        });
        (links.collect(), flows)
    }
}

proptest! {
    /// No neighbourhood is used for longer than its limit. No flow can have more without taking from a flow that has no more
    /// than it: each flow meets a full neighbourhood in which no flow has a larger share (Bertsekas and Gallager 1992, 6.5.2).
    #[test]
    fn shares_are_feasible_and_max_min((links, flows) in meshes(), limit in 0.1_f64..1.0) {
        let shares = shares(&links, flows, limit);
        let share = |flow: usize| shares[flow].unwrap_or(0.0);
        let used = |link: &Link| -> f64 {
            link.near.iter().map(|at| &links[*at]).map(|near| near.airtime * near.flows.iter().map(|flow| share(*flow)).sum::<f64>()).sum()
        };
        for link in &links {
            prop_assert!(used(link) <= limit * (1.0 + 1e-9), "{} of {limit}", used(link));
        }
        for (flow, given) in shares.iter().enumerate() {
            let goes = |link: &Link| link.flows.contains(&flow);
            let Some(given) = given else {
                prop_assert!(!links.iter().any(goes));
                continue;
            };
            let full = links.iter().filter(|link| used(link) >= limit * (1.0 - 1e-9));
            let bottleneck = |link: &Link| {
                let near = || link.near.iter().map(|at| &links[*at]);
                near().any(goes) && near().flat_map(|near| &near.flows).all(|other| share(*other) <= given * (1.0 + 1e-9))
            };
            prop_assert!(full.into_iter().any(bottleneck), "flow {flow} of {shares:?}");
        }
    }
}
