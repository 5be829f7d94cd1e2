//! docs/schemes.md names the keys of what it defines, with their values: of the sections that are built (1 to 3: pacing, TCP-AP,
//! TCP-GAP; 4: ingress throttling; 5 to 7: what the thesis compares; 8: LLAP; 9 to 12: rt-Winf, WE TCP-AP,
//! XCP, RCP; 16: the TCP below; 22: today's transports; 23: calm) each is a key of a part, and takes the values.

use meshpace_keys::{Key, RawValue};
use meshpace_schemes::parameters;
use std::fs;
use std::path::Path;

/// The sections whose keys are parameters of schemes.
const SECTIONS: [&str; 15] =
    ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "16", "22", "23"];
/// Names in these sections that are no parameters of a scheme, and what they are.
const OTHERS: [(&str, &str); 6] = [
    ("next_tx", "state of the pacer, 1.5"),
    ("mac_overhead", "a key of [radio]"),
    ("ot_window", "how studies set a flow's window, 4"),
    ("rtwinf_busy", "the union is built, sums by role are not, 9.2"),
    ("we_np", "the nodes of the path are built, the contention count is not, 10.2"),
    ("ot_alpha_load", "an argument of the calibration, 4"),
];

/// A code span that names a key, perhaps with a value or several: `gc_order = judge-first | figure`.
struct Named {
    key: String,
    values: Vec<String>,
}

fn named() -> Vec<Named> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes.md");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let of_interest = |section: &&str| {
        let number = section.split('.').next().unwrap_or_default();
        SECTIONS.contains(&number)
    };
    let sections: Vec<&str> = text.split("\n## ").filter(of_interest).collect();
    assert_eq!(sections.len(), SECTIONS.len(), "sections of {}", path.display());
    sections.iter().flat_map(|section| section.lines().flat_map(spans)).collect()
}

/// The code spans of a line that name keys: words with an underscore inside. Names of ns-2 end with one.
fn spans(line: &str) -> impl Iterator<Item = Named> {
    line.split('`').skip(1).step_by(2).filter_map(|span| {
        let (key, values) = span.split_once(" = ").unwrap_or((span, ""));
        let is_key = key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && key.contains('_')
            && !key.ends_with('_');
        let values = values.split(" | ").filter(|value| !value.is_empty()).map(str::to_owned).collect();
        is_key.then(|| Named { key: key.to_owned(), values })
    })
}

/// A value as a file would have it.
fn raw(value: &str) -> RawValue {
    value.parse().map(RawValue::Integer).unwrap_or_else(|_| RawValue::from(value))
}

#[test]
fn every_key_of_the_sections_that_are_built_is_known_with_its_values() {
    let found = named();
    assert!(found.len() > 20, "the reader of spans finds {}", found.len());
    for Named { key, values } in &found {
        let known: Vec<&Key> = parameters().filter(|known| known.name == key).collect();
        if OTHERS.iter().any(|(other, _)| other == key) {
            continue;
        }
        assert!(!known.is_empty(), "schemes.md names {key}, and no part has it");
        for value in values {
            assert!(
                known.iter().all(|known| known.kind.accept(&raw(value)).is_some()),
                "schemes.md: {key} = {value}"
            );
        }
    }
    for key in OTHERS.iter().map(|(key, _)| key) {
        assert!(found.iter().any(|named| named.key == **key), "no section names {key} any more");
    }
}
