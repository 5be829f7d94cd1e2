//! Frames of 802.11n as long as their limits allow.

use meshpace_keys::{Setting, Values};
use meshpace_radio::phy::BackoffRange;
use meshpace_radio::standard::STANDARDS;
use meshpace_radio::{MacPacket, Mpdu, Phy, Preamble, Standard};
use meshpace_units::{Bytes, NodeId, Span};
use proptest::prelude::*;

/// 802.11n with these keys, the others at their defaults.
fn standard(said: &[(&'static str, Setting)]) -> Standard {
    let part = STANDARDS.iter().find(|part| part.about.word == "802.11n").expect("a row");
    let defaults = Values::defaults(part.about.keys().filter(|key| key.default.is_some()));
    let kept = defaults.iter().filter(|(key, _)| said.iter().all(|(said, _)| said != key));
    let all: Vec<_> = kept.map(|(key, value)| (key, value.clone())).chain(said.iter().cloned()).collect();
    (part.build)(&Values::new(all)).unwrap_or_else(|refused| panic!("{refused:?}"))
}

fn phy(standard: Standard) -> Phy {
    Phy {
        standard,
        preamble: Preamble::Long,
        basic: standard.lowest(),
        mac_overhead: standard.mac_overhead,
        rts_threshold: None,
        retry_short: 7,
        retry_long: 4,
        backoff_range: BackoffRange::Standard,
        propagation_allowance: Phy::NS2_PROPAGATION_ALLOWANCE,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Filled as long as there is room, a frame of several packets is within 64 packets, its bytes, and 5.484 ms (IEEE 802.11-2020, 19.4.4
    /// and 10.12); with one packet more it would not be.
    #[test]
    fn a_frame_is_as_long_as_its_limits_allow(
        mcs in 0..32u64,
        wide: bool,
        short_guard: bool,
        bytes in 1..=65_535u64,
        sizes in prop::collection::vec(20..1_500u64, 70),
    ) {
        let word = |set: bool, words: [&'static str; 2]| Setting::Text(words[usize::from(set)].to_owned());
        let phy = phy(standard(&[
            ("mcs", Setting::Whole(mcs)),
            ("width", word(wide, ["20MHz", "40MHz"])),
            ("guard_interval", word(short_guard, ["800ns", "400ns"])),
            ("aggregate", Setting::Whole(bytes)),
        ]));
        let mode = phy.standard.default_mode;
        let packet = |at: usize| {
            let packet = MacPacket { handle: 0, to: Some(NodeId(1)), size: Bytes(sizes[at]), mode };
            Mpdu { packet, seq: at as u16 + 1, retry: false, losses: 0 }
        };
        let mut frame = vec![packet(0)];
        while phy.room(&frame).is_some_and(|room| Bytes(sizes[frame.len()]) <= room) {
            frame.push(packet(frame.len()));
        }
        let within = |frame: &[Mpdu]| {
            let size = phy.frame(frame);
            frame.len() <= 64 && size <= Bytes(bytes) && phy.airtime(size, mode) <= Span::from_micros(5_484)
        };
        prop_assert!(frame.len() == 1 || within(&frame), "{} packets, {:?}", frame.len(), phy.frame(&frame));
        frame.push(packet(frame.len()));
        prop_assert!(!within(&frame), "{} packets would do", frame.len());
    }
}
