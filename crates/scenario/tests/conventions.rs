//! One test a convention of the scenario file: positions, names, wired part, addresses, times.

use meshpace_radio::propagation::AT_1M;
use meshpace_scenario::*;
use meshpace_settings::Values;
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, NodeId, Rate, Span};
use std::net::Ipv4Addr;

fn parse(text: &str) -> ScenarioFile {
    ScenarioFile::parse("dir/test.toml", text.as_bytes(), &Overrides::none())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn resolve(text: &str) -> Scenario {
    parse(text).resolve(1).unwrap_or_else(|e| panic!("{e}"))
}

fn flow(from: &str, to: &str) -> String {
    format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n")
}

fn topology(keys: &str, flows: &[(&str, &str)]) -> Scenario {
    let flows: String = flows.iter().map(|(from, to)| flow(from, to)).collect();
    resolve(&format!("[topology]\n{keys}\n{flows}"))
}

/// Every mesh node as `id x,y`, gateways marked.
fn mesh(scenario: &Scenario) -> Vec<String> {
    let show = |node: &MeshNode| {
        format!(
            "{} {},{}{}",
            node.id,
            node.position.expect("a place").x,
            node.position.expect("a place").y,
            if node.gateway { " gateway" } else { "" }
        )
    };
    scenario.mesh.iter().map(show).collect()
}

fn links(scenario: &Scenario) -> Vec<String> {
    scenario
        .links
        .iter()
        .map(|link| format!("{}-{}", scenario.name_of(link.a), scenario.name_of(link.b)))
        .collect()
}

#[test]
fn chain() {
    let adhoc = topology("kind = \"chain\"\nhops = 2", &[("n0", "n2")]);
    assert_eq!(mesh(&adhoc), ["n0 0,0", "n1 200,0", "n2 400,0"]);
    assert!(adhoc.wired.is_empty() && adhoc.links.is_empty());
    let wired = topology("kind = \"chain\"\nhops = 2\nspacing = 100", &[("n0", "B")]);
    assert_eq!(mesh(&wired), ["n0 0,0", "n1 100,0", "n2 200,0 gateway"]);
    assert_eq!(links(&wired), ["n2-RT1", "RT1-RT2", "RT2-B"]);
}

#[test]
fn a_node_at_the_very_range_is_a_neighbour() {
    let scenario = topology("kind = \"chain\"\nhops = 3\nspacing = 250", &[("n0", "n3")]);
    assert_eq!(scenario.mesh[3].position, Some(Position::flat(750.0, 0.0)));
}

#[test]
fn parallel_chains() {
    let scenario = topology("kind = \"parallel-chains\"", &[("A1", "B"), ("B", "A2")]);
    let expected = "A1 0,400; RL1 200,400; RL2 400,400; RL3 600,400; RL4 800,400; IG 800,200 gateway; \
                    A2 0,0; RL5 200,0; RL6 400,0; RL7 600,0; RL8 800,0";
    assert_eq!(mesh(&scenario).join("; "), expected);
    assert_eq!(links(&scenario), ["IG-RT1", "RT1-RT2", "RT2-B"]);
}

#[test]
fn asymmetric_chains_end_beside_the_same_node() {
    let scenario = topology("kind = \"asymmetric-chains\"", &[("A1", "IG"), ("A2", "IG")]);
    let expected = "A1 0,400; RL1 200,400; RL2 400,400; RL3 600,400; IG 600,200; A2 400,0; RL4 600,0";
    assert_eq!(mesh(&scenario).join("; "), expected);
}

#[test]
fn cross() {
    let scenario = topology("kind = \"cross\"\nhops = 2", &[("A1", "B1"), ("B4", "A4")]);
    let expected = "IG 400,400 gateway; A1 800,400; RL1 600,400; A2 400,800; RL2 400,600; \
                    A3 0,400; RL3 200,400; A4 400,0; RL4 400,200";
    assert_eq!(mesh(&scenario).join("; "), expected);
    assert_eq!(links(&scenario), ["IG-RT1", "RT1-RT2", "RT2-B1", "RT2-B2", "RT2-B3", "RT2-B4"]);
    assert_eq!(topology("kind = \"cross\"", &[("A1", "A3")]).mesh.len(), 17, "4 hops an arm");
}

/// Osipov and Tschudin 2005, Fig. 4: chains with no node in common, and flows along them told apart by their number.
#[test]
fn a_strip_of_chains_with_a_flow_on_each() {
    let text = "[topology]\nkind = \"strip\"\nrows = 2\nhops = 2\nspacing = \"126m\"\n[routing]\nprotocol = \"static\"\n\
                [[flow]]\nfrom = \"f{}n0\"\nto = \"f{}n2\"\npath = [\"f{}n0\", \"f{}n1\", \"f{}n2\"]\ncount = 2\n";
    let scenario = resolve(text);
    let expected = "f1n0 0,0; f1n1 126,0; f1n2 252,0; f2n0 0,25; f2n1 126,25; f2n2 252,25";
    assert_eq!(mesh(&scenario).join("; "), expected);
    let path = |nodes: [u32; 3]| Some(nodes.map(NodeId).to_vec());
    let paths: Vec<_> = scenario.flows.iter().map(|flow| flow.path.clone()).collect();
    assert_eq!(paths, [path([0, 1, 2]), path([3, 4, 5])]);
    assert_eq!(
        (scenario.name_of(scenario.flows[1].from), scenario.name_of(scenario.flows[1].to)),
        ("f2n0", "f2n2")
    );
    assert!(links(&scenario).is_empty());
}

#[test]
fn grid_and_its_centre() {
    let scenario = topology("kind = \"grid\"\nrows = 2\ncols = 3", &[("g0_0", "B")]);
    let expected = "g0_0 0,0; g0_1 200,0 gateway; g0_2 400,0; g1_0 0,200; g1_1 200,200; g1_2 400,200";
    assert_eq!(mesh(&scenario).join("; "), expected);
    let chosen = topology("kind = \"grid\"\nrows = 2\ncols = 3\ngateway = \"g1_2\"", &[("g0_0", "B")]);
    assert_eq!(links(&chosen)[0], "g1_2-RT1");
}

#[test]
fn mesh_16_moves_only_its_mobile_nodes() {
    let text = "[topology]\nkind = \"mesh-16\"\nmobile = 3\n[mobility]\nmodel = \"random-waypoint\"\n";
    let scenario = resolve(&format!("{text}{}", flow("g0_0", "m1")));
    assert_eq!(scenario.mesh.len(), 19);
    let Mobility::RandomWaypoint { nodes, width, height, .. } = &scenario.mobility else { panic!("static") };
    assert_eq!((nodes, *width, *height), (&vec![NodeId(16), NodeId(17), NodeId(18)], 600.0, 600.0));
    assert_eq!(scenario.mesh[16].id, "m1");
}

#[test]
fn mesh_16_stands_in_its_margin_where_mobile_nodes_are_too() {
    let text = "[topology]\nkind = \"mesh-16\"\nmobile = 200\nmargin = \"200m\"\n[mobility]\nmodel = \"random-waypoint\"\n";
    let scenario = resolve(&format!("{text}{}", flow("g0_0", "m1")));
    let place = |index: usize| scenario.mesh[index].position.expect("a place");
    assert_eq!((place(0), place(15)), (Position::flat(200.0, 200.0), Position::flat(800.0, 800.0)));
    let Mobility::RandomWaypoint { width, height, inverse_first, .. } = &scenario.mobility else {
        panic!("static")
    };
    assert_eq!((*width, *height, *inverse_first), (1000.0, 1000.0, false));
    let outside = (16..216).filter(|index| place(*index).x < 200.0 || place(*index).y > 800.0).count();
    // 36 % of the area is to the left of the grid, or above it.
    assert!((50..95).contains(&outside), "{outside} of 200");
}

/// experiments/we-tcp-ap.md, T4a and E3.
#[test]
fn a_node_is_placed_within_its_rectangle_and_keeps_to_it() {
    let node = |id: &str, keys: &str| format!("[[node]]\nid = \"{id}\"\n{keys}\n");
    let text = format!(
        "{}{}{}[mobility]\nmodel = \"random-waypoint\"\narea = [1000, 1000]\n{}",
        node("a", "within = [-50, 375, 250, 625]"),
        node("b", "within = [750, 375, 1000, 625]\nheight = 3"),
        node("c", "x = 500\ny = 500"),
        flow("a", "b"),
    );
    let drawn = |seed| {
        let scenario = parse(&text).resolve(seed).unwrap_or_else(|e| panic!("{e}"));
        let at = |index: usize| scenario.mesh[index].position.expect("a place");
        assert!((-50.0..=250.0).contains(&at(0).x) && (375.0..=625.0).contains(&at(0).y));
        assert!((750.0..=1000.0).contains(&at(1).x) && (375.0..=625.0).contains(&at(1).y));
        assert_eq!((at(0).z, at(1).z, at(2)), (0.0, 3.0, Position::flat(500.0, 500.0)));
        let Mobility::RandomWaypoint { nodes, own, .. } = scenario.mobility else { panic!("static") };
        assert_eq!(nodes, [0, 1, 2].map(NodeId));
        let kept = Rectangle { west: 750.0, south: 375.0, east: 1000.0, north: 625.0 };
        assert_eq!((own.len(), own.get(&NodeId(1))), (2, Some(&kept)));
        scenario.mesh[0].position
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    let refused = |keys: &str| {
        let text = format!("{}{}{}", node("a", keys), node("c", "x = 0\ny = 0"), flow("a", "c"));
        let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
        file.and_then(|file| file.resolve(1)).expect_err("it is wrong").to_string()
    };
    assert!(
        refused("within = [1, 0, 0, 1]")
            .contains("test.toml:3: node[0].within: found a list of 4; allowed: [west, south, east, north]"),
        "{}",
        refused("within = [1, 0, 0, 1]")
    );
    assert!(refused("within = [0, 0, 1, 1]\nx = 1").contains("x together with within"));
    assert!(refused("within = [0, 0, 1]").contains("within"));
}

#[test]
fn random_is_connected_drawn_from_its_seed_and_has_its_gateway_in_the_centre() {
    let keys = "kind = \"random\"\nnodes = 60\nwidth = 1500\nheight = 1000";
    let text = format!("[topology]\n{keys}\n[[flow]]\nfrom = \"random\"\nto = \"B\"\ncount = 8\n");
    let file = parse(&text);
    let mut placements = Vec::new();
    for seed in 1..=5 {
        let scenario = file.resolve(seed).expect("a connected graph");
        assert_eq!(scenario, file.resolve(seed).expect("the same again"));
        let gateways: Vec<_> = scenario.mesh.iter().filter(|node| node.gateway).collect();
        let centre = Position::flat(750.0, 500.0);
        let place = |node: &MeshNode| node.position.expect("a place");
        let nearest = scenario
            .mesh
            .iter()
            .map(|node| place(node).distance_squared(centre))
            .min_by(f64::total_cmp)
            .expect("nodes");
        assert_eq!(gateways.len(), 1);
        assert_eq!(place(gateways[0]).distance_squared(centre), nearest);
        let mut ends: Vec<_> = scenario.flows.iter().map(|flow| flow.from).collect();
        for end in &ends {
            let Endpoint::Mesh(node) = end else { panic!("drew a wired node") };
            let away = place(&scenario.mesh[node.index()]).distance_squared(place(gateways[0]));
            assert!(away > 250.0 * 250.0, "{node:?} is a neighbour of the gateway");
        }
        ends.sort();
        ends.dedup();
        assert_eq!(ends.len(), 8, "an end was drawn twice");
        placements.push(scenario.mesh[0].position);
    }
    placements.dedup();
    assert_eq!(placements.len(), 5, "the seed does not matter");
}

#[test]
fn placement_and_starts_come_from_their_own_streams() {
    let text = "[topology]\nkind = \"random\"\nnodes = 2\nwidth = 100\nheight = 50\n[[flow]]\nfrom = \"n0\"\nto = \"n1\"\n\
                start = \"2s\"\ncount = 2\n";
    let scenario = parse(text).resolve(7).expect("a scenario");
    let mut placement = Stream::new(7, "placement", 0);
    let (x, y) = (placement.uniform(0.0, 100.0), placement.uniform(0.0, 50.0));
    assert_eq!(scenario.mesh[0].position, Some(Position::flat(x, y)));
    for (index, flow) in scenario.flows.iter().enumerate() {
        let jitter = Stream::new(7, "flow-start", index as u64).uniform(0.0, 1.0);
        assert_eq!(flow.start, Instant::ZERO + Span::from_secs(2) + Span::from_secs_f64(jitter));
    }
    assert_ne!(scenario.flows[0].start, scenario.flows[1].start);
}

#[test]
fn wired_part_as_the_papers_have_it_or_as_told() {
    let papers = topology("kind = \"chain\"\nhops = 1", &[("B", "n0")]);
    for link in &papers.links {
        assert_eq!(
            (link.rate, link.delay, link.queue),
            (Rate::bits_per_sec(10_000_000), Span::from_millis(40), 50)
        );
    }
    let keys = "kind = \"chain\"\nhops = 1\nwired_hops = 1\nwired_hosts = 2\nwired_rate = \"1Gbps\"\nwired_delay = 0\nwired_queue = 9";
    let told = topology(keys, &[("n0", "B2")]);
    assert_eq!(links(&told), ["n1-B1", "n1-B2"]);
    assert_eq!(
        (told.links[1].rate, told.links[1].delay, told.links[1].queue),
        (Rate::bits_per_sec(1_000_000_000), Span::ZERO, 9)
    );
    assert_eq!(topology("kind = \"chain\"\nhops = 1\nwired = true", &[("n0", "n1")]).wired.len(), 3);
}

#[test]
fn explicit_nodes_and_links_join_a_generator() {
    let text = "[topology]\nkind = \"chain\"\nhops = 1\n[[node]]\nid = \"H\"\nrole = \"wired\"\n[[node]]\nid = \"extra\"\nx = 0\ny = \"100m\"\n\
                [[link]]\na = \"H\"\nb = \"IG\"\nrate = \"1Mbps\"\ndelay = \"5ms\"\nqueue = 7\n";
    let scenario = resolve(&format!("{text}{}{}", flow("extra", "H"), flow("H", "n0")));
    assert_eq!(
        mesh(&scenario),
        ["n0 0,0", "n1 200,0 gateway", "extra 0,100"],
        "IG means the chain's last node"
    );
    assert_eq!(links(&scenario), ["H-n1"]);
    let ends = [Endpoint::Mesh(NodeId(2)), Endpoint::Wired(WiredId(0))];
    assert_eq!([scenario.flows[0].from, scenario.flows[0].to], ends);
    let link = Link {
        a: ends[1],
        b: Endpoint::Mesh(NodeId(1)),
        rate: Rate::bits_per_sec(1_000_000),
        delay: Span::from_millis(5),
        queue: 7,
        loss: 0.0,
    };
    assert_eq!(scenario.links, [link]);
}

#[test]
fn a_link_to_a_wired_node_makes_a_gateway_and_explicit_nodes_need_no_generator() {
    let text = "[[node]]\nid = \"a b\"\nx = 0\ny = 0\nrole = \"mesh\"\n[[node]]\nid = \"B\"\nrole = \"wired\"\n[[link]]\na = \"a b\"\nb = \"B\"\n";
    let scenario = resolve(&format!("{text}{}", flow("a b", "B")));
    assert_eq!(mesh(&scenario), ["a b 0,0 gateway"]);
    assert_eq!(links(&scenario), ["a b-B"], "the [[node]] B stands for the generated one");
}

#[test]
fn addresses_count_nodes_in_file_order() {
    let scenario = topology("kind = \"chain\"\nhops = 250", &[("n0", "B")]);
    let address = |i: usize| scenario.mesh[i - 1].address;
    assert_eq!(address(1), Ipv4Addr::new(10, 77, 0, 2));
    assert_eq!(address(249), Ipv4Addr::new(10, 77, 0, 250));
    assert_eq!(address(250), Ipv4Addr::new(10, 77, 1, 1));
    assert_eq!(address(251), Ipv4Addr::new(10, 77, 1, 2));
    assert_eq!(scenario.wired[0].address, Ipv4Addr::new(10, 77, 1, 3), "RT1 is node 252");
    assert_eq!(scenario.mesh[0].mac, [0x02, 0x6d, 0x70, 0, 0, 1]);
    assert_eq!(scenario.wired[2].mac, [0x02, 0x6d, 0x70, 0, 0, 254]);
    let text =
        "[[node]]\nid = \"a\"\nx = 0\ny = 0\naddress = \"192.168.1.9\"\n[[node]]\nid = \"b\"\nx = 1\ny = 0\n";
    let overridden = resolve(&format!("{text}{}", flow("a", "b")));
    assert_eq!(overridden.mesh[0].address, Ipv4Addr::new(192, 168, 1, 9));
    assert_eq!(overridden.mesh[1].address, Ipv4Addr::new(10, 77, 0, 3));
}

#[test]
fn defaults_are_those_of_ns2() {
    let scenario = topology("kind = \"chain\"\nhops = 1", &[("n0", "n1")]);
    let radio = Radio {
        standard: Standard::named("802.11b").expect("a row"),
        own: Values::default(),
        rate: Rate::bits_per_sec(11_000_000),
        basic_rate: Rate::bits_per_sec(1_000_000),
        preamble: Preamble::Long,
        rts: RtsThreshold::Always,
        retry_short: 7,
        retry_long: 4,
        queue: 50,
        mac_overhead: Bytes(34),
        reception: Reception::Ns2Capture { capture_threshold_db: 10.0 },
        propagation: Propagation::TwoRay,
        building: meshpace_radio::Building::default(),
        fading: None,
        tx_range: 250.0,
        cs_range: 550.0,
        backoff_range: BackoffRange::Ns2,
        arp: true,
        ack_timeout: Span::from_micros(4),
        link_rates: vec![],
        rate_control: RateControl { word: "fixed", own: Values::default() },
    };
    assert_eq!(scenario.radio, radio);
    assert_eq!(scenario.routing.profile.title, "AODV as in ns-2");
    assert_eq!(scenario.mobility, Mobility::Static);
    let windows = vec![Span::from_secs(1), Span::from_secs(10), Span::from_secs(100)];
    let plan = Plan::Time { duration: Span::from_secs(200), warmup: Span::from_secs(20) };
    assert_eq!(scenario.measure, Measure { plan, windows, hop_delays: false, queues: false });
    let flow = &scenario.flows[0];
    assert_eq!((flow.id.as_str(), flow.app, flow.scheme.as_str()), ("1", App::Ftp, "tcp-gap"));
    assert_eq!((flow.segment, flow.window, flow.stop), (Bytes(1460), 64, None));
    assert!(flow.start < Instant::ZERO + Span::from_secs(1));
    assert_eq!((scenario.name.as_str(), scenario.seed), ("test", 1));
}

#[test]
fn ofdm_has_its_own_defaults() {
    let radio = |keys: &str| {
        let text = format!("[radio]\n{keys}\n[topology]\nkind = \"chain\"\nhops = 1\n{}", flow("n0", "n1"));
        resolve(&text).radio
    };
    let mbps = |n: u64| Rate::bits_per_sec(n * 1_000_000);
    let a = radio("standard = \"802.11a\"\nrate = \"18Mbps\"");
    assert_eq!((a.rate, a.basic_rate, a.mac_overhead), (mbps(18), mbps(12), Bytes(28)));
    let g = radio("standard = \"802.11g\"");
    assert_eq!((g.rate, g.basic_rate), (mbps(54), mbps(24)));
    let ns2 = radio("standard = \"802.11g-ns2\"");
    assert_eq!((ns2.rate, ns2.basic_rate, ns2.mac_overhead), (mbps(54), mbps(1), Bytes(34)));
}

#[test]
fn every_radio_key_is_read() {
    let text = "[radio]\nrate = \"2Mbps\"\nbasic_rate = \"2 Mbit/s\"\npreamble = \"short\"\nrts = 500\nretry_short = 0\nretry_long = 9\n\
                queue = 25\nmac_overhead = 28\nreception = \"sinr\"\nsinr_threshold_db = 8.5\npropagation = \"log-distance\"\n\
                path_loss_exponent = 3.5\nshadowing_db = \"4dB\"\ntx_range = 300\ncs_range = \"0.6km\"\nbackoff_range = \"standard\"\n\
                link_rates = [{ from = \"n1\", rate = \"1Mbps\" }, { from = \"n1\", to = \"n0\", rate = \"5.5Mbps\" }]\n\
                [topology]\nkind = \"chain\"\nhops = 2\n";
    let radio = resolve(&format!("{text}{}", flow("n0", "n1"))).radio;
    let (n0, n1, n2) = (NodeId(0), NodeId(1), NodeId(2));
    let mbps = |n: f64| Rate::bits_per_sec((n * 1e6) as u64);
    assert_eq!(radio.reception, Reception::Sinr { sinr_threshold_db: 8.5 });
    assert_eq!(
        radio.propagation,
        Propagation::LogDistance { exponent: 3.5, shadowing_db: 4.0, at_1m: AT_1M }
    );
    assert_eq!((radio.rts, radio.preamble), (RtsThreshold::From(Bytes(500)), Preamble::Short));
    assert_eq!((radio.retry_short, radio.retry_long, radio.queue), (0, 9, 25));
    assert_eq!((radio.tx_range, radio.cs_range, radio.mac_overhead), (300.0, 600.0, Bytes(28)));
    assert_eq!(radio.backoff_range, BackoffRange::Standard);
    assert!(!radio.arp, "only ns-2's reception brings ns-2's address resolution by itself");
    assert!(
        resolve(&format!("{}{}", text.replace("queue", "arp = true\nqueue"), flow("n0", "n1"))).radio.arp
    );
    assert_eq!(radio.basic_rate, mbps(2.0));
    assert_eq!(radio.rate_between(n0, n1), mbps(2.0));
    assert_eq!(radio.rate_between(n1, n0), mbps(5.5));
    assert_eq!(radio.rate_between(n1, n2), mbps(1.0));
}
