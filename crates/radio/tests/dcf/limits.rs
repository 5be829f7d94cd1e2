//! Frames of 802.11n as long as their limits allow.

use meshpace_keys::{Setting, Values};
use meshpace_radio::phy::BackoffRange;
use meshpace_radio::standard::STANDARDS;
use meshpace_radio::{MacPacket, Mpdu, Phy, Preamble, Priority, Standard};
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

    /// There is room for a packet, in the last MPDU or behind it, exactly if with it the frame is within 64 MPDUs, its bytes, and
    /// 5.484 ms (IEEE 802.11-2020, 19.4.4 and 10.12), and the MPDU within the bytes of an A-MSDU.
    #[test]
    fn a_frame_is_as_long_as_its_limits_allow(
        mcs in 0..32u64,
        wide: bool,
        short_guard: bool,
        bytes in 1..=65_535u64,
        amsdu in prop_oneof![Just(0u64), 1..=4_065u64],
        sizes in prop::collection::vec(20..1_500u64, 70),
    ) {
        let word = |set: bool, words: [&'static str; 2]| Setting::Text(words[usize::from(set)].to_owned());
        let phy = phy(standard(&[
            ("mcs", Setting::Whole(mcs)),
            ("width", word(wide, ["20MHz", "40MHz"])),
            ("guard_interval", word(short_guard, ["800ns", "400ns"])),
            ("aggregate", Setting::Whole(bytes)),
            ("amsdu", Setting::Whole(amsdu)),
        ]));
        let mode = phy.standard.default_mode;
        let packet = |at: usize, seq: u16| {
            let packet = MacPacket { handle: 0, to: Some(NodeId(1)), size: Bytes(sizes[at % sizes.len()]), mode, priority: Priority::BEST_EFFORT };
            Mpdu { packet, seq, retry: false, losses: 0 }
        };
        // With one packet more, in the last MPDU or behind it.
        let inside = |frame: &[Mpdu]| packet(frame.len(), frame[frame.len() - 1].seq);
        let beside = |frame: &[Mpdu]| packet(frame.len(), frame[frame.len() - 1].seq + 1);
        let with = |frame: &[Mpdu], more: Mpdu| [frame, &[more]].concat();
        let within = |frame: &[Mpdu]| {
            let size = phy.frame(frame);
            let one_by_one = |mpdu: &[Mpdu]| {
                let bytes = mpdu.iter().fold(0u64, |end, it| end.next_multiple_of(4) + 14 + 8 + it.packet.size.0);
                mpdu.len() == 1 || bytes <= amsdu
            };
            let mpdus: Vec<_> = frame.chunk_by(|a, b| a.seq == b.seq).collect();
            let fits = size <= Bytes(bytes) && phy.airtime(size, mode) <= Span::from_micros(5_484);
            mpdus.len() <= 64 && frame.len() <= 256 && fits && mpdus.into_iter().all(one_by_one)
        };
        let mut frame = vec![packet(0, 1)];
        loop {
            let next = sizes[frame.len() % sizes.len()];
            let takes = |room: Option<Bytes>| room.is_some_and(|room| Bytes(next) <= room);
            prop_assert_eq!(takes(phy.room_inside(&frame)), within(&with(&frame, inside(&frame))), "{:?}", frame);
            prop_assert_eq!(takes(phy.room(&frame)), within(&with(&frame, beside(&frame))), "{:?}", frame);
            let more = match (takes(phy.room_inside(&frame)), takes(phy.room(&frame))) {
                (true, _) => inside(&frame),
                (false, true) => beside(&frame),
                (false, false) => break,
            };
            frame.push(more);
        }
    }
}
