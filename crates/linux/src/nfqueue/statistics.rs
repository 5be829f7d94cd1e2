//! The kernel's own counters of a queue: `/proc/net/netfilter/nfnetlink_queue`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Of the calling thread's namespace, which `/proc/net` (the first thread's) need not be.
pub(super) const PATH: &str = "/proc/thread-self/net/netfilter/nfnetlink_queue";

/// What the kernel counts for a queue, since it was bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// The netlink port that the queue is bound to: the process's number, unless it has several netlink sockets.
    pub port: u32,
    /// Packets that wait for their verdict now.
    pub waiting: u32,
    /// Packets lost because the queue had its full length; with fail-open they pass and are not counted.
    pub queue_dropped: u32,
    /// Packets lost because the socket's buffer was full; with fail-open they pass and are not counted.
    pub socket_dropped: u32,
    /// The last number that a packet got: how many packets were queued, modulo 2^32.
    pub last_id: u32,
}

/// Reads the counters of queue `number` from the opened file.
pub(super) fn read(file: &File, number: u16) -> io::Result<Statistics> {
    // A line is 50 bytes or so; a machine has a few queues. seq_file hands out one page at a time.
    let mut text = Vec::new();
    let mut page = [0; 4096];
    loop {
        match file.read_at(&mut page, text.len() as u64)? {
            0 => break,
            length => text.extend_from_slice(&page[..length]),
        }
    }
    let text = String::from_utf8_lossy(&text);
    find(&text, number).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("queue {number} is not in {PATH}: {text:?}"))
    })
}

/// The line of queue `number`: queue, port, waiting, copy mode, copy range, dropped by the queue, dropped by the socket, last
/// id, 1 (seq_show in nfnetlink_queue.c).
pub(crate) fn find(text: &str, number: u16) -> Option<Statistics> {
    text.lines().find_map(|line| {
        let fields: Result<Vec<u32>, _> = line.split_whitespace().map(str::parse).collect();
        match fields.ok()?[..] {
            [queue, port, waiting, _, _, queue_dropped, socket_dropped, last_id, ..]
                if queue == u32::from(number) =>
            {
                Some(Statistics { port, waiting, queue_dropped, socket_dropped, last_id })
            }
            _ => None,
        }
    })
}
