//! The rewriter against the slow reference.

use crate::judge;
use crate::packets::{damaged, packet};
use proptest::prelude::*;

/// Whole packets, and damaged ones, most of which the rewriter leaves alone.
fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => packet(), 1 => damaged()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn setting_is_what_the_reference_does(packet in any_packet(), ms in any::<u16>()) {
        judge::setting(&packet, ms);
    }

    #[test]
    fn stripping_is_what_the_reference_does(packet in any_packet()) {
        judge::stripping(&packet);
    }

    #[test]
    fn a_segment_size_is_only_lowered(packet in any_packet(), max in any::<u16>()) {
        judge::clamping(&packet, max);
    }

    #[test]
    fn the_window_is_what_was_written(packet in any_packet(), window in any::<u16>()) {
        judge::announcing(&packet, window);
    }

    #[test]
    fn changes_add_up(packet in any_packet(), ms in any::<[u16; 2]>(), max in any::<u16>()) {
        let set = judge::setting(&judge::clamping(&packet, max), ms[0]);
        judge::setting(&judge::announcing(&judge::stripping(&set), max), ms[1]);
    }
}
