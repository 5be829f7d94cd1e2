//! Compiles the eBPF programs' rules of plausible segments for this machine, so that a target can call them.

fn main() {
    let (shim, include) = ("src/plausible.c", "../bpf/include");
    println!("cargo::rerun-if-changed={shim}");
    println!("cargo::rerun-if-changed={include}");
    // The header's helpers for packets are the kernel's to call.
    cc::Build::new().file(shim).include(include).flag("-Wno-unused").compile("plausible");
}
