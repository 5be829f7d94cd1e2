//! Data rates of the radio links.

use meshpace_scenario::Radio;
use meshpace_units::{NodeId, Rate};

/// The data rate of every link.
pub struct RateTable {
    /// Where no exception applies.
    pub common: Rate,
    /// `(from, to, rate)`, sorted; `to` is `None` for a rate of all links of a node.
    pub exceptions: Vec<(NodeId, Option<NodeId>, Rate)>,
}

impl RateTable {
    /// The rates of a scenario.
    pub fn new(radio: &Radio) -> Self {
        let mut exceptions: Vec<(NodeId, Option<NodeId>, Rate)> = Vec::new();
        for entry in &radio.link_rates {
            // The first entry of a pair counts, as in `Radio::rate_between`.
            if let Err(index) = exceptions.binary_search_by_key(&(entry.from, entry.to), |e| (e.0, e.1)) {
                exceptions.insert(index, (entry.from, entry.to, entry.rate));
            }
        }
        Self { common: radio.rate, exceptions }
    }

    /// The rate of data from one node to another: the link's, else the node's, else the common one.
    pub fn between(&self, from: NodeId, to: NodeId) -> Rate {
        if self.exceptions.is_empty() {
            return self.common;
        }
        let find = |to| {
            let found = self.exceptions.binary_search_by_key(&(from, to), |entry| (entry.0, entry.1));
            found.ok().map(|index| self.exceptions[index].2)
        };
        find(Some(to)).or_else(|| find(None)).unwrap_or(self.common)
    }
}
