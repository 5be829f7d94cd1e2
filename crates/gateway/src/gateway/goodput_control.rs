//! What goodput control hears of the flows, and what comes of its caps.

use super::Gateway;
use crate::schedule::Slot;
use meshpace_pacing::Direction;
use meshpace_units::Instant;

impl<P: Clone> Gateway<P> {
    /// Tells goodput control what has changed about what waits, is outstanding and passed again.
    pub(super) fn tell_goodput_control(&mut self, now: Instant, slot: Slot) {
        let connection = self.table.get_mut(slot);
        let (Some(goodput), Some(before)) = (&mut self.goodput, connection.told) else { return };
        let told = connection.to_tell();
        for _ in before.again..told.again {
            goodput.on_retransmission(slot);
        }
        if told.limited > before.limited {
            goodput.on_limited(slot, told.limited - before.limited);
        }
        if told.down != before.down {
            goodput.on_pending(now, slot, Direction::Down, told.down);
        }
        if told.up != before.up {
            goodput.on_pending(now, slot, Direction::Up, told.up);
        }
        connection.told = Some(told);
    }

    /// Lets goodput control set its caps, when it is due.
    pub(super) fn run_goodput_control(&mut self, now: Instant) {
        let Some(goodput) = &mut self.goodput else {
            return;
        };
        let table = &self.table;
        if !goodput.handle_timeout(now, |slot| table.get(slot).down.as_ref()?.law_interval()) {
            return;
        }
        for (slot, connection) in self.table.iter_mut() {
            if let Some(down) = &mut connection.down {
                let before = down.place();
                down.set_cap(now, goodput.cap(slot));
                self.schedule.moves(slot, before, down.place());
            }
        }
    }
}
