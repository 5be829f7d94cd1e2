//! What all flows together may keep.

use crate::Config;
use meshpace_units::Bytes;

/// The gateway's memory in use, against the limits of its [`Config`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    /// Bytes in queues and caches.
    pub bytes: Bytes,
    /// Packets in queues.
    pub held: usize,
    /// Entries of sequence maps.
    pub segments: usize,
}

impl Budget {
    /// A packet joins a queue.
    pub fn joins(&mut self, bytes: Bytes) {
        self.bytes += bytes;
        self.held += 1;
    }

    /// A packet leaves a queue.
    pub fn leaves(&mut self, bytes: Bytes) {
        self.bytes = self.bytes - bytes;
        self.held -= 1;
    }

    pub fn has_room_for(&self, config: &Config, bytes: Bytes) -> bool {
        self.bytes + bytes <= config.buffer_total
    }

    pub fn can_hold(&self, config: &Config, bytes: Bytes) -> bool {
        self.held < config.held_max && self.has_room_for(config, bytes)
    }

    pub fn can_record(&self, config: &Config, of_flow: usize) -> bool {
        of_flow < config.segments_max && self.segments < config.segments_total
    }

    /// Full: pacing is off for flows that begin now (schemes.md 3.1).
    pub fn is_exhausted(&self, config: &Config) -> bool {
        // One more full-size packet would not fit.
        !self.can_hold(config, Bytes(1500))
    }
}
