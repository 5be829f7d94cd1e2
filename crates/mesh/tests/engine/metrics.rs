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
