//! The attributes of bpf(2), and the call.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// `enum bpf_cmd`.
pub const MAP_CREATE: u32 = 0;
pub const MAP_LOOKUP_ELEM: u32 = 1;
pub const MAP_UPDATE_ELEM: u32 = 2;
pub const MAP_DELETE_ELEM: u32 = 3;
pub const MAP_GET_NEXT_KEY: u32 = 4;
pub const PROG_LOAD: u32 = 5;
pub const PROG_ATTACH: u32 = 8;
pub const PROG_DETACH: u32 = 9;
pub const MAP_GET_NEXT_ID: u32 = 12;
pub const PROG_GET_FD_BY_ID: u32 = 13;
pub const MAP_GET_FD_BY_ID: u32 = 14;
pub const OBJ_GET_INFO_BY_FD: u32 = 15;
pub const PROG_QUERY: u32 = 16;
pub const BTF_LOAD: u32 = 18;
pub const LINK_CREATE: u32 = 28;
pub const ITER_CREATE: u32 = 33;

/// Room for every command that is used; the kernel takes what it does not know as long as that is zero.
const SIZE: usize = 128;

/// `union bpf_attr`. What it points to has to live until the call is over: each command's function sees to that.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Attributes([u8; SIZE]);

impl Attributes {
    pub const fn new() -> Self {
        Self([0; SIZE])
    }

    pub fn number(&mut self, at: usize, number: u32) {
        self.0[at..at + 4].copy_from_slice(&number.to_ne_bytes());
    }

    pub fn read(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    pub fn descriptor(&mut self, at: usize, descriptor: BorrowedFd<'_>) {
        self.number(at, descriptor.as_raw_fd().cast_unsigned());
    }

    /// What the kernel reads.
    pub fn bytes(&mut self, at: usize, bytes: &[u8]) {
        self.address(at, bytes.as_ptr() as u64);
    }

    /// What the kernel writes.
    pub fn room(&mut self, at: usize, room: &mut [u8]) {
        self.address(at, room.as_mut_ptr() as u64);
    }

    fn address(&mut self, at: usize, address: u64) {
        self.0[at..at + 8].copy_from_slice(&address.to_ne_bytes());
    }

    /// A name; the kernel keeps 15 bytes of it.
    pub fn name(&mut self, at: usize, name: &str) {
        for (to, from) in self.0[at..at + 15].iter_mut().zip(name.bytes()) {
            *to = from;
        }
    }
}

/// What a call answered.
#[derive(Debug)]
pub struct CallResult(i32);

impl CallResult {
    /// The descriptor that it opened. Only for the answers of commands that open one.
    pub fn descriptor(self) -> OwnedFd {
        // SAFETY: the command answered with a new descriptor, which has no other owner: an answer is taken once.
        unsafe { OwnedFd::from_raw_fd(self.0) }
    }
}

/// bpf(2).
pub fn call(command: u32, attributes: &mut Attributes) -> io::Result<CallResult> {
    // SAFETY: the attributes are as long as is said; every address in them is of a slice that the caller holds, as long as the command
    // reads or writes.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, attributes.0.as_mut_ptr(), SIZE) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(CallResult(answer as i32)) }
}
