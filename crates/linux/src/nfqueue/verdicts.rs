//! Verdicts that wait to be sent together: one system call for many packets.

use super::message::{self, PacketId};
use std::io;

/// How many bytes one send carries at most. The kernel copies a batch into one buffer, which it refuses past the socket's send
/// buffer (212,992 bytes by default; netlink_sendmsg).
const BATCH: usize = 64 << 10;

/// Decisions on packets, collected until [`super::NfQueue::flush`]. They are carried out in the order in which they were put.
#[derive(Debug)]
pub struct Verdicts {
    number: u16,
    bytes: Vec<u8>,
    /// Where the batches but the last one end.
    ends: Vec<usize>,
    count: usize,
}

impl Verdicts {
    pub(super) fn new(number: u16) -> Self {
        Self { number, bytes: Vec::with_capacity(2 * BATCH), ends: Vec::new(), count: 0 }
    }

    /// Lets the packet go on as it is.
    pub fn accept(&mut self, id: PacketId) {
        self.put(id, libc::NF_ACCEPT, None);
    }

    /// Lets `packet` go on in place of the one that was queued. It may be longer, and must be a whole IP packet with right
    /// checksums, no longer than the outgoing MTU.
    pub fn accept_with(&mut self, id: PacketId, packet: &[u8]) {
        self.put(id, libc::NF_ACCEPT, Some(packet));
    }

    /// Discards the packet.
    pub fn drop(&mut self, id: PacketId) {
        self.put(id, libc::NF_DROP, None);
    }

    /// How many verdicts wait to be sent.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.count
    }

    fn put(&mut self, id: PacketId, verdict: libc::c_int, payload: Option<&[u8]>) {
        let start = self.bytes.len();
        message::verdict(&mut self.bytes, self.number, id, verdict, payload);
        self.count += 1;
        let batch = self.ends.last().copied().unwrap_or(0);
        if self.bytes.len() - batch > BATCH && start > batch {
            self.ends.push(start);
        }
    }

    /// Sends batch by batch; after an error, what was not sent stays.
    pub(super) fn send_to(&mut self, mut send: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let mut sent = 0;
        self.ends.push(self.bytes.len());
        for (index, end) in self.ends.iter().enumerate() {
            if let Err(error) = send(&self.bytes[sent..*end]) {
                self.ends.drain(..index);
                self.ends.pop();
                self.ends.iter_mut().for_each(|end| *end -= sent);
                self.bytes.drain(..sent);
                return Err(error);
            }
            sent = *end;
        }
        self.bytes.clear();
        self.ends.clear();
        self.count = 0;
        Ok(())
    }
}
