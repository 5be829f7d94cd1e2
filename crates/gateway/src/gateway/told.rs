//! What the gateway tells of itself: totals, and its connections.

use super::Gateway;
use crate::{Activity, Counters, FlowKey, FlowStats, RoundTrips, Waits};
use meshpace_units::Bytes;

impl<P: Clone> Gateway<P> {
    /// Totals since the beginning.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// All round trips measured since the beginning.
    #[must_use]
    pub const fn round_trips(&self) -> &RoundTrips {
        &self.round_trips
    }

    /// How long packets have waited for their turn since the beginning.
    #[must_use]
    pub const fn waits(&self) -> &Waits {
        &self.waits
    }

    /// The connections known, in the order of their keys.
    pub fn flows(&self) -> impl Iterator<Item = FlowStats> {
        self.table.iter().map(|(_, connection)| FlowStats::of(connection))
    }

    /// As [`Gateway::flows`], with what came of each and when; only those that follow `after`, if given.
    pub fn flows_with_activity(
        &self,
        after: Option<&FlowKey>,
    ) -> impl Iterator<Item = (FlowStats, Activity)> {
        self.table
            .iter_after(after)
            .map(|(_, connection)| (FlowStats::of(connection), Activity::of(connection)))
    }

    /// As [`Gateway::flow`], with what came of it and when.
    #[must_use]
    pub fn flow_with_activity(&self, key: &FlowKey) -> Option<(FlowStats, Activity)> {
        let connection = self.table.get(self.table.find(key)?);
        Some((FlowStats::of(connection), Activity::of(connection)))
    }

    /// One connection, if known.
    #[must_use]
    pub fn flow(&self, key: &FlowKey) -> Option<FlowStats> {
        Some(FlowStats::of(self.table.get(self.table.find(key)?)))
    }

    /// How many connections are known.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.table.len()
    }

    /// Packets waiting in all queues.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.books.held()
    }

    /// Bytes in all queues and caches.
    #[must_use]
    pub const fn buffered(&self) -> Bytes {
        self.books.bytes()
    }

    /// Entries in all sequence maps.
    #[must_use]
    pub const fn segments(&self) -> usize {
        self.books.segments()
    }
}
