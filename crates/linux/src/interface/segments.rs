//! How many TCP segments the kernel may hand an interface as one packet: `IFLA_GSO_MAX_SEGS` over rtnetlink(7).

use super::index;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, sendto, socket,
};
use std::io;
use std::os::fd::AsRawFd;

// linux/netlink.h, linux/rtnetlink.h, linux/if_link.h.
const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const IFLA_GSO_MAX_SEGS: u16 = 40;
/// `struct nlmsghdr`, `struct ifinfomsg`, `struct rtattr`.
const HEADER: usize = 16;
const LINK: usize = 16;
const ATTRIBUTE: usize = 4;
/// Attributes begin at multiples of this, `NLMSG_ALIGNTO`.
const ALIGNMENT: usize = 4;

/// `gso_max_segs` of interface `name`: the most segments of a packet.
///
/// # Errors
/// If there is no such interface, or a kernel that does not tell.
pub fn gso_max_segments(name: &str) -> io::Result<u32> {
    let answer = ask(RTM_GETLINK, 0, index(name)?, &[])?;
    told(&answer)
        .ok_or_else(|| io::Error::other(format!("interface {name}: the kernel does not tell gso_max_segs")))
}

/// The number in the kernel's answer.
fn told(answer: &[u8]) -> Option<u32> {
    let value = find(answer.get(HEADER + LINK..)?, IFLA_GSO_MAX_SEGS)?;
    Some(u32::from_ne_bytes(value.try_into().ok()?))
}

/// What an answer says: the number, if it has one, or the error number.
#[cfg(feature = "foreign")]
pub(crate) fn read(answer: &[u8]) -> Result<Option<u32>, i32> {
    error(answer).filter(|errno| *errno != 0).map_or_else(|| Ok(told(answer)), Err)
}

/// Sets `gso_max_segs` of interface `name`, at least 1. Connections that exist keep what they found.
///
/// # Errors
/// If there is no such interface, CAP_NET_ADMIN is missing, or the kernel does not allow the number.
pub fn set_gso_max_segments(name: &str, segments: u32) -> io::Result<()> {
    let mut attribute = Vec::with_capacity(ATTRIBUTE + 4);
    attribute.extend(((ATTRIBUTE + 4) as u16).to_ne_bytes());
    attribute.extend(IFLA_GSO_MAX_SEGS.to_ne_bytes());
    attribute.extend(segments.to_ne_bytes());
    ask(RTM_NEWLINK, NLM_F_ACK, index(name)?, &attribute).map(drop)
}

/// Sends one request about interface `index` and takes its one answer.
fn ask(kind: u16, flags: u16, index: u32, attributes: &[u8]) -> io::Result<Vec<u8>> {
    let netlink =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    bind(netlink.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    let mut request = Vec::with_capacity(HEADER + LINK + attributes.len());
    request.extend(((HEADER + LINK + attributes.len()) as u32).to_ne_bytes());
    request.extend(kind.to_ne_bytes());
    request.extend((NLM_F_REQUEST | flags).to_ne_bytes());
    request.extend([0; 8]); // sequence number and port: one request a socket
    request.extend([0; 4]); // family AF_UNSPEC, type
    request.extend(index.to_ne_bytes());
    request.extend([0; 8]); // no flags are changed
    request.extend(attributes);
    sendto(netlink.as_raw_fd(), &request, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = vec![0; 32_768]; // as much as the kernel sends at once (rtnetlink(7))
    let length = recv(netlink.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    answer.truncate(length);
    match error(&answer) {
        Some(0) | None => Ok(answer),
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// The errno of an `NLMSG_ERROR`, 0 in an acknowledgement; `None` if the message is another.
fn error(message: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(message.get(4..6)?.try_into().ok()?);
    let errno = i32::from_ne_bytes(message.get(HEADER..HEADER + 4)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then(|| errno.saturating_neg())
}

/// The value of the first attribute of that type.
fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        let value = attributes.get(ATTRIBUTE..length)?;
        if kind == wanted {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(ALIGNMENT)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_tells_and_what_is_missing_is_named() {
        assert!(gso_max_segments("lo").expect("every interface has it") >= 1);
        assert!(gso_max_segments("mp-none-such").expect_err("none").to_string().contains("mp-none-such"));
    }

    #[test]
    fn attributes_are_found_behind_others_and_torn_ones_are_not() {
        let mut bytes = Vec::new();
        for (kind, value) in [(3u16, b"lo\0".as_slice()), (IFLA_GSO_MAX_SEGS, &7u32.to_ne_bytes())] {
            bytes.extend(((ATTRIBUTE + value.len()) as u16).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        }
        assert_eq!(find(&bytes, IFLA_GSO_MAX_SEGS), Some(7u32.to_ne_bytes().as_slice()));
        assert_eq!(find(&bytes, 99), None);
        assert_eq!(find(&bytes[..bytes.len() - 1], IFLA_GSO_MAX_SEGS), None, "torn");
        assert_eq!(find(&[0; 8], 1), None, "a length that does not move on");
    }
}
