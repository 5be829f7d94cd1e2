//! What the tests of all programs run them with (BPF_PROG_TEST_RUN).

use crate::Failure;
use std::os::unix::fs::MetadataExt;

/// Packets are run as if on the loopback interface, which is declared an Ethernet into the mesh.
pub const MESH: u32 = 1;
/// `TC_ACT_UNSPEC`.
pub const NEXT: u32 = u32::MAX;
/// `struct __sk_buff` (linux/bpf.h): its size, and where the interface stands.
pub const SK_BUFF: usize = 192;
pub const IFINDEX: usize = 40;

/// What was loaded; `None` (and a word about it) without root's rights.
pub fn with_rights<T>(loaded: Result<T, Failure>) -> Option<T> {
    let root = std::fs::metadata("/proc/self").expect("proc").uid() == 0;
    match loaded {
        Ok(loaded) => Some(loaded),
        Err(error) if !root => {
            eprintln!("not run, it takes root: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// An IP packet behind an Ethernet header with these VLAN tags, by their types.
pub fn framed(ip: &[u8], v6: bool, tags: &[u16]) -> Vec<u8> {
    let ether_type: u16 = if v6 { 0x86dd } else { 0x0800 };
    let mut frame = vec![2; 12];
    for tag in tags {
        frame.extend(tag.to_be_bytes());
        frame.extend(7u16.to_be_bytes());
    }
    frame.extend(ether_type.to_be_bytes());
    frame.extend(ip);
    frame
}

/// Makes of arbitrary bytes a TCP packet by its IP header: it gets far enough into a program for the rest to matter.
pub fn make_plausible(bytes: &mut [u8], v6: bool) {
    let (version, protocol) = if v6 { (0x60, 6) } else { (0x45, 9) };
    bytes[0] = version;
    bytes[protocol] = 6;
    let length = if v6 { bytes.len() - 40 } else { bytes.len() } as u16;
    let at = if v6 { 4 } else { 2 };
    bytes[at..at + 2].copy_from_slice(&length.to_be_bytes());
}
