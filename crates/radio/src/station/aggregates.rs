//! What a station counts of frames of several packets.

use super::Station;
use crate::burst::Mpdu;
use crate::category::{Category, Peer};
use crate::phy::mpdus;
use meshpace_units::NodeId;
use std::ops::AddAssign;

/// What a station sent to a neighbour, as sent, under a standard with frames of several packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aggregates {
    /// Data frames, those of one packet included.
    pub frames: u64,
    /// MPDUs in them: packets, or A-MSDUs of several.
    pub mpdus: u64,
    /// Of these the ones that had been sent before.
    pub retries: u64,
    /// Requests for a block acknowledgement.
    pub requests: u64,
    /// Block acknowledgements: they belong to the neighbour's exchanges.
    pub block_acks: u64,
}

impl Aggregates {
    /// What has been counted since an earlier look.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            frames: self.frames - before.frames,
            mpdus: self.mpdus - before.mpdus,
            retries: self.retries - before.retries,
            requests: self.requests - before.requests,
            block_acks: self.block_acks - before.block_acks,
        }
    }
}

impl AddAssign for Aggregates {
    fn add_assign(&mut self, more: Self) {
        self.frames += more.frames;
        self.mpdus += more.mpdus;
        self.retries += more.retries;
        self.requests += more.requests;
        self.block_acks += more.block_acks;
    }
}

/// What was sent to a neighbour in a category.
#[derive(Clone, Copy, Debug)]
struct Count {
    to: NodeId,
    category: Category,
    /// Since time 0.
    all: Aggregates,
    /// Of that what had been sent when counting began.
    before: Aggregates,
}

/// Sorted by neighbour, then by category.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<Count>);

impl Counts {
    fn of(&mut self, to: Peer) -> &mut Aggregates {
        let (to, category) = (to.node, to.priority.category());
        let place = self.0.binary_search_by_key(&(to, category), |count| (count.to, count.category));
        let place = place.unwrap_or_else(|place| {
            let (all, before) = (Aggregates::default(), Aggregates::default());
            self.0.insert(place, Count { to, category, all, before });
            place
        });
        &mut self.0[place].all
    }

    /// A data frame with these packets goes out.
    pub fn data(&mut self, packets: &[Mpdu]) {
        let Some(to) = packets.first().and_then(|mpdu| mpdu.packet.peer()) else { return };
        let count = self.of(to);
        count.frames += 1;
        count.mpdus += mpdus(packets).count() as u64;
        count.retries += mpdus(packets).filter(|mpdu| mpdu[0].retry).count() as u64;
    }

    pub fn request(&mut self, to: Peer) {
        self.of(to).requests += 1;
    }

    pub fn block_ack(&mut self, to: Peer) {
        self.of(to).block_acks += 1;
    }

    pub fn reset(&mut self) {
        self.0.iter_mut().for_each(|count| count.before = count.all);
    }
}

impl Station {
    /// What was sent to a neighbour in a category since the last call of [`Station::reset_stats`]; `None`: frames carry one packet.
    #[must_use]
    pub fn aggregates_to(&self, to: NodeId, category: Category) -> Option<Aggregates> {
        let counts = &self.several.as_ref()?.counts.0;
        let found = counts.binary_search_by_key(&(to, category), |count| (count.to, count.category));
        Some(found.map_or_else(|_| Aggregates::default(), |at| counts[at].all.since(counts[at].before)))
    }

    /// What was sent to all neighbours since time 0; zeros where frames carry one packet.
    #[must_use]
    pub fn aggregates(&self) -> Aggregates {
        let mut sum = Aggregates::default();
        let counts = self.several.iter().flat_map(|several| &several.counts.0);
        counts.for_each(|count| sum += count.all);
        sum
    }
}
