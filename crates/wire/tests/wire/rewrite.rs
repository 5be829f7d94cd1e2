//! The rewriter against the slow reference, and what must hold of it by itself.

use crate::packets::{self, damaged, packet};
use crate::reference::{self, dissect, same};
use meshpace_units::Span;
use meshpace_wire::{NoRoom, checksum_ok, clamp_mss, parse, set_rtt, strip_rtt};
use proptest::prelude::*;

/// The whole packets among the damaged ones, and the others: those the rewriter leaves alone.
fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => packet(), 1 => damaged()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn setting_is_what_the_reference_does(before in any_packet(), ms in any::<u16>()) {
        let mut after = before.clone();
        let outcome = set_rtt(&mut after, Span::from_millis(ms.into()));
        match (reference::set(&before, ms), outcome) {
            (Some(expected), Ok(())) => {
                let tcp = parse(&after).expect("it was TCP").tcp_offset;
                prop_assert!(same(&after, &expected, tcp), "{after:02x?}\n{expected:02x?}");
                prop_assert_eq!(parse(&after).unwrap().segment.options.rtt_wired, Some(Span::from_millis(ms.into())));
            }
            (None, Err(NoRoom)) => prop_assert_eq!(&before, &after),
            (expected, outcome) => prop_assert!(false, "{expected:02x?} {outcome:?}"),
        }
    }

    #[test]
    fn setting_changes_nothing_else(before in packet(), ms in any::<u16>()) {
        let mut after = before.clone();
        prop_assume!(set_rtt(&mut after, Span::from_millis(ms.into())).is_ok());
        let (old, new) = (parse(&before).unwrap(), parse(&after).unwrap());
        let grown = u64::from(new.header_length - old.header_length);
        prop_assert_eq!(new.wire_len.0, old.wire_len.0 + grown);
        prop_assert_eq!(grown, if old.segment.options.rtt_wired.is_some() { 0 } else { 8 });
        let mut expected = old;
        expected.segment.options.rtt_wired = Some(Span::from_millis(ms.into()));
        (expected.header_length, expected.wire_len) = (new.header_length, new.wire_len);
        prop_assert_eq!(new, expected);
        prop_assert_eq!(new.payload(&after), old.payload(&before));
        let [old_end, new_end] = [old, new].map(|packet| packet.wire_len.0 as usize);
        prop_assert_eq!(&after[new_end..], &before[old_end..], "bytes behind the packet");
        // Right stays right, wrong stays wrong.
        prop_assert_eq!(checksum_ok(&after), checksum_ok(&before));
    }

    #[test]
    fn stripping_is_what_the_reference_does(before in any_packet()) {
        let mut after = before.clone();
        let stripped = strip_rtt(&mut after);
        prop_assert_eq!(stripped, after != before);
        if let Some(expected) = reference::strip(&before) {
            let tcp = parse(&after).expect("it was TCP").tcp_offset;
            prop_assert!(same(&after, &expected, tcp), "{after:02x?}\n{expected:02x?}");
        }
        prop_assert_eq!(checksum_ok(&after), checksum_ok(&before));
        if let Ok(old) = parse(&before) {
            let mut expected = old;
            expected.segment.options.rtt_wired = None;
            prop_assert_eq!(parse(&after), Ok(expected));
        }
        prop_assert!(!strip_rtt(&mut after), "a second one is left");
    }

    #[test]
    fn a_segment_size_is_only_lowered(before in any_packet(), max in any::<u16>()) {
        let mut after = before.clone();
        let lowered = clamp_mss(&mut after, max);
        prop_assert_eq!(lowered, after != before);
        if let Some(expected) = reference::clamp(&before, max) {
            let tcp = parse(&after).expect("it was TCP").tcp_offset;
            prop_assert!(same(&after, &expected, tcp), "{after:02x?}\n{expected:02x?}");
        }
        prop_assert_eq!(checksum_ok(&after), checksum_ok(&before));
        if let Ok(old) = parse(&before) {
            let mut expected = old;
            let mss = old.segment.options.mss;
            expected.segment.options.mss = if old.segment.flags.syn { mss.map(|mss| mss.min(max)) } else { mss };
            prop_assert_eq!(parse(&after), Ok(expected));
        }
    }

    #[test]
    fn incremental_sums_are_those_of_a_whole_computation(before in packet(), ms in any::<u16>(), max in any::<u16>()) {
        // To the bit, not only modulo 65,535: RFC 1624, section 3.
        prop_assume!(checksum_ok(&before) && !before.is_empty());
        let mut after = before;
        let _ = set_rtt(&mut after, Span::from_millis(ms.into()));
        clamp_mss(&mut after, max);
        strip_rtt(&mut after);
        let _ = set_rtt(&mut after, Span::from_millis(ms.into()));
        let anatomy = dissect(&after).expect("it was TCP");
        let (tcp, end) = (anatomy.ip.len(), after.len() - anatomy.behind.len());
        let mut zeroed = after[..end].to_vec();
        zeroed[tcp + 16..tcp + 18].fill(0);
        let sum = !packets::folded(reference::tcp_words(&zeroed, tcp));
        prop_assert_eq!(&after[tcp + 16..tcp + 18], sum.to_be_bytes());
        if after[0] >> 4 == 4 {
            zeroed[10..12].fill(0);
            let sum = !packets::folded(reference::words(&zeroed[..tcp]));
            prop_assert_eq!(&after[10..12], sum.to_be_bytes());
        }
    }
}
