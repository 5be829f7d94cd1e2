//! NFQUEUE: packets that a rule hands to user space, and the verdicts on them.
//!
//! The kernel splits offloaded segments and completes checksums before it queues, so payloads are packets as on the wire. After
//! [`NfQueue::set_whole`] it hands packets over whole. It keeps each packet until its verdict: every id that [`NfQueue::receive`] hands
//! out needs one, in any order, some time. Closing the queue drops what has none.
//!
//! Source: include/uapi/linux/netfilter/nfnetlink_queue.h and net/netfilter/nfnetlink_queue.c in the kernel.

pub(crate) mod message;
mod socket;
pub(crate) mod statistics;
#[cfg(test)]
mod tests;
mod verdicts;

pub use message::{PacketId, Queued};
pub use statistics::Statistics;
pub use verdicts::Verdicts;

use crate::namespace::with_context;
use message::{Message, Messages};
use socket::{Buffers, Socket};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// How a queue is to be set up.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many packets may wait for their verdict. To be well above what the daemon itself holds: what comes beyond it is
    /// dropped, or passes unqueued with `fail_open`.
    pub length: u32,
    /// Size in bytes of the socket's receive buffer; the kernel charges about 2.3 kB of it for a packet.
    pub socket_buffer: usize,
    /// How many bytes of each packet are copied to user space; `None`: all of it.
    pub copy_range: Option<u16>,
    /// Let packets pass unqueued, instead of dropping them, when the queue or the socket's buffer is full.
    pub fail_open: bool,
}

impl Default for Options {
    /// 8192 packets and 8 MB: a segmented 64 kB packet is 44 at once, and the kernel's default buffer of 212,992 bytes holds
    /// about 93, its default queue 1024.
    fn default() -> Self {
        Self { length: 8192, socket_buffer: 8 << 20, copy_range: None, fail_open: true }
    }
}

/// What one [`NfQueue::receive`] found besides the packets it handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Packets handed over.
    pub packets: usize,
    /// Packets that the kernel numbered and could not deliver, because the socket's buffer was full: they passed unqueued
    /// with `fail_open`, and are lost without.
    pub missed: u32,
    /// Verdicts that the kernel refused: the packet was no longer there, or its new payload no packet.
    pub refused: u32,
    /// Messages that are not what the kernel's headers describe.
    pub malformed: u32,
    /// True if more may be waiting: the batch was full.
    pub more: bool,
}

/// One NFQUEUE, bound to this process.
#[derive(Debug)]
pub struct NfQueue {
    socket: Socket,
    buffers: Buffers,
    verdicts: Verdicts,
    number: u16,
    /// The last id handed over.
    last: Option<PacketId>,
    /// Found while binding, told by the next receive.
    unreported: Received,
    /// `/proc/net/netfilter/nfnetlink_queue` of the namespace in which the queue was opened.
    statistics: File,
}

impl NfQueue {
    /// Binds queue `number` of the calling thread's namespace.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_NET_ADMIN in that namespace, `ResourceBusy` if another process has bound the number, and
    /// what a kernel without NFQUEUE answers; the message says which step failed.
    pub fn open(number: u16, options: &Options) -> io::Result<Self> {
        let step = |what: &str, error: &io::Error| with_context(error, &format!("NFQUEUE {number}: {what}"));
        let socket = Socket::open(options.socket_buffer).map_err(|error| step("netlink socket", &error))?;
        let copy_range = options.copy_range.unwrap_or(u16::MAX);
        let mut queue = Self {
            buffers: Buffers::new(usize::from(copy_range)),
            verdicts: Verdicts::new(number),
            number,
            last: None,
            unreported: Received::default(),
            statistics: File::open(statistics::PATH).map_err(|error| {
                step(&format!("{} (no nfnetlink_queue in this kernel?)", statistics::PATH), &error)
            })?,
            socket,
        };
        match queue.configure(&message::bind(number, copy_range, options)) {
            Ok(()) => Ok(queue),
            Err(error) => Err(step("binding it", &queue.explain(error))),
        }
    }

    /// The kernel says EPERM both without the right to bind and when another socket has bound the number
    /// (nfqnl_recv_config); its list of queues tells which.
    fn explain(&self, error: io::Error) -> io::Error {
        match self.statistics() {
            Ok(Statistics { port, .. }) if error.kind() == io::ErrorKind::PermissionDenied => io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("another process has bound it (netlink port {port}, usually the process's number)"),
            ),
            _ => error,
        }
    }

    /// Sends one configuration message and waits for the kernel's answer.
    fn configure(&mut self, request: &[u8]) -> io::Result<()> {
        self.socket.send(request)?;
        loop {
            // The answer was queued while the request was sent. Packets may come before it, from another processor.
            let mut answer = None;
            let early = self.receive_with(|packet, verdicts| verdicts.accept(packet.id), &mut answer)?;
            self.unreported.missed += early.missed;
            self.unreported.malformed += early.malformed;
            self.flush()?;
            match answer {
                Some(0) => return Ok(()),
                Some(errno) => return Err(io::Error::from_raw_os_error(errno)),
                None if early.packets == 0 => return Err(io::Error::other("the kernel did not answer")),
                None => {}
            }
        }
    }

    /// Hands over up to 32 packets that are waiting, with the place for verdicts; never blocks. None of the verdicts
    /// leaves before [`NfQueue::flush`].
    ///
    /// # Errors
    /// What `recvmmsg(2)` answers other than that nothing is there.
    pub fn receive(&mut self, handle: impl FnMut(Queued<'_>, &mut Verdicts)) -> io::Result<Received> {
        let mut received = self.receive_with(handle, &mut None)?;
        let early = std::mem::take(&mut self.unreported);
        received.missed += early.missed;
        received.malformed += early.malformed;
        Ok(received)
    }

    /// As [`NfQueue::receive`]; what the kernel answered to a configuration message (0 or an error number) goes to `answer`.
    fn receive_with(
        &mut self,
        mut handle: impl FnMut(Queued<'_>, &mut Verdicts),
        answer: &mut Option<i32>,
    ) -> io::Result<Received> {
        let mut received = Received::default();
        let datagrams = self.buffers.receive(&self.socket)?;
        received.more = datagrams == socket::BATCH;
        for datagram in self.buffers.filled(datagrams) {
            let mut messages = Messages::new();
            while let Some(message) = messages.next(datagram) {
                match message {
                    Ok(Message::Packet(head)) => {
                        received.packets += 1;
                        received.missed += self.last.map_or(0, |last| head.id.missed_since(last));
                        self.last = Some(head.id);
                        handle(head.with_payload(datagram), &mut self.verdicts);
                    }
                    Ok(Message::Answer { errno, configuration: true }) => *answer = Some(errno),
                    Ok(Message::Answer { errno: 0, .. } | Message::Other) => {}
                    Ok(Message::Answer { .. }) => received.refused += 1,
                    Err(message::Malformed) => received.malformed += 1,
                }
            }
        }
        Ok(received)
    }

    /// Where verdicts are put that do not come from within [`NfQueue::receive`].
    pub fn verdicts(&mut self) -> &mut Verdicts {
        &mut self.verdicts
    }

    /// Sends the verdicts put so far, as few messages as their sizes allow. The kernel carries them out before this returns;
    /// it tells of those it refuses in the next [`NfQueue::receive`].
    ///
    /// # Errors
    /// What `send(2)` answers; verdicts that were not sent stay for the next call.
    pub fn flush(&mut self) -> io::Result<()> {
        self.verdicts.send_to(|batch| self.socket.send(batch))
    }

    /// With `whole`, packets come from now on as the kernel has them: segments in one piece, checksums not filled in, and no byte of them
    /// may be changed. `copy_range` is how many bytes of each are copied, at most as many as at first. Packets that are queued already
    /// come as before.
    ///
    /// # Errors
    /// What `send(2)` answers.
    pub fn set_whole(&mut self, whole: bool, copy_range: u16) -> io::Result<()> {
        self.socket.send(&message::wholeness(self.number, whole, copy_range))
    }

    /// The kernel's counters for this queue.
    ///
    /// # Errors
    /// If they cannot be read, or the queue is no longer among them.
    pub fn statistics(&self) -> io::Result<Statistics> {
        statistics::read(&self.statistics, self.number)
    }

    /// The number it is bound to.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The size in bytes that the socket's receive buffer has got; the kernel books twice what was asked for (socket(7)), and
    /// grants less without CAP_NET_ADMIN in the initial namespace.
    ///
    /// # Errors
    /// What `getsockopt(2)` answers.
    pub fn socket_buffer(&self) -> io::Result<usize> {
        self.socket.receive_buffer()
    }
}

impl AsFd for NfQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
