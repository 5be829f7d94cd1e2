//! LLAP in the simulated mesh: what its nodes expect beside what packets take, which only the engine knows.

use super::support::{cbr, chain, close, flow, json, measure, run};
use meshpace_mesh::RunResult;
use meshpace_mesh::result::HopDelayResult;

/// Datagrams as ns-2 counts them, over nodes with LLAP whose expectations are measured.
fn llap(duration: f64, rts: &str, rest: &str) -> String {
    let measure = format!("{}hop_delays = true\n", measure(duration, 0.0));
    format!(
        "{measure}[radio]\narp = false\nqueue = 25\nrts = \"{rts}\"\n[defaults]\nscheme = \"llap\"\n{rest}"
    )
}

fn datagrams(from: &str, to: &str, bps: f64, packet: u32) -> String {
    format!("{}udp_header = 0\n", cbr(from, to, bps, packet))
}

fn row<'a>(result: &'a RunResult, node: &str) -> &'a HopDelayResult {
    let found = result.hop_delays.iter().find(|row| row.node == node);
    found.unwrap_or_else(|| panic!("nothing of {node} in {:?}", result.hop_delays))
}

fn known(value: Option<f64>) -> f64 {
    value.expect("packets came through")
}

/// Four times the time that a node takes which has nothing else to do (schemes.md 8, "4*NHT"). The default core law adds a
/// little: its PD is what noise comes to that is cut off at 0.
#[test]
fn the_ingress_of_an_idle_chain_expects_four_times_a_hop() {
    let cases = [("always", [7.74, 9.19, 10.53]), ("never", [5.04, 6.49, 7.83])];
    for (rts, expected) in cases {
        for (payload, ms) in [500, 1000, 1460].into_iter().zip(expected) {
            for core in ["spacing", "integrator"] {
                let flow = datagrams("n0", "n6", f64::from(payload) * 8.0 * 20.0, payload);
                let law = format!("[scheme.llap]\nllap_core = \"{core}\"\n");
                let result = run(&llap(15.0, rts, &format!("{law}{}{flow}", chain(6))));
                let ingress = row(&result, "n0");
                let what = format!("{core}, RTS {rts}, {payload} bytes");
                let got = 1e3 * known(ingress.estimate_mean_s);
                if core == "spacing" {
                    close(&what, got, ms, 0.03);
                    // The truth lacks the last hop's acknowledgement, 314 us, and the first hop's backoff.
                    let error = known(ingress.error_mean);
                    assert!((-0.05..0.2).contains(&error), "{what}: {error}");
                } else {
                    assert!((0.97..1.15).contains(&(got / ms)), "{what}: {got}");
                }
                assert_eq!((ingress.hops, row(&result, "n4").hops, row(&result, "n5").hops), (4, 2, 1));
                assert_eq!(row(&result, "n5").estimate_mean_s, None, "the egress sends nothing on");
                let counts = &result.relays[0].counters;
                assert!(counts["llap_missed"] <= 3 && counts["llap_listened"] > 200, "{what}: {counts:?}");
            }
        }
    }
}

/// ```text
/// n0 ---- flow 1 ----> n9     n6 -> n7 from 5 s to 12 s: what n6 then takes is expected at n0, five nodes upstream
/// ```
#[test]
fn congestion_anywhere_on_the_path_is_seen_at_the_ingress() {
    let beside = format!("{}start = 5\nstop = 12\n", datagrams("n6", "n7", 1e6, 500));
    let text = llap(24.0, "always", &format!("{}{}{beside}", chain(9), datagrams("n0", "n9", 1e5, 500)));
    let result = run(&text);
    let ingress = row(&result, "n0");
    let mean = |from: usize, to: usize| {
        let known: Vec<f64> = ingress.estimate_s[from..to].iter().flatten().map(|s| 1e3 * s).collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let (before, during, after) = (mean(1, 5), mean(8, 12), mean(20, 24));
    assert!((7.0..12.0).contains(&before), "{before} ms");
    assert!(during > 1.2 * before, "{before}, then {during} ms");
    assert!(after < 0.9 * during, "{before}, then {during}, then {after} ms");
}

/// ```text
/// n0's MAC takes it ... n1 has it | waits, goes | n2 has it | n3 has it | n4 has it: four hops
///   mac(n0)                         node(n1)        node(n2)    node(n3)
/// ```
#[test]
fn four_hops_are_the_time_at_the_mac_here_and_the_times_in_three_nodes() {
    let result = run(&llap(15.0, "always", &format!("{}{}", chain(6), datagrams("n0", "n6", 1e5, 500))));
    let times = |node: &str| {
        let row = row(&result, node);
        (known(row.node_mean_s), known(row.mac_mean_s))
    };
    let sum = times("n0").1 + ["n1", "n2", "n3"].iter().map(|node| times(node).0).sum::<f64>();
    close("four hops", sum, known(row(&result, "n0").actual_mean_s), 0.005);
    for node in ["n0", "n1", "n5"] {
        let (whole, mac) = times(node);
        assert!(mac < whole && whole < 3.0 * mac, "{node}: {whole} s, {mac} of them at the MAC");
    }
    let last = row(&result, "n5");
    assert_eq!(last.mac_mean_s, last.actual_mean_s, "one hop is the MAC alone");
    assert_eq!(last.mac_s, last.actual_s);
}

/// Where too much is offered, packets wait at the ingress.
#[test]
fn a_node_that_paces_has_the_waiting() {
    let result = run(&llap(15.0, "always", &format!("{}{}", chain(6), datagrams("n0", "n6", 3e6, 1000))));
    let ingress = row(&result, "n0");
    let (whole, mac) = (known(ingress.node_mean_s), known(ingress.mac_mean_s));
    let delay = known(result.flows[0].delay_mean_s);
    assert!(whole > 10.0 * mac && whole < delay, "{whole} s, {mac} at the MAC, {delay} in all");
}

#[test]
fn measuring_changes_nothing() {
    let rest = format!("{}{}", chain(5), flow("n0", "n5", ""));
    let measured = run(&llap(6.0, "always", &rest));
    let plain = run(&llap(6.0, "always", &rest).replace("hop_delays = true\n", ""));
    assert!(plain.hop_delays.is_empty() && !measured.hop_delays.is_empty());
    let scenario_sha256 = plain.scenario_sha256.clone();
    let measured = RunResult { hop_delays: Vec::new(), scenario_sha256, ..measured };
    assert_eq!(json(measured), json(plain));
}

#[test]
fn tcp_gets_through_with_every_routing_and_every_core_law() {
    let routings =
        ["protocol = \"static\"", "protocol = \"aodv\"", "protocol = \"aodv\"\nprofile = \"rfc3561\""];
    for routing in routings {
        for core in ["integrator", "hold", "spacing", "spacing-clamped"] {
            let text = format!(
                "{}[radio]\nqueue = 25\n[topology]\nkind = \"chain\"\nhops = 5\n[routing]\n{routing}\n\
                 [defaults]\nscheme = \"llap\"\n[scheme.llap]\nllap_core = \"{core}\"\n{}",
                measure(15.0, 3.0),
                flow("n0", "n5", "")
            );
            let result = run(&text);
            assert!(result.flows[0].goodput_bps > 5e4, "{routing}, {core}: {}", result.flows[0].goodput_bps);
        }
    }
}
