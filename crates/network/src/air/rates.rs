//! Modes of the radio links.

use meshpace_radio::Mode;
use meshpace_scenario::{NodeRadio, Radio};
use meshpace_units::{NodeId, Rate};

/// How data goes over every link.
pub struct RateTable {
    /// Where no exception applies.
    pub common: &'static Mode,
    /// `(from, to, mode)`, sorted; `to` is `None` for that of all links of a node.
    pub exceptions: Vec<(NodeId, Option<NodeId>, &'static Mode)>,
}

impl RateTable {
    /// The modes of a scenario's rates.
    ///
    /// # Panics
    /// If the standard does not have one, which the scenario's check excludes.
    pub fn new(radio: &Radio) -> Self {
        let mode = |rate: Rate| {
            let found = radio.standard.data_mode(rate);
            found.unwrap_or_else(|| panic!("{} has no {rate:?}", radio.standard.word))
        };
        let mut exceptions: Vec<(NodeId, Option<NodeId>, &'static Mode)> = Vec::new();
        for entry in &radio.link_rates {
            // The first entry of a pair counts, as in `Radio::rate_between`.
            if let Err(index) = exceptions.binary_search_by_key(&(entry.from, entry.to), |e| (e.0, e.1)) {
                exceptions.insert(index, (entry.from, entry.to, mode(entry.rate)));
            }
        }
        Self { common: mode(radio.rate), exceptions }
    }

    /// The same with radios whose data go otherwise, whatever their node's do elsewhere.
    #[must_use]
    pub fn with_radios(mut self, radios: &[NodeRadio]) -> Self {
        for radio in radios.iter().filter(|radio| !std::ptr::eq(radio.mode, self.common)) {
            let own = (radio.node, None, radio.mode);
            match self.exceptions.binary_search_by_key(&(radio.node, None), |e| (e.0, e.1)) {
                Ok(index) => self.exceptions[index] = own,
                Err(index) => self.exceptions.insert(index, own),
            }
        }
        self
    }

    /// The mode of data from one node to another: the link's, else the node's, else the common one.
    pub fn between(&self, from: NodeId, to: NodeId) -> &'static Mode {
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
