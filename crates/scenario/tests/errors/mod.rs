//! Broken files: each names its line, its key, what was found and what is allowed.

mod building;
mod flows;
mod network;
mod radio_links;
mod radios;

use meshpace_scenario::{Origin, Overrides, ScenarioError, ScenarioFile};

fn error(bytes: &[u8], overrides: &Overrides) -> ScenarioError {
    let parsed = ScenarioFile::parse("x.toml", bytes, overrides);
    match parsed.and_then(|file| file.resolve(1)) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {}", String::from_utf8_lossy(bytes)),
    }
}

/// Line, key, words of "found", words of "allowed", text. `FLOW` and `CHAIN` stand for a flow n0 -> n2 and a chain of 2
/// hops on one line each, so that lines can be counted.
type Case<'a> = (usize, &'a str, &'a str, &'a str, &'a str);

const FLOW: &str = "flow = [{ from = \"n0\", to = \"n2\" }]";
const CHAIN: &str = "topology = { kind = \"chain\", hops = 2 }";

fn check(cases: &[Case<'_>]) {
    for (line, key, found, allowed, text) in cases {
        let text = text.replace("FLOW", FLOW).replace("CHAIN", CHAIN);
        let error = error(text.as_bytes(), &Overrides::none());
        assert_eq!(error.at.origin, Origin::Line(*line), "{error}\n{text}");
        assert_eq!(error.at.key, *key, "{error}\n{text}");
        assert!(error.found.contains(found), "found {:?} lacks {found:?}\n{text}", error.found);
        assert!(error.allowed.contains(allowed), "allowed {:?} lacks {allowed:?}\n{text}", error.allowed);
        let message = error.to_string();
        assert_eq!(
            message,
            format!("x.toml:{line}: {key}: found {}; allowed: {}", error.found, error.allowed)
        );
        assert!(!message.contains('\n') && message.len() < 600, "not one readable message: {message}");
    }
}

#[test]
fn the_message_is_the_one_of_the_contract() {
    let text = format!("{FLOW}\n{CHAIN}\n[radio]\nrate = \"7Mbps\"\n");
    let expected =
        "x.toml:4: radio.rate: found \"7Mbps\"; allowed: 1Mbps, 2Mbps, 5.5Mbps, 11Mbps for 802.11b";
    assert_eq!(error(text.as_bytes(), &Overrides::none()).to_string(), expected);
}

#[test]
fn not_a_scenario_at_all() {
    check(&[
        (1, "topology", "no node", "[[node]]", ""),
        (1, "topology", "no node", "[[node]]", "flow = []\n"),
        (2, "flow", "3", "tables [[flow]]", "\nflow = 3\n"),
        (
            1,
            "radio.link_rates",
            "a table",
            "tables [[radio.link_rates]]",
            "radio.link_rates = { n0 = \"2Mbps\" }\n",
        ),
        (1, "flow[1]", "2", "a table", "flow = [{ from = \"a\", to = \"b\" }, 2]\n"),
        (2, "radio", "a list of 1", "a table", "FLOW\n[[radio]]\nrate = 1\n"),
        (3, "TOML", "rate = 11Mbps", "must be quoted", "FLOW\n[radio]\nrate = 11Mbps\n"),
        (3, "TOML", "topology = 1", "duplicate key", "CHAIN\nFLOW\ntopology = 1\n"),
        (2, "TOML", "[radio", "expected `]`", "FLOW\n[radio\n"),
    ]);
}

#[test]
fn unknown_keys_and_words() {
    check(&[
        (
            3,
            "radio.raet",
            "unknown key \"raet\" (did you mean \"rate\"?)",
            "standard, rate,",
            "FLOW\n[radio]\nraet = 1\n",
        ),
        (2, "topolgy", "did you mean \"topology\"?", "topology, node, link", "FLOW\ntopolgy = 1\n"),
        (1, "flow[0].form", "did you mean \"from\"?", "from, to, app", "flow = [{ form = \"n0\" }]\n"),
        (2, "measure.colour", "unknown key \"colour\"", "duration, warmup", "FLOW\nmeasure.colour = 1\n"),
        (2, "topology.kind", "\"ring\"", "chain, parallel-chains", "FLOW\ntopology.kind = \"ring\"\n"),
        (
            2,
            "routing.protocol",
            "\"aodvv\" (did you mean \"aodv\"?)",
            "aodv, babel, dsdv, static",
            "FLOW\nrouting.protocol = \"aodvv\"\n",
        ),
        (2, "topology.kind", "nothing", "chain", "FLOW\ntopology.hops = 3\n"),
        (2, "scheme.x.t", "a table", "a number", "FLOW\nscheme.x.t.u = 1\n"),
        (2, "scheme.x.d", "1979-05-27", "a number", "FLOW\nscheme.x.d = 1979-05-27\n"),
        (2, "scheme.x", "1", "a table of the scheme's parameters", "FLOW\nscheme.x = 1\n"),
        (2, "scheme", "\"tcp-gap\"", "tables [scheme.NAME]", "FLOW\nscheme = \"tcp-gap\"\n"),
    ]);
}

#[test]
fn values_out_of_range() {
    check(&[
        (2, "topology.hops", "-1", "from 1 to 1000", "FLOW\ntopology = { kind = \"chain\", hops = -1 }\n"),
        (2, "topology.hops", "nothing", "from 1 to 1000", "FLOW\ntopology = { kind = \"chain\" }\n"),
        (2, "topology.hops", "2.0", "a whole number", "FLOW\ntopology = { kind = \"chain\", hops = 2.0 }\n"),
        (
            2,
            "topology.spacing",
            "nan",
            "a length from 0.001 m",
            "FLOW\ntopology = { kind = \"chain\", hops = 2, spacing = nan }\n",
        ),
        (
            2,
            "topology.spacing",
            "\"200\"",
            "such as \"200m\"",
            "FLOW\ntopology = { kind = \"chain\", hops = 2, spacing = \"200\" }\n",
        ),
        (2, "measure.duration", "inf", "a time", "FLOW\nmeasure.duration = inf\n"),
        (2, "measure.duration", "\"-3s\"", "a time", "FLOW\nmeasure.duration = \"-3s\"\n"),
        (2, "measure.duration", "\"2e9s\"", "to 1000000 s", "FLOW\nmeasure.duration = \"2e9s\"\n"),
        (2, "measure.windows", "a list of 0", "a list of 1 to 20", "FLOW\nmeasure.windows = []\n"),
        (
            2,
            "radio.queue",
            "99999999999999999999",
            "a whole number",
            "FLOW\nradio.queue = 99999999999999999999\n",
        ),
        (2, "radio.queue", "0", "from 1", "FLOW\nradio.queue = 0\n"),
        (2, "radio.rate", "0", "a rate from 1000 bit/s", "FLOW\nradio.rate = 0\n"),
        (2, "radio.rate", "1979-05-27", "a rate", "FLOW\nradio.rate = 1979-05-27\n"),
        (
            3,
            "radio.rate",
            "\"11Mbps\"",
            "54Mbps for 802.11a",
            "FLOW\nradio.standard = \"802.11a\"\nradio.rate = \"11Mbps\"\n",
        ),
        (2, "radio.basic_rate", "6000000", "11Mbps for 802.11b", "FLOW\nradio.basic_rate = 6000000\n"),
        (
            2,
            "radio.link_rates[0].rate",
            "\"3Mbps\"",
            "for 802.11b",
            "FLOW\nradio.link_rates = [{ from = \"n0\", rate = \"3Mbps\" }]\n",
        ),
        (
            2,
            "radio.link_rates[0].rate",
            "nothing",
            "a rate",
            "FLOW\nradio.link_rates = [{ from = \"n0\" }]\n",
        ),
        (
            2,
            "radio.rts",
            "\"sometimes\"",
            "always, never, or a whole number of bytes",
            "FLOW\nradio.rts = \"sometimes\"\n",
        ),
        (
            2,
            "radio.tx_range",
            "\"600m\"",
            "at most radio.cs_range = 550 m",
            "FLOW\nradio.tx_range = \"600m\"\n",
        ),
        (2, "radio.cs_range", "100", "at least radio.tx_range = 250 m", "FLOW\nradio.cs_range = 100\n"),
        (
            1,
            "flow[0].segment",
            "9000",
            "from 1 to 2264",
            "flow = [{ from = \"n0\", to = \"n2\", segment = 9000 }]\n",
        ),
        (
            1,
            "flow[0].file_shape",
            "1",
            "above 1 to",
            "flow = [{ from = \"n0\", to = \"n2\", app = \"http\", file_shape = 1 }]\n",
        ),
        (
            1,
            "flow[0].rate",
            "nothing",
            "a rate",
            "flow = [{ from = \"n0\", to = \"n2\", app = \"cbr\", packet = 100 }]\n",
        ),
        (1, "flow[0].from", "\"\"", "1 to 255 characters", "flow = [{ from = \"\", to = \"n2\" }]\n"),
        (
            2,
            "mobility.speed_min",
            "20",
            "up to speed_max",
            "FLOW\nmobility = { model = \"random-waypoint\", speed_min = 20 }\n",
        ),
        (
            2,
            "topology.cols",
            "200 x 200 nodes",
            "at most 10000",
            "FLOW\ntopology = { kind = \"grid\", rows = 200, cols = 200 }\n",
        ),
    ]);
}

#[test]
fn keys_that_do_not_apply() {
    check(&[
        (
            2,
            "topology.hops",
            "kind = \"grid\"",
            "only with kind = chain",
            "FLOW\ntopology = { kind = \"grid\", rows = 2, cols = 2, hops = 3 }\n",
        ),
        (
            2,
            "radio.shadowing_db",
            "propagation = \"two-ray\"",
            "only with propagation = log-distance",
            "FLOW\nradio.shadowing_db = 4\n",
        ),
        (
            1,
            "flow[0].rate",
            "app = \"ftp\"",
            "only with app = cbr, self-similar",
            "flow = [{ from = \"n0\", to = \"n2\", rate = 1e6 }]\n",
        ),
        (2, "mobility.pause", "model = \"static\"", "random-waypoint", "FLOW\nmobility.pause = 1\n"),
        (
            2,
            "node[0].x",
            "role = \"wired\"",
            "only with role = mesh, gateway",
            "FLOW\nnode = [{ id = \"B\", role = \"wired\", x = 1, y = 1 }]\n",
        ),
    ]);
}

#[test]
fn times_and_plans_that_contradict() {
    check(&[
        (
            3,
            "measure.warmup",
            "\"9s\"",
            "less than measure.duration = 9 s",
            "FLOW\nmeasure.duration = 9\nmeasure.warmup = \"9s\"\n",
        ),
        (2, "measure.duration", "9", "more than measure.warmup = 20 s", "FLOW\nmeasure.duration = 9\n"),
        (
            2,
            "measure.duration",
            "duration together with packets",
            "either",
            "FLOW\nmeasure = { duration = 9, packets = 100 }\n",
        ),
        (
            2,
            "measure.batches",
            "11",
            "at most measure.packets = 10",
            "FLOW\nmeasure = { packets = 10, batches = 11 }\n",
        ),
        (2, "measure.packets", "10", "at least measure.batches = 11", "FLOW\nmeasure = { packets = 10 }\n"),
        (2, "measure.packets", "nothing", "a whole number", "FLOW\nmeasure = { batches = 10 }\n"),
        (
            1,
            "flow[0].start",
            "300",
            "before measure.duration = 200 s",
            "flow = [{ from = \"n0\", to = \"n2\", start = 300 }]\n",
        ),
        (
            1,
            "flow[0].stop",
            "\"4s\"",
            "after start + start_jitter = 6 s",
            "flow = [{ from = \"n0\", to = \"n2\", start = 5, stop = \"4s\" }]\n",
        ),
    ]);
}

#[test]
fn limits() {
    check(&[
        (
            2,
            "topology.nodes",
            "10001",
            "to 10000",
            "FLOW\ntopology = { kind = \"random\", nodes = 10001, width = 9, height = 9 }\n",
        ),
        (
            1,
            "flow[1]",
            "10001 flows",
            "at most 10000",
            "flow = [{ from = \"n0\", to = \"n1\", count = 10000 }, { from = \"n0\", to = \"n1\" }]\nCHAIN\n",
        ),
        (
            3,
            "node[0].id",
            "10001 nodes",
            "at most 10000, wired ones included",
            "topology = { kind = \"grid\", rows = 100, cols = 100 }\nFLOW\nnode = [{ id = \"z\", x = 0, y = 0 }]\n",
        ),
    ]);
    let none = Overrides::none();
    let large = error(&vec![b'#'; (4 << 20) + 1], &none);
    assert_eq!(large.to_string(), "x.toml:1: file: found 4194305 bytes; allowed: at most 4194304 bytes");
    let dense = error("a = [[], []]\n".repeat(100_000).as_bytes(), &none);
    assert!(dense.to_string().starts_with("x.toml:1: file: found more tables and lists"), "{dense}");
    let bytes = error(b"[radio]\nrate = \"\xff\"\n", &none);
    assert_eq!(bytes.to_string(), "x.toml:2: file: found byte 0xff at offset 16; allowed: UTF-8 text");
    let deep = error(format!("a = {}", "[".repeat(10_000)).as_bytes(), &none);
    assert_eq!((deep.at.key.as_str(), &deep.at.origin), ("TOML", &Origin::Line(1)));
}

#[test]
fn overrides_are_named_instead_of_a_line() {
    let text = format!("{FLOW}\n{CHAIN}\n");
    let message = |assignment: &str| error(text.as_bytes(), &Overrides::none().with(assignment)).to_string();
    let rate =
        "x.toml: --set radio.rate: found \"7Mbps\"; allowed: 1Mbps, 2Mbps, 5.5Mbps, 11Mbps for 802.11b";
    assert_eq!(message("radio.rate=7Mbps"), rate);
    for (assignment, start, end) in [
        (
            "radio.raet=1",
            "x.toml: --set radio.raet: found the unknown key \"raet\" (did you",
            "guard_interval, aggregate, aggregates_ahead, amsdu, ideal_error",
        ),
        (
            "flow.0.app=cbrr",
            "x.toml: --set flow.0.app: found \"cbrr\"",
            "cbr, http, self-similar, transfer, echo",
        ),
        ("flow[0].to=n9", "x.toml: --set flow[0].to: found the unknown node \"n9\"", "n0, n1, n2"),
        ("flow.1.to=n0", "x.toml: --set flow.1.to: found index 1", "index 0"),
        ("flow.x.to=n0", "x.toml: --set flow.x.to: found index x", "index 0"),
        ("topology.hops.x=1", "x.toml: --set topology.hops.x: found 2 at hops", "within a table or list"),
        ("radio.rate", "x.toml: --set radio.rate: found no value", "such as radio.rate=11Mbps"),
        (".=1", "x.toml: --set .: found a malformed key", "dotted path such as radio.rate or flow.0.scheme"),
        ("=1", "x.toml: --set : found a malformed key", "dotted path such as radio.rate or flow.0.scheme"),
        ("topology={}", "x.toml: --set topology: topology.kind: found nothing", "explicit"),
        (
            "measure.warmup=999",
            "x.toml: --set measure.warmup: found 999",
            "less than measure.duration = 200 s",
        ),
    ] {
        let message = message(assignment);
        assert!(message.starts_with(start) && message.ends_with(end), "{assignment}: {message}");
    }
    let scheme = error(text.as_bytes(), &Overrides::none().with_scheme("")).to_string();
    let expected = "x.toml: --scheme: flow[0].scheme: found \"\"; allowed: a string of 1 to 255 characters";
    assert_eq!(scheme, expected);
}
