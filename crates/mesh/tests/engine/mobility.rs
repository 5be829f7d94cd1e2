//! Nodes that move: routes break and come back.

use super::support::{Record, flow, link, measure, node, record, run, wired};
use meshpace_radio::FrameKind;

/// One node walks up and down a line of `length` metres at 50 m/s.
pub fn walk(id: &str, length: u32) -> String {
    format!(
        "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 49\nspeed_max = 51\narea = [{length}, 1]\nnodes = [\"{id}\"]\n"
    )
}

/// Lengths of the times in which the flow with that index delivered nothing, and the bytes at the end.
pub fn stalls(record: &Record, flow: usize) -> (Vec<f64>, u64) {
    let (mut stalls, mut bytes, mut since) = (Vec::new(), 0, 0.0);
    let mut end = 0.0;
    for (at, sample) in record.samples.iter().filter(|entry| entry.1.flow == flow) {
        end = at.as_secs_f64();
        if sample.delivered.0 > bytes {
            bytes = sample.delivered.0;
            stalls.push(end - since);
            since = end;
        }
    }
    stalls.push(end - since);
    (stalls, bytes)
}

/// Those worth a look.
pub fn long(stalls: &[f64]) -> Vec<f64> {
    stalls.iter().copied().filter(|stall| *stall > 3.0).collect()
}

pub fn longest(stalls: &[f64]) -> f64 {
    stalls.iter().copied().fold(0.0, f64::max)
}

#[test]
fn a_node_that_walks_off_is_served_again_when_it_is_back() {
    for routing in
        ["protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\"", "protocol = \"static\""]
    {
        let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", 100.0, 0.0));
        let flows = [
            flow("a", "b", "app = \"cbr\"\nrate = 80000\npacket = 1000"),
            flow("b", "a", "app = \"cbr\"\nrate = 80000\npacket = 1000"),
        ];
        let head = format!("[defaults]\nscheme = \"newreno\"\n{}[routing]\n{routing}\n", measure(300.0, 0.0));
        let (result, record) = record(&format!("{head}{}{nodes}{}", walk("b", 1000), flows.concat()));
        for flow in [0, 1] {
            let (stalls, bytes) = stalls(&record, flow);
            let breaks = stalls.iter().filter(|stall| **stall > 5.0).count();
            assert!(breaks >= 2, "{routing}: {:?}", long(&stalls));
            // In range for about a fifth of the time and more near the turns; back soon after it is.
            assert!(bytes > 300_000, "{routing}: {bytes}");
            assert!(
                stalls.iter().filter(|stall| **stall < 1.0).count() > 50,
                "{routing}: {:?}",
                long(&stalls)
            );
        }
        let failures = result.routing.route_failures;
        assert_eq!(failures > 0, routing.contains("aodv"), "{routing}: {failures}");
    }
}

#[test]
fn routes_follow_a_node_along_its_relays() {
    let relays: String = (0..5).map(|i| node(&format!("r{i}"), 200.0 * f64::from(i), 0.0)).collect();
    for routing in ["protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\""] {
        let head = format!("[defaults]\nscheme = \"newreno\"\n{}[routing]\n{routing}\n", measure(120.0, 0.0));
        let walker = node("w", 150.0, 0.5);
        let (result, record) =
            record(&format!("{head}{}{relays}{walker}{}", walk("w", 800), flow("r0", "w", "")));
        let (stalls, bytes) = stalls(&record, 0);
        assert!(longest(&stalls) < 25.0 && bytes > 2_000_000, "{routing}: {:?}", long(&stalls));
        let mut last: Vec<u32> = record
            .frames
            .iter()
            .filter(|seen| seen.frame.kind == FrameKind::Data && seen.frame.to.is_some_and(|to| to.0 == 5))
            .map(|seen| seen.frame.from.0)
            .collect();
        last.sort_unstable();
        last.dedup();
        assert_eq!(last, [0, 1, 2, 3], "the last relay is too near the fourth to be of use");
        assert!(result.routing.route_failures > 0);
    }
}

#[test]
fn a_node_that_starts_out_of_range_is_served_once_it_comes() {
    for gateways in [1, 2] {
        let mut nodes =
            [node("g1", 0.0, 0.0), node("w", 950.0, 0.5), wired("B"), link("g1", "B", "10Mbps", "20ms")]
                .concat();
        if gateways == 2 {
            nodes += &format!("{}{}", node("g2", 0.0, 100.0), link("g2", "B", "10Mbps", "20ms"));
        }
        for (from, to) in [("w", "B"), ("B", "w")] {
            let head = format!("[defaults]\nscheme = \"tcp-gap\"\n{}", measure(150.0, 0.0));
            let flow = flow(from, to, "app = \"cbr\"\nrate = 80000\npacket = 1000");
            let result = run(&format!("{head}{}{nodes}{flow}", walk("w", 1000)));
            assert!(
                result.flows[0].delivered_bytes > 100_000,
                "{gateways}, from {from}: {:?}",
                result.flows[0]
            );
        }
    }
}

#[test]
fn a_crowd_of_walkers_keeps_delivering() {
    let topology = "[topology]\nkind = \"random\"\nnodes = 16\nwidth = 600\nheight = 600\n\
                    [mobility]\nmodel = \"random-waypoint\"\nspeed_min = 5\nspeed_max = 20\n";
    for routing in
        ["protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\"", "protocol = \"dsdv\""]
    {
        let head = format!("[defaults]\nscheme = \"tcp-gap\"\n{}[routing]\n{routing}\n", measure(60.0, 0.0));
        let flows =
            "[[flow]]\nfrom = \"random\"\nto = \"B\"\ncount = 2\n[[flow]]\nfrom = \"B\"\nto = \"random\"\n";
        let (result, record) = record(&format!("{head}{topology}{flows}"));
        for flow in 0..3 {
            let late = record.samples.iter().filter(|(at, s)| s.flow == flow && at.as_secs_f64() < 40.0);
            let early = late.map(|(_, s)| s.delivered.0).max().expect("samples");
            let all = result.flows[flow].delivered_bytes;
            assert!(
                all > early + 20_000,
                "{routing}: flow {flow} had {early} bytes at 40 s, {all} at the end"
            );
        }
    }
}
