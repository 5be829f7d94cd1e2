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
pub(crate) struct NetlinkAck {
    /// 0, or why the message was refused.
    pub(crate) errno: i32,
    /// The type of the message.
    pub(crate) about: u16,
}

impl NetlinkAck {
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

/// What an answer that is one message says of the request: the error number if it was refused. An answer that is cut off
/// refuses with `EBADMSG`.
pub(crate) fn outcome(message: &[u8]) -> Result<(), i32> {
    if native_u16(message, 4) != Some(libc::NLMSG_ERROR as u16) {
        return Ok(());
    }
    match message.get(HEADER..).and_then(NetlinkAck::parse) {
        Some(NetlinkAck { errno: 0, .. }) => Ok(()),
        Some(NetlinkAck { errno, .. }) => Err(errno),
        None => Err(libc::EBADMSG),
    }
}

/// The value of the first attribute of that type.
pub(crate) fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(native_u16(attributes, 0)?);
        let value = attributes.get(ATTRIBUTE..length)?;
        if native_u16(attributes, 2)? == wanted {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(ALIGN)..)?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_behind_others_and_torn_ones_are_not() {
        let mut bytes = Vec::new();
        attribute(&mut bytes, 3, b"lo\0");
        attribute(&mut bytes, 40, &7u32.to_ne_bytes());
        assert_eq!(find(&bytes, 40), Some(7u32.to_ne_bytes().as_slice()));
        assert_eq!(find(&bytes, 99), None);
        assert_eq!(find(&bytes[..bytes.len() - 1], 40), None, "torn");
        assert_eq!(find(&[0; 8], 1), None, "a length that does not move on");
    }

    #[test]
    fn what_an_answer_says_of_the_request() {
        let answer = |errno: i32| {
            let mut bytes = Vec::new();
            let start = open(&mut bytes, libc::NLMSG_ERROR as u16, 0, &errno.wrapping_neg().to_ne_bytes());
            bytes.extend([0; HEADER]); // of the message that it is about
            close(&mut bytes, start);
            bytes
        };
        assert_eq!(outcome(&answer(0)), Ok(()), "an acknowledgement");
        assert_eq!(outcome(&answer(libc::EPERM)), Err(libc::EPERM));
        assert_eq!(outcome(&answer(libc::EPERM)[..HEADER + 2]), Err(libc::EBADMSG));
        assert_eq!(outcome(&answer(i32::MIN)), Err(libc::EBADMSG), "no number of an error");
        let mut other = answer(libc::EPERM);
        other[4..6].copy_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
        assert_eq!(outcome(&other), Ok(()), "what was asked for");
    }
}
