//! What the kernel has counted of a flow, and what of that is news.

use super::super::exchange::KernelFlow;
use meshpace_units::Bytes;

/// Payload that the kernel counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub down: Bytes,
    pub up: Bytes,
    pub down_acked: Bytes,
    pub up_acked: Bytes,
    /// Packets towards the mesh, and those of them that were given a departure in the future, or kept back by the window that was announced.
    pub down_packets: u64,
    pub delayed: u64,
}

impl Counted {
    pub fn of(known: &KernelFlow) -> Self {
        Self {
            down: known.down.payload,
            up: known.up.payload,
            down_acked: known.down.acked,
            up_acked: known.up.acked,
            down_packets: known.down.packets,
            delayed: known.delayed + known.used,
        }
    }

    /// What came since `before`. The kernel counts anew if it forgot the flow in between.
    pub fn since(self, before: Self) -> Self {
        let since = |now: Bytes, before: Bytes| if now >= before { now - before } else { now };
        Self {
            down: since(self.down, before.down),
            up: since(self.up, before.up),
            down_acked: since(self.down_acked, before.down_acked),
            up_acked: since(self.up_acked, before.up_acked),
            down_packets: self.down_packets.checked_sub(before.down_packets).unwrap_or(self.down_packets),
            delayed: self.delayed.checked_sub(before.delayed).unwrap_or(self.delayed),
        }
    }
}
