//! WCPCap by air time against its closed forms (schemes.md 13): 0.8 of the time, divided by what a packet takes of the air.

use super::support::{chain, close, flow, json, measure, node, run, run_seed};
use meshpace_mesh::RunResult;

/// Of a segment of 1,460 bytes, and of an acknowledgement of 40, microseconds: DIFS, RTS, CTS, the frame at 11 Mbit/s, ACK and three SIFS
/// (schemes.md 17.2: long preamble, 34 bytes around a packet, control frames at 1 Mbit/s).
const DATA: f64 = 50.0 + 352.0 + 304.0 + (192.0 + 8.0 * 1534.0 / 11.0) + 304.0 + 30.0;
const ACK: f64 = 50.0 + 352.0 + 304.0 + (192.0 + 8.0 * 74.0 / 11.0) + 304.0 + 30.0;

/// From 30 s on, by when the shares go by what the mesh carries.
fn mesh(topology: &str, keys: &str, flows: &[(&str, &str)]) -> RunResult {
    let flows: String = flows.iter().map(|(from, to)| flow(from, to, "")).collect();
    let scheme = format!("[defaults]\nscheme = \"wcpcap\"\n[scheme.wcpcap]\n{keys}\n");
    run(&format!("{scheme}{}{topology}{flows}", measure(90.0, 30.0)))
}

fn segments_per_second(result: &RunResult) -> Vec<f64> {
    result.flows.iter().map(|flow| flow.goodput_bps / (8.0 * 1460.0)).collect()
}

/// A neighbourhood that is used for `part` of the time by `hops` links each way.
fn share(part: f64, hops: f64) -> f64 {
    part * 1e6 / (hops * (DATA + ACK))
}

#[test]
fn one_hop_is_used_for_its_part_of_the_time() {
    for part in [0.8, 0.4] {
        let result = mesh(&chain(1), &format!("wcpcap_use = {part}"), &[("n0", "n1")]);
        close("segments/s", segments_per_second(&result)[0], share(part, 1.0), 0.01);
    }
}

#[test]
fn two_hops_have_half_of_it_each_and_two_flows_half_of_that() {
    let one = segments_per_second(&mesh(&chain(2), "", &[("n0", "n2")]))[0];
    close("segments/s", one, share(0.8, 2.0), 0.02);
    let both = segments_per_second(&mesh(&chain(2), "", &[("n0", "n2"), ("n0", "n2")]));
    for flow in both {
        close("segments/s of one of two", flow, share(0.8, 4.0), 0.02);
    }
}

/// ```text
/// a0 - a1 ... b0 - b1 - b2        a1 hears b0, c hears nobody of them
/// ```
/// One neighbourhood holds the link of the a's and those of the b's: three links, two flows, equal rates. The c's have the air to themselves.
#[test]
fn flows_that_share_no_node_share_the_air_all_the_same() {
    let places = [("a0", 0.0), ("a1", 200.0), ("b0", 400.0), ("b1", 600.0), ("c0", 2000.0), ("c1", 2200.0)];
    let nodes: String = places.map(|(id, x)| node(id, x, 0.0)).concat();
    let topology = format!("[topology]\nkind = \"explicit\"\n[routing]\nprotocol = \"static\"\n{nodes}");
    let shares = segments_per_second(&mesh(&topology, "", &[("a0", "a1"), ("b0", "b1"), ("c0", "c1")]));
    close("alone", shares[2], share(0.8, 1.0), 0.01);
    for flow in &shares[..2] {
        // Two senders that hear each other collide now and then, which packets alone do not.
        close("near another", *flow, share(0.8, 2.0), 0.06);
    }
}

#[test]
fn before_the_first_epoch_is_over_a_flow_has_its_first_rate() {
    let flows = flow("n0", "n1", "scheme = \"wcpcap\"");
    let keys = "[scheme.wcpcap]\nwcpcap_epoch = \"30s\"\nwcpcap_initial = 7\n";
    let text = format!("{}{keys}{}{flows}", measure(20.0, 5.0), chain(1));
    close("segments/s", segments_per_second(&run(&text))[0], 7.0, 0.03);
}

#[test]
fn the_same_seed_gives_the_same_bytes_while_nodes_move() {
    let text = format!(
        "{}[defaults]\nscheme = \"wcpcap\"\n[topology]\nkind = \"random\"\nnodes = 12\nwidth = 600\nheight = 600\n\
         [routing]\nprotocol = \"dsdv\"\n[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 10\nspeed_max = 30\n\
         [[flow]]\nfrom = \"random\"\nto = \"random\"\ncount = 4\n",
        measure(40.0, 15.0)
    );
    let result = run_seed(&text, 2);
    assert!(result.aggregate_goodput_bps > 50e3, "{}", result.aggregate_goodput_bps);
    assert_eq!(json(result), json(run_seed(&text, 2)));
}
