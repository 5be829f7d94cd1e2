//! TCP-GAP across the whole path: which end paces, what the option says, what goodput control does.

use super::support::{Record, cbr, chain, close, flow, measure, record, run};
use meshpace_mesh::RunResult;
use meshpace_mesh::result::FlowResult;
use meshpace_relay::packet::{Body, Packet};
use meshpace_units::Span;

const GAP: &str = "[defaults]\nscheme = \"tcp-gap\"\n";
const MESH_GAP: &str = "[mesh]\nscheme = \"tcp-gap\"\n";

/// The values of the RTT option on the air from `node`, and the sizes of the packets that carry it.
fn options(record: &Record, node: u32) -> Vec<(Span, u64)> {
    let option = |packet: &Packet| match &packet.body {
        Body::Tcp(segment) => Some((segment.options.rtt_wired?, packet.size.0)),
        _ => None,
    };
    record
        .frames
        .iter()
        .filter(|f| f.frame.from.0 == node)
        .filter_map(|f| option(f.packet.as_ref()?))
        .collect()
}

#[test]
fn the_option_carries_the_wired_round_trip() {
    for (delay_ms, rate_mbps, hops) in [(40.0, 10.0, 3.0), (3.0, 100.0, 1.0), (20.0, 2.0, 2.0)] {
        let wired = format!(
            "wired_delay = \"{delay_ms}ms\"\nwired_rate = \"{rate_mbps}Mbps\"\nwired_hops = {hops}\n"
        );
        let topology =
            format!("[topology]\nkind = \"chain\"\nhops = 4\n{wired}[routing]\nprotocol = \"static\"\n");
        // One segment a time: nothing queues.
        let (_, record) =
            record(&format!("{GAP}{}{topology}{}", measure(6.0, 1.0), flow("n0", "B", "window = 1")));
        let seen = options(&record, 4);
        // Both ways, and both serialisations on every link (schemes.md 17.2: no link header), in whole ms (3.2).
        let expected = hops * (2.0 * delay_ms + (1500.0 + 40.0) * 8.0 / (rate_mbps * 1e3));
        assert!(seen.len() > 10);
        for (value, size) in seen {
            assert!(
                (value.as_secs_f64() * 1e3 - expected).abs() <= 0.5 + 1e-6,
                "{value:?} instead of {expected} ms"
            );
            assert_eq!(
                (value.as_micros() % 1000, size),
                (0, 48),
                "whole milliseconds, 40 bytes and the option's 8"
            );
        }
    }
}

#[test]
fn acknowledgements_get_as_much_longer_as_the_option_is_said_to_be() {
    for length in [0, 4] {
        let head = format!("[scheme.tcp-gap]\ngap_option_length = {length}\n{GAP}{}", measure(3.0, 0.0));
        let (_, record) = record(&format!("{head}{}{}", chain(2), flow("n0", "B", "")));
        let seen = options(&record, 2);
        assert!(seen.len() > 10 && seen.iter().all(|&(_, size)| size == 40 + length), "{seen:?}");
    }
}

#[test]
fn a_file_after_a_pause_waits_for_a_timer_and_not_for_a_token() {
    // Files of one segment: nothing of the same flow holds one back but the gate itself.
    let goodput = |from: &str, to: &str, setting: &str| {
        let keys = "app = \"http\"\nfile_mean = 1000\nfile_shape = 50\npause_mean = 0.3";
        let head = format!("[scheme.tcp-gap]\n{setting}\n{GAP}{}", measure(20.0, 2.0));
        run(&format!("{head}{}{}", chain(2), flow(from, to, keys))).flows[0].goodput_bps
    };
    for (from, to) in [("n0", "B"), ("B", "n0")] {
        let [token, timer] = ["", "gap_pacer = \"timer\""].map(|setting| goodput(from, to, setting));
        assert!(timer < 0.99 * token, "{from}: {timer} after {token}");
    }
}

#[test]
fn a_gateway_paces_before_the_first_sample_if_told_to() {
    let gap = |setting: &str| {
        let head = format!("[scheme.tcp-gap]\n{setting}\n{GAP}{}", measure(2.0, 0.0));
        let (_, seen) = record(&format!("{head}{}{}", chain(2), flow("B", "n0", "")));
        let at: Vec<f64> = seen.data_from(2).take(2).map(|seen| seen.us()).collect();
        at[1] - at[0]
    };
    let (at_once, paced) = (gap(""), gap("gap_initial_interval = \"900ms\""));
    // Until the first ACK is back, and its round trip tells the pace.
    assert!(paced > 1.5 * at_once && paced < 900e3, "{paced} us after {at_once} us");
}

#[test]
fn the_sender_paces_by_the_wireless_part_alone() {
    let text = |window: u32| {
        format!("{GAP}{}{}{}", measure(20.0, 5.0), chain(4), flow("n0", "B", &format!("window = {window}")))
    };
    let (result, seen) = record(&text(1));
    let f = &result.flows[0];
    let khd = seen.samples.last().and_then(|(_, sample)| sample.khd).expect("a k-hop delay");
    // 4 hops of data and of 48-byte acknowledgements, each with its mean backoff; schemes.md 1.4 (1.3), k = 4.
    let hop = |mpdu: f64| 50e-6 + 50e-6 + 300e-6 + 676e-6 + 192e-6 + mpdu * 8.0 / 11e6;
    let wireless = 4.0 * (hop(1534.0) + hop(82.0));
    let expected = 2.0 * (wireless / 4.0 + 11_680.0 / 11e6);
    close("k-hop delay", khd, expected, 0.15);
    close("round trip", f.srtt_s.expect("samples"), 0.2437 + wireless, 0.05);
    let interval = f.pacing_interval_s.expect("paced");
    assert!(interval > khd * 0.9 && interval < 2.0 * khd, "{interval} {khd}");
    // Saturated: data leave no faster than the interval.
    let busy = &run(&text(64)).flows[0];
    assert!(busy.goodput_bps < 1.02 * 1460.0 * 8.0 / busy.pacing_interval_s.expect("paced"));
    assert_eq!(busy.timeouts, Some(0));
}

#[test]
fn hops_from_the_gateways_table_are_the_acknowledgements_on_a_chain() {
    // schemes.md 1.2: equal on chains, not under AODV.
    let at = |seconds: f64, hops: &str, network: &str| {
        let scheme = format!("[scheme.tcp-gap]\ngap_h = \"{hops}\"\n");
        let result = run(&format!("{scheme}{GAP}{}{network}", measure(seconds, 5.0)));
        let numbers = |f: &FlowResult| (f.delivered_bytes, f.pacing_interval_s.map(f64::to_bits));
        result.flows.iter().map(numbers).collect::<Vec<_>>()
    };
    let static_chain = format!("{}{}", chain(4), flow("n0", "B", ""));
    let alike = at(20.0, "ack", &static_chain);
    assert!(alike[0].1.is_some() && alike[0].0 > 100_000, "{alike:?}");
    assert_eq!(alike, at(20.0, "route", &static_chain));
    let random = "[topology]\nkind = \"random\"\nnodes = 30\nwidth = 1000\nheight = 1000\n";
    let walk =
        "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 50\nspeed_max = 100\narea = [1000, 1000]\n";
    let moving = format!("{random}{walk}{}{}", flow("n0", "B", ""), flow("n1", "B", ""));
    assert_ne!(
        at(200.0, "ack", &moving),
        at(200.0, "route", &moving),
        "the table has another route, or none, at times"
    );
}

#[test]
fn the_gateway_paces_what_comes_from_the_wired_part() {
    let network = format!("{}{}", measure(20.0, 5.0), chain(4));
    let (result, seen) = record(&format!("{GAP}{network}{}", flow("B", "n0", "")));
    let f = &result.flows[0];
    let interval = f.pacing_interval_s.expect("paced at the gateway");
    close("rate", f.pacing_rate_bps.expect("paced"), 1500.0 * 8.0 / interval, 0.1);
    assert!(
        options(&seen, 4).is_empty() && options(&seen, 0).is_empty(),
        "the option is for senders in the mesh"
    );
    // Departures from the gateway: the first transmissions of new segments, in order of the air.
    let leave: Vec<f64> =
        seen.data_from(4).filter(|f| !f.frame.retry && f.us() > 5e6).map(|f| f.us() * 1e-6).collect();
    let gaps: Vec<f64> = leave.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!(mean > 0.9 * interval, "a packet every {mean} s on the mean, paced at {interval} s");
    let bursts = gaps.iter().filter(|gap| **gap < 0.4 * interval).count();
    assert!(bursts < gaps.len() / 10, "{bursts} of {} gaps are short", gaps.len());
    // The unpaced gateway sends in bursts.
    let (_, bare) = record(&format!("[defaults]\nscheme = \"newreno\"\n{network}{}", flow("B", "n0", "")));
    let leave: Vec<f64> =
        bare.data_from(4).filter(|f| !f.frame.retry && f.us() > 5e6).map(|f| f.us() * 1e-6).collect();
    let short = leave.windows(2).filter(|pair| pair[1] - pair[0] < 0.4 * interval).count();
    assert!(short > leave.len() / 5, "{short} of {}", leave.len());
}

#[test]
fn wired_senders_need_no_support() {
    let flows = |scheme: &str| {
        let quiet = flow("n0", "B", "app = \"transfer\"\nbytes = 1000\nscheme = \"tahoe\"");
        format!("{}{quiet}", flow("B", "n0", &format!("scheme = \"{scheme}\"")))
    };
    let at =
        |scheme: &str| run(&format!("{GAP}{MESH_GAP}{}{}{}", measure(15.0, 5.0), chain(4), flows(scheme)));
    let (plain, own) = (at("newreno"), at("tcp-gap"));
    assert_eq!((plain.scheme.as_str(), plain.flows[0].scheme.as_str()), ("tcp-gap", "newreno"));
    // The sender of tcp-gap in the wired part is NewReno: the same run.
    let numbers = |r: &RunResult| {
        let f = &r.flows[0];
        (r.frames, f.delivered_bytes, f.pacing_interval_s.map(f64::to_bits), f.retransmits)
    };
    assert_eq!(numbers(&plain), numbers(&own));
    assert!(plain.flows[0].pacing_interval_s.is_some());
}

#[test]
fn a_mesh_sender_without_support_runs_unpaced_through_the_gateway() {
    let network = format!("{GAP}{MESH_GAP}{}{}", measure(15.0, 5.0), chain(4));
    let (result, seen) = record(&format!("{network}{}", flow("n0", "B", "scheme = \"newreno\"")));
    let f = &result.flows[0];
    assert_eq!((f.pacing_interval_s, f.pacing_rate_bps), (None, None));
    assert!(!options(&seen, 4).is_empty(), "the gateway tells all the same");
    assert!(f.goodput_bps > 1e5);
}

/// One flow each way over parallel chains that disturb each other.
fn mixed(scheme: &str, keys: &str) -> RunResult {
    let flows = format!("{}{}", flow("A1", "B", ""), flow("B", "A2", ""));
    let head =
        format!("[scheme.{scheme}]\n{keys}\n[defaults]\nscheme = \"{scheme}\"\n{}", measure(60.0, 10.0));
    run(&format!("{head}[topology]\nkind = \"parallel-chains\"\n[routing]\nprotocol = \"static\"\n{flows}"))
}

#[test]
fn goodput_control_holds_the_downward_flow_back() {
    let (with, without) = (mixed("tcp-gap", ""), mixed("tcp-gap-nogc", ""));
    let share = |r: &RunResult| r.flows[1].goodput_bps / r.aggregate_goodput_bps;
    let interval = |r: &RunResult| r.flows[1].pacing_interval_s.expect("paced");
    assert!(share(&without) > 0.55, "the downward flow wins: {}", share(&without));
    assert!(share(&with) < share(&without) - 0.02, "{} {}", share(&with), share(&without));
    assert!(interval(&with) > interval(&without));
}

#[test]
fn parameters_of_goodput_control_are_heeded() {
    // A threshold that nobody reaches is no control at all.
    let (none, high) = (mixed("tcp-gap-nogc", ""), mixed("tcp-gap", "gc_threshold = 1000"));
    let bytes = |r: &RunResult| [r.flows[0].delivered_bytes, r.flows[1].delivered_bytes];
    assert_eq!(bytes(&none), bytes(&high));
    let base = bytes(&mixed("tcp-gap", ""));
    for keys in [
        "gc_interval = 1",
        "gc_aging = \"multiplicative\"",
        "gc_aging = \"additive-kbit\"",
        "gc_aging_factor = 20",
        "gc_improvement = 5",
    ] {
        assert_ne!(bytes(&mixed("tcp-gap", keys)), base, "{keys} changes nothing");
    }
    let often = |order: &str| mixed("tcp-gap", &format!("gc_interval = 1\ngc_order = \"{order}\""));
    assert_ne!(bytes(&often("figure")), bytes(&often("judge-first")));
}

/// A downward flow over a chain that loses packets: datagrams disturb it, and stations give up early.
fn lossy(keys: &str) -> RunResult {
    let head = format!("[scheme.tcp-gap]\n{keys}\n{GAP}{}", measure(40.0, 0.0));
    let radio = "[radio]\nrate = \"2Mbps\"\nretry_short = 4\n";
    let flows = format!("{}{}", flow("B", "n0", ""), cbr("n6", "n0", 1e5, 1000));
    run(&format!("{head}{radio}{}{flows}", chain(6)))
}

#[test]
fn local_retransmission_has_its_modes() {
    let [snoop, literal, off] =
        ["snoop", "literal", "off"].map(|mode| lossy(&format!("gap_dupack = \"{mode}\"")));
    let local = |r: &RunResult| r.gateways[0].local_retransmits;
    assert_eq!(local(&off), 0);
    assert!(local(&snoop) > 0);
    assert!(local(&literal) > local(&snoop), "{} {}", local(&literal), local(&snoop));
    let fast = |r: &RunResult| r.flows[0].fast_retransmits.expect("TCP");
    assert!(fast(&off) > 0, "duplicates reach the sender");
    assert_eq!(fast(&literal), 0, "no duplicate reaches the sender");
    assert!(snoop.flows[0].goodput_bps > 3e4 && literal.flows[0].goodput_bps > 1e4);
}

#[test]
fn a_gateway_without_room_passes_new_flows_unpaced() {
    let one = lossy("gap_buffer_total = 0");
    assert_eq!(one.flows[0].pacing_interval_s, None);
    assert!(one.flows[0].goodput_bps > 1e4);
    assert_eq!(one.gateways[0].local_retransmits, 0, "nothing is cached");
    let few = lossy("gap_flows_max = 0");
    assert_eq!(few.flows[0].pacing_interval_s, None);
    assert!(few.flows[0].goodput_bps > 1e4);
}

#[test]
fn a_slow_link_on_the_way_slows_the_pace() {
    let at = |rates: &str, ends: (&str, &str)| {
        let head = format!("{GAP}{}[radio]\nlink_rates = [{rates}]\n", measure(20.0, 5.0));
        let (_, seen) = record(&format!("{head}{}{}", chain(4), flow(ends.0, ends.1, "window = 1")));
        seen.samples.last().and_then(|(_, sample)| sample.khd).expect("a k-hop delay")
    };
    for ends in [("n0", "B"), ("B", "n0")] {
        let (from, to) = if ends.0 == "B" { ("n2", "n1") } else { ("n1", "n2") };
        let uniform = at("", ends);
        let slow = at(&format!("{{ from = \"{from}\", to = \"{to}\", rate = \"1Mbps\" }}"), ends);
        // schemes.md 1.4: the slowest stretch of four links carries the data, the rest of its round trip is shared.
        let more = (1500.0 + 68.0 - 40.0) * 8.0 * (1.0 / 1e6 - 1.0 / 11e6);
        assert!(slow - uniform > 0.8 * more && slow - uniform < 1.3 * more, "{uniform} {slow} {more}");
    }
}
