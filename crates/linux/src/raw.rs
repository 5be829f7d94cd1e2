//! Sending whole IP packets through the kernel's routing: raw sockets.

use nix::errno::Errno;
use nix::sys::socket::sockopt::Mark;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, sendto, setsockopt,
    socket,
};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

/// Sends packets that have their headers. They are routed by their destination and pass the OUTPUT and POSTROUTING hooks, not
/// FORWARD; any source address will do. Its descriptors are not for a [`crate::Poller`]: it only sends, and never blocks.
///
/// The kernel writes the IPv4 header checksum and total length, and the identification if that is 0 (raw(7)); the rest stays.
/// Of IPv6 packets nothing changes.
#[derive(Debug)]
pub struct RawSender {
    v4: OwnedFd,
    /// `None` where the kernel has no IPv6.
    v6: Option<OwnedFd>,
}

impl RawSender {
    /// Sockets in the calling thread's namespace; packets carry `mark` (SO_MARK), by which rules can know them.
    ///
    /// # Errors
    /// `EPERM` without CAP_NET_RAW, or without CAP_NET_ADMIN for a mark.
    pub fn open(mark: Option<u32>) -> io::Result<Self> {
        let v6 = match open(AddressFamily::Inet6, mark) {
            Ok(socket) => Some(socket),
            Err(Errno::EAFNOSUPPORT) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { v4: open(AddressFamily::Inet, mark)?, v6 })
    }

    /// Sends the IPv4 or IPv6 `packet`.
    ///
    /// # Errors
    /// `InvalidInput` for what is neither; `WouldBlock` when the socket's buffer is full; otherwise the kernel's answer:
    /// `EMSGSIZE` for a packet longer than the outgoing MTU, `ENETUNREACH` without a route.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let sent = match packet.first().map(|byte| byte >> 4) {
            Some(4) if packet.len() >= 20 => {
                let octets: [u8; 4] = packet[16..20].try_into().expect("four bytes");
                let to = SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::from(octets), 0));
                sendto(self.v4.as_raw_fd(), packet, &to, MsgFlags::MSG_DONTWAIT)?
            }
            Some(6) if packet.len() >= 40 => {
                let Some(socket) = &self.v6 else { return Err(Errno::EAFNOSUPPORT.into()) };
                let octets: [u8; 16] = packet[24..40].try_into().expect("sixteen bytes");
                let to = SockaddrIn6::from(SocketAddrV6::new(Ipv6Addr::from(octets), 0, 0, 0));
                sendto(socket.as_raw_fd(), packet, &to, MsgFlags::MSG_DONTWAIT)?
            }
            _ => {
                let message = format!("{} bytes that are no IP packet", packet.len());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        };
        assert_eq!(sent, packet.len(), "raw sockets send all or nothing");
        Ok(())
    }
}

fn open(family: AddressFamily, mark: Option<u32>) -> nix::Result<OwnedFd> {
    // Protocol IPPROTO_RAW: the header comes with the packet, and nothing is ever received (raw(7); inet_create and inet6_create
    // in the kernel's net/ipv4/af_inet.c and net/ipv6/af_inet6.c).
    let socket = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Raw)?;
    if let Some(mark) = mark {
        setsockopt(&socket, Mark, &mark)?;
    }
    Ok(socket)
}
