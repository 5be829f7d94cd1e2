//! The least rate that the links to a mesh host must have, by what got across.

use meshpace_units::Rate;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Hosts that are remembered.
const HOSTS: usize = 4_096;
/// On a path of so many hops two packets may be in the air at the same time (schemes.md 2): such a path, or a longer one,
/// carries a quarter of what one of its links does, at the most.
const APART: u32 = 4;

/// See the module's description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered(BTreeMap<IpAddr, Rate>);

impl Delivered {
    /// A flow of the host got this much across this many hops, over a second or more. The most counts: what a path carried once its
    /// links can carry.
    pub fn hear(&mut self, host: IpAddr, goodput: Rate, hops: u32) {
        let apart = u64::from(hops.clamp(1, APART));
        let rate = Rate::bits_per_sec(goodput.as_bits_per_sec().saturating_mul(apart));
        if let Some(known) = self.0.get_mut(&host) {
            *known = rate.max(*known);
        } else if self.0.len() < HOSTS {
            self.0.insert(host, rate);
        }
    }

    /// What its links have at least; nothing is known of a host of which nothing was heard.
    #[must_use]
    pub fn of(&self, host: IpAddr) -> Rate {
        self.0.get(&host).copied().unwrap_or(Rate::bits_per_sec(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_counts_by_hops_and_strangers_find_no_place() {
        let host = |n: u32| IpAddr::from(n.to_be_bytes());
        let kbit = |n: u64| Rate::bits_per_sec(n * 1_000);
        let mut delivered = Delivered::default();
        assert_eq!(delivered.of(host(1)), kbit(0));
        for (goodput, hops, least) in [(900, 2, 1_800), (900, 1, 1_800), (1_000, 9, 4_000), (5_000, 0, 5_000)]
        {
            delivered.hear(host(1), kbit(goodput), hops);
            assert_eq!(delivered.of(host(1)), kbit(least));
        }
        (0..10_000).for_each(|n| delivered.hear(host(n), kbit(1), 1));
        assert_eq!(delivered.0.len(), HOSTS);
        assert_eq!(delivered.of(host(1)), kbit(5_000), "who is known stays");
    }
}
