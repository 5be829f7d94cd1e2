//! Sending whole frames out of an interface: packet sockets.

use nix::sys::socket::sockopt::Mark;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Sends frames with their link-layer headers. They pass the interface's egress hooks of tc and its queueing discipline, and
/// nothing of netfilter. Its descriptor is not for a [`crate::Poller`]: it only sends, and never blocks.
#[derive(Debug)]
pub struct FrameSender(OwnedFd);

impl FrameSender {
    /// A socket in the calling thread's namespace, whose frames carry `mark` (SO_MARK).
    ///
    /// # Errors
    /// `EPERM` without CAP_NET_RAW, or without CAP_NET_ADMIN for the mark; `EAFNOSUPPORT` in a kernel without packet sockets.
    pub fn open(mark: u32) -> io::Result<Self> {
        // Protocol 0: nothing is ever received (packet(7)).
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)?;
        setsockopt(&socket, Mark, &mark)?;
        Ok(Self(socket))
    }

    /// Sends a frame whose link layer names `protocol` out of the interface with that index.
    ///
    /// # Errors
    /// The kernel's answer: `ENXIO` if there is no such interface, `ENETDOWN` if it is down, `EMSGSIZE` if the frame is too long for
    /// it, `ENOBUFS` if its queueing discipline dropped it.
    pub fn send(&self, interface: u32, protocol: u16, frame: &[u8]) -> io::Result<()> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol.to_be(),
            sll_ifindex: i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = size_of_val(&address) as libc::socklen_t;
        let (frame_at, address_at) = (frame.as_ptr().cast(), (&raw const address).cast());
        // SAFETY: both pointers are to that many bytes, which live until the call returns and are only read.
        let sent = unsafe {
            libc::sendto(self.0.as_raw_fd(), frame_at, frame.len(), libc::MSG_DONTWAIT, address_at, length)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface;
    use nix::sys::socket::{MsgFlags, recv};

    /// Frames on the loopback interface, as a packet socket hears them.
    #[test]
    fn a_frame_leaves_as_it_is() {
        let Ok(sender) = FrameSender::open(7) else {
            eprintln!("not run, it takes root");
            return;
        };
        let protocol = 0x88b5_u16; // for experiments (IEEE 802, clause 9.2.4)
        let all = nix::sys::socket::SockProtocol::EthAll;
        let listener =
            socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_NONBLOCK, all).expect("a socket");
        let name = format!("frame of process {}", std::process::id());
        let frame = [&[0; 12], &protocol.to_be_bytes()[..], name.as_bytes()].concat();
        sender.send(interface::index("lo").expect("lo"), protocol, &frame).expect("sent");
        let mut heard = [0; 4096];
        let found = std::iter::from_fn(|| {
            recv(listener.as_raw_fd(), &mut heard, MsgFlags::empty()).ok().map(|n| heard[..n].to_vec())
        })
        .any(|heard| heard == frame);
        assert!(found);
        assert_eq!(
            sender.send(0x7fff_fff0, protocol, &frame).expect_err("none").raw_os_error(),
            Some(libc::ENXIO)
        );
        assert!(sender.send(u32::MAX, protocol, &frame).is_err());
    }
}
