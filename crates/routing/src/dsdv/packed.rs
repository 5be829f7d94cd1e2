//! An entry of the routing table in 21 bytes, to the nanosecond.

use super::table::{Advertise, Entry, Metric};
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

/// The row of a destination, which its place in the table names: 168 bits.
///
/// What does not fit stands beside the table as it is: after 39 hours, over more than 61 hops, with a route that took longer
/// than half a minute to settle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// From the lowest bit on: `new_seqno_at`, `improved_after` and `settling` in ns, `last_advertised`, flags.
    times: [u8; 16],
    /// From the lowest bit on: `next_hop`, `seqno`, `hops`.
    route: [u8; 5],
}

const AT_BITS: u32 = 47;
const SPAN_BITS: u32 = 35;
const IMPROVED_AFTER: u32 = AT_BITS;
const SETTLING: u32 = IMPROVED_AFTER + SPAN_BITS;
const LAST_ADVERTISED: u32 = SETTLING + SPAN_BITS;
const FLAGS: u32 = LAST_ADVERTISED + HOPS_BITS;

const NEW_SEQNO: u8 = 1;
const NEW_HOPS: u8 = 2;
/// Bits that say what is known of a destination, and when it may be announced. Without any of them nothing is
/// known.
const TELLING: u8 = 28;
const NEVER: u8 = 4;
const IF_SETTLED: u8 = 8;
const NOW: u8 = 12;
const BESIDE: u8 = 16;
const _: () = assert!(FLAGS + 5 <= u128::BITS);

const SEQNO: u32 = u16::BITS;
const SEQNO_BITS: u32 = 18;
const HOPS: u32 = SEQNO + SEQNO_BITS;
const HOPS_BITS: u32 = 6;
const _: () = assert!(HOPS + HOPS_BITS == 40);

/// No hops: not reachable.
const UNREACHABLE: u8 = (1 << HOPS_BITS) - 1;
/// No hops: never told.
const NEVER_TOLD: u8 = UNREACHABLE - 1;

impl Row {
    /// Of a destination that has no entry.
    pub(super) const ABSENT: Self = Self { times: [0; 16], route: [0; 5] };
    /// Of a destination whose entry stands beside the table.
    pub(super) const BESIDE: Self = Self { times: ((BESIDE as u128) << FLAGS).to_le_bytes(), route: [0; 5] };

    /// `None`: the entry does not fit.
    pub(super) fn new(entry: &Entry) -> Option<Self> {
        let fits = |value: u64, bits: u32| (value >> bits == 0).then_some(value);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let telling = match entry.advertise {
            Advertise::Never => NEVER,
            Advertise::Settled => IF_SETTLED,
            Advertise::Now => NOW,
        };
        let flags = flag(entry.new_seqno, NEW_SEQNO) | flag(entry.new_hops, NEW_HOPS) | telling;
        let at = fits(entry.new_seqno_at.as_nanos(), AT_BITS)?;
        let improved_after = fits(entry.improved_after.as_nanos(), SPAN_BITS)?;
        let settling = fits(entry.settling.as_nanos(), SPAN_BITS)?;
        let times = u128::from(at)
            | u128::from(improved_after) << IMPROVED_AFTER
            | u128::from(settling) << SETTLING
            | u128::from(entry.last_advertised.map_or(Some(NEVER_TOLD), packed)?) << LAST_ADVERTISED
            | u128::from(flags) << FLAGS;
        let route = u64::from(Node::new(entry.next_hop).0)
            | fits(entry.seqno.into(), SEQNO_BITS)? << SEQNO
            | u64::from(packed(entry.hops)?) << HOPS;
        let [route @ .., _, _, _] = route.to_le_bytes();
        Some(Self { times: times.to_le_bytes(), route })
    }

    /// The entry of a row that has one.
    pub(super) fn entry(&self, destination: NodeId) -> Entry {
        let (times, route) = (u128::from_le_bytes(self.times), self.route_bits());
        let nanos = |from: u32, bits: u32| (times >> from) as u64 & ((1 << bits) - 1);
        let flags = self.flags();
        Entry {
            destination,
            next_hop: self.next_hop(),
            hops: metric((route >> HOPS) as u8 & UNREACHABLE),
            seqno: (route >> SEQNO) as u32 & ((1 << SEQNO_BITS) - 1),
            advertise: match flags & TELLING {
                NEVER => Advertise::Never,
                IF_SETTLED => Advertise::Settled,
                NOW => Advertise::Now,
                _ => unreachable!("no entry of {destination:?}: {self:?}"),
            },
            new_seqno: flags & NEW_SEQNO != 0,
            new_hops: flags & NEW_HOPS != 0,
            last_advertised: match (times >> LAST_ADVERTISED) as u8 & UNREACHABLE {
                NEVER_TOLD => None,
                told => Some(metric(told)),
            },
            new_seqno_at: Instant::from_nanos(nanos(0, AT_BITS)),
            improved_after: Span::from_nanos(nanos(IMPROVED_AFTER, SPAN_BITS)),
            settling: Span::from_nanos(nanos(SETTLING, SPAN_BITS)),
        }
    }

    fn flags(&self) -> u8 {
        (u128::from_le_bytes(self.times) >> FLAGS) as u8
    }

    fn route_bits(&self) -> u64 {
        let [a, b, c, d, e] = self.route;
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }

    fn next_hop(&self) -> NodeId {
        Node(self.route_bits() as u16).id()
    }

    pub(super) fn is_absent(&self) -> bool {
        self.flags() & TELLING == 0
    }

    pub(super) fn is_beside(&self) -> bool {
        self.flags() & TELLING == BESIDE
    }

    /// The next hop and the hops to a destination that can be reached, of a row that has an entry.
    pub(super) fn route(&self) -> Option<(NodeId, u8)> {
        Some((self.next_hop(), metric((self.route_bits() >> HOPS) as u8 & UNREACHABLE)?))
    }
}

fn packed(metric: Metric) -> Option<u8> {
    match metric {
        Some(hops) => (hops < NEVER_TOLD).then_some(hops),
        None => Some(UNREACHABLE),
    }
}

fn metric(packed: u8) -> Metric {
    (packed != UNREACHABLE).then_some(packed)
}

#[cfg(test)]
mod tests {
    use super::super::table::TOO_FAR;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Row>(), 21);
    }

    fn any_metric() -> impl Strategy<Value = Metric> {
        prop::option::of(prop_oneof![0..70u8, 0..TOO_FAR])
    }

    prop_compose! {
        fn any_entry()(
            (destination, next_hop, seqno) in (0..65_536u32, 0..65_536u32, prop_oneof![0..300_000u32, any::<u32>()]),
            (hops, last_advertised) in (any_metric(), prop::option::of(any_metric())),
            advertise in prop::sample::select(vec![Advertise::Never, Advertise::Settled, Advertise::Now]),
            (new_seqno, new_hops) in any::<(bool, bool)>(),
            // On both sides of what fits; the longest run is of 10^6 s.
            new_seqno_at in prop_oneof![0..150_000_000_000_000u64, 0..2_000_000_000_000_000u64],
            spans in prop::array::uniform2(prop_oneof![0..60_000_000_000u64, 34_359_738_300..34_359_738_400u64]),
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
                new_seqno_at: Instant::from_nanos(new_seqno_at),
                improved_after: Span::from_nanos(spans[0]),
                settling: Span::from_nanos(spans[1]),
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(entry in any_entry()) {
            let told_hops = entry.last_advertised.flatten();
            let fits = entry.new_seqno_at < Instant::from_nanos(1 << 47)
                && [entry.improved_after, entry.settling].iter().all(|span| *span < Span::from_nanos(1 << 35))
                && entry.seqno < 1 << 18
                && [entry.hops, told_hops].iter().flatten().all(|hops| *hops <= 61);
            let row = Row::new(&entry);
            prop_assert_eq!(row.is_some(), fits);
            if let Some(row) = row {
                prop_assert_eq!(row.entry(entry.destination), entry);
                prop_assert_eq!(row.route(), entry.hops.map(|hops| (entry.next_hop, hops)));
                prop_assert!(!row.is_absent() && !row.is_beside());
            }
        }
    }

    #[test]
    fn a_row_says_where_its_entry_is() {
        assert!(Row::ABSENT.is_absent() && !Row::ABSENT.is_beside());
        assert!(Row::BESIDE.is_beside() && !Row::BESIDE.is_absent());
    }
}
