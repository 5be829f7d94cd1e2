//! What nodes load the air with, by account.
//!
//! The network knows no flow; it counts under the [`Account`] that a packet names. Load is what 802.11 puts on the air for
//! a packet at each hop: every attempt, or each packet once. Bytes are the packets' own, so that a reader may add
//! any header: `8 * (bytes + overhead * attempts)` bits.

use super::by_account::ByAccount;
use meshpace_relay::packet::{Account, Class};
use meshpace_units::Bytes;

/// What a node sent for an account, of one kind of packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Data frames sent, retries counted.
    pub attempts: u64,
    /// Bytes of the packets in them, with IP header.
    pub bytes: Bytes,
    /// Packets that the MAC was through with, sent or given up.
    pub packets: u64,
    /// Their bytes.
    pub packet_bytes: Bytes,
}

impl Load {
    /// With another of the same account and kind.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            attempts: self.attempts + other.attempts,
            bytes: self.bytes + other.bytes,
            packets: self.packets + other.packets,
            packet_bytes: self.packet_bytes + other.packet_bytes,
        }
    }
}

/// What a station sent, by account.
#[derive(Clone, Debug, Default)]
pub struct Loads(ByAccount<Load>);

impl Loads {
    #[inline]
    fn of(&mut self, account: Account, class: Class) -> Option<&mut Load> {
        self.0.of(account, class, Load::default)
    }

    /// A data frame of an account goes out.
    #[inline]
    pub(crate) fn attempt(&mut self, account: Account, class: Class, size: Bytes) {
        if let Some(load) = self.of(account, class) {
            load.attempts += 1;
            load.bytes += size;
        }
    }

    /// The MAC is through with a packet of an account.
    #[inline]
    pub(crate) fn through(&mut self, account: Account, class: Class, size: Bytes) {
        if let Some(load) = self.of(account, class) {
            load.packets += 1;
            load.packet_bytes += size;
        }
    }

    /// What was sent for an account: packets that carry data, and acknowledgements. `None`: nothing.
    #[must_use]
    pub fn get(&self, account: Account) -> Option<[Load; 2]> {
        self.0.get(account).copied()
    }

    /// Forgets everything counted.
    pub fn reset(&mut self) {
        self.0.clear();
    }
}
