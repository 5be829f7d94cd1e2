//! Flows, schemes, the measurement, overrides: what the file says is what the scenario carries.

use meshpace_scenario::*;
use meshpace_units::{Bytes, Dscp, Instant, NodeId, Rate, Span};

const CHAIN: &str = "[topology]\nkind = \"chain\"\nhops = 4\n";

fn parse(text: &str, overrides: &Overrides) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), overrides).unwrap_or_else(|e| panic!("{e}"));
    file.resolve(1).unwrap_or_else(|e| panic!("{e}"))
}

fn chain(rest: &str) -> Scenario {
    parse(&format!("{CHAIN}{rest}"), &Overrides::none())
}

fn app(keys: &str) -> App {
    chain(&format!("[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n{keys}\n")).flows[0].app
}

#[test]
fn every_application_and_its_keys() {
    let rate = Rate::bits_per_sec(500_000);
    let pause_mean = Span::from_millis(250);
    assert_eq!(app("app = \"transfer\"\nbytes = \"1MB\""), App::Transfer { bytes: Bytes(1_000_000) });
    assert_eq!(
        app("app = \"cbr\"\nrate = \"500kbps\"\npacket = 1000\nudp_header = 0"),
        App::Cbr { rate, packet: Bytes(1000), udp_header: Bytes(0) }
    );
    assert_eq!(
        app("app = \"echo\"\npacket = 56\ninterval = \"200ms\""),
        App::Echo { packet: Bytes(56), interval: Span::from_millis(200), udp_header: Bytes(8) }
    );
    assert_eq!(
        app("app = \"http\"\npause_mean = \"250ms\""),
        App::Http {
            file_mean: Bytes(30_000),
            file_shape: 1.5,
            pause_mean,
            connection_per_file: false,
            clock: FileClock::Write,
            counts_unfinished: false
        }
    );
    assert_eq!(
        app(
            "app = \"self-similar\"\nrate = 500000\npacket = 500\nfile_mean = 9000\nfile_shape = 1.2\npause_mean = 0.25"
        ),
        App::SelfSimilar {
            rate,
            packet: Bytes(500),
            udp_header: Bytes(8),
            burst_mean: Bytes(9000),
            shape: 1.2,
            pause_mean
        }
    );
}

#[test]
fn flows_inherit_and_override_the_defaults() {
    let scenario = chain(
        "[defaults]\nscheme = \"newreno\"\nsegment = 600\nwindow = 20\nstart_jitter = 0\n\
         [[flow]]\nfrom = \"n0\"\nto = \"n4\"\nstart = \"3s\"\nstop = \"9s\"\n\
         [[flow]]\nid = \"back\"\nfrom = \"n4\"\nto = \"n0\"\nscheme = \"tcp-ap\"\nsegment = 200\nwindow = 4\ncount = 2\n",
    );
    let flows = &scenario.flows;
    assert_eq!(flows.iter().map(|flow| flow.id.as_str()).collect::<Vec<_>>(), ["1", "back.1", "back.2"]);
    assert_eq!((flows[0].scheme.as_str(), flows[0].segment, flows[0].window), ("newreno", Bytes(600), 20));
    assert_eq!(flows[0].start, Instant::ZERO + Span::from_secs(3));
    assert_eq!(flows[0].stop, Some(Instant::ZERO + Span::from_secs(9)));
    assert_eq!((flows[1].scheme.as_str(), flows[1].segment, flows[1].window), ("tcp-ap", Bytes(200), 4));
    assert_eq!(flows[2].from, Endpoint::Mesh(NodeId(4)));
    assert_eq!(scenario.network_scheme, "newreno", "that of the first flow");
    assert!(
        scenario.mesh_scheme_missing().is_some(),
        "whether tcp-ap may share the mesh is for others to say"
    );
}

#[test]
fn the_network_runs_the_scheme_that_all_flows_run() {
    let scenario = chain(
        "[defaults]\nscheme = \"tcp-gap\"\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\nscheme = \"newreno\"\n",
    );
    assert_eq!(scenario.network_scheme, "newreno");
}

#[test]
fn batch_means() {
    let scenario = chain(
        "[measure]\npackets = 55000\nbatches = 11\nwindows = [\"5s\"]\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n",
    );
    let plan = Plan::Batches { packets: 55_000, batches: 11, limit: Span::from_secs(10_000) };
    assert_eq!(
        scenario.measure,
        Measure { plan, windows: vec![Span::from_secs(5)], hop_delays: false, queues: false }
    );
}

#[test]
fn a_plan_from_the_command_line_replaces_that_of_the_file() {
    let flow = "[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n";
    let batches = format!("{CHAIN}[measure]\npackets = 100\nbatches = 5\n{flow}");
    let overrides = Overrides::none().with("measure.duration=40s").with("measure.warmup=10s");
    let plan = Plan::Time { duration: Span::from_secs(40), warmup: Span::from_secs(10) };
    assert_eq!(parse(&batches, &overrides).measure.plan, plan);
    let time = format!("{CHAIN}[measure]\nduration = 50\nwarmup = 5\n{flow}");
    let plan = parse(&time, &Overrides::none().with("measure.packets=100")).measure.plan;
    assert!(matches!(plan, Plan::Batches { packets: 100, batches: 11, .. }), "{plan:?}");
}

#[test]
fn schemes_are_carried_with_their_places() {
    let scenario = chain(
        "[defaults]\nscheme = \"mine\"\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n\
         [scheme.mine]\nsender = \"newreno\"\nalpha = 0.8\nhistory = 50\nap_rto_backoff = true\nsteps = [1, 2]\n\
         [scheme.tcp-ap]\nn = 4\n",
    );
    let found: Vec<_> = scenario
        .scheme_settings
        .iter()
        .map(|s| format!("{} {} {:?} {}", s.scheme, s.key, s.value, s.at))
        .collect();
    let expected = [
        "mine sender Text(\"newreno\") test.toml:10: scheme.mine.sender",
        "mine alpha Float(0.8) test.toml:11: scheme.mine.alpha",
        "mine history Integer(50) test.toml:12: scheme.mine.history",
        "mine ap_rto_backoff Bool(true) test.toml:13: scheme.mine.ap_rto_backoff",
        "mine steps List([Integer(1), Integer(2)]) test.toml:14: scheme.mine.steps",
        "tcp-ap n Integer(4) test.toml:16: scheme.tcp-ap.n",
    ];
    assert_eq!(found, expected);
    let error = scenario.scheme_settings[1].error("0 to 0.5");
    assert_eq!(error.to_string(), "test.toml:11: scheme.mine.alpha: found 0.8; allowed: 0 to 0.5");
    let uses: Vec<_> = scenario.scheme_uses().map(|(name, at)| format!("{name} {at}")).collect();
    assert_eq!(uses, ["mine test.toml:5: defaults.scheme", "mine test.toml:5: defaults.scheme"]);
}

#[test]
fn overrides_set_keys_in_tables_and_lists() {
    let text = format!(
        "{CHAIN}[[flow]]\nfrom = \"n0\"\nto = \"n4\"\nscheme = \"few\"\n[[flow]]\nfrom = \"n4\"\nto = \"n0\"\n"
    );
    let overrides = Overrides::none()
        .with_scheme("tcp-ap")
        .with("topology.hops=6")
        .with("radio.rate=2Mbps")
        .with("radio.tx_range = 300")
        .with("flow.1.scheme=newreno")
        .with("flow[0].window=8")
        .with("measure.windows=[2, \"4s\"]")
        .with("scheme.tcp-ap.alpha=0.5")
        .with("scenario.name=x");
    let scenario = parse(&text, &overrides);
    assert_eq!(scenario.mesh.len(), 7);
    assert_eq!(scenario.radio.rate, Rate::bits_per_sec(2_000_000));
    assert_eq!(scenario.radio.tx_range, 300.0);
    assert_eq!(scenario.flows[0].scheme, "tcp-ap", "--scheme replaces a flow's own");
    assert_eq!((scenario.flows[1].scheme.as_str(), scenario.flows[0].window), ("newreno", 8));
    assert_eq!(scenario.network_scheme, "tcp-ap", "--scheme sets the mesh too");
    assert_eq!(scenario.mesh_scheme_missing(), None);
    assert_eq!(scenario.measure.windows, [Span::from_secs(2), Span::from_secs(4)]);
    assert_eq!(scenario.scheme_settings[0].at.to_string(), "test.toml: --set scheme.tcp-ap.alpha");
    assert_eq!(scenario.name, "x");
    assert_eq!(scenario.overrides.len(), 9);
    assert_eq!(scenario.overrides[0], "scheme=tcp-ap");
}

#[test]
fn keys_of_a_variant_that_the_command_line_left_are_ignored() {
    let text = format!(
        "{CHAIN}[radio]\nreception = \"sinr\"\nsinr_threshold_db = 6\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n\
         app = \"cbr\"\nrate = 1e6\npacket = 500\n"
    );
    let scenario =
        parse(&text, &Overrides::none().with("radio.reception=ns2-capture").with("flow.0.app=ftp"));
    assert_eq!(scenario.radio.reception, Reception::Ns2Capture { capture_threshold_db: 10.0 });
    assert_eq!(scenario.flows[0].app, App::Ftp);
}

#[test]
fn the_text_is_kept_with_its_hash() {
    let text = format!("{CHAIN}[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n");
    let scenario = parse(&text, &Overrides::none());
    assert_eq!(&*scenario.text, text.as_str());
    // sha256sum of the same bytes.
    assert_eq!(scenario.scenario_sha256, "76b6018a9283f3f03488954f398eb7f7cfa66b9450d77cca07b5d3ed1c179d15");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_toml() {
    let text = format!("\u{feff}{CHAIN}[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n").replace('\n', "\r\n");
    assert_eq!(parse(&text, &Overrides::none()).flows.len(), 1);
}

/// A flow's service class is a name of IANA's or its number, and only where a standard has categories of access.
#[test]
fn a_flow_asks_for_a_service_class() {
    let text = |radio: &str, dscp: &str| {
        format!("[radio]\n{radio}\n{CHAIN}[[flow]]\nfrom = \"n0\"\nto = \"n4\"\n{dscp}\n")
    };
    let n = "standard = \"802.11n\"";
    for (said, number) in
        [("", 0), ("dscp = \"ef\"", 46), ("dscp = \"af41\"", 34), ("dscp = 63", 63), ("dscp = \"df\"", 0)]
    {
        let flows = parse(&text(n, said), &Overrides::none()).flows;
        assert_eq!(Some(flows[0].dscp), Dscp::new(number), "{said}");
    }
    assert_eq!(parse(&text("", "dscp = \"cs0\""), &Overrides::none()).flows[0].dscp, Dscp::DEFAULT);
    let refused = |radio: &str, dscp: &str| {
        let file = ScenarioFile::parse("test.toml", text(radio, dscp).as_bytes(), &Overrides::none());
        file.and_then(|file| file.resolve(1)).expect_err("it is wrong").to_string()
    };
    for (found, wrong) in [("64", refused(n, "dscp = 64")), ("\"af51\"", refused(n, "dscp = \"af51\""))] {
        assert!(wrong.starts_with(&format!("test.toml:9: flow[0].dscp: found {found}")), "{wrong}");
    }
    assert_eq!(
        refused("standard = \"802.11g\"", "dscp = \"ef\""),
        "test.toml:9: flow[0].dscp: found \"ef\" beside radio.standard = \"802.11g\"; allowed: 0, or a standard with categories of access: \"802.11n\", \"802.11ac\", \"802.11ax\""
    );
}
