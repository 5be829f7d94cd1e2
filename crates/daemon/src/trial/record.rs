//! What a block brought, from looks a second apart.

use crate::control::jain;
use crate::control::protocol::Flow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow counts at a look if a packet of it came within this time, seconds.
const LATELY_S: f64 = 2.0;
/// Delays are counted in classes that grow by a twentieth.
const STEP: f64 = 1.05;
/// The least delay that counts as one, seconds.
const LEAST_S: f64 = 1e-4;

/// A block's outcome, as it is kept in the trial's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Its number.
    pub block: u64,
    /// It was paced.
    pub paced: bool,
    /// When it ended, seconds since 1970.
    pub ended_s: u64,
    /// Looks that were counted.
    pub looks: u32,
    /// Mean goodput of each mesh host, bit/s.
    pub hosts_bps: BTreeMap<String, f64>,
    /// Delay of data to the mesh: what half of it, 95 and 99 % of it do not exceed, seconds; `None` without any.
    pub delay_s: Option<[f64; 3]>,
}

impl Block {
    /// All hosts' goodput together.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        self.hosts_bps.values().fold(0.0, |sum, bps| sum + bps)
    }

    /// Jain's index of the hosts that got anything; `None` below two.
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        jain(self.hosts_bps.values().copied().filter(|&bps| bps > 0.0))
    }
}

/// A block that runs.
#[derive(Debug, Default)]
pub struct Record {
    looks: u32,
    hosts: BTreeMap<String, f64>,
    /// Data by the class of its delay, bit/s summed over looks.
    delays: BTreeMap<i32, f64>,
}

impl Record {
    /// The flows at a look. What data to the mesh is delayed by is its wait here and the wireless round trip.
    pub fn look(&mut self, flows: &[Flow]) {
        self.looks += 1;
        for flow in flows.iter().filter(|flow| flow.idle_s < LATELY_S) {
            let Some(goodput) = flow.goodput_bps else { continue };
            let host = flow.wireless.rsplit_once(':').map_or(flow.wireless.as_str(), |(host, _)| host);
            *self.hosts.entry(host.to_owned()).or_default() += goodput as f64;
            if let (Some(down), Some(trip)) = (flow.goodput_down_bps, flow.wireless_rtt_s) {
                let delay = trip + flow.wait_s.unwrap_or(0.0);
                let class = (delay.max(LEAST_S) / LEAST_S).ln() / STEP.ln();
                *self.delays.entry(class.round() as i32).or_default() += down as f64;
            }
        }
    }

    /// The block's end.
    #[must_use]
    pub fn end(self, block: u64, paced: bool, ended_s: u64) -> Block {
        let looks = f64::from(self.looks.max(1));
        let all: f64 = self.delays.values().sum();
        let quantile = |part: f64| {
            let mut below = 0.0;
            let class = self.delays.iter().find_map(|(class, data)| {
                below += data;
                (below >= part * all).then_some(*class)
            });
            LEAST_S * STEP.powi(class.unwrap_or(0))
        };
        Block {
            block,
            paced,
            ended_s,
            looks: self.looks,
            hosts_bps: self.hosts.iter().map(|(host, sum)| (host.clone(), sum / looks)).collect(),
            delay_s: (all > 0.0).then(|| [0.5, 0.95, 0.99].map(quantile)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;

    #[test]
    fn goodput_by_host_and_delay_by_data() {
        let flow = |host: &str, bps, rtt, idle| Flow {
            wireless: format!("{host}:5001"),
            goodput_bps: Some(bps),
            goodput_down_bps: Some(bps),
            wireless_rtt_s: Some(rtt),
            wait_s: Some(0.010),
            idle_s: idle,
            ..example::flow()
        };
        let mut record = Record::default();
        record.look(&[
            flow("10.1.2.3", 100, 0.04, 0.1),
            flow("10.1.2.3", 200, 0.04, 0.1),
            flow("10.1.2.9", 100, 1.0, 9.0),
        ]);
        record.look(&[flow("10.1.2.9", 600, 0.19, 0.1), flow("[fd77::2]", 2, 0.99, 0.0)]);
        let block = record.end(7, true, 1_000);
        let hosts = [("10.1.2.3", 150.0), ("10.1.2.9", 300.0), ("[fd77::2]", 1.0)];
        assert_eq!(block.hosts_bps, hosts.map(|(host, bps)| (host.to_owned(), bps)).into());
        assert_eq!((block.looks, block.goodput_bps()), (2, 451.0));
        // (150 + 300 + 1)^2 / (3 (150^2 + 300^2 + 1)).
        assert!((block.jain().unwrap() - 0.602_66).abs() < 1e-3, "{:?}", block.jain());
        // A third of the data after 50 ms, two thirds after 200, next to nothing after a second.
        let [half, p95, p99] = block.delay_s.unwrap();
        assert!((half / 0.2 - 1.0).abs() < 0.03 && p95 == half && p99 == half, "{half} {p95} {p99}");
        let none = Record::default().end(0, false, 0);
        assert_eq!((none.delay_s, none.jain(), none.goodput_bps()), (None, None, 0.0));
    }
}
