//! Nodes of several radios: channels do not meet, routes name radios, and what a second radio is worth.

use super::support::{Record, cbr, flow, measure, node, record, run};
use meshpace_mesh::RunResult;
use meshpace_mesh::result::LinkResult;
use proptest::prelude::*;
use serde_json::Value;

fn radio(channel: u32, keys: &str) -> String {
    format!("[[node.radio]]\nchannel = {channel}\n{keys}\n")
}

/// A chain of nodes 200 m apart whose i-th has radios on these channels.
fn chain(channels: &[&[u32]], routing: &str) -> String {
    let mut text = format!("[routing]\nprotocol = \"{routing}\"\n");
    for (index, channels) in channels.iter().enumerate() {
        text += &node(&format!("n{index}"), 200.0 * index as f64, 0.0);
        text.extend(channels.iter().map(|channel| radio(*channel, "")));
    }
    text
}

/// The radio links that carried something, as (from, to, channel).
fn carried(result: &RunResult) -> Vec<(&str, &str, u16)> {
    let used = result.links.iter().filter(|link| link.attempts > Some(0));
    used.map(|link| (link.from.as_str(), link.to.as_str(), link.channel.unwrap_or_default())).collect()
}

/// Two chains on the same ground, a on one channel and b on another, and these flows.
fn two_chains(
    (hops, channels): ([u32; 2], [u32; 2]),
    (aside, radio_keys, routing): (f64, &str, &str),
    flows: &str,
) -> String {
    let mut text = measure(4.0, 0.0) + &format!("[radio]\n{radio_keys}\n[routing]\n{routing}\n");
    for (name, hops, channel, x) in [("a", hops[0], channels[0], 0.0), ("b", hops[1], channels[1], aside)] {
        for index in 0..=hops {
            text += &node(&format!("{name}{index}"), x + 180.0 * f64::from(index), x / 3.0);
            text += &radio(channel, "");
        }
    }
    text + flows
}

/// All frames of the first nodes: when they began, and all of them but the numbers by which the engine knows their packets.
fn frames_of(record: &Record, nodes: u32) -> Vec<String> {
    let own = record.frames.iter().filter(|seen| seen.frame.from.0 < nodes);
    own.map(|seen| {
        let frame = &seen.frame;
        let header = (seen.at, frame.kind, frame.from, frame.to, frame.airtime, frame.duration, frame.retry);
        format!("{header:?} {:?} {:?}", frame.size, frame.mode.rate)
    })
    .collect()
}

/// A flow, and the links between nodes of its chain.
fn seen_by(result: &RunResult, chain: char) -> (Value, Vec<LinkResult>) {
    let flow = serde_json::to_value(&result.flows[0]).expect("a flow is JSON");
    let links = result.links.iter().filter(|link| link.from.starts_with(chain));
    (flow, links.cloned().collect())
}

const KINDS: [&str; 3] = [
    "reception = \"ns2-capture\"",
    "reception = \"sinr\"\npropagation = \"log-distance\"\nshadowing_db = 3",
    "reception = \"sinr\"\nerror_model = \"curve\"\nrts = \"never\"",
];
const ROUTINGS: [&str; 3] = ["protocol = \"static\"", "protocol = \"aodv\"", "protocol = \"dsdv\""];

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Each chain's frames begin when they would begin if the other were silent, and come to the same.
    #[test]
    fn channels_never_meet(
        hops in [1..4u32, 1..4u32], swapped: bool, adjacent: bool, aside in 0.0..300.0f64,
        kind in 0..KINDS.len(), routing in 0..ROUTINGS.len(), scheme in prop::sample::select(vec!["newreno", "tcp-ap", "tcp-gap"]),
    ) {
        let other = if adjacent { 2 } else { 11 };
        let channels = if swapped { [other, 1] } else { [1, other] };
        let keys = format!("scheme = \"{scheme}\"");
        let own = flow("a0", &format!("a{}", hops[0]), &keys);
        let beside = own.clone() + &flow("b0", &format!("b{}", hops[1]), &keys);
        let text = |flows: &str| two_chains((hops, channels), (aside, KINDS[kind], ROUTINGS[routing]), flows);
        let (alone, both) = (record(&text(&own)), record(&text(&beside)));
        prop_assert!(both.0.flows[1].delivered_bytes > 0, "the other chain sends, too");
        prop_assert_eq!(frames_of(&alone.1, hops[0] + 1), frames_of(&both.1, hops[0] + 1));
        prop_assert_eq!(seen_by(&alone.0, 'a'), seen_by(&both.0, 'a'));
    }
}

/// A file whose nodes all say that they have the one radio is the run in which [radio] says it, laws that go by its rate included.
#[test]
fn a_table_a_node_says_what_radio_says() {
    for (standard, keys, scheme) in [
        ("", "rate = \"2Mbps\"", "tcp-ap"),
        ("", "rate = \"2Mbps\"", "split"),
        ("standard = \"802.11n\"", "mcs = 12", "linux-cubic"),
    ] {
        let rest = measure(4.0, 1.0) + &flow("n0", "n3", &format!("scheme = \"{scheme}\""));
        let text = |radio: &str, table: &str| {
            let nodes = (0..4).map(|index| node(&format!("n{index}"), 200.0 * f64::from(index), 0.0) + table);
            format!("[radio]\n{standard}\n{radio}\n{}{rest}", nodes.collect::<String>())
        };
        let (common, tables) =
            (run(&text(keys, "")), run(&text("", &radio(if standard.is_empty() { 1 } else { 36 }, keys))));
        assert!(common.flows[0].delivered_bytes > 0);
        assert_eq!(
            serde_json::to_value(&common.flows).expect("flows are JSON"),
            serde_json::to_value(&tables.flows).expect("flows are JSON"),
            "{scheme}"
        );
    }
}

#[test]
fn two_radios_on_alternating_channels_beat_one_channel() {
    let flows = measure(12.0, 2.0) + &flow("n0", "n4", "scheme = \"newreno\"");
    let goodput = |channels: [&[u32]; 5]| run(&(chain(&channels, "static") + &flows)).flows[0].goodput_bps;
    let one = goodput([&[1]; 5]);
    let three = goodput([&[1], &[1, 6], &[6, 11], &[11, 1], &[1]]);
    assert!(three > 1.8 * one, "{three} bit/s over three channels, {one} over one");
}

#[test]
fn of_equal_links_the_lowest_of_the_own_radios_is_taken() {
    let flows = measure(3.0, 0.0) + &flow("n0", "n3", "scheme = \"newreno\"");
    let text = chain(&[&[1], &[6, 1], &[1, 6], &[6]], "static") + &flows + "[radio]\narp = false\n";
    let result = run(&text);
    // n1's first radio is on 6, n2's on 1: each sends to the other by its first.
    assert_eq!(
        carried(&result),
        [
            ("n0", "n1", 1),
            ("n1", "n0", 1),
            ("n1", "n2", 6),
            ("n2", "n1", 1),
            ("n2", "n3", 6),
            ("n3", "n2", 6),
        ]
    );
}

#[test]
fn protocols_with_messages_find_ways_over_several_channels() {
    // Between any two neighbours there is one channel, and none that all have.
    let flows = measure(30.0, 0.0) + &cbr("n0", "n3", 1e5, 500);
    for routing in ["aodv", "dsdv", "babel"] {
        let result = run(&(chain(&[&[1], &[1, 6], &[6, 11], &[11]], routing) + &flows));
        assert!(result.flows[0].delivered_bytes > 50_000, "{routing}: {:?}", result.flows[0]);
        let used = carried(&result);
        for hop in [("n0", "n1", 1), ("n1", "n2", 6), ("n2", "n3", 11)] {
            assert!(used.contains(&hop), "{routing}: {used:?}");
        }
        assert_eq!(result.routing.route_failures, 0, "{routing}");
    }
}

/// Two nodes without places, on channels 1 and 6, with these links; (goodput in bit/s of a saturated flow from a to b, the links that it used).
fn of_links(links: &[(u32, &str)], keys: &str) -> (f64, Vec<u16>) {
    let mut text =
        measure(4.0, 1.0) + &flow("a", "b", "app = \"cbr\"\nrate = \"20Mbps\"\npacket = 1400") + keys;
    for id in ["a", "b"] {
        text += &format!("[[node]]\nid = \"{id}\"\n{}{}", radio(1, ""), radio(6, ""));
    }
    for (channel, keys) in links {
        text += &format!("[[radio_link]]\nfrom = \"a\"\nto = \"b\"\nchannel = {channel}\n{keys}\n");
    }
    let result = run(&text);
    (result.flows[0].goodput_bps, carried(&result).into_iter().map(|(.., channel)| channel).collect())
}

#[test]
fn a_link_is_on_its_channel_alone() {
    let (full, on) = of_links(&[(6, "")], "");
    assert!(full > 4e6 && on == [6], "{full} bit/s on {on:?}");
    let (slow, _) = of_links(&[(6, "rate = \"1Mbps\"")], "");
    assert!((5.0..9.0).contains(&(full / slow)), "{full} bit/s at 11 Mbit/s, {slow} at 1");
}

#[test]
fn a_link_loses_and_is_slow_on_its_channel_alone_and_the_metric_takes_the_other() {
    let (full, _) = of_links(&[(6, "")], "");
    for bad in ["loss = 0.6", "rate = \"1Mbps\""] {
        let ett = "[routing]\nprotocol = \"static\"\nmetric = \"ett\"\n";
        let (goodput, on) = of_links(&[(1, bad), (6, "")], ett);
        assert_eq!((goodput, on), (full, vec![6]), "{bad}");
        let (goodput, on) = of_links(&[(1, ""), (6, bad)], ett);
        assert_eq!(on, [1], "{bad}");
        assert!((goodput / full - 1.0).abs() < 0.01, "{goodput} and {full}: {bad}");
    }
}

/// The n-th frame of a link meets the same fate in every run, and another one from another radio of its sender: else both copies of a broadcast did.
#[test]
fn what_a_link_loses_goes_by_the_radio_of_its_sender() {
    let attempts = |of_a: &[u32]| {
        let mut text = measure(30.0, 0.0)
            + &cbr("a", "b", 1e5, 500)
            + "stop = \"25s\"\n[routing]\nprotocol = \"static\"\n[radio]\nrts = \"never\"\narp = false\n";
        let radios: String = of_a.iter().map(|channel| radio(*channel, "")).collect();
        text += &format!("[[node]]\nid = \"a\"\n{radios}[[node]]\nid = \"b\"\n{}", radio(1, ""));
        text += "[[radio_link]]\nfrom = \"a\"\nto = \"b\"\nloss = 0.5\nsymmetric = false\n";
        text += "[[radio_link]]\nfrom = \"b\"\nto = \"a\"\nsymmetric = false\n";
        run(&text).links.iter().find(|link| link.from == "a").and_then(|link| link.attempts).expect("a sends")
    };
    let first = attempts(&[1]);
    assert!(first > 1_000, "{first} attempts of 750 packets");
    assert_eq!(attempts(&[1, 6]), first, "a further radio changes nothing");
    assert_ne!(attempts(&[6, 1]), first, "the second radio has luck of its own");
}

#[test]
fn who_senses_another_on_one_channel_sends_at_once_on_the_other() {
    // Two pairs; a and c sense each other on channel 1, where b hears a and d hears c.
    let text = |sensed: u32| {
        let flows = ["ab", "cd"]
            .map(|ends| flow(&ends[..1], &ends[1..], "app = \"cbr\"\nrate = \"20Mbps\"\npacket = 1400"));
        let nodes = ["a", "b", "c", "d"]
            .map(|id| format!("[[node]]\nid = \"{id}\"\n{}{}", radio(1, ""), radio(6, "")));
        let link = |from: &str, to: &str, channel: u32, keys: &str| {
            format!("[[radio_link]]\nfrom = \"{from}\"\nto = \"{to}\"\nchannel = {channel}\n{keys}\n")
        };
        let links =
            link("a", "b", 1, "") + &link("c", "d", 1, "") + &link("a", "c", sensed, "decoded = false");
        measure(4.0, 1.0) + &nodes.concat() + &links + &flows.concat()
    };
    let sum = |sensed| run(&text(sensed)).flows.iter().map(|flow| flow.goodput_bps).sum::<f64>();
    let (same, other) = (sum(1), sum(6));
    assert!((1.7..2.1).contains(&(other / same)), "{same} bit/s if they share a channel, {other} if not");
}

#[test]
fn a_radio_has_its_own_rate() {
    let flows = measure(4.0, 1.0) + &flow("n0", "n1", "app = \"cbr\"\nrate = \"20Mbps\"\npacket = 1400");
    let one = |keys: &str| {
        let nodes = [0.0, 100.0].map(|x| node(&format!("n{}", x / 100.0), x, 0.0) + &radio(1, keys));
        run(&(nodes.concat() + &flows)).flows[0].goodput_bps
    };
    let (slow, fast) = (one("rate = \"2Mbps\""), one("rate = \"11Mbps\""));
    assert!((2.5..4.0).contains(&(fast / slow)), "{fast} at 11 Mbit/s, {slow} at 2");
}
