//! Which other modes are tried: every interval a few are chosen, and frames try them in turn.

use super::Common;
use super::choice::Neighbour;
use super::groups::{MOST, Rate};
use super::statistics::percent;
use meshpace_units::random::Stream;

/// The random order in which modes of a group are tried: columns of its modes (`sample_table`).
#[derive(Debug)]
pub(super) struct Table([[u8; MOST]; COLUMNS]);

const COLUMNS: usize = 10;

impl Table {
    /// Every column has each mode once, each near its place by chance (`init_sample_table`).
    pub fn drawn(stream: &mut Stream) -> Self {
        let column = |_| {
            let mut column = [None; MOST];
            for mode in 0..MOST {
                let mut place = (mode + stream.below(256) as usize) % MOST;
                while column[place].is_some() {
                    place = (place + 1) % MOST;
                }
                column[place] = Some(mode as u8);
            }
            column.map(|mode| mode.unwrap_or_else(|| unreachable!("every place is taken")))
        };
        Self([(); COLUMNS].map(column))
    }
}

/// Modes to try of one kind at the most (`MINSTREL_SAMPLE_RATES`).
const EACH: usize = 5;

/// Why a mode is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The next group's first mode that is faster than the fastest now.
    Step,
    /// Any mode that is faster than those in use.
    Jump,
    /// One between those in use.
    Slow,
}

/// In which order kinds come (`minstrel_sample_seq`).
const ORDER: [Kind; 6] = [Kind::Step, Kind::Jump, Kind::Step, Kind::Jump, Kind::Step, Kind::Slow];

/// What is to be tried of a neighbour's modes.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    /// By kind, the next one first.
    rates: [Vec<Rate>; 3],
    /// Which group a step and a jump came from last.
    groups: [u8; 2],
    /// By group: where the next of its modes stands in the table, column and place.
    places: Vec<(usize, usize)>,
    turn: usize,
}

impl Samples {
    /// Nothing, with so many groups.
    pub fn new(groups: usize) -> Self {
        Self { places: vec![(0, 0); groups], ..Self::default() }
    }

    /// The mode whose turn it is; `None`: none is to be tried now.
    pub fn take(&mut self) -> Option<Rate> {
        let kind = ORDER[self.turn];
        self.turn = (self.turn + 1) % ORDER.len();
        let rates = &mut self.rates[kind as usize];
        if rates.is_empty() { None } else { Some(rates.remove(0)) }
    }

    /// An interval has begun: what is no longer worth a try goes, and others come (`minstrel_ht_refill_sample_rates`).
    pub fn refilled(mut self, neighbour: &Neighbour, common: &Common) -> Self {
        let (fast, slow, fastest) = neighbour.durations(common);
        let [steps, jumps, slows] = &mut self.rates;
        steps.retain(|rate| common.groups.duration(*rate) < fast);
        jumps.retain(|rate| common.groups.duration(*rate) < fast);
        slows.retain(|rate| (fast + 1..slow).contains(&common.groups.duration(*rate)));
        while self.rates[Kind::Step as usize].len() < EACH {
            let Some(rate) = self.step(fastest, common) else { break };
            self.rates[Kind::Step as usize].push(rate);
        }
        while self.rates[Kind::Jump as usize].len() < EACH {
            let Some(rate) = self.jump((fast, slow), neighbour, common) else { break };
            self.rates[Kind::Jump as usize].push(rate);
        }
        self
    }

    fn has(&self, kind: Kind, rate: Rate) -> bool {
        self.rates[kind as usize].contains(&rate)
    }

    /// Goes through the groups once, beginning after the group that this kind came from last, and remembers the group
    /// that it stops at.
    fn next_group(&mut self, kind: Kind, common: &Common) -> u8 {
        let group = &mut self.groups[kind as usize];
        *group = (*group + 1) % common.groups.count();
        *group
    }

    /// `minstrel_ht_next_inc_rate`.
    fn step(&mut self, fastest: u32, common: &Common) -> Option<Rate> {
        for _ in 0..common.groups.count() {
            let group = self.next_group(Kind::Step, common);
            let found = first_faster(group, fastest, common).filter(|rate| !self.has(Kind::Step, *rate));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// `minstrel_ht_next_jump_rate`: what it meets between the modes in use is to be tried as a slow one, if it does not mostly arrive anyway.
    fn jump(&mut self, (fast, slow): (u32, u32), neighbour: &Neighbour, common: &Common) -> Option<Rate> {
        for _ in 0..common.groups.count() {
            let group = self.next_group(Kind::Jump, common);
            let slows = self.rates[Kind::Slow as usize].len();
            let longest = if slows < EACH { slow } else { fast };
            let Some(first) = first_faster(group, longest, common) else { continue };
            let Some(rate) = self.any_from(first, common) else { continue };
            let duration = common.groups.duration(rate);
            if duration < fast {
                if !self.has(Kind::Jump, rate) {
                    return Some(rate);
                }
            } else if !self.has(Kind::Slow, rate)
                && slows < EACH
                && duration < slow
                && neighbour.of(rate).probability <= percent(95)
            {
                self.rates[Kind::Slow as usize].push(rate);
            }
        }
        None
    }

    /// A mode of a group by chance, this one or a faster one (`minstrel_ht_next_group_sample_rate`).
    fn any_from(&mut self, first: Rate, common: &Common) -> Option<Rate> {
        let count = common.groups.within(first.group).count();
        let (column, place) = &mut self.places[usize::from(first.group)];
        for _ in 0..MOST {
            let index = common.table.0[*column][*place];
            *place += 1;
            if *place == MOST {
                (*column, *place) = ((*column + 1) % COLUMNS, 0);
            }
            if index >= first.index && usize::from(index) < count {
                return Some(Rate { index, ..first });
            }
        }
        None
    }
}

/// The first mode of a group in which a packet takes less than this (`minstrel_ht_group_min_rate_offset`).
fn first_faster(group: u8, duration: u32, common: &Common) -> Option<Rate> {
    common.groups.within(group).find(|rate| common.groups.duration(*rate) < duration)
}
