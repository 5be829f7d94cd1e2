//! Frames of 802.11n and later standards as long as their limits allow.

use meshpace_keys::{Setting, Values};
use meshpace_radio::BackoffRange;
use meshpace_radio::standard::STANDARDS;
use meshpace_radio::{MacPacket, Mpdu, Phy, Preamble, Priority, Standard};
use meshpace_units::{Bytes, NodeId, Span};
use proptest::prelude::*;

/// A standard with these keys, the others at their defaults.
fn standard(word: &str, said: &[(&'static str, Setting)]) -> Standard {
    let part = STANDARDS.iter().find(|part| part.about.word == word).expect("a row");
    let defaults = part.about.defaults();
    let kept = defaults.iter().filter(|(key, _)| said.iter().all(|(said, _)| said != key));
    let kept = kept.map(|(key, value)| (key, value.clone()));
    (part.build)(&Values::new(kept.chain(said.iter().cloned())))
        .unwrap_or_else(|refused| panic!("{refused:?}"))
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
        let phy = phy(standard("802.11n", &[
            ("mcs", Setting::Whole(mcs)),
            ("width", word(wide, ["20MHz", "40MHz"])),
            ("guard_interval", word(short_guard, ["800ns", "400ns"])),
            ("aggregate", Setting::Whole(bytes)),
            ("amsdu", Setting::Whole(amsdu)),
        ]));
        within_limits(&phy, (64, bytes, amsdu), &sizes)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The same with 802.11ac's 64 and 802.11ax's 256 MPDUs (IEEE 802.11-2020, 21.4.3; IEEE 802.11ax-2021, 27.4.3), of 11,454 bytes.
    #[test]
    fn a_frame_of_a_later_standard_is_too(
        later: bool,
        mcs in 0..9u64,
        streams in 1..5u64,
        width in prop::sample::select(vec!["20MHz", "40MHz", "160MHz"]),
        bytes in prop_oneof![1..=1_048_575u64, Just(1_048_575)],
        amsdu in prop_oneof![2 => Just(0u64), 1 => 1..=11_424u64],
        sizes in prop::collection::vec(20..1_500u64, 70),
    ) {
        let (word, packets) = if later { ("802.11ax", 256) } else { ("802.11ac", 64) };
        let phy = phy(standard(word, &[
            ("mcs", Setting::Whole(mcs)),
            ("streams", Setting::Whole(streams)),
            ("width", Setting::Text(width.to_owned())),
            ("aggregate", Setting::Whole(bytes)),
            ("amsdu", Setting::Whole(amsdu)),
        ]));
        within_limits(&phy, (packets, bytes, amsdu), &sizes)?;
    }
}

/// A frame takes packets of these sizes, one after another, as long as it is within so many MPDUs, bytes, and bytes of an A-MSDU.
fn within_limits(
    phy: &Phy,
    (packets, bytes, amsdu): (usize, u64, u64),
    sizes: &[u64],
) -> Result<(), TestCaseError> {
    let mode = phy.standard.default_mode;
    let packet = |at: usize, seq: u16| {
        let packet = MacPacket {
            handle: 0,
            to: Some(NodeId(1)),
            size: Bytes(sizes[at % sizes.len()]),
            mode,
            priority: Priority::BEST_EFFORT,
        };
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
        mpdus.len() <= packets && frame.len() <= 256 && fits && mpdus.into_iter().all(one_by_one)
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
    Ok(())
}
