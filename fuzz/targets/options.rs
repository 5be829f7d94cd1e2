//! The rewriter on arbitrary bytes, against the slow reference, one change after the other.
//!
//! The first seven bytes say what to write; the rest is the packet.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::packets::judge;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[how, a, b, c, d, e, f], packet)) = bytes.split_first_chunk() else { return };
    let mut packet = packet.to_vec();
    if how & 1 == 0 {
        fit(&mut packet);
    }
    let [first, second, max] = [[a, b], [c, d], [e, f]].map(u16::from_be_bytes);
    for change in [how >> 1 & 3, how >> 3 & 3, how >> 5 & 3, 4 * (how >> 7)] {
        packet = match change {
            0 => judge::setting(&packet, first),
            1 => judge::stripping(&packet),
            2 => judge::clamping(&packet, max),
            3 => judge::setting(&packet, second),
            _ => judge::announcing(&packet, second),
        };
    }
});

/// Makes the lengths those of the bytes: else few inputs get past the first check.
fn fit(packet: &mut [u8]) {
    let Ok(whole) = u16::try_from(packet.len()) else { return };
    let (at, length) = match packet.first().map(|byte| byte >> 4) {
        Some(4) => (2, whole),
        Some(6) => (4, whole.saturating_sub(40)),
        _ => return,
    };
    if let Some(field) = packet.get_mut(at..at + 2) {
        field.copy_from_slice(&length.to_be_bytes());
    }
}
