//! Ingress throttling in the whole: what the oracle counts, what a gate holds a flow to, what load is accounted.

use super::support::{measure, run, run_seed, scenario};
use meshpace_mesh::RunResult;

/// Chains of 3 hops side by side, a flow on each (Osipov and Tschudin 2005, Fig. 4).
fn strip(rows: u32, gap: u32, keys: &str, flows: &str) -> String {
    let radio = "[radio]\nrate = \"2Mbps\"\nrts = \"never\"\n[routing]\nprotocol = \"static\"\n";
    let topology =
        format!("[topology]\nkind = \"strip\"\nrows = {rows}\nhops = 3\nspacing = 126\ngap = {gap}\n");
    let flow = format!(
        "[defaults]\nscheme = \"throttle\"\nsegment = 600\nstart_jitter = 0\nwindow = 4\n\
         [[flow]]\nfrom = \"f{{}}n0\"\nto = \"f{{}}n3\"\npath = [\"f{{}}n0\", \"f{{}}n1\", \"f{{}}n2\", \"f{{}}n3\"]\ncount = {rows}\n{flows}\n"
    );
    format!("{}{radio}{topology}{flow}[scheme.throttle]\n{keys}\n", measure(12.0, 2.0))
}

fn goodputs(result: &RunResult) -> Vec<f64> {
    result.flows.iter().map(|flow| flow.goodput_bps).collect()
}

#[test]
fn the_oracle_counts_flows_within_range_of_the_way() {
    let oracle = |gap| goodputs(&run(&strip(3, gap, "", "")));
    let told = |gap, flows| goodputs(&run(&strip(3, gap, &format!("ot_N = {flows}"), "")));
    assert_eq!(oracle(25), told(25, 3));
    assert_eq!(oracle(5000), told(5000, 1));
}

/// The nodes of a way hear of the same flows as the oracle knows, and of a flow that stops a period later.
#[test]
fn what_is_counted_along_the_way_comes_to_what_the_oracle_knows() {
    let late = |keys: &str, gap| goodputs(&run(&strip(3, gap, keys, "").replace("warmup = 2", "warmup = 4")));
    for (gap, told) in [(25, "ot_N = 3"), (5000, "ot_N = 1")] {
        for (counted, told) in late("ot_N = \"counted\"", gap).iter().zip(late(told, gap)) {
            assert!((counted / told - 1.0).abs() < 0.02, "rows {gap} m apart: {counted} against {told}");
        }
    }
    let rest = |keys: &str| {
        let text = strip(2, 25, keys, "").replace("count = 2", "count = 1");
        let second = "[[flow]]\nfrom = \"f2n0\"\nto = \"f2n3\"\npath = [\"f2n0\", \"f2n1\", \"f2n2\", \"f2n3\"]\nstop = 4\n";
        let text = text.replace("[scheme.throttle]", &format!("{second}[scheme.throttle]"));
        goodputs(&run(&text.replace("warmup = 2", "warmup = 10").replace("duration = 12", "duration = 16")))
            [0]
    };
    let (counted, alone, two) = (rest("ot_N = \"counted\""), rest("ot_N = 1"), rest("ot_N = 2"));
    assert!(
        (counted / alone - 1.0).abs() < 0.02 && two < 0.8 * counted,
        "{counted}: {alone} alone, {two} of two"
    );
}

/// h 3, N 3, alpha 1, MSS 600: no more than L_TCP_crit / (h N) of 674-byte packets, 8 * 600 / 5392 of that in payload.
#[test]
fn a_gate_holds_flows_to_their_bound() {
    let bound = 1_200_000.0 / 9.0 * 600.0 / 674.0;
    let serial = goodputs(&run(&strip(3, 25, "ot_crit = \"1.2Mbps\"\not_alpha = 1", "")));
    let spacing =
        goodputs(&run(&strip(3, 25, "ot_crit = \"1.2Mbps\"\not_alpha = 1\not_gate = \"spacing\"", "")));
    for (serial, spacing) in serial.iter().zip(&spacing) {
        assert!(spacing / bound > 0.97 && spacing / bound < 1.01, "{spacing} against {bound}");
        // The MAC's time comes on top of the delay.
        assert!(serial / bound > 0.75 && serial < spacing, "{serial} against {spacing}");
    }
}

/// The others have a silent flow's part once N tells of it (schemes.md 4, "Edge cases").
#[test]
fn a_flow_that_stops_leaves_its_part_to_others_that_hear_of_it() {
    let half = |keys: &str| {
        let text = strip(2, 25, keys, "on = [[0, 12]]").replace("count = 2", "count = 1");
        let second = "[[flow]]\nfrom = \"f2n0\"\nto = \"f2n3\"\npath = [\"f2n0\", \"f2n1\", \"f2n2\", \"f2n3\"]\nstop = 4\n";
        goodputs(&run(&text.replace("[scheme.throttle]", &format!("{second}[scheme.throttle]"))))[0]
    };
    let (fixed, told) = (half("ot_N = 2"), half(""));
    assert!(told > 1.3 * fixed, "{told} against {fixed}");
}

/// What a lossless chain puts on the air: each packet at each hop once, in both directions.
#[test]
fn load_is_what_every_node_sent_for_a_flow() {
    let result = run(&strip(1, 25, "ot_N = 9", ""));
    let flow = &result.flows[0];
    let names: Vec<_> = flow.load.iter().map(|load| load.node.as_str()).collect();
    assert_eq!(names, ["f1n0", "f1n1", "f1n2", "f1n3"]);
    let delivered = flow.delivered_bytes / 600;
    for load in &flow.load {
        let (data, ack) = (&load.data, &load.ack);
        let [sends, answers] = [load.node != "f1n3", load.node != "f1n0"].map(u64::from);
        assert!(data.packets.abs_diff(sends * delivered) <= 4, "{load:?}, {delivered} delivered");
        assert!(ack.packets.abs_diff(answers * delivered) <= 4, "{load:?}, {delivered} delivered");
        assert_eq!((data.packet_bytes, ack.packet_bytes), (640 * data.packets, 40 * ack.packets));
        assert!(
            data.attempts >= data.packets.saturating_sub(1) && data.bytes == 640 * data.attempts,
            "{load:?}"
        );
    }
    let sent: u64 = result.links.iter().filter_map(|link| link.attempts).sum();
    let counted: u64 = flow.load.iter().map(|load| load.data.attempts + load.ack.attempts).sum();
    assert_eq!(sent, counted, "no RTS, and nothing else on the air");
}

/// The table that ships is of one rate: at another one somebody has to say what the region carries.
#[test]
fn the_table_is_for_its_rate_alone() {
    let text = strip(2, 25, "", "").replace("2Mbps", "11Mbps");
    let error = meshpace_mesh::run(&scenario(&text, 1)).expect_err("the table is of 2 Mbit/s");
    assert!(error.to_string().contains("ot_crit"), "{error}");
    let told = "[scheme.throttle]\not_crit = \"5Mbps\"\n";
    run_seed(&text.replace("[scheme.throttle]", &format!("{told}ot_alpha = 1")), 1);
    let refused = |text: &str| {
        meshpace_mesh::run(&scenario(text, 1)).expect_err("it is of another gate or radio").to_string()
    };
    assert!(refused(&text.replace("[scheme.throttle]", told)).contains("scheme.throttle.ot_alpha"));
    assert!(refused(&strip(2, 25, "ot_count = \"once\"", "")).contains("ot_count"));
    for keys in ["ot_gate = \"spacing\"", "ot_rho = \"text\"", "ot_crit = \"1Mbps\"\not_count = \"once\""] {
        let error = refused(&strip(2, 25, keys, ""));
        assert!(error.contains("ot_alpha"), "{keys}: {error}");
        run_seed(&strip(2, 25, &format!("{keys}\not_alpha = 1"), ""), 1);
    }
}
