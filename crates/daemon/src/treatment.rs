//! What is done with a flow: the mode of its mesh host, and under `pace` which share of the flows is paced (A/B).

use crate::config::{Config, Mode, Policy};
use meshpace_gateway::{Endpoint, FlowKey, Treatment};
use std::net::IpAddr;

/// How a flow is treated; `None`: it passes unread. Where flows are left to the shaper of hosts, none has more than that.
#[must_use]
pub fn treatment(config: &Config, key: &FlowKey) -> Option<Treatment> {
    let paced = !config.leaves_flows_free() && is_chosen(config, key);
    match config.policy(key.wireless.address).mode {
        Mode::Off => None,
        Mode::Pace if paced => Some(Treatment::Pace),
        Mode::Pace | Mode::Observe => Some(Treatment::Observe),
    }
}

/// True if the flow is one of those that the mode `pace` acts on, be it by a law of its own or at the shaper of hosts.
#[must_use]
pub fn is_chosen(config: &Config, key: &FlowKey) -> bool {
    let Policy { mode, paced_share, .. } = config.policy(key.wireless.address);
    mode == Mode::Pace && (paced_share >= 1.0 || draw(config.ab_seed, key) < paced_share)
}

/// Where a flow stands between 0 and 1 (excluded): it is paced where the paced share is larger. The same in both
/// directions, after a restart, on every gateway with that seed, and spread evenly whatever addresses and ports are used.
#[must_use]
pub fn draw(seed: u64, key: &FlowKey) -> f64 {
    let words = [key.wireless, key.wired].into_iter().flat_map(words);
    let hash = words.fold(mix(seed), |hash, word| mix(hash ^ word));
    // 53 bits are what a double holds.
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

fn words(end: Endpoint) -> [u64; 3] {
    let address = match end.address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    [(address >> 64) as u64, address as u64, u64::from(end.port)]
}

/// The step and output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014, figure 15): every input bit moves every output bit.
const fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn key(host: u32, port: u16) -> FlowKey {
        FlowKey {
            wireless: Endpoint { address: Ipv4Addr::from(0x0a4d_0000 + host).into(), port },
            wired: Endpoint { address: Ipv4Addr::new(192, 0, 2, 1).into(), port: 443 },
        }
    }

    #[test]
    fn mixing_is_splitmix64() {
        // The first outputs for state 0 as the reference implementation prints them.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn draws_are_even_over_ports_and_hosts_and_differ_by_seed() {
        for seed in [0, 1, 77] {
            let draws = (0..4_000).map(|i| draw(seed, &key(i / 40, 40_000 + (i % 40) as u16)));
            let mut tenths = [0; 10];
            draws.for_each(|draw| tenths[(draw * 10.0) as usize] += 1);
            // 400 each; five standard deviations of the binomial are 95.
            assert!(tenths.iter().all(|n| (305..=495).contains(n)), "seed {seed}: {tenths:?}");
        }
        let paced = |seed| (0..64).filter(|&i| draw(seed, &key(i, 5000)) < 0.5).collect::<Vec<_>>();
        assert_ne!(paced(1), paced(2));
        assert_eq!(paced(1), paced(1));
    }

    #[test]
    fn ipv6_addresses_count_with_all_their_bits() {
        let end = |address: u128| Endpoint { address: Ipv6Addr::from(address).into(), port: 1 };
        let low = FlowKey { wireless: end(1), wired: end(2) };
        let high = FlowKey { wireless: end(1 | 1 << 64), wired: end(2) };
        assert!((draw(0, &low) - draw(0, &high)).abs() > 1e-9);
    }
}
