//! Where nodes stand and which hear which: places on the globe, radio links, gateways, what a seed places.

use meshpace_scenario::*;
use meshpace_units::{Instant, NodeId, Rate, Span};

fn file(text: &str) -> ScenarioFile {
    ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none()).unwrap_or_else(|e| panic!("{e}"))
}

fn resolve(text: &str) -> Scenario {
    file(text).resolve(1).unwrap_or_else(|e| panic!("{e}"))
}

fn place(scenario: &Scenario, node: usize) -> Position {
    scenario.mesh[node].position.expect("a place")
}

const NODES: &str = "node = [{ id = \"a\" }, { id = \"b\" }, { id = \"c\" }]\n";

#[test]
fn a_file_without_flows_is_a_scenario() {
    let scenario = resolve("[defaults]\nscheme = \"newreno\"\n[topology]\nkind = \"chain\"\nhops = 2\n");
    assert_eq!((scenario.flows.len(), scenario.mesh.len()), (0, 3));
    assert_eq!(scenario.network_scheme, "newreno");
}

#[test]
fn degrees_become_metres_around_the_first_node() {
    // Berlin's television tower, and 0.001 degrees (111 m) north, 0.001 (68 m) east of it.
    let text = "[[node]]\nid = \"a\"\nlat = 52.5208\nlon = \"13.4094deg\"\nheight = 100\n\
                [[node]]\nid = \"b\"\nlat = 52.5218\nlon = 13.4094\n[[node]]\nid = \"c\"\nlat = 52.5208\nlon = 13.4104\n\
                [[flow]]\nfrom = \"b\"\nto = \"c\"\n";
    let scenario = resolve(text);
    assert_eq!(place(&scenario, 0), Position { x: 0.0, y: 0.0, z: 100.0 });
    let (b, c) = (place(&scenario, 1), place(&scenario, 2));
    assert!((b.y - 111.3).abs() < 0.1 && b.x.abs() < 1e-9 && b.z == 0.0, "{b:?}");
    assert!((c.x - 67.9).abs() < 0.1 && c.y.abs() < 1e-9, "{c:?}");
}

#[test]
fn height_counts_as_distance() {
    let text = |height: f64| {
        format!(
            "[[node]]\nid = \"a\"\nx = 0\ny = 0\n[[node]]\nid = \"b\"\nx = 240\ny = 0\nheight = {height}\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\n"
        )
    };
    // 240 m along and 70 m up are 250 m.
    assert_eq!(place(&resolve(&text(70.0)), 1).z, 70.0);
    let error = file(&text(70.1)).resolve(1).expect_err("out of range");
    assert!(error.to_string().contains("cannot reach"), "{error}");
}

#[test]
fn radio_links_instead_of_places() {
    let text = format!(
        "{NODES}[[radio_link]]\nfrom = \"b\"\nto = \"c\"\nloss = 0.25\nburst = 4\nrate = \"2Mbps\"\n\
         [[radio_link]]\nfrom = \"a\"\nto = \"b\"\nsymmetric = false\n\
         [[radio_link]]\nfrom = \"b\"\nto = \"a\"\nsymmetric = false\nloss = 1\n[[flow]]\nfrom = \"a\"\nto = \"c\"\n"
    );
    let scenario = resolve(&text);
    assert!(scenario.mesh.iter().all(|node| node.position.is_none()));
    assert_eq!(scenario.radio.propagation, Propagation::Ranges);
    let (a, b, c) = (NodeId(0), NodeId(1), NodeId(2));
    let link = |from, to, loss, burst| RadioLink { from, to, mhz: None, loss, loss_length: None, burst };
    let expected = [
        link(a, b, 0.0, None),
        link(b, a, 1.0, None),
        link(b, c, 0.25, Some(4.0)),
        link(c, b, 0.25, Some(4.0)),
    ];
    assert_eq!(scenario.radio_links, expected);
    let mbps = |n: u64| Rate::bits_per_sec(n * 1_000_000);
    let rates = [(b, c), (c, b), (a, b)].map(|(from, to)| scenario.radio.rate_between(from, to));
    assert_eq!(rates, [mbps(2), mbps(2), mbps(11)]);
    let [first, second] = [0, 1].map(|node| scenario.drawn_at(NodeId(node)));
    assert!(first.distance(second) > 100.0, "nodes without places are drawn apart");
}

#[test]
fn radio_links_on_top_of_places() {
    let text = "[topology]\nkind = \"chain\"\nhops = 2\n[[radio_link]]\nfrom = \"n0\"\nto = \"n1\"\nloss = 0.1\n\
                [[node]]\nid = \"far\"\nx = 900\ny = 0\n[[radio_link]]\nfrom = \"n2\"\nto = \"far\"\n\
                [[flow]]\nfrom = \"n0\"\nto = \"far\"\n";
    let scenario = resolve(text);
    let pairs: Vec<_> = scenario.radio_links.iter().map(|link| (link.from.0, link.to.0, link.loss)).collect();
    assert_eq!(pairs, [(0, 1, 0.1), (1, 0, 0.1), (2, 3, 0.0), (3, 2, 0.0)]);
    assert_eq!(scenario.radio.propagation, Propagation::TwoRay, "places still say who hears whom besides");
    let one_way = text.replace("to = \"far\"\n[[flow]]", "to = \"far\"\nsymmetric = false\n[[flow]]");
    let error = file(&one_way).resolve(1).expect_err("no way back");
    assert!(error.to_string().contains("cannot reach"), "{error}");
}

#[test]
fn longer_hops_need_longer_time_outs() {
    let text = |spacing: u32, keys: &str| {
        format!(
            "[topology]\nkind = \"chain\"\nhops = 2\nspacing = {spacing}\n{keys}[[flow]]\nfrom = \"n0\"\nto = \"n2\"\n"
        )
    };
    let ranges = "[radio]\ntx_range = 1000\ncs_range = 1000\n";
    assert_eq!(resolve(&text(600, ranges)).radio.ack_timeout, Span::from_micros(4));
    let longer = resolve(&text(900, &format!("{ranges}ack_timeout = \"6us\"\n")));
    assert_eq!(longer.radio.ack_timeout, Span::from_micros(6));
    assert!(file(&text(900, ranges)).resolve(1).is_err());
    let all_the_same = format!("connected = false\n{ranges}");
    assert_eq!(resolve(&text(900, &all_the_same)).radio.ack_timeout, Span::from_micros(4));
    // No flow goes there: nobody waits for an answer.
    let elsewhere =
        format!("[[node]]\nid = \"p\"\nx = 9000\ny = 0\n[[node]]\nid = \"q\"\nx = 9900\ny = 0\n{ranges}");
    assert_eq!(resolve(&text(600, &elsewhere)).mesh.len(), 5);
}

#[test]
fn lucky_shadowing_is_a_long_hop_too() {
    let text = "[radio]\npropagation = \"log-distance\"\nshadowing_db = 12\ntx_range = 590\ncs_range = 600\n\
                [topology]\nkind = \"chain\"\nhops = 12\nspacing = 160\n[[flow]]\nfrom = \"n0\"\nto = \"n12\"\n";
    let refused = (1..=10).filter(|seed| file(text).resolve(*seed).is_err()).count();
    assert!(refused > 5, "{refused} of 10 seeds make a link longer than 600 m");
    let without = text.replace("shadowing_db = 12", "shadowing_db = 0");
    assert!((1..=10).all(|seed| file(&without).resolve(seed).is_ok()));
}

#[test]
fn a_gateway_is_named_central_or_drawn() {
    let text = |gateway: &str| {
        format!(
            "[topology]\nkind = \"chain\"\nhops = 8\nmin_hops = 1\ngateway = \"{gateway}\"\n[[flow]]\nfrom = \"random\"\nto = \"B\"\n"
        )
    };
    let gateway = |text: &str, seed| {
        let scenario = file(text).resolve(seed).unwrap_or_else(|e| panic!("{e}"));
        scenario.mesh.iter().position(|node| node.gateway).expect("a gateway")
    };
    assert_eq!((gateway(&text("n3"), 1), gateway(&text("centre"), 1)), (3, 4));
    let drawn: std::collections::BTreeSet<_> = (1..=40).map(|seed| gateway(&text("random"), seed)).collect();
    assert_eq!(drawn.len(), 9, "every node is drawn once in a while");
    let named = text("random") + "[[node]]\nid = \"random\"\nx = 0\ny = 100\n";
    let named = named.replace("from = \"random\"", "from = \"n0\"");
    assert_eq!(gateway(&named, 1), 9, "a node of that name goes before the word");
}

#[test]
fn drawing_the_gateway_moves_no_other_draw() {
    let text = |gateway: &str| {
        format!(
            "[topology]\nkind = \"random\"\nnodes = 30\nwidth = 900\nheight = 900\n{gateway}[[flow]]\nfrom = \"n1\"\nto = \"B\"\n"
        )
    };
    let (plain, drawn) = (resolve(&text("")), resolve(&text("gateway = \"random\"\n")));
    let places = |scenario: &Scenario| scenario.mesh.iter().map(|node| node.position).collect::<Vec<_>>();
    assert_eq!(places(&plain), places(&drawn));
    assert_eq!(plain.flows[0].start, drawn.flows[0].start);
}

#[test]
fn ends_are_drawn_as_far_from_the_gateway_as_told() {
    let text = |hops: u32| {
        format!(
            "[topology]\nkind = \"chain\"\nhops = 6\nmin_hops = {hops}\n[[flow]]\nfrom = \"random\"\nto = \"B\"\n"
        )
    };
    let ends = |hops| {
        let end = |seed| match file(&text(hops)).resolve(seed).expect("an end").flows[0].from {
            Endpoint::Mesh(node) => 6 - node.0,
            Endpoint::Wired(_) => panic!("a wired end"),
        };
        (1..=60).map(end).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(ends(1).into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(ends(5).into_iter().collect::<Vec<_>>(), [5, 6]);
    let error = file(&text(7)).resolve(1).expect_err("nobody is so far");
    assert!(error.to_string().contains("at least 7 hops from the gateway"), "{error}");
}

#[test]
fn ends_that_may_be_drawn_again_are_and_never_both_of_a_flow() {
    let text = |to: &str, count: u32, repeat: bool| {
        format!(
            "[topology]\nkind = \"chain\"\nhops = 3\nmin_hops = 1\nrepeat_ends = {repeat}\n\
             [[flow]]\nfrom = \"random\"\nto = \"{to}\"\ncount = {count}\n"
        )
    };
    // n0 to n2 may be ends; n3 is the gateway.
    let error = file(&text("B", 4, false)).resolve(1).expect_err("three nodes");
    assert!(error.to_string().contains("more random ends than the 3 nodes"), "{error}");
    let scenario = resolve(&text("B", 40, true));
    let ends: std::collections::BTreeSet<_> = scenario.flows.iter().map(|flow| flow.from).collect();
    assert_eq!(ends.len(), 3, "all of them, many times");
    let flows = resolve(&text("random", 200, true)).flows;
    let pairs: std::collections::BTreeSet<_> = flows.iter().map(|flow| (flow.from, flow.to)).collect();
    assert_eq!(pairs.len(), 12, "every ordered pair of four: without a wired part there is no gateway");
    assert!(flows.iter().all(|flow| flow.from != flow.to));
}

#[test]
fn a_placement_seed_holds_the_places_and_leaves_the_rest_to_the_run() {
    let text = "[topology]\nkind = \"random\"\nnodes = 30\nwidth = 900\nheight = 900\ngateway = \"random\"\nplacement_seed = 5\n\
                [[flow]]\nfrom = \"random\"\nto = \"B\"\ncount = 3\n";
    let [one, two] = [1, 2].map(|seed| file(text).resolve(seed).expect("a scenario"));
    assert_eq!((&one.mesh, &one.links), (&two.mesh, &two.links));
    let ends = |scenario: &Scenario| scenario.flows.iter().map(|flow| flow.from).collect::<Vec<_>>();
    assert_eq!(ends(&one), ends(&two));
    assert_ne!(one.flows[0].start, two.flows[0].start);
    let same = file(&text.replace("placement_seed = 5\n", "")).resolve(5).expect("a scenario");
    assert_eq!((&one.mesh, ends(&one)), (&same.mesh, ends(&same)), "as the run's own seed would place them");
}

#[test]
fn unconnected_nodes_and_ends_if_the_file_allows_them() {
    let text = "[topology]\nkind = \"random\"\nnodes = 20\nwidth = 9000\nheight = 9000\nconnected = false\n\
                [[flow]]\nfrom = \"random\"\nto = \"B\"\ncount = 5\n[[flow]]\nfrom = \"n0\"\nto = \"n1\"\n";
    assert_eq!(resolve(text).flows.len(), 6);
    assert!(file(&text.replace("connected = false", "connected = true")).resolve(1).is_err());
    let connected = text.replace("9000", "700").replace("connected = false\n", "");
    let unneeded = connected.replace("height = 700", "height = 700\nconnected = false");
    assert_eq!(resolve(&connected).mesh, resolve(&unneeded).mesh, "the first placement was connected");
}

#[test]
fn periods_shift_together() {
    let text = "[topology]\nkind = \"chain\"\nhops = 2\n[[flow]]\nfrom = \"n0\"\nto = \"n2\"\n\
                on = [[\"0s\", \"130s\"], [160, 170], [\"170s\", \"300s\"]]\n";
    let flow = &resolve(text).flows[0];
    let at = |seconds| Instant::ZERO + Span::from_secs(seconds);
    let jitter = flow.start - at(0);
    assert!(jitter > Span::ZERO && jitter < Span::from_secs(1));
    assert_eq!(flow.pauses, [(at(130), at(160) + jitter), (at(170), at(170) + jitter)]);
    assert_eq!(flow.stop, Some(at(300)));
}

#[test]
fn a_path_names_the_mesh_nodes_of_the_way() {
    let text = |from: &str, to: &str, path: &str| {
        format!(
            "[topology]\nkind = \"grid\"\nrows = 2\ncols = 3\ngateway = \"g0_2\"\n[routing]\nprotocol = \"static\"\n\
             [[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\npath = {path}\n"
        )
    };
    let path = |from: &str, to: &str, path: &str| {
        let nodes = resolve(&text(from, to, path)).flows[0].path.clone().expect("a path");
        nodes.into_iter().map(|node| node.0).collect::<Vec<_>>()
    };
    let around = "[\"g0_0\", \"g1_0\", \"g1_1\", \"g1_2\", \"g0_2\"]";
    assert_eq!(path("g0_0", "g0_2", around), [0, 3, 4, 5, 2]);
    assert_eq!(path("g0_0", "B", around), [0, 3, 4, 5, 2], "up to the gateway");
    assert_eq!(path("g0_0", "B", &around.replace(']', ", \"B\"]")), [0, 3, 4, 5, 2], "or to the wired end");
    assert_eq!(path("B", "g0_1", "[\"B\", \"g0_2\", \"g0_1\"]"), [2, 1]);
    assert_eq!(path("B", "g0_1", "[\"g0_2\", \"g0_1\"]"), [2, 1]);
    assert_eq!(path("g0_2", "B", "[\"g0_2\", \"B\"]"), [2], "the end is the gateway itself");
}

#[test]
fn what_comes_back_may_have_a_way_of_its_own_between_the_same_ends() {
    let text = |keys: &str| {
        format!(
            "[topology]\nkind = \"grid\"\nrows = 2\ncols = 3\ngateway = \"g0_2\"\n[routing]\nprotocol = \"static\"\n\
             [[flow]]\nfrom = \"g0_0\"\nto = \"B\"\n{keys}\n"
        )
    };
    let there = "path = [\"g0_0\", \"g0_1\", \"g0_2\"]";
    let back = "path_back = [\"B\", \"g0_2\", \"g1_2\", \"g1_1\", \"g1_0\", \"g0_0\"]";
    let flow = |keys: &str| resolve(&text(keys)).flows[0].clone();
    let numbers =
        |nodes: Option<Vec<NodeId>>| nodes.map(|nodes| nodes.iter().map(|node| node.0).collect::<Vec<_>>());
    assert_eq!(numbers(flow(&format!("{there}\n{back}")).path_back), Some(vec![2, 5, 4, 3, 0]));
    assert_eq!(numbers(flow(there).path_back), None);
}
