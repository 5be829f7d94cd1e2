//! XCP and RCP against their closed forms, on a wired bottleneck: the published fixed points within 2 %.
//!
//! The table of docs/reproduction/we-tcp-ap.md: `cargo test -p meshpace-mesh --test engine explicit:: -- --nocapture`.
//!
//! ```text
//! s0 ──  1 ms ──╮
//! s1 ── 20 ms ──┼── r0 ══ 10 Mbit/s, 10 ms ══ r1 ── t
//! s2 ── 50 ms ──╯
//! ```

use super::support::{chain, close, flow, json, link, measure, node, row, run, run_seed, wired};
use meshpace_mesh::RunResult;

/// What the bottleneck gives to payload of 1,460 bytes in packets of 1,500.
const PAYLOAD: f64 = 10e6 * 1460.0 / 1500.0;

fn dumbbell(scheme: &str, keys: &str, flows: &[(usize, &str)]) -> RunResult {
    let hosts: String = ["s0", "s1", "s2", "r0", "r1", "t"].map(wired).concat();
    let access =
        [("s0", "1ms"), ("s1", "20ms"), ("s2", "50ms")].map(|(s, delay)| link(s, "r0", "100Mbps", delay));
    let links = format!(
        "{}{}{}",
        access.concat(),
        link("r0", "r1", "10Mbps", "10ms"),
        link("r1", "t", "100Mbps", "1ms")
    );
    let defaults = format!(
        "[defaults]\nscheme = \"{scheme}\"\nwindow = 2000\n[topology]\nkind = \"explicit\"\nwired_queue = 1000\n[scheme.{scheme}]\n{keys}\n"
    );
    let flows: String = flows.iter().map(|(from, keys)| flow(&format!("s{from}"), "t", keys)).collect();
    run(&format!("{defaults}{}{hosts}{}{links}{flows}", measure(60.0, 20.0), node("n", 0.0, 0.0)))
}

fn goodputs(result: &RunResult) -> Vec<f64> {
    result.flows.iter().map(|flow| flow.goodput_bps).collect()
}

/// Goodputs of flows that share the bottleneck, shown as parts of what the fixed point gives each.
fn beside_the_fixed_point(what: &str, result: &RunResult, each: f64) -> Vec<f64> {
    let shares = goodputs(result);
    let parts: Vec<String> =
        shares.iter().map(|share| format!("{:+.2} %", 100.0 * (share / each - 1.0))).collect();
    println!("| {what} | {} |", parts.join(", "));
    shares
}

/// Katabi, Handley, Rohrs 2002, section 3: the link full, no queue, equal shares whatever the round trips. The round trips
/// are 24, 62 and 122 ms.
#[test]
fn xcp_fills_the_link_and_shares_it_equally_whatever_the_round_trips() {
    let result = dumbbell("xcp", "", &[(0, ""), (1, ""), (2, "")]);
    let shares = beside_the_fixed_point("XCP: C/3", &result, PAYLOAD / 3.0);
    close("the link is full", shares.iter().sum(), PAYLOAD, 0.02);
    for share in &shares {
        close("an equal share", *share, PAYLOAD / 3.0, 0.02);
    }
    assert_eq!(row(&result, "r0", "r1").expect("its row").queue_drops, 0);
    assert!(result.flows.iter().all(|flow| flow.retransmits == Some(0)), "nothing is lost");
}

/// Without shuffling the link is full all the same, but the flow that was there first keeps what it has.
#[test]
fn without_shuffled_traffic_xcp_converges_to_no_shares() {
    let late = [(0, ""), (0, "start = 10")];
    let [first, second] = goodputs(&dumbbell("xcp", "xcp_gamma = 0.0", &late))[..] else {
        panic!("two flows")
    };
    close("the link is full", first + second, PAYLOAD, 0.02);
    assert!(first > 1.5 * second, "{first} {second}");
    let shared =
        beside_the_fixed_point("XCP, one 10 s later: C/2", &dumbbell("xcp", "", &late), PAYLOAD / 2.0);
    let [first, second] = shared[..] else { panic!("two flows") };
    close("an equal share", first, second, 0.02);
}

/// Dukkipati, McKeown: R = C/N, the link full, no queue.
#[test]
fn rcp_gives_every_flow_the_same_rate_and_fills_the_link() {
    let result = dumbbell("rcp", "", &[(0, ""), (1, ""), (2, "")]);
    for share in beside_the_fixed_point("RCP: C/3", &result, PAYLOAD / 3.0) {
        close("an equal share", share, PAYLOAD / 3.0, 0.02);
    }
    assert_eq!(row(&result, "r0", "r1").expect("its row").queue_drops, 0);
    assert!(result.flows.iter().all(|flow| flow.cwnd_mean.is_none()), "a rate, and no window");
}

/// With `gamma` below 1 the fixed point is that share of the capacity.
#[test]
fn rcp_aims_at_its_share_of_the_capacity() {
    let result = dumbbell("rcp", "rcp_gamma = 0.9", &[(0, ""), (2, "")]);
    let shares = beside_the_fixed_point("RCP, gamma 0.9: 0.9 C/2", &result, PAYLOAD * 0.45);
    close("the sum", shares.iter().sum(), PAYLOAD * 0.9, 0.02);
}

/// schemes.md 13, (13.1) and (13.2): on one bottleneck all rates grow by the same and are halved by the same marks, so they become
/// equal, whichever flow began first; the sum is a sawtooth that falls to half, 3/4 of the link on average and more where the queue
/// that marks late bridges the dip. Losses play no part.
#[test]
fn wcp_shares_a_bottleneck_equally_whoever_was_there_first() {
    let keys = "wcp_alpha = 2.0\nwcp_initial = 50";
    let late = [(0, ""), (0, "start = 10")];
    let marked = dumbbell("wcp", keys, &late);
    let [first, second] = goodputs(&marked)[..] else { panic!("two flows") };
    close("an equal share", first, second, 0.1);
    let share = (first + second) / PAYLOAD;
    assert!((0.75..1.0).contains(&share), "{share} of the link");
    let dropped = |result: &RunResult| row(result, "r0", "r1").expect("its row").queue_drops;
    assert_eq!(dropped(&marked), 0);
    // Where nothing counts as congested nobody slows down, and losses do not make them.
    let deaf = dumbbell("wcp", &format!("{keys}\nwcp_congested = 10000"), &late);
    assert!(dropped(&deaf) > 0 && deaf.aggregate_goodput_bps < 0.5 * PAYLOAD);
}

/// ```text
/// n0 -> n1 -> n2 -> n3 -> n4    one flow over four hops, another one over the last of them alone
/// ```
/// The short flow's link is in the neighbourhood of the long one's congested ones, so both are told to slow down; with NewReno
/// the short one takes nearly everything.
#[test]
fn wcp_leaves_a_long_flow_more_beside_a_short_one_than_newreno() {
    let share = |scheme: &str, keys: &str| {
        let text = format!(
            "{}[defaults]\nscheme = \"{scheme}\"\n{keys}{}{}{}",
            measure(90.0, 30.0),
            chain(4),
            flow("n0", "n4", ""),
            flow("n3", "n4", ""),
        );
        let [long, short] = goodputs(&run(&text))[..] else { panic!("two flows") };
        println!("{scheme} {keys}: {long:.0} {short:.0}");
        long / (long + short)
    };
    let wcp = share("wcp", "[scheme.wcp]\nwcp_initial = 20\n");
    let newreno = share("newreno", "");
    assert!(wcp > 2.0 * newreno && wcp > 0.1, "{wcp} {newreno}");
}

#[test]
fn the_header_is_as_long_as_said() {
    let airtime = |header: u32| {
        let text = format!(
            "{}[scheme.xcp]\nexplicit_header = {header}\n{}{}",
            measure(10.0, 0.0),
            chain(2),
            flow("n0", "n2", "scheme = \"xcp\"")
        );
        let result = run(&text);
        let link = row(&result, "n0", "n1").expect("its row");
        let sent = link.attempts.expect("a radio link") as f64;
        link.airtime_s.expect("a radio link") / sent
    };
    // 20 bytes more take 14.5 us more at 11 Mbit/s; some attempts end with the RTS.
    let more = airtime(20) - airtime(0);
    assert!((11e-6..16e-6).contains(&more), "{more}");
}

#[test]
fn explicit_control_works_in_a_mesh_and_is_the_same_every_time() {
    for scheme in ["xcp", "rcp", "wcp"] {
        let text = format!(
            "{}{}{}",
            measure(20.0, 5.0),
            chain(3),
            flow("n0", "n3", &format!("scheme = \"{scheme}\""))
        );
        let result = run_seed(&text, 3);
        assert!(result.flows[0].goodput_bps > 50e3, "{scheme}: {}", result.flows[0].goodput_bps);
        assert_eq!(json(result), json(run_seed(&text, 3)));
    }
}
