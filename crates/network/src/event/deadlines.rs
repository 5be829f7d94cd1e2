//! The earliest of many deadlines that move.

use meshpace_units::Instant;

/// Numbers side by side whose minimum is kept. With 4 or 16 meshes of up to 120 nodes are about 2 % slower.
const BLOCK: usize = 8;

/// The deadline of a station that has none: later than every event.
const NEVER: u64 = u64::MAX;

/// Deadlines of stations, in nanoseconds, in blocks; above them, in blocks again, the earliest of each block, up to one block.
///
/// Most of them move all the time and few of these moves concern the earliest: the others write one number. A move that does is
/// told upward as far as it matters, so a large mesh costs a few blocks more than a small one. The minimum of a block is found without
/// branches.
pub struct Deadlines {
    /// A heap with eight children a block: number `n` of block `b` is the earliest of block `8 b + n + 1`, and the first block has no other
    /// above it. From `stations` on they are stations' own.
    blocks: Vec<[u64; BLOCK]>,
    /// The first block of stations.
    stations: usize,
    earliest: u64,
}

impl Deadlines {
    /// So many stations, none with a deadline.
    pub fn new(stations: usize) -> Self {
        let needed = stations.div_ceil(BLOCK);
        let (mut above, mut level) = (0, 1);
        while level < needed {
            above += level;
            level *= BLOCK;
        }
        Self { blocks: vec![[NEVER; BLOCK]; above + needed.max(1)], stations: above, earliest: NEVER }
    }

    /// The earliest; if there is none, a time later than every event.
    #[inline]
    pub fn earliest(&self) -> Instant {
        Instant::from_nanos(self.earliest)
    }

    /// Whose deadline is the earliest; the lowest index, if it is several stations'.
    ///
    /// # Panics
    /// If no station has a deadline.
    #[inline]
    pub fn first(&self) -> u32 {
        assert!(self.earliest != NEVER, "no station has a deadline");
        let mut block = 0;
        while block < self.stations {
            block = block * BLOCK + self.earliest_in(block) + 1;
        }
        ((block - self.stations) * BLOCK + self.earliest_in(block)) as u32
    }

    /// Where the earliest of all stands first in a block.
    #[inline]
    fn earliest_in(&self, block: usize) -> usize {
        let found = self.blocks[block].iter().position(|other| *other == self.earliest);
        found.unwrap_or_else(|| panic!("{} ns is nobody's deadline in block {block}", self.earliest))
    }

    /// The deadline of a station.
    #[inline]
    pub fn get(&self, station: u32) -> Option<Instant> {
        let at = self.blocks[self.stations + station as usize / BLOCK][station as usize % BLOCK];
        (at != NEVER).then(|| Instant::from_nanos(at))
    }

    /// Sets, moves or removes the deadline of a station.
    #[inline]
    pub fn set(&mut self, station: u32, deadline: Option<Instant>) {
        let mut deadline = deadline.map_or(NEVER, Instant::as_nanos);
        let mut block = self.stations + station as usize / BLOCK;
        let mut number = station as usize % BLOCK;
        loop {
            let old = std::mem::replace(&mut self.blocks[block][number], deadline);
            let above = block.checked_sub(1).map(|child| (child / BLOCK, child % BLOCK));
            let before = above.map_or(self.earliest, |(block, number)| self.blocks[block][number]);
            if deadline >= before {
                if old != before {
                    return; // another is the earliest of the block, as it was
                }
                deadline = least(&self.blocks[block]);
                if deadline == before {
                    return;
                }
            }
            let Some(above) = above else { break };
            (block, number) = above;
        }
        self.earliest = deadline;
    }
}

/// The smallest of a block.
#[inline]
fn least(&[a, b, c, d, e, f, g, h]: &[u64; BLOCK]) -> u64 {
    (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
}
