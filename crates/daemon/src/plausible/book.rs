//! From evidence of single moments to doubts that begin and end once.

use super::doubt::{Doubt, Evidence, Name};
use meshpace_units::{Instant, Span};
use std::collections::BTreeMap;

/// How long a doubt outlives its evidence; one about flows shows only while some flow shows it, and pacing by a wrong figure hides
/// that it is wrong.
const OUTLIVES: Span = Span::from_secs(3);
const OUTLIVES_OF_FLOWS: Span = Span::from_secs(600);
/// For so long after a change of the configuration, flows may still be reported with the values of before.
const BELIEVED: Span = Span::from_secs(15);

/// What a look changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Doubts that began.
    pub begun: Vec<Doubt>,
    /// Doubts that are over.
    pub over: Vec<Name>,
}

#[derive(Debug)]
struct Entry {
    looks: u32,
    latest: Instant,
    doubt: Doubt,
}

impl Entry {
    const fn is_told(&self) -> bool {
        self.looks >= self.doubt.name.confirmed()
    }
}

/// The doubts, those that are not confirmed yet among them.
#[derive(Debug, Default)]
pub(super) struct Book {
    entries: BTreeMap<Name, Entry>,
    /// When something else was believed last.
    changed: Option<Instant>,
}

impl Book {
    /// Weighs what one look found; `anew` if what was believed before is believed no longer.
    pub fn weigh(&mut self, now: Instant, evidence: Vec<Evidence>, anew: bool) -> Changes {
        let mut changes = Changes::default();
        if anew {
            self.changed = Some(now);
        }
        for Evidence { name, found, remedy } in evidence {
            let entry = self.entries.entry(name).or_insert_with(|| Entry {
                looks: 0,
                latest: now,
                doubt: Doubt { name, since: now, found: String::new(), remedy: String::new() },
            });
            let before = entry.is_told();
            entry.looks = entry.looks.saturating_add(1);
            entry.latest = now;
            (entry.doubt.found, entry.doubt.remedy) = (found, remedy);
            if entry.is_told() && !before {
                changes.begun.push(entry.doubt.clone());
            }
        }
        let of_now =
            |latest: Instant| self.changed.is_none_or(|changed| latest.saturating_since(changed) > BELIEVED);
        self.entries.retain(|&name, entry| {
            let outlives = match (entry.is_told(), name.is_of_flows() && of_now(entry.latest)) {
                (false, _) => Span::ZERO,
                (true, true) => OUTLIVES_OF_FLOWS,
                (true, false) => OUTLIVES,
            };
            let keeps = now.saturating_since(entry.latest) <= outlives;
            if !keeps && entry.is_told() {
                changes.over.push(name);
            }
            keeps
        });
        changes
    }

    /// Those that are confirmed.
    pub fn doubts(&self) -> impl Iterator<Item = &Doubt> {
        self.entries.values().filter(|entry| entry.is_told()).map(|entry| &entry.doubt)
    }
}
