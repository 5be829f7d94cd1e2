//! The eBPF programs compile for both byte orders (MIPS routers are big-endian), and read headers in either.
#![cfg(feature = "ebpf")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Targets of clang, and the ELF header's EI_DATA of their objects (ELFDATA2LSB, ELFDATA2MSB).
const TARGETS: [(&str, u8); 2] = [("bpfel", 1), ("bpfeb", 2)];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

/// As the build script compiles them, but for a target that need not be this machine's.
fn clang(target: &str, source: &Path, out: &Path, how: &str) -> Output {
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    Command::new(&clang)
        .args(["-target", target, "-O2", "-Wall", "-Wextra", "-Werror", how, "-I"])
        .arg(sources().join("include"))
        .arg(source)
        .arg("-o")
        .arg(out)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", clang.display()))
}

fn assert_compiled(output: &Output, target: &str, source: &Path) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{target}: {}:\n{said}", source.display());
}

#[test]
fn the_programs_compile_for_both_byte_orders() {
    let folder = tempfile::tempdir().unwrap();
    let mut compiled = 0;
    for entry in sources().read_dir().unwrap() {
        let source = entry.unwrap().path();
        if !source.to_string_lossy().ends_with(".bpf.c") {
            continue;
        }
        for (target, data) in TARGETS {
            let object = folder.path().join(format!("{target}.o"));
            assert_compiled(&clang(target, &source, &object, "-c"), target, &source);
            assert_eq!(std::fs::read(&object).unwrap()[..6], [0x7f, b'E', b'L', b'F', 2, data], "{target}");
            compiled += 1;
        }
    }
    assert!(compiled >= 4, "{compiled} objects");
}

/// Bit fields of the kernel's headers follow the byte order of the headers' machine, unless told otherwise: bytes that
/// are right in either order are folded into a constant, and the constant is what the program returns.
#[test]
fn header_fields_are_where_the_target_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("fields.c");
    let program = r#"
        #include "kernel.h"
        #include "packet.h"
        int fields(void)
        {
            const __u8 ip_bytes[20] = {0x46, 0, 0x01, 0x02}, tcp_bytes[20] = {0, 80, 0, 0, 1, 2, 3, 4, [12] = 0x80, [13] = 0x12};
            struct iphdr ip;
            struct tcphdr tcp;

            memcpy(&ip, ip_bytes, sizeof(ip));
            memcpy(&tcp, tcp_bytes, sizeof(tcp));
            return (ip.version == 4) + 2 * (ip.ihl == 6) + 4 * (BE16(ip.tot_len) == 0x102) + 8 * (tcp.doff == 8) +
                   16 * (BE32(tcp.seq) == 0x01020304) + 32 * (BE16(tcp.source) == 80) + 64 * (tcp.syn && tcp.ack && !tcp.fin);
        }
    "#;
    std::fs::write(&source, program).unwrap();
    for (target, _) in TARGETS {
        let out = folder.path().join(format!("{target}.s"));
        assert_compiled(&clang(target, &source, &out, "-S"), target, &source);
        let assembly = std::fs::read_to_string(&out).unwrap();
        assert!(assembly.contains("r0 = 127\n"), "{target}: {assembly}");
    }
}
