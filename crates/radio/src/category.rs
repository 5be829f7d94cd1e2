//! Priorities of packets, and the categories of access that they make (IEEE 802.11-2020, 10.2.3.2 and 10.23.2: EDCA).

use meshpace_units::{Dscp, NodeId};
use std::cmp::Ordering;

/// A packet's user priority, 0 to 7; the traffic identifier (TID) of its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// That of packets that ask for nothing.
    pub const BEST_EFFORT: Self = Self(0);

    /// That of a packet with this codepoint: its upper three bits, as Linux 6.1 has it where the network gives no map of its own
    /// (`cfg80211_classify8021d`, net/wireless/util.c). RFC 8325 has others for a few: `ef` is of video here, not of voice.
    #[must_use]
    pub const fn of(dscp: Dscp) -> Self {
        Self(dscp.number() >> 3)
    }

    /// Its number.
    #[must_use]
    pub const fn tid(self) -> u8 {
        self.0
    }

    /// The category that its packets contend in (table 10-1).
    #[must_use]
    pub const fn category(self) -> Category {
        match self.0 {
            1 | 2 => Category::Background,
            4 | 5 => Category::Video,
            6 | 7 => Category::Voice,
            _ => Category::BestEffort,
        }
    }
}

/// A category of access, from the one that yields to all others upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl Category {
    /// All of them, from the lowest upwards.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// Its name in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::BestEffort => "best-effort",
            Self::Video => "video",
            Self::Voice => "voice",
        }
    }
}

/// A set of categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Categories(u8);

impl Categories {
    /// None.
    pub const NONE: Self = Self(0);

    /// This one alone.
    #[must_use]
    pub const fn only(category: Category) -> Self {
        Self(1 << category as u8)
    }

    /// Best effort alone where that is so, or none.
    #[must_use]
    pub const fn best_effort(free: bool) -> Self {
        if free { Self::only(Category::BestEffort) } else { Self::NONE }
    }

    /// The same with the other's.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if it is in.
    #[must_use]
    #[inline]
    pub const fn has(self, category: Category) -> bool {
        self.0 >> category as u8 & 1 == 1
    }

    /// True if none is.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are in, from the highest downwards.
    pub fn iter(self) -> impl Iterator<Item = Category> {
        Category::ALL.into_iter().rev().filter(move |category| self.has(*category))
    }
}

/// A neighbour, and the priority of what goes there or comes from there: what sequence numbers, frames of several packets and block
/// acknowledgements are kept by (10.3.2.14.2, 10.25.6).
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The neighbour.
    pub node: NodeId,
    /// The priority.
    pub priority: Priority,
}

/// In the order of neighbours, then of priorities. Tables by peer are looked through for every packet: as one number it is compared at once.
impl Peer {
    #[inline(always)]
    const fn number(self) -> u64 {
        (self.node.0 as u64) << 8 | self.priority.0 as u64
    }
}

impl PartialEq for Peer {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Peer {}

impl Ord for Peer {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for Peer {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 and table 10-1, name by name.
    #[test]
    fn codepoints_make_the_categories_of_linux() {
        use Category::{Background, BestEffort, Video, Voice};
        for (name, tid, category) in [
            ("df", 0, BestEffort),
            ("le", 0, BestEffort),
            ("cs1", 1, Background),
            ("af11", 1, Background),
            ("cs2", 2, Background),
            ("af23", 2, Background),
            ("cs3", 3, BestEffort),
            ("af31", 3, BestEffort),
            ("cs4", 4, Video),
            ("af41", 4, Video),
            ("cs5", 5, Video),
            ("ef", 5, Video),
            ("cs6", 6, Voice),
            ("cs7", 7, Voice),
        ] {
            let priority = Priority::of(Dscp::named(name).expect("a name"));
            assert_eq!((priority.tid(), priority.category()), (tid, category), "{name}");
        }
    }

    #[test]
    fn sets_know_what_is_in() {
        let some = Categories::only(Category::Background).and(Categories::only(Category::Voice));
        assert_eq!(some.iter().collect::<Vec<_>>(), [Category::Voice, Category::Background]);
        assert!(!some.has(Category::Video) && !some.is_empty() && Categories::NONE.is_empty());
    }
}
