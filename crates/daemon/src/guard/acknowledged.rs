//! What flows have got between two looks.

use super::Look;
use crate::state::{FlowReport, Snapshot};
use meshpace_gateway::FlowKey;
use meshpace_units::{Bytes, Instant};
use std::cmp::Ordering;

/// Bytes acknowledged of each flow concerned, as of the latest look, in the order of the flows' keys.
#[derive(Debug, Default)]
pub struct Acknowledged(Option<Vec<(FlowKey, Instant, u64)>>);

impl Acknowledged {
    /// What these flows have got since the last look (nothing at the first). A flow that ended between two looks took its last bytes along.
    pub fn look(&mut self, snapshot: &Snapshot, concerns: impl Fn(&FlowKey) -> bool) -> Look {
        let first = self.0.is_none();
        let mut before = self.0.take().unwrap_or_default().into_iter().peekable();
        let (mut known, mut sum, mut want, mut wait) = (Vec::new(), 0, false, false);
        for flow in snapshot.flows.iter().filter(|flow| concerns(&flow.stats.key)) {
            let (key, total) = (flow.stats.key, total(flow));
            while before.next_if(|(old, ..)| old.cmp(&key) == Ordering::Less).is_some() {}
            let same =
                before.next_if(|&(old, ..)| old == key).filter(|&(_, opened, _)| opened == flow.opened);
            if !first {
                sum += total.saturating_sub(same.map_or(0, |(.., bytes)| bytes));
            }
            want |= flow.stats.outstanding;
            wait |= flow.stats.queued > 0;
            known.push((key, flow.opened, total));
        }
        self.0 = Some(known);
        Look { acknowledged: Bytes(sum), want, wait }
    }
}

fn total(flow: &FlowReport) -> u64 {
    let directions = [flow.stats.goodput_down, flow.stats.goodput_up];
    directions.into_iter().flatten().map(|goodput| goodput.total().0).sum()
}
