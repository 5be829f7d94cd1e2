//! Propagation and reception models, as they show in results.

use super::support::{cbr, chain, flow, measure, node, row, run, run_seed};
use meshpace_mesh::RunResult;

const STATIC: &str = "[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"static\"\n";

/// `a` sends to `b`, 200 m away; the hidden `c`, 600 m from `a`, 400 m from `b`, sends to `d`.
fn hidden_terminal(radio: &str) -> RunResult {
    let nodes = [node("a", 0.0, 0.0), node("b", 200.0, 0.0), node("c", 600.0, 0.0), node("d", 800.0, 0.0)];
    let flows = format!("{}{}", cbr("a", "b", 1e6, 1000), cbr("c", "d", 1e6, 1000));
    run(&format!(
        "{STATIC}{}[radio]\narp = false\nrts = \"never\"\n{radio}{}{flows}",
        measure(5.0, 0.0),
        nodes.concat()
    ))
}

#[test]
fn the_order_of_frames_matters_under_ns2_capture_alone() {
    let collisions = |result: &RunResult, from, to| row(result, from, to).expect("a row").collisions;
    let capture = hidden_terminal("reception = \"ns2-capture\"\n");
    // The weaker frame spoils the stronger one where it came first (schemes.md 17.1).
    let lost = collisions(&capture, "a", "b");
    assert!(lost > 100, "{lost}");
    // 12 dB above the interferer, whichever frame began first; below 13 dB nothing gets through an overlap.
    let sinr = hidden_terminal("reception = \"sinr\"\n");
    assert_eq!(collisions(&sinr, "a", "b"), 0);
    let strict = hidden_terminal("reception = \"sinr\"\nsinr_threshold_db = 13\n");
    assert!(collisions(&strict, "a", "b") > lost);
    let strict = hidden_terminal("capture_threshold_db = 13\n");
    assert!(collisions(&strict, "a", "b") > lost, "nor is it captured over then");
    // c and d are too far from a to spoil b's acknowledgements there; b spoils d's at c.
    assert!(row(&capture, "b", "a").is_none_or(|link| link.collisions == 0));
    assert!(row(&capture, "d", "c").expect("a row").collisions_ack > 100);
}

#[test]
fn without_power_every_overlap_within_the_sensing_range_is_a_collision() {
    let ranges = hidden_terminal("propagation = \"ranges\"\n");
    let two_ray = hidden_terminal("");
    let lost = |result: &RunResult| row(result, "a", "b").expect("a row").collisions;
    assert!(lost(&ranges) > 3 * lost(&two_ray) / 2, "{} {}", lost(&ranges), lost(&two_ray));
    let near = hidden_terminal("propagation = \"ranges\"\ncs_range = 399\n");
    assert_eq!(lost(&near), 0, "out of its sensing range c does not exist for b");
}

#[test]
fn every_model_has_the_ranges_that_it_is_given() {
    for model in ["two-ray", "log-distance", "ranges"] {
        let hops = |range: u32| {
            // Over 600 m to the metre a short packet is late where the duration field rounds its time down.
            let radio = format!(
                "[radio]\nack_timeout = \"5us\"\npropagation = \"{model}\"\ntx_range = {range}\ncs_range = 1000\n"
            );
            run(&format!(
                "{STATIC}{}{radio}{}{}",
                measure(1.0, 0.0),
                chain(6).replace("[routing]\nprotocol = \"static\"\n", ""),
                cbr("n0", "n6", 1e5, 100)
            ))
            .flows[0]
                .hops
        };
        assert_eq!(
            [hops(201), hops(399), hops(400), hops(401), hops(601)],
            [6, 6, 3, 3, 2].map(Some),
            "{model}"
        );
    }
}

#[test]
fn shadowing_is_drawn_a_link_from_the_seed() {
    let text = |db: u32| {
        let radio = format!("[radio]\npropagation = \"log-distance\"\nshadowing_db = {db}\n");
        let topology = "[topology]\nkind = \"grid\"\nrows = 3\ncols = 3\n[routing]\nprotocol = \"dsdv\"\n";
        let flows = format!("{}{}", cbr("g0_0", "g2_2", 5e4, 200), cbr("g2_2", "g0_0", 5e4, 200));
        format!("[defaults]\nscheme = \"newreno\"\n{}{radio}{topology}{flows}", measure(3.0, 0.0))
    };
    let hops = |db, seed| run_seed(&text(db), seed).flows.iter().map(|f| f.hops).collect::<Vec<_>>();
    for seed in 1..=8 {
        assert_eq!(hops(0, seed), [Some(4), Some(4)]);
    }
    let drawn: Vec<_> = (1..=8).map(|seed| hops(8, seed)).collect();
    // A link is as good one way as the other.
    assert!(drawn.iter().all(|both| both[0] == both[1]), "{drawn:?}");
    let mut kinds = drawn.clone();
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() >= 2, "{drawn:?}");
    assert!(drawn.iter().any(|both| both[0].is_some_and(|hops| hops < 4)), "{drawn:?}");
}

#[test]
fn more_noise_in_the_same_place_hurts_under_summed_interference() {
    // Three interferers, each 12 dB or more below the signal: together they are above the threshold.
    let nodes = |count: usize| {
        let far = [("c", 600.0, 0.0), ("d", 200.0, 400.0), ("e", 200.0, -400.0)];
        let senders: String = far[..count].iter().map(|(id, x, y)| node(id, *x, *y)).collect();
        let sinks: String =
            far[..count].iter().map(|(id, x, y)| node(&format!("{id}x"), *x + 60.0, *y * 1.1)).collect();
        let flows: String =
            far[..count].iter().map(|(id, ..)| cbr(id, &format!("{id}x"), 2e6, 1000)).collect();
        format!(
            "{}{}{senders}{sinks}{}{flows}",
            node("a", 0.0, 0.0),
            node("b", 200.0, 0.0),
            cbr("a", "b", 2e6, 1000)
        )
    };
    let lost = |count| {
        let radio = "[radio]\nrts = \"never\"\nreception = \"sinr\"\ncs_range = 260\n";
        let text = format!("{STATIC}{}{radio}{}", measure(3.0, 0.0), nodes(count));
        row(&run(&text), "a", "b").expect("a row").collisions
    };
    assert_eq!(lost(1), 0);
    assert!(lost(3) > 20, "{}", lost(3));
}

#[test]
fn a_transfer_gets_through_under_every_model() {
    for radio in [
        "reception = \"sinr\"",
        "propagation = \"ranges\"",
        "propagation = \"log-distance\"",
        "standard = \"802.11a\"",
    ] {
        let keys = "app = \"transfer\"\nbytes = 100000";
        let text = format!(
            "[defaults]\nscheme = \"newreno\"\n{}[radio]\n{radio}\n{}{}",
            measure(20.0, 0.0),
            chain(5),
            flow("n0", "n5", keys)
        );
        assert_eq!(run(&text).flows[0].delivered_bytes, 100_000, "{radio}");
    }
}
