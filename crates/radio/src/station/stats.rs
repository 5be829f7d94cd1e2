//! Counters of one station.

use crate::frame::FrameKind;
use crate::reception::Collision;
use meshpace_units::NodeId;

/// Frames lost to overlap, by transmitter and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StationStats {
    collisions: Vec<(NodeId, [u64; 4])>,
}

impl StationStats {
    pub(super) fn collision(&mut self, lost: Collision) {
        let index = match self.collisions.binary_search_by_key(&lost.from, |entry| entry.0) {
            Ok(index) => index,
            Err(index) => {
                self.collisions.insert(index, (lost.from, [0; 4]));
                index
            }
        };
        let kind = match lost.kind {
            FrameKind::Rts => 0,
            FrameKind::Cts => 1,
            FrameKind::Data => 2,
            FrameKind::Ack => 3,
        };
        self.collisions[index].1[kind] += 1;
    }

    /// Collisions by transmitter, in order: RTS, CTS, data, ACK.
    pub fn collisions(&self) -> impl Iterator<Item = (NodeId, [u64; 4])> + '_ {
        self.collisions.iter().copied()
    }
}
