//! Stations that are switched off: they hear no station, and no station hears them.

use meshpace_radio::Hearers;
use std::collections::BTreeSet;

/// Who is off, by stations' numbers, and who hears whom if all are on.
pub struct Switched {
    off: BTreeSet<u32>,
    all: Hearers,
}

impl Switched {
    /// All are on.
    pub const fn new(all: Hearers) -> Self {
        Self { off: BTreeSet::new(), all }
    }

    /// A station is on from now on, or off.
    pub fn switch(&mut self, station: u32, on: bool) {
        if on {
            self.off.remove(&station);
        } else {
            self.off.insert(station);
        }
    }

    /// The lists of hearers, with all nodes on, have changed.
    pub fn becomes(&mut self, all: Hearers) {
        self.all = all;
    }

    /// Who hears whom.
    pub fn hearers(&self) -> Hearers {
        self.all.without(|station| self.off.contains(&station.0))
    }
}
