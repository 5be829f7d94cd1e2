//! Flows that ask for a service class on 802.11n: categories of access, and queues of their own.

use super::support::{chain, delay, flow, json, measure, row, run, scenario};
use meshpace_mesh::result::AggregateResult;

/// 802.11n over so many hops.
fn radio(hops: u32, keys: &str) -> String {
    format!("[radio]\nstandard = \"802.11n\"\nmcs = 4\nrts = \"never\"\n{keys}\n{}", chain(hops))
}

/// Datagrams that ask for a class.
fn cbr(hops: u32, bps: f64, packet: u32, dscp: &str) -> String {
    let keys = format!("app = \"cbr\"\nrate = {bps}\npacket = {packet}\ndscp = {dscp}");
    flow("n0", &format!("n{hops}"), &keys)
}

/// A call beside a flow that fills every queue: as best effort it waits behind the flow's frames in the air and below the queues, in the
/// category of voice for one frame a hop.
#[test]
fn a_call_does_not_wait_for_what_fills_the_queues() {
    for hops in [1, 3] {
        let call = |dscp: &str| {
            let text = format!(
                "{}{}{}{}",
                measure(4.0, 1.0),
                radio(hops, ""),
                cbr(hops, 45e6, 1_472, "0"),
                cbr(hops, 64e3, 160, dscp)
            );
            let result = run(&text);
            assert!(result.flows[1].goodput_bps > 62e3, "{dscp}: {result:?}");
            (delay(&result.flows[1]), result.flows[0].goodput_bps)
        };
        let ((plain, filled), (voice, beside)) = (call("\"df\""), call("\"cs6\""));
        assert!(voice < 0.5 * plain, "{hops} hops: {voice} s as voice, {plain} s as best effort");
        assert!(
            beside > 0.9 * filled,
            "{hops} hops: {beside} bit/s beside a call, {filled} beside best effort"
        );
    }
}

/// A link's frames are counted by category where there are several categories, and the counts sum up. A run with best effort
/// alone has no such counts.
#[test]
fn links_tell_frames_by_category() {
    let text = |dscp: &str| {
        let flows = [cbr(1, 10e6, 1_472, "0"), cbr(1, 1e6, 1_000, dscp)].concat();
        format!("{}{}{flows}", measure(1.5, 0.5), radio(1, ""))
    };
    let result = run(&text("\"af41\""));
    let frames =
        row(&result, "n0", "n1").and_then(|row| row.aggregates.clone()).expect("frames of several packets");
    assert_eq!(frames.categories.keys().copied().collect::<Vec<_>>(), ["best-effort", "video"]);
    let sum = |of: fn(&AggregateResult) -> u64| frames.categories.values().map(of).sum();
    assert_eq!((frames.frames, frames.mpdus), (sum(|it| it.frames), sum(|it| it.mpdus)));
    let video = &frames.categories["video"];
    assert!((115..=135).contains(&video.mpdus), "1 Mbit/s of 1,000 bytes for a second: {video:?}");
    let plain = run(&text("0"));
    assert!(!json(plain).contains("categories"));
}

/// Of two flows that fill a link, in the same station, the one in the higher category has most of it; in the same category, half.
#[test]
fn a_higher_category_has_the_larger_share() {
    let share = |dscp: &str, other: &str| {
        let flows = [cbr(1, 45e6, 1_472, dscp), cbr(1, 45e6, 1_472, other)].concat();
        let result = run(&format!("{}{}{flows}", measure(3.0, 0.5), radio(1, "")));
        let [one, two] = [0, 1].map(|at| result.flows[at].goodput_bps);
        one / (one + two)
    };
    let shares = [("\"cs6\"", "0"), ("\"af41\"", "0"), ("0", "\"cs1\""), ("0", "\"cs3\"")];
    let [voice, video, background, same] = shares.map(|(one, two)| share(one, two));
    assert!(voice > 0.7 && video > 0.6 && background > 0.6, "{voice} {video} {background}");
    assert!(voice > video && (0.45..0.55).contains(&same), "{voice} {video} {same}");
}

/// Frames that are fixed ahead are of one category each, and none keeps another's from being fixed.
#[test]
fn frames_ahead_are_a_categorys_own() {
    let flows = [cbr(1, 45e6, 1_472, "0"), cbr(1, 64e3, 160, "\"cs6\"")].concat();
    let result = run(&format!("{}{}{flows}", measure(3.0, 0.5), radio(1, "aggregates_ahead = 2")));
    assert!(delay(&result.flows[1]) < 0.012, "{:?}", result.flows[1]);
    assert!(result.flows[0].goodput_bps > 25e6, "{:?}", result.flows[0]);
}

/// A relay that has no queues for categories refuses a flow that asks for one.
#[test]
fn a_relay_without_categories_refuses() {
    let text = format!(
        "{}{}[defaults]\nscheme = \"newreno\"\n[scheme.newreno]\nrelay = \"drop-tail\"\n{}",
        measure(1.0, 0.0),
        radio(1, ""),
        cbr(1, 1e6, 1_000, "\"ef\"")
    );
    let error = meshpace_mesh::run(&scenario(&text, 1)).expect_err("it has one queue").to_string();
    assert!(
        error.contains("found dscp = 46 beside relay = \"drop-tail\" of newreno; allowed: dscp = 0, or"),
        "{error}"
    );
}
