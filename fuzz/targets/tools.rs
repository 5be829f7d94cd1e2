//! What the tools of a Linux machine print: `ip`, `iw dev`, `tc`, `ethtool`, `nft`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpaced::foreign::{neighbours, tools};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    assert!(tools(&text).iter().all(|found| *found <= text.len()), "no more than it says");
    let (hosts, routes) = text.split_once("--\n").unwrap_or((&text, ""));
    let found = neighbours(hosts, routes);
    assert!(found.len() <= hosts.lines().count() + routes.lines().count());
    assert!(found.iter().all(|prefix| prefix.trunc() == *prefix), "bits of a host");
});
