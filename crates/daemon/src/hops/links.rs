//! From link-layer addresses to hosts: which addresses and prefixes are reached through which neighbour.

use super::mac::Mac;
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Hosts and prefixes of one interface with the link-layer address that they are sent to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    entries: Vec<(IpNet, Mac)>,
}

impl Links {
    /// From `ip neigh show dev IF`, `ADDRESS [dev IF] lladdr MAC STATE`, and `ip route show dev IF` (either family),
    /// `PREFIX via ADDRESS ...`.
    pub(crate) fn parse(neighbours: &str, routes: &str) -> Self {
        let neighbour = |line: &str| {
            let address: IpAddr = line.split_whitespace().next()?.parse().ok()?;
            Some((address, behind(line, "lladdr")?.parse().ok()?))
        };
        let macs: BTreeMap<IpAddr, Mac> = neighbours.lines().filter_map(neighbour).collect();
        let route = |line: &str| {
            let first = line.split_whitespace().next()?;
            let prefix =
                first.parse::<IpNet>().ok().or_else(|| first.parse::<IpAddr>().ok().map(IpNet::from))?;
            let via: IpAddr = behind(line, "via")?.parse().ok()?;
            Some((prefix.trunc(), *macs.get(&via)?))
        };
        let hosts = macs.iter().map(|(address, mac)| (IpNet::from(*address), *mac));
        Self { entries: hosts.chain(routes.lines().filter_map(route)).collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (IpNet, Mac)> {
        self.entries.iter().copied()
    }
}

/// The word behind a word.
fn behind<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.split_whitespace().skip_while(|found| *found != word).nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_and_what_is_routed_over_them() {
        let neighbours = "10.1.0.2 lladdr 02:00:00:00:00:02 REACHABLE\n10.1.0.3 dev mesh0 lladdr 02:00:00:00:00:03 STALE\n\
            10.1.0.4  FAILED\nfe80::2 lladdr 02:00:00:00:00:02 router STALE\n";
        let routes = "10.1.0.0/24 proto kernel scope link src 10.1.0.1\n10.2.0.0/16 via 10.1.0.3 metric 2\n\
            10.3.0.1 via 10.1.0.2 proto babel onlink\ndefault via 10.1.0.2\n10.4.0.0/16 via 10.1.0.99\n\
            fd00:5::/64 via fe80::2 metric 1024 pref medium\n";
        let found: Vec<_> = Links::parse(neighbours, routes).iter().collect();
        let two: Mac = "02:00:00:00:00:02".parse().unwrap();
        let three: Mac = "02:00:00:00:00:03".parse().unwrap();
        let expected = [
            ("10.1.0.2/32", two),
            ("10.1.0.3/32", three),
            ("fe80::2/128", two),
            ("10.2.0.0/16", three),
            ("10.3.0.1/32", two),
            ("fd00:5::/64", two),
        ];
        assert_eq!(found, expected.map(|(prefix, mac)| (prefix.parse().unwrap(), mac)));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(10\\.0\\.0\\.1|/[0-9]{1,3}| via | lladdr |02:00:00:00:00:02|\n| |é|.){0,30}") {
            let _ = Links::parse(&text, &text);
        }
    }
}
