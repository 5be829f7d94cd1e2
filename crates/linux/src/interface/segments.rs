//! How many TCP segments the kernel may hand an interface as one packet: `IFLA_GSO_MAX_SEGS` over rtnetlink(7).

use super::index;
use crate::netlink::{HEADER, find, native_u32};
use crate::rtnetlink::RtNetlink;
use std::io;

/// `struct ifinfomsg`: family and type, index, flags and which of them are changed.
const LINK: usize = 16;

/// `gso_max_segs` of interface `name`: the most segments of a packet.
///
/// # Errors
/// If there is no such interface, or a kernel that does not tell.
pub fn gso_max_segments(name: &str) -> io::Result<u32> {
    let answer = RtNetlink::open()?.ask(libc::RTM_GETLINK, 0, &link(index(name)?), &[])?;
    told(&answer)
        .ok_or_else(|| io::Error::other(format!("interface {name}: the kernel does not tell gso_max_segs")))
}

/// The number in the kernel's answer.
fn told(answer: &[u8]) -> Option<u32> {
    native_u32(find(answer.get(HEADER + LINK..)?, libc::IFLA_GSO_MAX_SEGS)?, 0)
}

/// What an answer says: the number, if it has one, or the error number.
#[cfg(feature = "foreign")]
pub(crate) fn read(answer: &[u8]) -> Result<Option<u32>, i32> {
    crate::netlink::outcome(answer).map(|()| told(answer))
}

/// Sets `gso_max_segs` of interface `name`, at least 1. Connections that exist keep what they found.
///
/// # Errors
/// If there is no such interface, CAP_NET_ADMIN is missing, or the kernel does not allow the number.
pub fn set_gso_max_segments(name: &str, segments: u32) -> io::Result<()> {
    let value = segments.to_ne_bytes();
    let attributes = [(libc::IFLA_GSO_MAX_SEGS, &value[..])];
    RtNetlink::open()?.ask(libc::RTM_NEWLINK, libc::NLM_F_ACK, &link(index(name)?), &attributes).map(drop)
}

/// The head of a message about interface `index`; by itself it changes nothing.
fn link(index: u32) -> [u8; LINK] {
    let mut header = [0; LINK];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_tells_and_what_is_missing_is_named() {
        assert!(gso_max_segments("lo").expect("every interface has it") >= 1);
        assert!(gso_max_segments("mp-none-such").expect_err("none").to_string().contains("mp-none-such"));
    }
}
