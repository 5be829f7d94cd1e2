//! Linux's `minstrel_ht`: what of each mode arrives is counted, and now and then another mode is tried.
//!
//! Facts are from net/mac80211/rc80211_minstrel_ht.c and its header in Linux 6.1 (the same in 6.18). Modes stand in groups by streams
//! and guard interval (`groups`); the standard in use has one width and one guard interval, so that most of the kernel's groups are empty. Every 50 ms
//! (HZ / 20) what was counted becomes a smoothed probability (`statistics`), and of the probabilities come the four modes of most throughput
//! and the one that is most probable (`choice`). A frame's attempts go in the first three of these, then in the last (a driver with four
//! stages, as ath9k). Every 20 ms (HZ / 50) a frame tries another mode first (`sampling`): as ath9k has it, one of one MPDU
//! (`ath_lookup_rate` in drivers/net/wireless/ath/ath9k/xmit.c).
//!
//! It differs from the kernel in four points. The kernel learns of a frame when its last attempt is over; here each exchange is reported
//! by itself. The kernel sends every stage after the first behind RTS/CTS; here the scenario decides which frames have an RTS. The kernel
//! counts modes of clauses 15 to 17 for stations without HT; they are not chosen here. The kernel draws its table of tries once for the
//! machine; here each station has a table of its own.

mod choice;
mod groups;
mod sampling;
mod statistics;

use super::{Ask, Exchange, Maker, RateControl, RateControlPart, Series, Site};
use crate::standard::{Mode, Refused};
use choice::Neighbour;
use groups::Groups;
use meshpace_units::{Instant, NodeId, Span};
use sampling::Table;

pub(super) static PART: RateControlPart = RateControlPart::new(
    "minstrel-ht",
    "As Linux's minstrel_ht: by counting what arrives, and by trying other modes now and then.",
    "net/mac80211/rc80211_minstrel_ht.c, Linux 6.1",
    Maker {
        suits: |there| {
            if groups::covers(there.standard) {
                return Ok(());
            }
            let allowed =
                format!("fixed or ideal: the kernel's minstrel_ht has no groups for {}", there.standard.word);
            Err(Refused::new(super::KEY, allowed))
        },
        make: |site| Some(Box::new(MinstrelHt::new(site))),
    },
);

/// From one look at the statistics to the next (`update_interval`).
const UPDATE_INTERVAL: Span = Span::from_millis(50);
/// From one try of another mode to the next (`MINSTREL_SAMPLE_INTERVAL`).
const SAMPLE_INTERVAL: Span = Span::from_millis(20);

/// What does not differ by neighbour.
#[derive(Debug)]
struct Common {
    groups: Groups,
    table: Table,
    /// Attempts at the most.
    tries: u32,
}

#[derive(Debug)]
struct MinstrelHt {
    common: Common,
    /// Sorted.
    neighbours: Vec<(NodeId, Neighbour)>,
}

impl MinstrelHt {
    fn new(site: Site<'_>) -> Self {
        let Site { modes, tries, mut stream, .. } = site;
        let common = Common { groups: Groups::new(&modes), table: Table::drawn(&mut stream), tries };
        Self { common, neighbours: Vec::new() }
    }

    fn place(&self, to: NodeId) -> Result<usize, usize> {
        self.neighbours.binary_search_by_key(&to, |entry| entry.0)
    }
}

impl RateControl for MinstrelHt {
    fn series(&mut self, now: Instant, ask: &Ask<'_>) -> Series {
        let place = self.place(ask.to).unwrap_or_else(|place| {
            self.neighbours.insert(place, (ask.to, Neighbour::new(now, &self.common)));
            place
        });
        self.neighbours[place].1.series(now, &self.common)
    }

    fn ended(&mut self, now: Instant, exchange: &Exchange) {
        if let Ok(place) = self.place(exchange.to.node) {
            self.neighbours[place].1.ended(now, exchange, &self.common);
        }
    }

    fn expects(&self, to: NodeId) -> Option<&'static Mode> {
        let place = self.place(to).ok()?;
        Some(self.neighbours[place].1.fastest(&self.common))
    }
}

#[cfg(test)]
mod tests;
