//! The kernel's connection tracking: being liberal about one connection's windows, over netlink.
//!
//! Source: include/uapi/linux/netfilter/nfnetlink_conntrack.h, nf_conntrack_tcp.h and net/netfilter/nf_conntrack_netlink.c in the
//! kernel.

use crate::netlink::attribute;
use crate::rtnetlink::RtNetlink;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// NFNL_SUBSYS_CTNETLINK, and IPCTNL_MSG_CT_NEW, which changes an entry that exists unless it is told to create one.
const CHANGE: u16 = 1 << 8;
const NESTED: u16 = libc::NLA_F_NESTED as u16;

/// Attributes of an entry, of a tuple, of its addresses and ports, of TCP's part.
const TUPLE_ORIG: u16 = 1;
const TUPLE_IP: u16 = 1;
const TUPLE_PROTO: u16 = 2;
const IP_V4: [u16; 2] = [1, 2];
const IP_V6: [u16; 2] = [3, 4];
const PROTO_NUM: u16 = 1;
const PROTO_PORTS: [u16; 2] = [2, 3];
const PROTOINFO: u16 = 4;
const PROTOINFO_TCP: u16 = 1;
const TCP_FLAGS: [u16; 2] = [4, 5];
/// `struct nf_ct_tcp_flags` with IP_CT_TCP_FLAG_BE_LIBERAL as flag and mask.
const LIBERAL: [u8; 2] = [0x08, 0x08];

/// A way to the connection tracker of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Conntrack {
    netlink: RtNetlink,
}

impl Conntrack {
    /// Opens it.
    ///
    /// # Errors
    /// A kernel without netfilter's netlink.
    pub fn open() -> io::Result<Self> {
        Ok(Self { netlink: RtNetlink::to_netfilter()? })
    }

    /// Has the kernel call no packet of the TCP connection between these ends invalid for lying outside of the windows that it has
    /// seen. It knows the entry by either of its directions.
    ///
    /// # Errors
    /// No such entry (`NotFound`), no rights, ends of two IP versions, a kernel without ctnetlink.
    pub fn be_liberal(&self, source: SocketAddr, destination: SocketAddr) -> io::Result<()> {
        let (family, tuple) = tuple(source, destination)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "ends of two IP versions"))?;
        // `struct nfgenmsg`: family, version 0, resource id 0.
        let header = [family, 0, 0, 0];
        let info = liberal();
        let attributes = [(TUPLE_ORIG | NESTED, &tuple[..]), (PROTOINFO | NESTED, &info[..])];
        self.netlink.ask(CHANGE, libc::NLM_F_ACK, &header, &attributes).map(drop)
    }
}

/// The address family, and the attributes of a tuple.
fn tuple(source: SocketAddr, destination: SocketAddr) -> Option<(u8, Vec<u8>)> {
    let mut addresses = Vec::new();
    let family = match (source.ip(), destination.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            attribute(&mut addresses, IP_V4[0], &from.octets());
            attribute(&mut addresses, IP_V4[1], &to.octets());
            libc::AF_INET
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            attribute(&mut addresses, IP_V6[0], &from.octets());
            attribute(&mut addresses, IP_V6[1], &to.octets());
            libc::AF_INET6
        }
        _ => return None,
    };
    let mut protocol = Vec::new();
    attribute(&mut protocol, PROTO_NUM, &[libc::IPPROTO_TCP as u8]);
    attribute(&mut protocol, PROTO_PORTS[0], &source.port().to_be_bytes());
    attribute(&mut protocol, PROTO_PORTS[1], &destination.port().to_be_bytes());
    let mut tuple = Vec::new();
    attribute(&mut tuple, TUPLE_IP | NESTED, &addresses);
    attribute(&mut tuple, TUPLE_PROTO | NESTED, &protocol);
    Some((u8::try_from(family).ok()?, tuple))
}

/// What is changed: both directions' flags.
fn liberal() -> Vec<u8> {
    let mut flags = Vec::new();
    TCP_FLAGS.iter().for_each(|kind| attribute(&mut flags, *kind, &LIBERAL));
    let mut info = Vec::new();
    attribute(&mut info, PROTOINFO_TCP | NESTED, &flags);
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_as_the_kernel_reads_it() {
        let (family, bytes) =
            tuple("10.1.2.3:4660".parse().unwrap(), "10.0.0.1:80".parse().unwrap()).unwrap();
        assert_eq!(i32::from(family), libc::AF_INET);
        // 20 bytes of addresses, then 28 of protocol and ports, each a nest.
        let mut expected = Vec::new();
        let word = |value: u16| value.to_ne_bytes();
        expected.extend([word(20), word(0x8001), word(8), word(1)].concat());
        expected.extend([10, 1, 2, 3]);
        expected.extend([word(8), word(2)].concat());
        expected.extend([10, 0, 0, 1]);
        expected.extend([word(28), word(0x8002), word(5), word(1)].concat());
        expected.extend([6, 0, 0, 0]);
        expected.extend([word(6), word(2)].concat());
        expected.extend([0x12, 0x34, 0, 0]);
        expected.extend([word(6), word(3)].concat());
        expected.extend([0, 80, 0, 0]);
        assert_eq!(bytes, expected);
        let six = tuple("[fd77::2]:1".parse().unwrap(), "[fd01::2]:2".parse().unwrap());
        assert_eq!(six.map(|(family, bytes)| (i32::from(family), bytes.len())), Some((libc::AF_INET6, 72)));
        assert_eq!(tuple("10.1.2.3:1".parse().unwrap(), "[fd01::2]:2".parse().unwrap()), None);
    }

    #[test]
    fn a_connection_that_nobody_tracks_is_not_found() {
        // As an ordinary user the kernel refuses; without ctnetlink it does not know the question.
        let refused = Conntrack::open().and_then(|tracker| {
            tracker.be_liberal("192.0.2.1:1".parse().unwrap(), "192.0.2.2:2".parse().unwrap())
        });
        assert!(refused.is_err(), "nobody has such a connection");
    }
}
