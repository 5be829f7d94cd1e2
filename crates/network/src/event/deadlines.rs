//! The earliest of many deadlines that move.

use meshpace_units::Instant;

/// Stations side by side whose minimum is kept. With 4 or 16 meshes of up to 120 nodes are about 2 % slower; with
/// 1,000 nodes 16 makes no difference.
const BLOCK: usize = 8;

/// Numbers that are compared side by side. Lists are filled up with [`NEVER`] to a multiple of it.
const STRANDS: usize = 4;

/// Blocks side by side whose minimum is kept, where there are more of them. Up to 256 stations there are not, and nothing is kept: two levels
/// cost less than three there.
const GROUP: usize = 32;

/// The deadline of a station that has none: later than every event.
const NEVER: u64 = u64::MAX;

/// Deadlines of stations, in nanoseconds, with the earliest of every block of stations, of every group of blocks, and of all.
///
/// Most of them move all the time and few of these moves concern the earliest: the others write one number. The minimum of
/// a block, of a group, or of the groups, is found without branches. Without groups a mesh of 5,000 nodes looked at 625 blocks at each event.
pub struct Deadlines {
    at: Vec<[u64; BLOCK]>,
    /// The earliest of each block, filled up.
    blocks: Vec<u64>,
    /// The earliest of each group, filled up; empty if there is but one.
    groups: Vec<u64>,
    earliest: u64,
}

impl Deadlines {
    /// So many stations, none with a deadline.
    pub fn new(stations: usize) -> Self {
        let blocks = stations.div_ceil(BLOCK);
        let groups = blocks.div_ceil(GROUP);
        let (blocks_kept, groups_kept) = match groups {
            0 | 1 => (blocks.next_multiple_of(STRANDS), 0),
            _ => (groups * GROUP, groups.next_multiple_of(STRANDS)),
        };
        Self {
            at: vec![[NEVER; BLOCK]; blocks],
            blocks: vec![NEVER; blocks_kept],
            groups: vec![NEVER; groups_kept],
            earliest: NEVER,
        }
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
        let block = if self.at.len() == 1 {
            0
        } else if self.groups.is_empty() {
            place(&self.blocks, self.earliest)
        } else {
            let group = place(&self.groups, self.earliest);
            group * GROUP + place(self.group(group), self.earliest)
        };
        (block * BLOCK + place(&self.at[block], self.earliest)) as u32
    }

    /// The deadline of a station.
    #[inline]
    pub fn get(&self, station: u32) -> Option<Instant> {
        let at = self.at[station as usize / BLOCK][station as usize % BLOCK];
        (at != NEVER).then(|| Instant::from_nanos(at))
    }

    /// Sets, moves or removes the deadline of a station.
    #[inline]
    pub fn set(&mut self, station: u32, deadline: Option<Instant>) {
        let deadline = deadline.map_or(NEVER, Instant::as_nanos);
        let block = station as usize / BLOCK;
        let old = std::mem::replace(&mut self.at[block][station as usize % BLOCK], deadline);
        let earliest = &mut self.blocks[block];
        if deadline < *earliest {
            *earliest = deadline;
            self.earliest = self.earliest.min(deadline);
            if let Some(group) = self.groups.get_mut(block / GROUP) {
                *group = deadline.min(*group);
            }
        } else if old == *earliest {
            self.look_anew(block);
        }
    }

    /// The deadline that was the earliest of a block is later now, or gone. Apart from [`Deadlines::set`], which most often finds that
    /// another one is the earliest.
    #[inline(never)]
    fn look_anew(&mut self, block: usize) {
        let now = least(&self.at[block]);
        let before = std::mem::replace(&mut self.blocks[block], now);
        let group = block / GROUP;
        if self.groups.get(group) == Some(&before) {
            self.groups[group] = minimum(self.group(group));
        }
        if before == self.earliest {
            self.earliest = match self.at.len() {
                1 => now,
                _ if self.groups.is_empty() => minimum(&self.blocks),
                _ => minimum(&self.groups),
            };
        }
    }

    /// The earliest of each block of a group.
    #[inline]
    fn group(&self, group: usize) -> &[u64] {
        &self.blocks[group * GROUP..][..GROUP]
    }
}

/// The smallest of a block.
#[inline]
fn least(&[a, b, c, d, e, f, g, h]: &[u64; BLOCK]) -> u64 {
    (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
}

/// The smallest of a list that is filled up, in strands that do not wait for each other.
#[inline]
fn minimum(values: &[u64]) -> u64 {
    let Some((first, rest)) = values.as_chunks::<STRANDS>().0.split_first() else { return NEVER };
    let mut least = *first;
    for four in rest {
        for (least, value) in least.iter_mut().zip(four) {
            *least = (*least).min(*value);
        }
    }
    let [a, b, c, d] = least;
    a.min(b).min(c.min(d))
}

/// Where `value` stands first.
#[inline]
fn place(values: &[u64], value: u64) -> usize {
    values
        .iter()
        .position(|other| *other == value)
        .unwrap_or_else(|| panic!("{value} ns is nobody's deadline"))
}
