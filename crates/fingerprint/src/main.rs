//! `meshpace-fingerprint [DIRECTORY]`: prints the fingerprint of the engine whose sources lie there.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    match meshpace_fingerprint::of_tree(&root) {
        Ok(found) => {
            println!("{}", found.hex);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
