//! Modes in groups, and how long a packet takes in each.

use crate::standard::mode::Payload;
use crate::standard::{Format, Mcs, Mode, Standard, Width};
use meshpace_units::Span;

/// A mode: which group's, and which of it. Ordered as the kernel orders them: by group, then by modulation and code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rate {
    pub group: u8,
    pub index: u8,
}

/// Modes with equally many streams and the same guard interval, from the most robust on.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub streams: u8,
    short_guard: bool,
    modes: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    mode: &'static Mode,
    /// ns.
    duration: u32,
}

/// All groups that have modes, in the kernel's order: by guard interval, the long one first, then by streams. Of widths there is one.
#[derive(Clone, Debug)]
pub(super) struct Groups(Vec<Group>);

/// Bytes of a packet on the average (`AVG_PKT_SIZE`), and packets over which its duration is averaged (`AVG_AMPDU_SIZE`).
const PACKET: u64 = 1_200;
const PACKETS: u64 = 16;

/// Modes of a group at the most (`MCS_GROUP_RATES`).
pub(super) const MOST: usize = 10;

/// True if the kernel has groups for a standard's modes: HT, and VHT up to 80 MHz.
pub(super) fn covers(standard: &Standard) -> bool {
    let covered = |mcs: Mcs| mcs.format != Format::He && mcs.width <= Width::Mhz80;
    standard.data.iter().all(|mode| mode.mcs.is_some_and(covered))
}

impl Groups {
    /// Of these modes.
    pub fn new(modes: &[&'static Mode]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for mode in modes {
            let (streams, short_guard) = (mode.streams(), has_short_guard(mode));
            let place = groups.binary_search_by_key(&(short_guard, streams), Group::key);
            let place = place.unwrap_or_else(|place| {
                groups.insert(place, Group { streams, short_guard, modes: Vec::new() });
                place
            });
            groups[place].modes.push(Entry { mode, duration: duration(mode) });
        }
        groups.iter_mut().for_each(Group::round);
        Self(groups)
    }

    /// How many.
    pub fn count(&self) -> u8 {
        self.0.len() as u8
    }

    /// The next group before this with as many streams at the most; `None`: there is none.
    pub fn below(&self, group: u8) -> Option<u8> {
        let streams = self.0[usize::from(group)].streams;
        (0..group).rev().find(|below| self.0[usize::from(*below)].streams <= streams)
    }

    /// One of them.
    pub fn of(&self, rate: Rate) -> &Group {
        &self.0[usize::from(rate.group)]
    }

    /// The modes of a group, from the most robust on.
    pub fn within(&self, group: u8) -> impl DoubleEndedIterator<Item = Rate> + use<> {
        (0..self.0[usize::from(group)].modes.len() as u8).map(move |index| Rate { group, index })
    }

    /// The mode itself.
    pub fn mode(&self, rate: Rate) -> &'static Mode {
        self.of(rate).modes[usize::from(rate.index)].mode
    }

    /// How long a packet is on the air in it, ns.
    pub fn duration(&self, rate: Rate) -> u32 {
        self.of(rate).modes[usize::from(rate.index)].duration
    }

    /// Which one a mode is; `None`: none of these.
    pub fn find(&self, mode: &Mode) -> Option<Rate> {
        let group = self.0.binary_search_by_key(&(has_short_guard(mode), mode.streams()), Group::key).ok()?;
        let index = self.0[group].modes.iter().position(|entry| entry.mode.number() == mode.number())?;
        Some(Rate { group: group as u8, index: index as u8 })
    }
}

impl Group {
    fn key(&self) -> (bool, u8) {
        (self.short_guard, self.streams)
    }

    /// The kernel keeps durations in 16 bits, shifted by as many places as the longest of the group needs (`GROUP_SHIFT`).
    fn round(&mut self) {
        let longest = self.modes.first().map_or(0, |entry| entry.duration);
        let shift = (u32::BITS - longest.leading_zeros()).saturating_sub(u16::BITS);
        for entry in &mut self.modes {
            entry.duration = entry.duration >> shift << shift;
        }
    }
}

/// True if symbols are shorter than 4 us.
fn has_short_guard(mode: &Mode) -> bool {
    matches!(mode.payload, Payload::Symbols { length, .. } if length < Span::from_micros(4))
}

/// The 16th part of the symbols of 16 packets (`MCS_DURATION`), ns; symbols with a short guard interval are rounded up to the next 800 ns.
fn duration(mode: &Mode) -> u32 {
    let Payload::Symbols { length, bits, .. } = mode.payload else {
        panic!("{mode:?} has no symbols");
    };
    let symbols = (PACKET * PACKETS * 8).div_ceil(bits);
    let time = if has_short_guard(mode) {
        (symbols * length.as_nanos() * 5 + 4_000) / 5
    } else {
        symbols * length.as_nanos()
    };
    (time / PACKETS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::STANDARDS;
    use meshpace_keys::{Setting, Values};

    fn built(word: &str, width: &str) -> Standard {
        let part = STANDARDS.iter().find(|part| part.about.word == word).expect("a row");
        let defaults = part.about.defaults();
        let others = defaults.iter().filter(|(key, _)| *key != "width");
        let others = others.map(|(key, value)| (key, value.clone()));
        let width = [("width", Setting::Text(width.to_owned()))];
        (part.build)(&Values::new(others.chain(width))).expect("it stands")
    }

    /// The kernel has groups for HT, and for VHT up to 80 MHz, of at most ten modes; MCS 6 of three streams is not among those of 80 MHz.
    #[test]
    fn groups_are_those_of_the_kernel() {
        for (word, width, covered) in [
            ("802.11n", "40MHz", true),
            ("802.11ac", "20MHz", true),
            ("802.11ac", "80MHz", true),
            ("802.11ac", "160MHz", false),
            ("802.11ax", "20MHz", false),
        ] {
            assert_eq!(covers(&built(word, width)), covered, "{word} over {width}");
        }
        let groups = Groups::new(&built("802.11ac", "80MHz").data.iter().collect::<Vec<_>>());
        let modes = (0..groups.count()).map(|group| groups.within(group).count());
        assert_eq!(modes.collect::<Vec<_>>(), [10, 10, 9, 10]);
    }
}
