//! One question to the kernel about interfaces, addresses or routes, or about netfilter, and its one answer: rtnetlink(7).

use crate::netlink;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send, socket,
};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// As much as the kernel sends at once (rtnetlink(7)).
const ANSWER: usize = 32_768;

/// A socket for questions in the calling thread's network namespace.
#[derive(Debug)]
pub(crate) struct RtNetlink {
    socket: OwnedFd,
}

impl RtNetlink {
    pub(crate) fn open() -> io::Result<Self> {
        Self::to(SockProtocol::NetlinkRoute)
    }

    /// One that leads to netfilter's subsystems.
    pub(crate) fn to_netfilter() -> io::Result<Self> {
        Self::to(SockProtocol::NetlinkNetFilter)
    }

    fn to(protocol: SockProtocol) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?;
        connect(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// Sends a request, whose subsystem's own `header` precedes its attributes, and gives the kernel's answer, which it has
    /// queued by the time the request is sent.
    ///
    /// # Errors
    /// Why the kernel refuses.
    pub(crate) fn ask(
        &self,
        kind: u16,
        flags: libc::c_int,
        header: &[u8],
        attributes: &[(u16, &[u8])],
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let start = netlink::open(&mut bytes, kind, libc::NLM_F_REQUEST | flags, header);
        for (kind, value) in attributes {
            netlink::attribute(&mut bytes, *kind, value);
        }
        netlink::close(&mut bytes, start);
        send(self.socket.as_raw_fd(), &bytes, MsgFlags::empty())?;
        let mut answer = vec![0; ANSWER];
        let length = recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT)?;
        answer.truncate(length);
        netlink::outcome(&answer).map_err(io::Error::from_raw_os_error)?;
        Ok(answer)
    }
}
