//! ICMP echoes: requests out, replies in, by raw sockets.

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::socket::sockopt::RcvBuf;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, SockaddrStorage,
    recvfrom, sendto, setsockopt, socket,
};
use std::io;
use std::net::{IpAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Level and name of the option that says which types of message a raw socket is not to get: `ICMP_FILTER` of `linux/icmp.h`, `SOL_RAW`
/// of `linux/socket.h`; `ICMPV6_FILTER` of `linux/icmpv6.h` (RFC 3542, section 3.2).
const FILTER_V4: (libc::c_int, libc::c_int) = (255, 1);
const FILTER_V6: (libc::c_int, libc::c_int) = (libc::IPPROTO_ICMPV6, 1);
/// Types of the replies.
const REPLY_V4: u32 = 0;
const REPLY_V6: u32 = 129;
/// What the kernel keeps of replies that are not read yet: a flood of them fills no memory.
const KEPT: usize = 32 << 10;
/// The longest reply that is read whole.
const LONGEST: usize = 256;

/// Sends requests and receives replies: those to others of this machine come, too, and the caller tells them apart by what is in them. It never blocks.
#[derive(Debug)]
pub struct EchoSockets {
    v4: OwnedFd,
    /// `None` where the kernel has no IPv6.
    v6: Option<OwnedFd>,
    /// Ready if either is.
    either: Epoll,
}

impl EchoSockets {
    /// Sockets in the calling thread's namespace.
    ///
    /// # Errors
    /// `EPERM` without CAP_NET_RAW.
    pub fn open() -> io::Result<Self> {
        let v4 = open(AddressFamily::Inet, SockProtocol::Icmp)?;
        filter(&v4, FILTER_V4, &[!(1 << REPLY_V4)])?;
        let v6 = match open(AddressFamily::Inet6, SockProtocol::IcmpV6) {
            Ok(socket) => Some(socket),
            Err(Errno::EAFNOSUPPORT) => None,
            Err(error) => return Err(error.into()),
        };
        let either = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        either.add(&v4, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        if let Some(v6) = &v6 {
            let mut blocked = [u32::MAX; 8];
            blocked[(REPLY_V6 / 32) as usize] &= !(1 << (REPLY_V6 % 32));
            filter(v6, FILTER_V6, &blocked)?;
            either.add(v6, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        }
        Ok(Self { v4, v6, either })
    }

    /// Sends an ICMP message; the kernel writes its IP header, and an ICMPv6 message's checksum.
    ///
    /// # Errors
    /// `WouldBlock` when the socket's buffer is full; otherwise the kernel's answer: `ENETUNREACH` without a route, `EPERM` if the firewall
    /// drops it.
    pub fn send(&self, to: IpAddr, message: &[u8]) -> io::Result<()> {
        match to {
            IpAddr::V4(to) => {
                let to = SockaddrIn::from(SocketAddrV4::new(to, 0));
                sendto(self.v4.as_raw_fd(), message, &to, MsgFlags::MSG_DONTWAIT)?
            }
            IpAddr::V6(to) => {
                let Some(socket) = &self.v6 else { return Err(Errno::EAFNOSUPPORT.into()) };
                let to = SockaddrIn6::from(SocketAddrV6::new(to, 0, 0, 0));
                sendto(socket.as_raw_fd(), message, &to, MsgFlags::MSG_DONTWAIT)?
            }
        };
        Ok(())
    }

    /// Hands over replies that have come, `most` at the most: whose, and the ICMP message.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn receive(&self, most: usize, mut each: impl FnMut(IpAddr, &[u8])) -> io::Result<()> {
        let mut buffer = [0; LONGEST];
        for socket in [Some(&self.v4), self.v6.as_ref()].into_iter().flatten() {
            for _ in 0..most {
                let (length, from) = match recvfrom::<SockaddrStorage>(socket.as_raw_fd(), &mut buffer) {
                    Ok(received) => received,
                    Err(Errno::EAGAIN) => break,
                    // What ICMP said of a request (icmp(7), ipv6(7)): it is lost, as any other may be.
                    Err(Errno::EINTR | Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH) => {
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                };
                let bytes = &buffer[..length];
                if let Some(from) = from.as_ref().and_then(SockaddrStorage::as_sockaddr_in) {
                    // Of IPv4 the IP header comes, too (raw(7)).
                    let header = bytes.first().map_or(0, |first| usize::from(first & 0xf) * 4);
                    bytes.get(header..).into_iter().for_each(|message| each(from.ip().into(), message));
                } else if let Some(from) = from.as_ref().and_then(SockaddrStorage::as_sockaddr_in6) {
                    each(from.ip().into(), bytes);
                }
            }
        }
        Ok(())
    }
}

impl AsFd for EchoSockets {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.either.0.as_fd()
    }
}

fn open(family: AddressFamily, protocol: SockProtocol) -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Raw, flags, protocol)?;
    setsockopt(&socket, RcvBuf, &KEPT)?;
    Ok(socket)
}

/// Says which types of message are not wanted, a bit each.
fn filter(socket: &OwnedFd, (level, name): (libc::c_int, libc::c_int), blocked: &[u32]) -> io::Result<()> {
    let (bytes, length) = (blocked.as_ptr().cast(), size_of_val(blocked) as libc::socklen_t);
    // SAFETY: `blocked` is that long, and is only read.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, bytes, length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
