//! Static routes by metrics of links.

use super::support::{cbr, link, measure, run, wired};

const TRIANGLE: &str = include_str!("../../../../scenarios/triangle.toml");

/// A direct link that loses four of five frames, and two good ones beside it (scenarios/triangle.toml).
#[test]
fn a_metric_of_links_goes_around_a_link_that_loses_most() {
    let by = |metric: &str| {
        let text = TRIANGLE.replace("metric = \"ett\"", &format!("metric = \"{metric}\""));
        assert!(metric == "ett" || text != TRIANGLE);
        let flow = &run(&text).flows[0];
        (flow.hops.expect("packets arrived"), flow.goodput_bps)
    };
    let (hops, direct) = by("hops");
    assert!(hops == 1 && direct < 100e3, "{hops} hops: {direct} bit/s");
    for metric in ["etx", "ett", "airtime"] {
        let (hops, around) = by(metric);
        assert!(hops == 2 && around > 20.0 * direct && around > 2e6, "{metric}, {hops} hops: {around} bit/s");
    }
}

/// The near gateway is a hop away over a link that loses most frames, the far one two good hops.
#[test]
fn a_metric_chooses_the_gateway_as_well() {
    let gateways = |metric: &str| {
        let mut text = measure(20.0, 2.0) + &cbr("a", "w", 1e6, 1000) + &wired("w");
        for id in ["near", "a", "b", "far"] {
            text += &format!("[[node]]\nid = \"{id}\"\n");
        }
        for (from, to, loss) in [("a", "near", 0.6), ("a", "b", 0.0), ("b", "far", 0.0)] {
            text += &format!("[[radio_link]]\nfrom = \"{from}\"\nto = \"{to}\"\nloss = {loss}\n");
        }
        text += &(link("near", "w", "100Mbps", "10ms") + &link("far", "w", "100Mbps", "10ms"));
        let result = run(&format!("{text}[routing]\nprotocol = \"static\"\nmetric = \"{metric}\"\n"));
        let taken: Vec<_> =
            result.links.iter().filter(|link| link.attempts > Some(0)).map(|link| link.to.clone()).collect();
        (taken, result.flows[0].goodput_bps)
    };
    let (by_hops, slow) = gateways("hops");
    assert_eq!(by_hops, ["near"]);
    for metric in ["etx", "ett", "airtime"] {
        let (taken, goodput) = gateways(metric);
        assert!(
            !taken.contains(&"near".to_owned()) && taken.contains(&"far".to_owned()),
            "{metric}: {taken:?}"
        );
        assert!(
            goodput > 4.0 * slow,
            "{metric}: {goodput} bit/s over two good hops, {slow} over the bad one"
        );
    }
}

/// Babel finds out by itself: a minute and a half after it knew nothing, four of five Hellos being lost have told it.
#[test]
fn babel_goes_around_a_link_that_loses_most() {
    let text = TRIANGLE
        .replace("protocol = \"static\"\nmetric = \"ett\"", "protocol = \"babel\"")
        .replace("warmup = \"10s\"", "warmup = \"90s\"")
        .replace("duration = \"60s\"", "duration = \"150s\"");
    let result = run(&text);
    let flow = &result.flows[0];
    assert_eq!(flow.hops, Some(2), "{flow:?}");
    assert!(flow.goodput_bps > 1.8e6, "{flow:?}");
    assert!(result.routing.control_packets > 3 * 60 / 4, "Hellos alone are more");
}
