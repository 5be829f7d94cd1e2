//! Compiles C of this folder for this machine, for tests that hold it against Rust.

extern crate std;

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::string::String;

/// The program that a C file of a crate makes with the headers in `include/`, put into a folder. Each process has a file of its own.
///
/// # Panics
/// If it cannot be compiled.
pub fn compiled(manifest: &str, source: &str, folder: &Path) -> PathBuf {
    let source = Path::new(manifest).join(source);
    let name = source.file_stem().and_then(|name| name.to_str()).expect("a name");
    let program = folder.join(std::format!("{name}-{}", std::process::id()));
    let compiler = var_os("CC").unwrap_or_else(|| "cc".into());
    let done = Command::new(&compiler)
        .args(["-O2", "-std=gnu11", "-Wno-unknown-pragmas", "-I"])
        .arg(Path::new(manifest).join("../../bpf/include"))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", compiler.display()));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}
