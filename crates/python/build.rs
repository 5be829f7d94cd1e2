//! Gives the extension the fingerprint of the engine that it is built of.

use std::env;
use std::path::PathBuf;

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = manifest.parent().and_then(|crates| crates.parent()).expect("crates/python in a workspace");
    let found = meshpace_fingerprint::of_tree(root).unwrap_or_else(|error| panic!("{error}"));
    for source in &found.sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    println!("cargo::rustc-env=MESHPACE_FINGERPRINT={}", found.hex);
}
