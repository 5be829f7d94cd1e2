//! Compiles `bpf/*.bpf.c` with clang and the kernel's uapi headers; the daemon carries the objects inside.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_EBPF").is_none() {
        return;
    }
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let sources = manifest.join("../../bpf");
    println!("cargo::rerun-if-changed={}", sources.display());
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let entries = sources.read_dir().unwrap_or_else(|error| panic!("{}: {error}", sources.display()));
    for entry in entries {
        let source = entry.unwrap_or_else(|error| panic!("{}: {error}", sources.display())).path();
        let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(name) = name.strip_suffix(".bpf.c") {
            compile(&clang, &source, &sources.join("include"), &out.join(format!("{name}.bpf.o")));
        }
    }
}

fn compile(clang: &std::ffi::OsStr, source: &Path, include: &Path, object: &Path) {
    let endian = env::var("CARGO_CFG_TARGET_ENDIAN").expect("set by cargo");
    let target = if endian == "big" { "bpfeb" } else { "bpfel" };
    let mut command = Command::new(clang);
    // -g for the types that map definitions are made of (BTF); nothing depends on the running kernel's.
    command.args(["-target", target, "-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    command.arg("-I").arg(include);
    command.arg("-c").arg(source).arg("-o").arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?}: {status}"),
        Err(error) => panic!(
            "{}: {error}: clang compiles the eBPF programs (Debian: apt install clang linux-libc-dev), or CLANG names one",
            clang.to_string_lossy()
        ),
    }
}
