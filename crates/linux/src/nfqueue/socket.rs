//! The netlink socket: many datagrams a system call, into buffers that are made once.

use nix::errno::Errno;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, connect, getsockopt, send,
    setsockopt, socket,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// How many datagrams one call fetches: the measured optimum is flat from here on.
pub(super) const BATCH: usize = 32;
/// Room for everything of a packet's message but its payload: headers, interfaces, mark, hardware address, time stamp, VLAN.
const OVERHEAD: usize = 1024;

/// A netlink socket of the netfilter subsystems, connected to the kernel.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

impl Socket {
    /// A socket whose receive buffer has `buffer` bytes, or as much as is allowed.
    pub(super) fn open(buffer: usize) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkNetFilter)?;
        // Port 0: the kernel chooses ours, and is itself reached at 0. Connected: datagrams of other processes do not come in.
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        connect(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        match setsockopt(&socket, RcvBufForce, &buffer) {
            // Only the initial namespace's administrator may exceed net.core.rmem_max.
            Err(Errno::EPERM) => setsockopt(&socket, RcvBuf, &buffer)?,
            result => result?,
        }
        no_overrun_errors(&socket)?;
        Ok(Self(socket))
    }

    /// Sends `messages`, which the kernel carries out within the call.
    pub(super) fn send(&self, messages: &[u8]) -> io::Result<()> {
        let sent = send(self.0.as_raw_fd(), messages, MsgFlags::empty())?;
        assert_eq!(sent, messages.len(), "netlink takes whole datagrams");
        Ok(())
    }

    /// What the kernel made of the size asked for.
    pub(super) fn receive_buffer(&self) -> io::Result<usize> {
        Ok(getsockopt(&self.0, RcvBuf)?)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Packets that find the buffer full are counted by the kernel; ENOBUFS on top would only cost a call (netlink(7)).
fn no_overrun_errors(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the option is an int; `on` is one and lives for the length of the call, which only reads it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_NETLINK,
            libc::NETLINK_NO_ENOBUFS,
            (&raw const on).cast(),
            length,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Where datagrams are received: one piece of memory, cut into [`BATCH`] places of the same size.
#[derive(Debug)]
pub(super) struct Buffers {
    memory: Box<[u8]>,
    /// The size of a place.
    size: usize,
    /// How much of each place the last receive filled.
    filled: [usize; BATCH],
}

impl Buffers {
    /// Room for datagrams whose payload is at most `payload` bytes long.
    pub(super) fn new(payload: usize) -> Self {
        // Multiples of a page: untouched ends of places cost no memory.
        let size = (payload + OVERHEAD).next_multiple_of(4096);
        Self { memory: vec![0; BATCH * size].into_boxed_slice(), size, filled: [0; BATCH] }
    }

    /// Fetches the datagrams that are waiting, at most [`BATCH`]: how many.
    pub(super) fn receive(&mut self, socket: &Socket) -> io::Result<usize> {
        let mut places = self.memory.chunks_exact_mut(self.size);
        let mut vectors: [libc::iovec; BATCH] = std::array::from_fn(|_| {
            let place = places.next().expect("BATCH places were made");
            libc::iovec { iov_base: place.as_mut_ptr().cast(), iov_len: place.len() }
        });
        let mut messages: [libc::mmsghdr; BATCH] = std::array::from_fn(|index| {
            // SAFETY: an msghdr is integers and pointers, for all of which zero is a value: no name, no data, no control.
            let mut msg_hdr: libc::msghdr = unsafe { std::mem::zeroed() };
            msg_hdr.msg_iov = &raw mut vectors[index];
            msg_hdr.msg_iovlen = 1;
            libc::mmsghdr { msg_hdr, msg_len: 0 }
        });
        // SAFETY: `messages` are BATCH headers, each with one vector, each over its own part of `memory`; all three live and
        // stay where they are for the length of the call, and no other thread reads or writes them. No timeout.
        let received = unsafe {
            libc::recvmmsg(
                socket.0.as_raw_fd(),
                messages.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        let Ok(received) = usize::try_from(received) else {
            return match Errno::last() {
                Errno::EAGAIN | Errno::EINTR => Ok(0),
                error => Err(error.into()),
            };
        };
        for (filled, message) in self.filled.iter_mut().zip(&messages[..received]) {
            // A cut datagram counts as long as what is there; the message in it is longer, and so malformed.
            *filled = (message.msg_len as usize).min(self.size);
        }
        Ok(received)
    }

    /// The first `count` datagrams of the last receive.
    pub(super) fn filled(&mut self, count: usize) -> impl Iterator<Item = &mut [u8]> {
        let places = self.memory.chunks_exact_mut(self.size);
        places.zip(&self.filled).take(count).map(|(place, filled)| &mut place[..*filled])
    }
}
