//! Whatever the bytes, the answer is a scenario or an error, soon.

use meshpace_scenario::{Overrides, ScenarioFile};
use meshpace_units::NodeId;
use proptest::prelude::*;
use proptest::sample::select;

fn files() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("scenarios").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).expect("a file")).collect()
}

/// Errors must be one bounded line; scenarios must be what the rest of the house may rely on.
fn survives(bytes: &[u8], overrides: &Overrides) {
    match ScenarioFile::parse("x.toml", bytes, overrides).and_then(|file| file.resolve(1)) {
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() < 4_000, "{message}");
        }
        Ok(scenario) => {
            for flow in &scenario.flows {
                assert!(flow.from != flow.to && flow.stop.is_none_or(|stop| stop > flow.start));
                let times = flow.pauses.iter().flat_map(|(from, to)| [*from, *to]);
                assert!([flow.start].into_iter().chain(times).chain(flow.stop).is_sorted());
                assert!(flow.path.iter().all(|path| !path.is_empty()));
            }
            for node in 0..scenario.mesh.len() {
                let place = scenario.drawn_at(NodeId::from_index(node));
                assert!(place.x.is_finite() && place.y.is_finite() && place.z.is_finite());
            }
        }
    }
}

const KEYS: &[&str] = &[
    "measure.duration",
    "measure.warmup",
    "measure.packets",
    "measure.batches",
    "measure.windows",
    "radio.standard",
    "radio.rate",
    "radio.rts",
    "radio.tx_range",
    "radio.cs_range",
    "radio.link_rates",
    "topology.kind",
    "topology.hops",
    "topology.spacing",
    "topology.gap",
    "topology.rows",
    "topology.cols",
    "topology.width",
    "topology.nodes",
    "topology.wired",
    "topology.wired_hosts",
    "topology.gateway",
    "mobility.model",
    "mobility.area",
    "routing.protocol",
    "flow",
    "flow.0.from",
    "flow.0.to",
    "flow.0.app",
    "flow.0.start",
    "flow.0.stop",
    "flow.0.count",
    "flow.0.start_jitter",
    "flow.0.rate",
    "flow.0.packet",
    "radio_link",
    "radio.ack_timeout",
    "radio.arp",
    "topology.connected",
    "topology.min_hops",
    "topology.placement_seed",
    "flow.0.path",
    "flow.0.on",
    "mesh.scheme",
    "node",
    "link",
    "scheme.x.y",
];

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "3",
    "9999",
    "1e-300",
    "1e300",
    "nan",
    "-inf",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[1, 2]",
    "[[[]]]",
    "1s",
    "0.0001s",
    "250m",
    "1Mbps",
    "54Mbps",
    "802.11a",
    "802.11g",
    "chain",
    "cross",
    "grid",
    "random",
    "mesh-16",
    "explicit",
    "asymmetric-chains",
    "random-waypoint",
    "IG",
    "B",
    "n0",
    "A1",
    "cbr",
    "http",
    "transfer",
    "1979-05-27",
    "0x7fffffffffffffff",
    "99999999999999999999",
    "\u{0}",
    "é",
    "static",
    "false",
    "centre",
    "[[0, 1], [2, 3]]",
    "[[1, 0]]",
    "[\"n0\", \"n1\"]",
    "[{ id = \"a\" }, { id = \"b\", lat = 1, lon = 2 }]",
    "[{ id = \"a\", lat = 80, lon = 170, height = 3 }]",
    "[{ from = \"n0\", to = \"n1\", loss = 0.5, burst = 3 }]",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(&bytes, &Overrides::none());
    }

    #[test]
    fn arbitrary_text(text in "(\\[?\\[?[a-z.\"]{0,8}\\]?\\]? ?=? ?[0-9\"a-zA-Z.{}\\[\\],#' -]{0,20}\n){0,12}") {
        survives(text.as_bytes(), &Overrides::none());
    }

    #[test]
    fn damaged_files(
        mut bytes in select(files()),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        for (place, byte, edit) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"0123456789.-\"[]{}=\n"[usize::from(byte) % 19]),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        survives(&bytes, &Overrides::none());
    }

    #[test]
    fn odd_values_in_valid_files(
        bytes in select(files()),
        assignments in proptest::collection::vec((select(KEYS), select(VALUES)), 1..6),
    ) {
        let add = |overrides: Overrides, (key, value)| overrides.with(format!("{key}={value}"));
        survives(&bytes, &assignments.into_iter().fold(Overrides::none(), add));
    }

    #[test]
    fn arbitrary_overrides(bytes in select(files()), text in ".{0,40}", path in "([a-z0-9\\[\\].]{1,4}\\.){0,5}=.{0,9}") {
        survives(&bytes, &Overrides::none().with(text));
        survives(&bytes, &Overrides::none().with_scheme(path.clone()).with(path));
    }
}
