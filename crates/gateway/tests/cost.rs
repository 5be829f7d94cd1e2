//! What a packet costs where much is remembered: a measurement, not a verdict.

mod common;

use common::*;
use meshpace_gateway::{Config, Side};
use std::time::Instant;

/// Data in sequence with every second segment missing, 8,192 in all; then segments that are cut otherwise, and such as
/// fill gaps in the middle: nanoseconds a packet.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::disallowed_methods, reason = "the clock is what is asked")]
fn segments_in_odd_places() {
    let mut s = Script::established(Config { segments_max: 20_000, ..config() });
    let handed = |s: &mut Script, offsets: &mut dyn Iterator<Item = u32>, length: u32| {
        let segments: Vec<_> = offsets.map(|offset| s.up(offset, length, 0)).collect();
        let start = Instant::now();
        for segment in &segments {
            s.hand_in(Side::Wireless, segment);
        }
        start.elapsed().as_nanos() / segments.len() as u128
    };
    let in_order = handed(&mut s, &mut (0..8_192).map(|n| 4 * n), 2);
    let cut = handed(&mut s, &mut (0..8_000).map(|n| 4 * n + 1), 2);
    let gaps = handed(&mut s, &mut (0..4_000).map(|n| 4 * (n * 1_031 % 8_000) + 2), 2);
    println!("in order {in_order} ns, cut otherwise {cut} ns, in gaps {gaps} ns");
}
