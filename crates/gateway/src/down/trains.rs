//! Packets that leave together, where one access to the medium carries many (802.11n and later): how many is learned from how
//! acknowledgements bunch ([`Unit`]), as senders by delay do (docs/law.md). A gateway cannot push segments, so that receivers which
//! acknowledge many at once tell nothing: then packets go on one by one.

use super::Down;
use core::num::NonZeroU32;
use meshpace_pacing::Unit;
use meshpace_units::{Bytes, Instant, Seq};

/// What is known of the medium, and the train that asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trains {
    unit: Unit,
    /// A few packets are to leave together to ask.
    asked: Option<NonZeroU32>,
    /// Where the latest that asked begins and ends: round trips of it are those of packets that wait for each other.
    asking: Option<(Seq, Seq)>,
}

impl Trains {
    /// Packets go one by one; `most` together at the most.
    pub const fn new(most: u32) -> Self {
        Self { unit: Unit::new(most), asked: None, asking: None }
    }

    /// Packets that leave together, so many by the law.
    pub fn burst(&self, law: NonZeroU32) -> NonZeroU32 {
        self.asked.unwrap_or(law)
    }

    /// Whether an acknowledgement tells the round trip of a packet as they usually go.
    pub fn counts(&self, ack: Seq) -> bool {
        self.asking.is_none_or(|(start, end)| !(ack.after(start) && ack.at_or_before(end)))
    }
}

impl<P: Clone> Down<P> {
    /// A packet that the pace let go has left, and ends there.
    pub(super) fn left_by_pace(&mut self, at: Instant, end: Seq) {
        let left = self.pacer.left();
        self.pacer.on_departure(at);
        let now_left = self.pacer.left();
        let Some(trains) = self.trains.as_deref_mut() else { return };
        if trains.unit.size() > 1 {
            if now_left + 1 == trains.unit.size() {
                trains.unit.on_train();
            }
        } else if left + now_left > 0 {
            trains.asking = trains.asking.map(|(start, _)| (start, end));
            if now_left == 0 {
                trains.asked = None;
                self.pacer.set_burst(self.wireless.pace.burst);
            }
        } else if let Some(packets) = trains.unit.on_departure().and_then(NonZeroU32::new) {
            (trains.asked, trains.asking) = (Some(packets), Some((end, end)));
            self.pacer.set_burst(packets);
        }
    }

    /// So much was acknowledged. True if other packets than before leave together from now on.
    pub(super) fn learn_unit(&mut self, now: Instant, acked: Bytes) -> bool {
        let apart = self.interval().map_or(0.0, |interval| interval.as_secs_f64());
        let Some(trains) = self.trains.as_deref_mut().filter(|_| self.segment > Bytes::ZERO) else {
            return false;
        };
        let segments = acked.0 as f64 / self.segment.0 as f64;
        let changed = trains.unit.on_ack(now, segments, apart * f64::from(trains.unit.size()));
        let packets = NonZeroU32::new(trains.unit.size()).filter(|_| changed);
        let changes = packets.is_some_and(|packets| {
            trains.asked = None;
            self.wireless.on_unit(now, packets)
        });
        if changes {
            self.apply_pace(now);
        }
        changes
    }
}
