//! What the kernel knows about a mesh interface: hops by 802.11s, bitrates by nl80211, turned into prefixes.

use super::iw::{self, MeshPath};
use super::links::Links;
use super::mac::Mac;
use crate::tool::{ToolError, run};
use ipnet::IpNet;
use meshpace_units::Rate;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What the tools printed about one interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interface {
    links: Links,
    paths: BTreeMap<Mac, MeshPath>,
    proxies: BTreeMap<Mac, Mac>,
    bitrates: BTreeMap<Mac, Rate>,
}

impl Interface {
    /// Asks `ip` and `iw`.
    ///
    /// # Errors
    /// In words, if neither 802.11s paths nor stations can be read: no iw, no such interface, no wireless one.
    pub(super) fn ask(name: &str) -> Result<Self, String> {
        let devices = devices(name);
        let iw = |what: &[&str]| {
            let asked = devices.iter().map(|device| run("iw", &[&["dev", device.as_str()], what].concat()));
            told_by_any(asked.collect())
        };
        let stations = iw(&["station", "dump"]).map_err(|error| in_words(name, &error))?;
        // Only a mesh point has paths; an ad hoc or infrastructure interface still has stations.
        let paths = iw(&["mpath", "dump"]).unwrap_or_default();
        let proxies = iw(&["mpp", "dump"]).unwrap_or_default();
        let ip = |family: &str, object: &str| run("ip", &[family, object, "show", "dev", name]);
        let both = |object: &str| {
            let lists = ["-4", "-6"].map(|family| ip(family, object));
            lists.into_iter().collect::<Result<Vec<_>, _>>().map(|lists| lists.concat())
        };
        let neighbours = both("neigh").map_err(|error| in_words(name, &error))?;
        let routes = both("route").map_err(|error| in_words(name, &error))?;
        Ok(Self {
            links: Links::parse(&neighbours, &routes),
            paths: iw::paths(&paths),
            proxies: iw::proxies(&proxies),
            bitrates: iw::bitrates(&stations),
        })
    }

    /// Hops to the hosts and prefixes behind this interface. A host behind a mesh node counts as that node: the hop
    /// from node to host, if it is wireless too, is not the mesh's to know.
    pub(super) fn hops(&self) -> Vec<(IpNet, u32)> {
        let hops = |mac: Mac| self.path(mac)?.hops;
        self.links.iter().filter_map(|(prefix, mac)| Some((prefix, hops(mac)?))).collect()
    }

    /// Rates of the links on the way to them: the mean over an 802.11s path, where its metric tells that; else the bitrate
    /// toward the first hop.
    pub(super) fn rates(&self) -> Vec<(IpNet, Rate)> {
        let rate = |mac: Mac| {
            let path = self.path(mac);
            let first_hop = path.map_or(mac, |path| path.next_hop);
            path.and_then(MeshPath::mean_rate).or_else(|| self.bitrates.get(&first_hop).copied())
        };
        self.links.iter().filter_map(|(prefix, mac)| Some((prefix, rate(mac)?))).collect()
    }

    /// True if there are paths, yet none tells its hops.
    pub(super) fn hides_hops(&self) -> bool {
        !self.paths.is_empty() && self.paths.values().all(|path| path.hops.is_none())
    }

    fn path(&self, mac: Mac) -> Option<&MeshPath> {
        self.paths.get(&mac).or_else(|| self.paths.get(self.proxies.get(&mac)?))
    }
}

/// Whom nl80211 is asked about: of a bridge its ports, whose hosts and routes are the bridge's.
fn devices(name: &str) -> Vec<String> {
    let ports = fs::read_dir(Path::new("/sys/class/net").join(name).join("brif"));
    let ports = ports.into_iter().flatten().flatten();
    let mut ports: Vec<_> = ports.filter_map(|port| port.file_name().into_string().ok()).collect();
    ports.sort();
    if ports.is_empty() { vec![name.to_owned()] } else { ports }
}

/// The answers of all ports that answer, or the error of the first if none does: some ports are no radios.
fn told_by_any(answers: Vec<Result<String, ToolError>>) -> Result<String, ToolError> {
    let told: Vec<_> = answers.iter().flatten().cloned().collect();
    let refused = answers.into_iter().find_map(Result::err);
    refused.filter(|_| told.is_empty()).map_or_else(|| Ok(told.concat()), Err)
}

fn in_words(name: &str, error: &ToolError) -> String {
    match error {
        ToolError::Refused { message, .. } => format!("{name}: {message}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_bridge_the_radios_are_asked_and_one_answer_suffices() {
        let refused = || Err(ToolError::Missing("iw".to_owned()));
        assert_eq!(
            told_by_any(vec![refused(), Ok("a\n".to_owned()), Ok("b\n".to_owned())]),
            Ok("a\nb\n".to_owned())
        );
        assert_eq!(told_by_any(vec![refused(), refused()]), refused());
        assert_eq!(devices("lo"), ["lo"], "no bridge");
    }

    #[test]
    fn hops_and_rates_follow_path_proxy_and_route() {
        let interface = Interface {
            links: Links::parse(
                "10.1.0.1 lladdr 02:00:00:00:00:01 REACHABLE\n10.1.0.4 lladdr 02:00:00:00:00:04 REACHABLE\n\
                 10.1.0.9 lladdr 02:00:00:00:00:09 REACHABLE\n10.1.0.7 lladdr 02:00:00:00:00:07 STALE\n",
                "10.4.0.0/16 via 10.1.0.4\n",
            ),
            paths: iw::paths(
                "02:00:00:00:00:01 02:00:00:00:00:01 mesh0 1 1 0 0 0 0 0x5 1 1\n\
                 02:00:00:00:00:04 02:00:00:00:00:01 mesh0 1 1671 0 0 0 0 0x5 3 1\n",
            ),
            proxies: iw::proxies("02:00:00:00:00:09 02:00:00:00:00:04 mesh0\n"),
            bitrates: iw::bitrates("Station 02:00:00:00:00:01 (on mesh0)\n\ttx bitrate:\t11.0 MBit/s\n"),
        };
        let nets = |entries: &[(&str, u32)]| -> Vec<(IpNet, u32)> {
            entries.iter().map(|(prefix, hops)| (prefix.parse().unwrap(), *hops)).collect()
        };
        let expected = [("10.1.0.1/32", 1), ("10.1.0.4/32", 3), ("10.1.0.9/32", 3), ("10.4.0.0/16", 3)];
        assert_eq!(interface.hops(), nets(&expected));
        // The neighbour's bitrate, as its path's metric says nothing; the others' by theirs: 3 * 8192 bit / 1668 us.
        let rates: Vec<_> = interface
            .rates()
            .iter()
            .map(|(prefix, rate)| (prefix.to_string(), rate.as_bits_per_sec()))
            .collect();
        let expected = [
            ("10.1.0.1/32", 11_000_000),
            ("10.1.0.4/32", 14_733_812),
            ("10.1.0.9/32", 14_733_812),
            ("10.4.0.0/16", 14_733_812),
        ];
        assert_eq!(rates, expected.map(|(prefix, rate)| (prefix.to_owned(), rate)));
        assert!(!interface.hides_hops());
    }
}
