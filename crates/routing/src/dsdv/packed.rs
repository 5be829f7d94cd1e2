//! An entry of the routing table in 32 bytes, to the nanosecond.

use super::table::{Advertise, Entry, Metric, TOO_FAR};
use meshpace_units::{Instant, NodeId, Span};

/// Nanoseconds, in so many bytes that they last for two years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nanos([u8; 7]);

impl Nanos {
    pub(super) fn new(nanos: u64) -> Self {
        let [bytes @ .., last] = nanos.to_le_bytes();
        assert!(last == 0, "{nanos} ns are more than two years");
        Self(bytes)
    }

    pub(super) fn get(self) -> u64 {
        let [a, b, c, d, e, f, g] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, 0])
    }
}

/// A node in two bytes: [`ShortestPaths`](crate::ShortestPaths) takes no more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node(u16);

impl Node {
    pub(super) fn new(node: NodeId) -> Self {
        Self(u16::try_from(node.0).unwrap_or_else(|_| panic!("{node:?} of at most 65,536 nodes")))
    }

    pub(super) fn id(self) -> NodeId {
        NodeId(u32::from(self.0))
    }
}

/// No hops: not reachable. A metric is below `TOO_FAR`.
const UNREACHABLE: u8 = u8::MAX;
/// No hops: never told.
const NEVER_TOLD: u8 = UNREACHABLE - 1;
const _: () = assert!(NEVER_TOLD > TOO_FAR);

const NEW_SEQNO: u8 = 1;
const NEW_HOPS: u8 = 2;
const TOLD: u8 = 4;
const TOLD_IF_SETTLED: u8 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    seqno: u32,
    destination: Node,
    next_hop: Node,
    hops: u8,
    last_advertised: u8,
    flags: u8,
    new_seqno_at: Nanos,
    improved_after: Nanos,
    settling: Nanos,
}

impl Row {
    pub(super) fn new(entry: &Entry) -> Self {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let told = match entry.advertise {
            Advertise::Never => 0,
            Advertise::Settled => TOLD_IF_SETTLED,
            Advertise::Now => TOLD,
        };
        Self {
            seqno: entry.seqno,
            destination: Node::new(entry.destination),
            next_hop: Node::new(entry.next_hop),
            hops: packed(entry.hops),
            last_advertised: entry.last_advertised.map_or(NEVER_TOLD, packed),
            flags: flag(entry.new_seqno, NEW_SEQNO) | flag(entry.new_hops, NEW_HOPS) | told,
            new_seqno_at: Nanos::new(entry.new_seqno_at.as_nanos()),
            improved_after: Nanos::new(entry.improved_after.as_nanos()),
            settling: Nanos::new(entry.settling.as_nanos()),
        }
    }

    pub(super) fn entry(&self) -> Entry {
        let advertise = match self.flags & (TOLD | TOLD_IF_SETTLED) {
            0 => Advertise::Never,
            TOLD_IF_SETTLED => Advertise::Settled,
            _ => Advertise::Now,
        };
        Entry {
            destination: self.destination(),
            next_hop: self.next_hop(),
            hops: self.hops(),
            seqno: self.seqno,
            advertise,
            new_seqno: self.flags & NEW_SEQNO != 0,
            new_hops: self.flags & NEW_HOPS != 0,
            last_advertised: (self.last_advertised != NEVER_TOLD).then(|| metric(self.last_advertised)),
            new_seqno_at: Instant::from_nanos(self.new_seqno_at.get()),
            improved_after: Span::from_nanos(self.improved_after.get()),
            settling: Span::from_nanos(self.settling.get()),
        }
    }

    pub(super) fn destination(&self) -> NodeId {
        self.destination.id()
    }

    pub(super) fn next_hop(&self) -> NodeId {
        self.next_hop.id()
    }

    pub(super) fn hops(&self) -> Metric {
        metric(self.hops)
    }
}

fn packed(metric: Metric) -> u8 {
    match metric {
        Some(hops) => {
            assert!(hops < TOO_FAR, "{hops} hops are no route");
            hops
        }
        None => UNREACHABLE,
    }
}

fn metric(packed: u8) -> Metric {
    (packed != UNREACHABLE).then_some(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Row>(), 32);
    }

    fn any_metric() -> impl Strategy<Value = Metric> {
        prop::option::of(0..TOO_FAR)
    }

    prop_compose! {
        fn any_entry()(
            (destination, next_hop, seqno) in (0..65_536u32, 0..65_536u32, any::<u32>()),
            (hops, last_advertised) in (any_metric(), prop::option::of(any_metric())),
            advertise in prop::sample::select(vec![Advertise::Never, Advertise::Settled, Advertise::Now]),
            (new_seqno, new_hops) in any::<(bool, bool)>(),
            // Up to the longest run (10^6 s) and two settling times more.
            times in prop::array::uniform3(0..2_000_000_000_000_000u64),
        ) -> Entry {
            Entry {
                destination: NodeId(destination),
                next_hop: NodeId(next_hop),
                hops,
                seqno,
                advertise,
                new_seqno,
                new_hops,
                last_advertised,
                new_seqno_at: Instant::from_nanos(times[0]),
                improved_after: Span::from_nanos(times[1]),
                settling: Span::from_nanos(times[2]),
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(entry in any_entry()) {
            let row = Row::new(&entry);
            prop_assert_eq!(row.entry(), entry);
            prop_assert_eq!((row.destination(), row.next_hop(), row.hops()), (entry.destination, entry.next_hop, entry.hops));
        }
    }
}
