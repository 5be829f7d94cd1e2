//! Longest-prefix match.

use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Values by prefix; a lookup costs one search a prefix length in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PrefixMap<T> {
    entries: BTreeMap<IpNet, T>,
    /// Prefix lengths in use, shortest first.
    lengths: BTreeSet<u8>,
}

impl<T> PrefixMap<T> {
    pub(super) fn insert(&mut self, prefix: IpNet, value: T) {
        self.lengths.insert(prefix.prefix_len());
        self.entries.insert(prefix.trunc(), value);
    }

    /// The value of the longest prefix that contains the address.
    pub(super) fn get(&self, address: IpAddr) -> Option<&T> {
        self.lengths.iter().rev().find_map(|length| {
            // A length past 32 is none of an IPv4 address.
            let prefix = IpNet::new(address, *length).ok()?.trunc();
            self.entries.get(&prefix)
        })
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<T> Default for PrefixMap<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), lengths: BTreeSet::new() }
    }
}

impl<T> FromIterator<(IpNet, T)> for PrefixMap<T> {
    fn from_iter<I: IntoIterator<Item = (IpNet, T)>>(entries: I) -> Self {
        let mut map = Self::default();
        for (prefix, value) in entries {
            map.insert(prefix, value);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    proptest! {
        #[test]
        fn the_longest_match_of_a_plain_search(
            prefixes in proptest::collection::vec((any::<u32>(), 0u8..=32), 0..40),
            bits in any::<u32>(), near in any::<proptest::sample::Index>(),
        ) {
            let nets: Vec<IpNet> = prefixes.iter().map(|(address, length)| {
                IpNet::new(Ipv4Addr::from(*address).into(), *length).unwrap().trunc()
            }).collect();
            let map: PrefixMap<IpNet> = nets.iter().map(|net| (*net, *net)).collect();
            // One address anywhere, one that shares its first bits with a prefix.
            let near = nets.get(near.index(nets.len().max(1))).map_or(bits, |net| match net.network() {
                IpAddr::V4(network) => u32::from(network) ^ (bits & 0xf),
                IpAddr::V6(_) => bits,
            });
            for address in [bits, near] {
                let address = IpAddr::from(Ipv4Addr::from(address));
                let plain = nets.iter().filter(|net| net.contains(&address)).max_by_key(|net| net.prefix_len());
                prop_assert_eq!(map.get(address), plain);
            }
        }
    }

    #[test]
    fn families_do_not_mix() {
        let map: PrefixMap<u8> =
            [("0.0.0.0/0".parse().unwrap(), 4), ("::/0".parse().unwrap(), 6)].into_iter().collect();
        assert_eq!(map.get("10.0.0.1".parse().unwrap()), Some(&4));
        assert_eq!(map.get("::1".parse().unwrap()), Some(&6));
        assert_eq!(map.len(), 2);
    }
}
