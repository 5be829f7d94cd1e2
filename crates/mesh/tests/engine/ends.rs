//! Where flows can begin and end: gateways, wired hosts, islands.

use super::support::{cbr, close, delay, flow, link, measure, node, record, row, run, wired};

const STATIC: &str = "[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"static\"\n";

/// W1 - g1 - m1 - m2 - g2 - W2, and W1 - W2 by wire.
fn two_gateways() -> String {
    let nodes = [
        node("g1", 0.0, 0.0),
        node("m1", 200.0, 0.0),
        node("m2", 400.0, 0.0),
        node("g2", 600.0, 0.0),
        wired("W1"),
        wired("W2"),
    ];
    let links = [
        link("g1", "W1", "10Mbps", "10ms"),
        link("g2", "W2", "10Mbps", "20ms"),
        link("W1", "W2", "10Mbps", "5ms"),
    ];
    format!("{}{}", nodes.concat(), links.concat())
}

#[test]
fn every_flow_uses_the_gateway_nearest_to_its_mesh_end() {
    // 389 ms between two packets, and the flows out of step.
    let flow = |start: u32, from: &str, to: &str| {
        flow(
            from,
            to,
            &format!(
                "app = \"cbr\"\nrate = 20000\npacket = 972\nstart = {}\nstop = 59",
                f64::from(start) * 0.06
            ),
        )
    };
    let flows = [
        flow(0, "m1", "W2"),
        flow(1, "m2", "W2"),
        flow(2, "W1", "m2"),
        flow(3, "g1", "W2"),
        flow(4, "W2", "g1"),
        flow(5, "m1", "g2"),
    ];
    let result = run(&format!(
        "{STATIC}{}[radio]\narp = false\n{}{}",
        measure(60.0, 0.0),
        two_gateways(),
        flows.concat()
    ));
    let wire = 0.8e-3;
    // One idle hop at 11 Mb/s with its mean backoff: see delay.rs.
    let hop = |payload: f64| {
        25e-6 + 50e-6 + 300e-6 + 676e-6 + 192e-6 + (payload + 62.0) * 8.0 / 11e6 + 25e-6 + 2e-6
    };
    let expected = [
        (1, hop(972.0) + 15e-3 + 2.0 * wire),
        (1, hop(972.0) + 20e-3 + wire),
        (1, hop(972.0) + 25e-3 + 2.0 * wire),
        (0, 15e-3 + 2.0 * wire),
        (0, 15e-3 + 2.0 * wire),
        (2, 2.0 * hop(972.0) + 0.3e-3),
    ];
    for (f, (hops, seconds)) in result.flows.iter().zip(expected) {
        assert_eq!((f.hops, f.loss_ratio.map(|loss| loss == 0.0)), (Some(hops), Some(true)), "{f:?}");
        close(&format!("{} to {}", f.from, f.to), delay(f), seconds, 0.05);
    }
    let radio: Vec<_> =
        result.links.iter().filter(|l| !l.from.contains('W') && !l.to.contains('W')).collect();
    let names: Vec<_> = radio.iter().map(|l| format!("{}-{}", l.from, l.to)).collect();
    assert_eq!(names, ["m1-g1", "m1-m2", "m2-g2", "g2-m2"]);
}

#[test]
fn wired_hosts_reach_each_other_through_a_gateway() {
    let nodes = format!("{}{}{}", node("g", 0.0, 0.0), wired("a"), wired("b"));
    let links = format!("{}{}", link("a", "g", "10Mbps", "3ms"), link("g", "b", "10Mbps", "4ms"));
    for scheme in ["newreno", "tcp-gap"] {
        let defaults = format!("[defaults]\nscheme = \"{scheme}\"\n");
        let flows = format!("{}{}", cbr("a", "b", 1e5, 972), flow("b", "a", ""));
        let result = run(&format!("{defaults}{}{nodes}{links}{flows}", measure(5.0, 1.0)));
        close("delay", delay(&result.flows[0]), 7e-3 + 1.6e-3, 0.05);
        assert_eq!((result.flows[1].hops, result.frames), (Some(0), 0));
        assert!(result.flows[1].goodput_bps > 8e6, "{scheme}: {}", result.flows[1].goodput_bps);
    }
}

#[test]
fn every_pair_of_ends_works_with_every_kind_of_gateway() {
    let ends = ["g1", "m1", "m2", "g2", "W1", "W2"];
    for scheme in ["newreno", "tcp-gap"] {
        for routing in ["static", "aodv", "dsdv"] {
            let head = format!("[defaults]\nscheme = \"{scheme}\"\n[routing]\nprotocol = \"{routing}\"\n");
            let mut flows = String::new();
            for (index, from) in ends.iter().enumerate() {
                for (other, to) in ends.iter().enumerate().filter(|(other, _)| *other != index) {
                    let start = f64::from((6 * index + other) as u32) * 0.5;
                    flows += &flow(from, to, &format!("app = \"transfer\"\nbytes = 5000\nstart = {start}"));
                }
            }
            let result = run(&format!("{head}{}{}{flows}", measure(40.0, 0.0), two_gateways()));
            for f in &result.flows {
                assert_eq!(f.delivered_bytes, 5000, "{scheme}, {routing}: {f:?}");
                assert!(f.completed_s.is_some());
            }
        }
    }
}

#[test]
fn a_mesh_of_one_gateway_is_a_wired_network() {
    let nodes = format!("{}{}{}", node("g", 5.0, 5.0), wired("B"), link("g", "B", "100Mbps", "20ms"));
    for (scheme, routing) in
        [("newreno", "aodv"), ("tcp-gap", "static"), ("tcp-ap", "dsdv"), ("tcp-gap", "aodv")]
    {
        let head = format!("[defaults]\nscheme = \"{scheme}\"\n[routing]\nprotocol = \"{routing}\"\n");
        let flows = format!("{}{}", flow("g", "B", ""), flow("B", "g", ""));
        let result = run(&format!("{head}{}{nodes}{flows}", measure(6.0, 1.0)));
        for f in &result.flows {
            assert_eq!((f.hops, f.retransmits), (Some(0), Some(0)), "{scheme} {routing}: {f:?}");
            assert!(f.goodput_bps > 5e4, "{scheme} {routing}: {f:?}");
        }
        assert_eq!(result.jain_per_hop, None, "no wireless hops to divide by");
    }
}

#[test]
fn islands_do_not_touch_each_other() {
    let island = |name: &str, x: f64| {
        let ids = [format!("{name}0"), format!("{name}1"), format!("{name}g"), format!("{name}W")];
        [
            node(&ids[0], x, 0.0),
            node(&ids[1], x + 200.0, 0.0),
            node(&ids[2], x + 400.0, 0.0),
            wired(&ids[3]),
            link(&ids[2], &ids[3], "10Mbps", "10ms"),
            flow(&ids[0], &ids[3], ""),
        ]
        .concat()
    };
    for (scheme, routing) in
        [("newreno", "aodv"), ("tcp-gap", "aodv"), ("tcp-gap", "static"), ("newreno", "dsdv")]
    {
        let head = format!(
            "[defaults]\nscheme = \"{scheme}\"\n[routing]\nprotocol = \"{routing}\"\n{}",
            measure(8.0, 1.0)
        );
        let both = run(&format!("{head}{}{}", island("a", 0.0), island("b", 50_000.0)));
        for f in &both.flows {
            assert_eq!(f.hops, Some(2));
            assert!(f.goodput_bps > 2e5, "{f:?}");
        }
        // The first island's draws do not depend on there being a second.
        let alone = run(&format!("{head}{}", island("a", 0.0)));
        assert_eq!(both.flows[0], alone.flows[0], "{scheme} {routing}");
    }
}

#[test]
fn an_idle_mesh_is_silent_under_static_routes_and_aodv() {
    for routing in ["static", "aodv"] {
        let head = format!("[defaults]\nscheme = \"tcp-gap\"\n[routing]\nprotocol = \"{routing}\"\n");
        let late = flow("m1", "W1", "start = 9");
        let (result, record) = record(&format!("{head}{}{}{late}", measure(9.0005, 0.0), two_gateways()));
        assert!(record.frames.iter().all(|seen| seen.at.as_secs_f64() >= 9.0));
        assert!(result.links.iter().all(|l| l.queue_drops == 0), "only wired rows, all zero");
        assert!(row(&result, "m1", "g1").is_none());
    }
}
