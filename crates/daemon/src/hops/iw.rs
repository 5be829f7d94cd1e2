//! What `iw` prints about a mesh interface: paths, proxied hosts, neighbours' bitrates.

use super::mac::Mac;
use meshpace_units::Rate;
use std::collections::BTreeMap;

/// An 802.11s path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshPath {
    /// The neighbour that forwards.
    pub next_hop: Mac,
    /// `None`: this iw or kernel does not tell (NL80211_MPATH_INFO_HOP_COUNT is younger than 802.11s in Linux).
    pub hops: Option<u32>,
    /// Sum of the links' airtime metrics.
    pub metric: u32,
}

impl MeshPath {
    /// The rate that all links would have if they were alike and the path took the same air time: their harmonic mean.
    /// `None` if hops are not told, or the metric does not suit them.
    ///
    /// Linux's airtime metric of a link is 1 + 8192 bit / rate in microseconds, over the share of frames that arrive
    /// (airtime_link_metric_get in net/mac80211/mesh_hwmp.c), so frames sent again count as a slower link. Where the rate
    /// control tells an expected throughput, the kernel takes that for the rate.
    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        let (hops, metric) = (u64::from(self.hops?), u64::from(self.metric));
        let air_us = metric.checked_sub(hops).filter(|air| *air > 0)?;
        Some(Rate::bits_per_sec(hops * TEST_FRAME_BITS * 1_000_000 / air_us)).filter(|rate| *rate >= SLOWEST)
    }
}

/// TEST_FRAME_LEN of net/mac80211/mesh_hwmp.c (IEEE 802.11-2012 13.9: 1 KiB).
const TEST_FRAME_BITS: u64 = 8_192;
/// Below the slowest rate of 802.11 by a factor of ten a metric says that a link is all but broken (MAX_METRIC), and no rate.
const SLOWEST: Rate = Rate::bits_per_sec(100_000);

/// `iw dev IF mpath dump`: a line a destination, `DEST NEXT IFACE SN METRIC QLEN EXPTIME DTIM DRET FLAGS [HOPS CHANGES]`.
/// Paths without next hop, being looked for, are left out.
pub(crate) fn paths(text: &str) -> BTreeMap<Mac, MeshPath> {
    let path = |line: &str| {
        let mut words = line.split_whitespace();
        let destination: Mac = words.next()?.parse().ok()?;
        let next_hop: Mac = words.next()?.parse().ok().filter(|next| *next != Mac::NONE)?;
        // Then the interface's name, the sequence number, the metric; the flags, in hexadecimal, are the only one of their
        // kind.
        let metric = words.nth(2)?.parse().ok()?;
        let mut rest = words.skip_while(|word| !word.starts_with("0x")).skip(1);
        let hops = rest.next().and_then(|word| word.parse().ok()).filter(|hops| (1..=255).contains(hops));
        Some((destination, MeshPath { next_hop, hops, metric }))
    };
    text.lines().filter_map(path).collect()
}

/// `iw dev IF mpp dump`: hosts behind mesh nodes, `DEST PROXY IFACE`.
pub(crate) fn proxies(text: &str) -> BTreeMap<Mac, Mac> {
    let proxy = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    text.lines().filter_map(proxy).collect()
}

/// `iw dev IF station dump`: the present bitrate toward each neighbour, from the line `tx bitrate: 65.0 MBit/s MCS 7`.
pub(crate) fn bitrates(text: &str) -> BTreeMap<Mac, Rate> {
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
        assert_eq!(found[&mac(4)], MeshPath { next_hop: mac(1), hops: Some(4), metric: 608 });
        assert_eq!(found[&mac(6)].hops, None);
        // An older iw.
        let older = "02:00:00:00:04:00 02:00:00:00:01:00 mesh0    11      18786   0       0       200     1       0x4\n";
        assert_eq!(paths(older)[&mac(4)], MeshPath { next_hop: mac(1), hops: None, metric: 18_786 });
    }

    #[test]
    fn a_paths_airtime_tells_the_mean_rate_of_its_links() {
        let rate = |hops, metric| {
            let rate = MeshPath { next_hop: mac(1), hops, metric }.mean_rate()?;
            Some(rate.as_bits_per_sec() / 100_000)
        };
        // The kernel's arithmetic, in units of 100 kbit/s, without losses: 8 bits behind the point, rounded down.
        let metric = |rate: u32| (256 + 10 * (8_192 << 8) / rate) >> 8;
        for mbit in [1, 2, 6, 11, 54, 65] {
            let found = rate(Some(1), metric(10 * mbit)).unwrap();
            assert!(found.abs_diff(10 * u64::from(mbit)) * 100 <= 10 * u64::from(mbit), "{mbit}: {found}");
        }
        // Links of 54, 54 and 6 Mbit/s: 3 / (2/54 + 1/6) = 14.7.
        assert_eq!(rate(Some(3), 2 * metric(540) + metric(60)), Some(147));
        // Every other frame is lost: half the rate.
        assert_eq!(rate(Some(1), 2 * metric(540)), Some(270));
        assert_eq!(rate(None, 152), None);
        assert_eq!((rate(Some(1), 0), rate(Some(4), 4), rate(Some(1), u32::MAX)), (None, None, None));
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
