//! What routing daemons and `iw` tell of hops and rates.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::foreign::{iw, routes};

fuzz_target!(|text: &str| {
    for (prefix, hops) in routes(text).into_iter().flatten().flatten() {
        assert!((1..=255).contains(&hops), "{prefix}: {hops} hops");
        assert_eq!(prefix, prefix.trunc(), "a prefix without bits of a host");
    }
    let lines = text.lines().count();
    let (paths, proxies, bitrates) = iw(text);
    assert!(paths.len() <= lines && proxies <= lines && bitrates.len() <= lines);
    for (hops, rate) in paths {
        assert!(hops.is_none_or(|hops| (1..=255).contains(&hops)), "{hops:?} hops");
        // From a tenth of 802.11's slowest rate to what a metric of one microsecond a link says.
        assert!(rate.is_none_or(|rate| (100_000..=2_100_000_000_000).contains(&rate)), "{rate:?} bit/s");
    }
    assert!(bitrates.iter().all(|rate| (100_000..1_000_000_000_000).contains(rate)), "{bitrates:?}");
});
