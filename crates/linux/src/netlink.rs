//! What every netlink message has in common, as bytes: headers, attributes, answers. No system call, no unsafe code.
//!
//! Source: netlink(7), include/uapi/linux/netlink.h in the kernel.

/// `struct nlmsghdr`.
pub(crate) const HEADER: usize = 16;
/// `struct nlattr`.
pub(crate) const ATTRIBUTE: usize = 4;
/// Messages and attributes start at multiples of this (NLMSG_ALIGNTO, NLA_ALIGNTO).
pub(crate) const ALIGN: usize = 4;

/// The kernel's answer to a message: `struct nlmsgerr`, the body of a message of type NLMSG_ERROR.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// 0, or why the message was refused.
    pub(crate) errno: i32,
    /// The type of the message.
    pub(crate) about: u16,
}

impl Answer {
    /// The error, negative or 0, and the header of the message that it is about.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let errno = (native_u32(body, 0)? as i32).checked_neg()?;
        Some(Self { errno, about: native_u16(body, 4 + 4)? })
    }
}

pub(crate) fn native_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn native_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Starts a message with the subsystem's own `header` and gives its place; its length is written by [`close`]. Sequence
/// number and port stay 0.
pub(crate) fn open(bytes: &mut Vec<u8>, kind: u16, flags: libc::c_int, header: &[u8]) -> usize {
    let start = bytes.len();
    let mut common = [0; HEADER];
    common[4..6].copy_from_slice(&kind.to_ne_bytes());
    common[6..8].copy_from_slice(&(flags as u16).to_ne_bytes());
    bytes.extend_from_slice(&common);
    bytes.extend_from_slice(header);
    start
}

/// Ends the message that starts at `start`.
pub(crate) fn close(bytes: &mut [u8], start: usize) {
    let length =
        u32::try_from(bytes.len() - start).expect("a message holds at most a few attributes of 64 kB");
    bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
}

/// Appends an attribute.
pub(crate) fn attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(ATTRIBUTE + value.len()).unwrap_or_else(|_| {
        panic!("an attribute of {} bytes: IP packets are at most 65,535 long", value.len())
    });
    bytes.extend_from_slice(&length.to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
}
