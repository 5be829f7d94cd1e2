//! WCPCap by an air-time surrogate (schemes.md 13; after Rangwala et al. 2008): the header, and the max-min shares of a mesh whose
//! neighbourhoods can each be used for a part of the time.
//!
//! The original's stochastic model of what a neighbourhood can carry is not restated; this is `wcpcap-airtime`, and no more is
//! claimed of it. The caller tells which nodes are near which, and what a packet takes of the air.

use crate::{numbers, write};
use alloc::vec;
use alloc::vec::Vec;

/// What headers of WCPCap are known by.
pub const KIND: u8 = 5;

/// The header of a SYN or data packet. An acknowledgement carries the same back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// The flow's share, packets/s; `None` before a node has written it.
    pub rate: Option<f64>,
}

impl Header {
    /// Bytes of its fields.
    pub const LENGTH: usize = 8;

    /// Its fields in network order; no share is 0.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        write(&[self.rate.unwrap_or(0.0)], &mut bytes);
        bytes
    }

    /// The header of these bytes; `None` if they are none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [rate] = numbers(bytes)?;
        Some(Self { rate: (rate > 0.0).then_some(rate) })
    }
}

/// A directed link that packets went over.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// What a packet takes of the air on average, with all its attempts, seconds.
    pub airtime: f64,
    /// The flows whose packets go over it, each once.
    pub flows: Vec<usize>,
    /// The links of its neighbourhood, itself among them, by their place in the list.
    pub near: Vec<usize>,
}

/// Max-min shares, packets/s, of so many flows: all are raised alike until some neighbourhood is used for `limit` of the time, its
/// flows are frozen, and the others go on (schemes.md 13). `None`: the flow goes over no link, so nothing limits it.
///
/// A neighbourhood is used for the sum over its links of their flows' rates times the air time of a packet.
#[must_use]
pub fn shares(links: &[Link], flows: usize, limit: f64) -> Vec<Option<f64>> {
    let mut shares = vec![None; flows];
    let demands: Vec<Vec<f64>> = links.iter().map(|link| demand(links, link, flows)).collect();
    loop {
        // How far each neighbourhood lets the flows rise that are not frozen.
        let level = |demand: &Vec<f64>| {
            let (mut used, mut slope) = (0.0, 0.0);
            for (need, share) in demand.iter().zip(&shares) {
                match share {
                    Some(share) => used += need * share,
                    None => slope += need,
                }
            }
            (slope > 0.0).then(|| (limit - used).max(0.0) / slope)
        };
        let levels: Vec<Option<f64>> = demands.iter().map(level).collect();
        let Some(lowest) = levels.iter().flatten().copied().reduce(f64::min) else { return shares };
        for (demand, level) in demands.iter().zip(&levels) {
            if *level == Some(lowest) {
                for (share, need) in shares.iter_mut().zip(demand) {
                    if *need > 0.0 {
                        share.get_or_insert(lowest);
                    }
                }
            }
        }
    }
}

/// What a packet/s of each flow takes of a link's neighbourhood.
fn demand(links: &[Link], link: &Link, flows: usize) -> Vec<f64> {
    let mut demand = vec![0.0; flows];
    for near in &link.near {
        for flow in &links[*near].flows {
            demand[*flow] += links[*near].airtime;
        }
    }
    demand
}

#[cfg(test)]
mod tests;
