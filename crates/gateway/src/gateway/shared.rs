//! One law for all connections of a mesh host (`gap_state = "host"`).

use super::Gateway;
use crate::Kept;
use crate::schedule::Slot;
use alloc::vec::Vec;
use meshpace_units::Instant;

impl<P: Clone> Gateway<P> {
    /// Flows that share a connection's law and have data on their way, this one included.
    pub(super) fn sharing(&self, slot: Slot) -> u32 {
        if self.config.kept == Kept::Connection {
            return 1;
        }
        let host = self.table.get(slot).key.wireless.address;
        let on_their_way = |&other: &Slot| {
            other == slot || self.table.get(other).down.as_ref().is_some_and(|down| down.outstanding())
        };
        u32::try_from(self.table.of_host(host).filter(on_their_way).count()).unwrap_or(u32::MAX)
    }

    /// Gives the host, and its other connections, what a connection has just made of a round trip.
    pub(super) fn share(&mut self, now: Instant, slot: Slot) {
        let connection = self.table.get(slot);
        let host = connection.key.wireless.address;
        let Some(law) = connection.down.as_ref().map(|down| down.wireless.clone()) else { return };
        let others: Vec<Slot> = self.table.of_host(host).filter(|&other| other != slot).collect();
        for other in others {
            if let Some(down) = &mut self.table.get_mut(other).down {
                let before = down.place();
                down.adopt(now, law.clone());
                self.schedule.moves(other, before, down.place());
                self.tell_goodput_control(now, other);
            }
        }
        self.hosts.keep(now, host, law, &self.config);
    }
}
