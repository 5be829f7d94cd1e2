//! Static routes by metrics of links.

use super::support::run;

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
