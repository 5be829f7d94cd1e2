//! Radio links that the file lists, instead of places and on top of them.

use super::support::{cbr, chain, flow, measure, node, row, run};

const STATIC: &str = "[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"static\"\n";

fn link(from: &str, to: &str, keys: &str) -> String {
    format!("[[radio_link]]\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}\n")
}

fn nodes(names: &[&str]) -> String {
    names.iter().map(|id| format!("[[node]]\nid = \"{id}\"\n")).collect()
}

#[test]
fn without_places_the_links_are_the_way() {
    for routing in ["static", "aodv", "dsdv"] {
        let text = format!(
            "[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"{routing}\"\n{}{}{}{}{}",
            measure(20.0, 0.0),
            nodes(&["a", "b", "c", "d"]),
            ["ab", "bc", "cd"].map(|ends| link(&ends[..1], &ends[1..], "")).concat(),
            cbr("a", "d", 1e4, 500),
            flow("d", "a", "")
        );
        let result = run(&text);
        assert_eq!(result.flows.iter().map(|f| f.hops).collect::<Vec<_>>(), [Some(3), Some(3)], "{routing}");
        assert!(result.flows[1].goodput_bps > 5e4, "{routing}: {:?}", result.flows);
    }
}

#[test]
fn a_link_is_sensed_and_decoded_and_nothing_else_is() {
    // a and c both send to b and do not hear each other. With places 400 m apart each would sense the other.
    let both = [cbr("a", "b", 2e6, 1000), cbr("c", "b", 2e6, 1000)].concat();
    let head = format!("{STATIC}[radio]\narp = false\nrts = \"never\"\n{}", measure(5.0, 0.0));
    let lost = |mesh: &str| {
        let result = run(&format!("{head}{mesh}{both}"));
        row(&result, "a", "b").expect("a row").collisions + row(&result, "c", "b").expect("a row").collisions
    };
    let hidden = lost(&[nodes(&["a", "b", "c"]), link("a", "b", ""), link("c", "b", "")].concat());
    let sensing =
        lost(&[nodes(&["a", "b", "c"]), link("a", "b", ""), link("c", "b", ""), link("a", "c", "")].concat());
    let only_sensing = lost(
        &[nodes(&["a", "b", "c"]), link("a", "b", ""), link("c", "b", ""), link("a", "c", "decoded = false")]
            .concat(),
    );
    assert!(
        hidden > 10 * sensing && hidden > 10 * only_sensing && hidden > 1000,
        "{hidden} collisions hidden, {sensing} in each other's hearing, {only_sensing} in that of energy"
    );
    // What is only sensed leads nowhere.
    let way = |keys: &str| {
        let mesh =
            [nodes(&["a", "b", "c"]), link("a", "b", ""), link("c", "b", ""), link("a", "c", keys)].concat();
        run(&format!("{head}{mesh}{}", cbr("a", "c", 1e4, 500))).flows[0].hops
    };
    assert_eq!((way(""), way("decoded = false")), (Some(1), Some(2)));
}

#[test]
fn the_rate_of_a_link_is_that_of_its_data_frames() {
    let mesh = |rate: &str| {
        let text = format!(
            "{STATIC}{}{}{}{}",
            measure(5.0, 1.0),
            nodes(&["a", "b"]),
            link("a", "b", rate),
            flow("a", "b", "")
        );
        run(&text).flows[0].goodput_bps
    };
    assert!(mesh("") > 2.0 * mesh("rate = \"2Mbps\""));
}

#[test]
fn a_one_way_link_carries_no_flow_and_no_route() {
    // The short way over x has no way back: static routes go around.
    let text = format!(
        "{STATIC}{}{}{}{}{}",
        measure(5.0, 0.0),
        nodes(&["a", "b", "c", "d"]),
        ["ab", "bc", "cd"].map(|ends| link(&ends[..1], &ends[1..], "")).concat(),
        link("a", "d", "symmetric = false"),
        cbr("a", "d", 1e5, 500)
    );
    let f = run(&text).flows[0].clone();
    assert_eq!(f.hops, Some(3));
    assert!(f.loss_ratio.is_some_and(|loss| loss < 0.1), "{f:?}");
}

#[test]
fn a_link_on_top_of_places_joins_what_is_out_of_range() {
    let mesh = [node("a", 0.0, 0.0), node("b", 200.0, 0.0), node("c", 700.0, 0.0)].concat();
    let text = format!("{STATIC}{}{mesh}{}{}", measure(5.0, 0.0), link("b", "c", ""), flow("a", "c", ""));
    let f = run(&text).flows[0].clone();
    assert_eq!(f.hops, Some(2));
    assert!(f.goodput_bps > 5e5, "{f:?}");
}

#[test]
fn height_takes_nodes_apart() {
    let text = |height: u32| {
        format!(
            "{STATIC}{}[topology]\nkind = \"explicit\"\nconnected = false\n{}[[node]]\nid = \"b\"\nx = 240\ny = 0\nheight = {height}\n{}",
            measure(3.0, 0.0),
            node("a", 0.0, 0.0),
            cbr("a", "b", 1e5, 500)
        )
    };
    let bytes = |height| run(&text(height)).flows[0].delivered_bytes;
    assert!(bytes(70) > 30_000);
    assert_eq!(bytes(71), 0, "250.3 m");
}

#[test]
fn a_flow_that_cannot_arrive_runs_if_the_file_allows_it() {
    let mesh = [node("a", 0.0, 0.0), node("b", 200.0, 0.0), node("far", 9000.0, 0.0)].concat();
    for routing in ["static", "aodv", "dsdv"] {
        let flows =
            [flow("a", "far", ""), flow("far", "B", ""), flow("B", "far", ""), flow("b", "a", "")].concat();
        let text = format!(
            "[defaults]\nscheme = \"tcp-gap\"\n[routing]\nprotocol = \"{routing}\"\n{}\
             [topology]\nkind = \"explicit\"\nconnected = false\ngateway = \"a\"\n{mesh}{flows}",
            measure(5.0, 0.0)
        );
        let result = run(&text);
        let got: Vec<bool> = result.flows.iter().map(|f| f.delivered_bytes > 0).collect();
        assert_eq!(got, [false, false, false, true], "{routing}");
    }
}

#[test]
fn a_mesh_without_flows_runs() {
    for routing in ["static", "aodv", "dsdv"] {
        let text = format!("{}{}", measure(5.0, 0.0), chain(3).replace("static", routing));
        let result = run(&text);
        assert_eq!((result.flows.len(), result.aggregate_goodput_bps, result.jain), (0, 0.0, None));
        // A sum of nothing is 0, not the -0 that compares equal and is printed otherwise.
        assert_eq!([result.aggregate_goodput_bps, result.log_utility].map(f64::to_bits), [0, 0]);
        assert_eq!(result.frames > 0, routing == "dsdv", "{routing}");
    }
}
