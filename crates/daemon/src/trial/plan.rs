//! Which blocks of a trial are paced.

use meshpace_units::Span;
use meshpace_units::random::Stream;

/// Blocks that are balanced among themselves, at the most: an hour of blocks of ten minutes.
const GROUP: u64 = 6;
const HOUR: Span = Span::from_secs(3_600);

/// Blocks of one length in groups. Half of the blocks of each group are paced, in an order that is drawn. So the hour of the day
/// affects both sides alike, and no regular event affects one side only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    block: Span,
    group: u64,
    blocks: u64,
    seed: u64,
}

impl Plan {
    /// A trial that lasts about so long, of whole groups; `None` if that is not one group, or an hour has no two blocks.
    #[must_use]
    pub fn new(length: Span, block: Span, seed: u64) -> Option<Self> {
        let an_hour = HOUR.as_nanos().checked_div(block.as_nanos())?;
        let group = GROUP.min(an_hour) / 2 * 2;
        let groups = length.as_nanos() / (block * group.max(1)).as_nanos();
        (group > 0 && groups > 0).then_some(Self { block, group, blocks: group * groups, seed })
    }

    /// Length of a block.
    #[must_use]
    pub const fn block(&self) -> Span {
        self.block
    }

    /// How many there are.
    #[must_use]
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How long a group takes.
    #[must_use]
    pub fn group(&self) -> Span {
        self.block * self.group
    }

    /// The group of a block.
    #[must_use]
    pub const fn group_of(&self, block: u64) -> u64 {
        block / self.group
    }

    /// True if the block is paced.
    #[must_use]
    pub fn is_paced(&self, block: u64) -> bool {
        let mut order = Stream::new(self.seed, "trial", self.group_of(block));
        let mut paced: Vec<bool> = (0..self.group).map(|place| place < self.group / 2).collect();
        // Fisher and Yates.
        for last in (1..paced.len()).rev() {
            let chosen = order.below(u32::try_from(last + 1).expect("a group has few blocks"));
            paced.swap(last, chosen as usize);
        }
        paced[usize::try_from(block % self.group).expect("a group has few blocks")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_days_are_balanced_by_the_hour_and_drawn() {
        let plan = Plan::new(Span::from_secs(3 * 86_400), Span::from_secs(600), 1).unwrap();
        assert_eq!((plan.blocks(), plan.group_of(6)), (432, 1));
        let sides: Vec<bool> = (0..432).map(|block| plan.is_paced(block)).collect();
        assert!(sides.chunks(6).all(|hour| hour.iter().filter(|paced| **paced).count() == 3));
        let orders: std::collections::BTreeSet<_> = sides.chunks(6).collect();
        assert!(orders.len() > 15, "{} of 20 orders", orders.len());
        let other = Plan::new(Span::from_secs(3 * 86_400), Span::from_secs(600), 2).unwrap();
        assert!((0..432).any(|block| other.is_paced(block) != plan.is_paced(block)));
    }

    #[test]
    fn a_trial_has_whole_groups_and_both_sides_an_hour() {
        let blocks = |length, block| {
            Plan::new(Span::from_secs(length), Span::from_secs(block), 1).map(|plan| plan.blocks())
        };
        assert_eq!(blocks(3_600, 1_800), Some(2));
        assert_eq!(blocks(100, 2), Some(48));
        assert_eq!(blocks(11, 2), None, "half of a group");
        assert_eq!(blocks(86_400, 3_600), None, "an hour has one side");
        assert_eq!(blocks(86_400, 0), None);
    }
}
