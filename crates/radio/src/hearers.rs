//! The table of links: the hearers of each node.
//!
//! A mesh of 256 nodes on a square kilometre has 30,000 entries, and every frame walks over a hundred of them. They lie in one
//! piece, packed to 14 bytes; where nodes move, the table is made anew in the same place.

use meshpace_units::{NodeId, Span};

/// One receiver of a node's transmissions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hearer {
    /// The node.
    pub node: NodeId,
    /// Received power, W.
    pub power: f64,
    /// Propagation delay, at least 1 ns.
    pub delay: Span,
    /// True if the frame can be decoded.
    pub decodable: bool,
    /// True if [`crate::Losses`] must be asked about every frame.
    pub lossy: bool,
}

/// A [`Hearer`] as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, packed(2))]
struct Entry {
    power: f64,
    /// ns, below the flags: up to 1 s, in which light goes three quarters of the way to the Moon.
    delay: u32,
    node: u16,
}

const _: () = assert!(size_of::<Entry>() == 14);

const DECODABLE: u32 = 1 << 30;
const LOSSY: u32 = 1 << 31;

impl Entry {
    fn new(hearer: &Hearer) -> Self {
        let Hearer { node, power, delay, decodable, lossy } = *hearer;
        let nanos = u32::try_from(delay.as_nanos()).ok().filter(|nanos| *nanos < DECODABLE);
        let nanos = nanos.unwrap_or_else(|| panic!("a frame flies {delay:?}"));
        let node = u16::try_from(node.0).unwrap_or_else(|_| panic!("{node:?} of at most 65,536 nodes"));
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        Self { power, delay: nanos | flag(decodable, DECODABLE) | flag(lossy, LOSSY), node }
    }

    fn node(&self) -> u32 {
        u32::from(self.node)
    }

    #[inline]
    fn hearer(&self) -> Hearer {
        let Self { power, delay, node } = *self;
        Hearer {
            node: NodeId(u32::from(node)),
            power,
            delay: Span::from_nanos(u64::from(delay & (DECODABLE - 1))),
            decodable: delay & DECODABLE != 0,
            lossy: delay & LOSSY != 0,
        }
    }
}

/// The receivers of every node, each node's in order of node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hearers {
    entries: Vec<Entry>,
    /// By node: where its entries end, and those of the next one begin.
    ends: Vec<u32>,
}

impl Hearers {
    /// A table with these rows, by node.
    #[must_use]
    pub fn new<'a>(rows: impl IntoIterator<Item = &'a [Hearer]>) -> Self {
        let mut table = Self::default();
        rows.into_iter().for_each(|row| table.push(row));
        table
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.ends.len()
    }

    /// The hearers of a node.
    #[inline]
    pub fn of(&self, node: NodeId) -> impl ExactSizeIterator<Item = Hearer> + '_ {
        self.row(node).iter().map(Entry::hearer)
    }

    /// How one node hears another, if it does.
    #[must_use]
    pub fn get(&self, from: NodeId, to: NodeId) -> Option<Hearer> {
        let row = self.row(from);
        row.binary_search_by_key(&to.0, Entry::node).ok().map(|at| row[at].hearer())
    }

    /// Notes that the link from one node to another loses frames, if it is there.
    pub fn mark_lossy(&mut self, from: NodeId, to: NodeId) {
        let start = self.start(from);
        let row = &mut self.entries[start..self.ends[from.index()] as usize];
        if let Ok(at) = row.binary_search_by_key(&to.0, Entry::node) {
            row[at].delay |= LOSSY;
        }
    }

    /// The same among some of the nodes, sorted, numbered anew by their place there.
    #[must_use]
    pub fn among(&self, nodes: &[NodeId]) -> Self {
        let mut table = Self::default();
        let mut row = Vec::new();
        for node in nodes {
            row.clear();
            row.extend(self.of(*node).filter_map(|hearer| {
                let place = nodes.binary_search(&hearer.node).ok()?;
                Some(Hearer { node: NodeId::from_index(place), ..hearer })
            }));
            table.push(&row);
        }
        table
    }

    /// The same where some of the nodes are switched off: they neither hear nor are heard.
    #[must_use]
    pub fn without(&self, silent: impl Fn(NodeId) -> bool) -> Self {
        let mut table = Self::default();
        let mut row = Vec::new();
        for node in (0..self.nodes()).map(NodeId::from_index) {
            row.clear();
            if !silent(node) {
                row.extend(self.of(node).filter(|hearer| !silent(hearer.node)));
            }
            table.push(&row);
        }
        table
    }

    /// Forgets all rows; their place is kept.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.ends.clear();
    }

    /// The row of the next node.
    pub(crate) fn push(&mut self, row: &[Hearer]) {
        if self.entries.capacity() - self.entries.len() < row.len() {
            // Doubling would leave up to half of it empty.
            self.entries.reserve_exact(row.len() + self.entries.len() / 16);
        }
        self.entries.extend(row.iter().map(Entry::new));
        let end = u32::try_from(self.entries.len());
        self.ends.push(end.unwrap_or_else(|_| panic!("{} links", self.entries.len())));
    }

    #[inline]
    fn start(&self, node: NodeId) -> usize {
        node.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    #[inline]
    fn row(&self, node: NodeId) -> &[Entry] {
        &self.entries[self.start(node)..self.ends[node.index()] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn among_some_nodes_the_others_hear_and_send_nothing() {
        let hearer = |node: u32, power| Hearer {
            node: NodeId(node),
            power,
            delay: Span::from_nanos(u64::from(node) + 1),
            decodable: node != 3,
            lossy: false,
        };
        let mut table = Hearers::new([
            &[hearer(1, 1.0), hearer(2, 2.0), hearer(3, 3.0)][..],
            &[hearer(0, 4.0)],
            &[hearer(1, 5.0)],
            &[hearer(0, 6.0), hearer(2, 7.0)],
        ]);
        table.mark_lossy(NodeId(3), NodeId(2));
        let some = table.among(&[NodeId(0), NodeId(2), NodeId(3)]);
        assert_eq!(some.nodes(), 3);
        let row = |node| some.of(NodeId(node)).collect::<Vec<_>>();
        let renumbered = |place: u32, was: Hearer| Hearer { node: NodeId(place), ..was };
        assert_eq!(row(0), [renumbered(1, hearer(2, 2.0)), renumbered(2, hearer(3, 3.0))]);
        assert_eq!(row(1), []);
        let lossy = Hearer { lossy: true, ..renumbered(1, hearer(2, 7.0)) };
        assert_eq!(row(2), [renumbered(0, hearer(0, 6.0)), lossy]);
        let all: Vec<_> = (0..4).map(NodeId).collect();
        assert_eq!(table.among(&all), table);
        let quiet = table.without(|node| node == NodeId(0));
        let row = |node| quiet.of(NodeId(node)).collect::<Vec<_>>();
        let kept = Hearer { lossy: true, ..hearer(2, 7.0) };
        assert_eq!([row(0), row(1), row(2), row(3)], [vec![], vec![], vec![hearer(1, 5.0)], vec![kept]]);
        assert_eq!(table.without(|_| false), table);
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let hearer = |node, power, delay, decodable| Hearer {
            node: NodeId(node),
            power,
            delay: Span::from_nanos(delay),
            decodable,
            lossy: false,
        };
        let rows = [
            vec![hearer(1, 1e-9, 1, true), hearer(65_535, 3.7e-13, 11_600_000, false)],
            vec![],
            vec![hearer(0, f64::MIN_POSITIVE, u64::from(DECODABLE - 1), true)],
        ];
        let mut table = Hearers::new(rows.iter().map(Vec::as_slice));
        assert_eq!(table.nodes(), 3);
        for (node, row) in rows.iter().enumerate() {
            assert_eq!(&table.of(NodeId::from_index(node)).collect::<Vec<_>>(), row);
        }
        assert_eq!(table.get(NodeId(0), NodeId(65_535)), Some(rows[0][1]));
        assert_eq!(table.get(NodeId(0), NodeId(2)), None);
        for to in [0, 1] {
            table.mark_lossy(NodeId(2), NodeId(to));
        }
        assert_eq!(table.get(NodeId(2), NodeId(0)), Some(Hearer { lossy: true, ..rows[2][0] }));
    }
}
