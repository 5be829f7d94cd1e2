//! What the tests of all programs run them with (BPF_PROG_TEST_RUN).

use super::loading::program;
use super::programs::Programs;
use crate::Failure;
use aya::programs::{TestRun, TestRunOptions};
use meshpace_units::Instant;
use std::os::unix::fs::MetadataExt;

/// Packets are run as if on the loopback interface, which is declared an Ethernet into the mesh.
pub const MESH: u32 = 1;
/// `TC_ACT_UNSPEC`.
pub const NEXT: u32 = u32::MAX;
/// Size of `struct __sk_buff` (linux/bpf.h), and offsets in it.
const SK_BUFF: usize = 192;
pub const MARK: usize = 8;
pub const INGRESS_IFINDEX: usize = 36;
const IFINDEX: usize = 40;
const TSTAMP: usize = 152;
pub const GSO_SEGS: usize = 164;
pub const GSO_SIZE: usize = 176;

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

/// What the kernel knows of a frame beside its bytes.
pub struct Context([u8; SK_BUFF]);

impl Context {
    /// On its way into the mesh.
    pub fn new() -> Self {
        Self([0; SK_BUFF]).with(IFINDEX, MESH)
    }

    /// With this number at that offset.
    pub fn with(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    /// With a departure.
    pub fn departs(mut self, at: Instant) -> Self {
        self.0[TSTAMP..TSTAMP + 8].copy_from_slice(&at.as_nanos().to_ne_bytes());
        self
    }
}

/// What a program made of a frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub verdict: u32,
    /// The bytes that come out: a frame from [`run`], a packet from benches that frame packets themselves.
    pub packet: Vec<u8>,
    pub departure: Option<Instant>,
}

/// Runs a program on a frame.
pub fn run(programs: &mut Programs, name: &str, frame: &[u8], context: &Context) -> Ran {
    let (mut out, mut context_out) = (vec![0; frame.len() + 64], [0; SK_BUFF]);
    let options = TestRunOptions {
        data_in: Some(frame),
        data_out: Some(&mut out),
        ctx_in: Some(&context.0),
        ctx_out: Some(&mut context_out),
        ..TestRunOptions::new()
    };
    let ran = program(&mut programs.ebpf, name).test_run(options).expect("BPF_PROG_TEST_RUN");
    out.truncate(ran.data_size_out as usize);
    let stamp = u64::from_ne_bytes(context_out[TSTAMP..TSTAMP + 8].try_into().expect("8 bytes"));
    Ran { verdict: ran.return_value, packet: out, departure: (stamp > 0).then(|| Instant::from_nanos(stamp)) }
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
