//! What `iw` prints about a mesh interface: paths, proxied hosts, neighbours' bitrates.

use super::mac::Mac;
use meshpace_units::Rate;
use std::collections::BTreeMap;

/// An 802.11s path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeshPath {
    /// The neighbour that forwards.
    pub next_hop: Mac,
    /// `None`: this iw or kernel does not tell (NL80211_MPATH_INFO_HOP_COUNT is younger than 802.11s in Linux).
    pub hops: Option<u32>,
}

/// `iw dev IF mpath dump`: a line a destination, `DEST NEXT IFACE SN METRIC QLEN EXPTIME DTIM DRET FLAGS [HOPS CHANGES]`.
/// Paths without next hop, being looked for, are left out.
pub(super) fn paths(text: &str) -> BTreeMap<Mac, MeshPath> {
    let path = |line: &str| {
        let mut words = line.split_whitespace();
        let destination: Mac = words.next()?.parse().ok()?;
        let next_hop: Mac = words.next()?.parse().ok().filter(|next| *next != Mac::NONE)?;
        // The interface's name is the third word; the flags, in hexadecimal, are the only one of their kind.
        let mut rest = words.skip(1).skip_while(|word| !word.starts_with("0x")).skip(1);
        let hops = rest.next().and_then(|word| word.parse().ok()).filter(|hops| (1..=255).contains(hops));
        Some((destination, MeshPath { next_hop, hops }))
    };
    text.lines().filter_map(path).collect()
}

/// `iw dev IF mpp dump`: hosts behind mesh nodes, `DEST PROXY IFACE`.
pub(super) fn proxies(text: &str) -> BTreeMap<Mac, Mac> {
    let proxy = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    text.lines().filter_map(proxy).collect()
}

/// `iw dev IF station dump`: the present bitrate toward each neighbour, from the line `tx bitrate: 65.0 MBit/s MCS 7`.
pub(super) fn bitrates(text: &str) -> BTreeMap<Mac, Rate> {
    let mut rates = BTreeMap::new();
    let mut station = None;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("Station"), Some(address)) => station = address.parse().ok(),
            (Some("tx"), Some("bitrate:")) => {
                let number = words.next().filter(|_| words.next() == Some("MBit/s"));
                if let (Some(station), Some(rate)) = (station, number.and_then(megabits)) {
                    rates.insert(station, rate);
                }
            }
            _ => {}
        }
    }
    rates
}

/// nl80211 counts in 100 kbit/s; no link reaches a terabit.
fn megabits(text: &str) -> Option<Rate> {
    let bits = (text.parse::<f64>().ok()? * 1e6).round();
    (1e5..1e12).contains(&bits).then_some(Rate::bits_per_sec(bits as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mac(n: u8) -> Mac {
        format!("02:00:00:00:0{n}:00").parse().unwrap()
    }

    #[test]
    fn mesh_paths() {
        let text = "DEST ADDR         NEXT HOP          IFACE\tSN\tMETRIC\tQLEN\tEXPTIME\t\tDTIM\tDRET\tFLAGS\tHOP_COUNT\tPATH_CHANGE\n\
            02:00:00:00:01:00 02:00:00:00:01:00 mesh0\t11\t152\t0\t4000\t0\t0\t0x5\t1\t1\n\
            02:00:00:00:04:00 02:00:00:00:01:00 mesh0\t17\t608\t0\t4000\t100\t1\t0x15\t4\t2\n\
            02:00:00:00:05:00 00:00:00:00:00:00 mesh0\t0\t0\t3\t0\t1600\t4\t0x0\t0\t0\n\
            02:00:00:00:06:00 02:00:00:00:01:00 mesh0\t0\t0\t3\t0\t1600\t4\t0x14\t0\t0\n";
        let found = paths(text);
        assert_eq!(found.len(), 3);
        assert_eq!(found[&mac(4)], MeshPath { next_hop: mac(1), hops: Some(4) });
        assert_eq!(found[&mac(6)].hops, None);
        // An older iw.
        let older = "02:00:00:00:04:00 02:00:00:00:01:00 mesh0    11      18786   0       0       200     1       0x4\n";
        assert_eq!(paths(older)[&mac(4)], MeshPath { next_hop: mac(1), hops: None });
    }

    #[test]
    fn proxied_hosts() {
        let text = "DEST ADDR         PROXY NODE        IFACE\n02:00:00:00:09:00 02:00:00:00:04:00 mesh0\n";
        assert_eq!(proxies(text), BTreeMap::from([(mac(9), mac(4))]));
    }

    #[test]
    fn bitrates_of_neighbours() {
        let text = "Station 02:00:00:00:01:00 (on mesh0)\n\tinactive time:\t20 ms\n\trx bytes:\t4820\n\tsignal:  \t-52 dBm\n\
            \ttx bitrate:\t5.5 MBit/s\n\trx bitrate:\t65.0 MBit/s MCS 7\nStation 02:00:00:00:02:00 (on mesh0)\n\
            \ttx bitrate:\t(unknown)\nStation 02:00:00:00:03:00 (on mesh0)\n\ttx bitrate:\t866.7 MBit/s VHT-MCS 9 80MHz\n";
        let rates = bitrates(text);
        assert_eq!(rates.get(&mac(1)), Some(&Rate::bits_per_sec(5_500_000)));
        assert_eq!(rates.get(&mac(3)), Some(&Rate::bits_per_sec(866_700_000)));
        assert_eq!(rates.len(), 2);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(02:00:00:00:01:00 |Station |tx bitrate:\t|0x1|MBit/s|[0-9.eE+-]{0,20}|\n|\t|é|.){0,30}") {
            let _ = (paths(&text), proxies(&text), bitrates(&text));
        }
    }
}
