//! The connections, by name and by how long they have been silent.

use crate::connection::{Connection, Rank};
use crate::schedule::Slot;
use crate::{Endpoint, FlowKey};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::net::IpAddr;
use core::ops::Bound;
use meshpace_units::{Instant, Span};

/// Activity is noted at most this often in the order of silence; the exact time stays with the connection.
const GRAIN: Span = Span::from_secs(1);

/// By rank, each by time: the order in which places are taken back.
type Silence = (Rank, Instant, Slot);

#[derive(Debug)]
pub(crate) struct Table<P> {
    slots: Vec<Option<(Connection<P>, Silence)>>,
    free: Vec<Slot>,
    by_key: BTreeMap<FlowKey, Slot>,
    by_silence: BTreeSet<Silence>,
}

impl<P: Clone> Table<P> {
    pub const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), by_key: BTreeMap::new(), by_silence: BTreeSet::new() }
    }

    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    pub fn find(&self, key: &FlowKey) -> Option<Slot> {
        self.by_key.get(key).copied()
    }

    /// The connection in a slot that is known to be taken.
    pub fn get_mut(&mut self, slot: Slot) -> &mut Connection<P> {
        &mut self.entry(slot).0
    }

    /// The connection in a slot that is known to be taken.
    pub fn get(&self, slot: Slot) -> &Connection<P> {
        match self.slots.get(slot as usize) {
            Some(Some((connection, _))) => connection,
            _ => panic!("slot {slot} is empty"),
        }
    }

    /// All connections in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Connection<P>)> {
        self.by_key.values().map(|&slot| (slot, self.get(slot)))
    }

    /// The connections that follow `after` in the order of their keys, or all.
    pub fn iter_after(&self, after: Option<&FlowKey>) -> impl Iterator<Item = (Slot, &Connection<P>)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_key.range((from, Bound::Unbounded)).map(|(_, &slot)| (slot, self.get(slot)))
    }

    /// The connections of a mesh host, in the order of their keys.
    pub fn of_host(&self, host: IpAddr) -> impl Iterator<Item = Slot> {
        let least = Endpoint { address: IpAddr::from([0, 0, 0, 0]), port: 0 };
        let from = FlowKey { wireless: Endpoint { address: host, port: 0 }, wired: least };
        self.by_key
            .range(from..)
            .take_while(move |(key, _)| key.wireless.address == host)
            .map(|(_, &slot)| slot)
    }

    /// All connections in the order of their slots.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Slot, &mut Connection<P>)> {
        (0..).zip(&mut self.slots).filter_map(|(slot, entry)| Some((slot, &mut entry.as_mut()?.0)))
    }

    pub fn insert(&mut self, now: Instant, connection: Connection<P>) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            Slot::try_from(self.slots.len() - 1).expect("fewer connections than addresses and ports")
        });
        let silence = (connection.rank(), now, slot);
        self.by_key.insert(connection.key, slot);
        self.by_silence.insert(silence);
        self.slots[slot as usize] = Some((connection, silence));
        slot
    }

    pub fn remove(&mut self, slot: Slot) -> Connection<P> {
        let (connection, silence) =
            self.slots[slot as usize].take().unwrap_or_else(|| panic!("slot {slot} is empty"));
        self.by_key.remove(&connection.key);
        self.by_silence.remove(&silence);
        self.free.push(slot);
        connection
    }

    /// Notes that the connection is alive.
    pub fn touch(&mut self, now: Instant, slot: Slot) {
        let (connection, silence) = self.entry(slot);
        connection.last_activity = now;
        if now.saturating_since(silence.1) >= GRAIN || silence.0 != connection.rank() {
            self.refresh(slot);
        }
    }

    /// Notes that a connection may hold packets now, or none any more.
    pub fn refresh_rank(&mut self, slot: Slot) {
        let (connection, silence) = self.entry(slot);
        if silence.0 != connection.rank() {
            self.refresh(slot);
        }
    }

    /// Puts a connection where it belongs in the order of silence: its activity was only noted coarsely, or its rank has
    /// changed.
    pub fn refresh(&mut self, slot: Slot) {
        let (connection, silence) = self.entry(slot);
        let place = (connection.rank(), connection.last_activity, slot);
        let before = core::mem::replace(silence, place);
        self.by_silence.remove(&before);
        self.by_silence.insert(place);
    }

    fn entry(&mut self, slot: Slot) -> &mut (Connection<P>, Silence) {
        match self.slots.get_mut(slot as usize) {
            Some(Some(entry)) => entry,
            _ => panic!("slot {slot} is empty"),
        }
    }

    /// The connection whose place is taken back first, unless all hold packets.
    pub fn dispensable(&self) -> Option<Slot> {
        self.by_silence.first().filter(|&&(rank, ..)| rank != Rank::Holding).map(|&(_, _, slot)| slot)
    }

    /// The connection to look at first when looking for silent ones, and since when it may have been silent.
    pub fn most_silent(&self) -> Option<(Instant, Slot)> {
        let first_of = |rank| self.by_silence.range((rank, Instant::ZERO, 0)..).next();
        let firsts = [Rank::Unanswered, Rank::Answered, Rank::Holding].into_iter().filter_map(first_of);
        firsts.map(|&(_, since, slot)| (since, slot)).min()
    }
}
