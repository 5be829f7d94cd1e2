//! The readers of what the kernel sends, each by itself, for the fuzz targets (docs/fuzzing.md). Feature `foreign`; nothing
//! else uses it.

use crate::Statistics;
use crate::interface::segments;
use crate::nfqueue::message::{Message, Messages};
use crate::nfqueue::statistics;

/// What a message of a datagram of NFQUEUE was found to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// A packet: its number, its length before it was cut, and as much as came.
    Packet(u32, u32, Vec<u8>),
    /// An answer: its error number.
    Answer(i32),
    /// A message of another kind.
    Other,
    /// No message: the last.
    Malformed,
}

/// All messages of a datagram of NFQUEUE.
#[must_use]
pub fn queued(datagram: &mut [u8]) -> Vec<Found> {
    let (mut messages, mut all) = (Messages::new(), Vec::new());
    while let Some(message) = messages.next(datagram) {
        all.push(match message {
            Ok(Message::Packet(head)) => {
                let packet = head.with_payload(datagram);
                Found::Packet(packet.id.0, packet.length, packet.payload.to_vec())
            }
            Ok(Message::Answer { errno, .. }) => Found::Answer(errno),
            Ok(Message::Other) => Found::Other,
            Err(_) => Found::Malformed,
        });
    }
    all
}

/// The kernel's counters of a queue, from its file.
#[must_use]
pub fn counters(text: &str, queue: u16) -> Option<Statistics> {
    statistics::find(text, queue)
}

/// An interface's segments a packet out of an answer of rtnetlink, or the error number that it tells.
///
/// # Errors
/// The error number.
pub fn segments(answer: &[u8]) -> Result<Option<u32>, i32> {
    segments::read(answer)
}
