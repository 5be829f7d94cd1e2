//! Calm without a mesh: two hosts and a router between them, whose slow link has a queue of what the path holds.

use super::support::{flow, link, measure, node, run, wired};
use meshpace_mesh::result::FlowResult;

/// A flow over a link of the given rate (Mbit/s) and round trip (ms), in the last quarter of a minute.
fn over(mbps: u64, trip: u64, scheme: &str) -> FlowResult {
    let holds = (mbps * trip * 1_000 / 12_000).max(50);
    let queue = |link: String| link.replace("delay", &format!("queue = {holds}\ndelay"));
    let fast = queue(link("a", "r", &format!("{}Mbps", 10 * mbps), "0ms"));
    let slow = queue(link("r", "b", &format!("{mbps}Mbps"), &format!("{}us", 500 * trip)));
    let hosts = format!("{}{}{}{}", wired("a"), wired("r"), wired("b"), node("n", 0.0, 0.0));
    let keys = format!("segment = 1448\nwindow = {}\nscheme = \"{scheme}\"", 4 * holds);
    let mut result = run(&format!("{}{hosts}{fast}{slow}{}", measure(60.0, 45.0), flow("a", "b", &keys)));
    result.flows.remove(0)
}

#[test]
fn it_fills_them_as_cubic_does_at_less_delay_and_without_a_timeout() {
    for (mbps, trip) in [(10, 1), (10, 50), (10, 200), (100, 10)] {
        let [cubic, calm] = ["linux-cubic", "calm"].map(|scheme| over(mbps, trip, scheme));
        let what = format!("{mbps} Mbit/s, {trip} ms: {} and {} bit/s", cubic.goodput_bps, calm.goodput_bps);
        assert!(calm.goodput_bps >= 0.98 * cubic.goodput_bps, "{what}");
        assert!(calm.delay_mean_s < cubic.delay_mean_s, "{what}");
        assert_eq!(calm.timeouts, Some(0), "{what}");
    }
}
