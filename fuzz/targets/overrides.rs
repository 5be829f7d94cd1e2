//! The command line's overrides: the first line of the input is `--scheme` (empty: not given), each further one a
//! `--set`, all of them on each of a few files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::scenario::judge;
use meshpace_scenario::Overrides;

/// A file with explicit nodes and most keys, one with a generator and a wired part, one with web-like flows.
const FILES: [&[u8]; 3] = [
    include_bytes!("../seeds/scenario/every-section.toml"),
    include_bytes!("../../scenarios/demo-chain.toml"),
    include_bytes!("../../scenarios/gap-fig22-http-parallel.toml"),
];

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let mut overrides = Overrides::none();
    if let Some(scheme) = lines.next().filter(|scheme| !scheme.is_empty()) {
        overrides = overrides.with_scheme(scheme);
    }
    let overrides = lines.fold(overrides, Overrides::with);
    for file in FILES {
        judge(file, &overrides);
    }
});
