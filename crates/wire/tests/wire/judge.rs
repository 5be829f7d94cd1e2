//! What must hold of any bytes: the crate does what the reference does, and nothing besides. The fuzz targets use this
//! file too.

use super::reference::{self, dissect, folded, same, tcp_words, words};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Span};
use meshpace_wire::{NoRoom, Packet, checksum_ok, clamp_mss, parse, set_rtt, set_window, strip_rtt};

/// Parses, against the reference.
pub fn reading(bytes: &[u8]) {
    let parsed = parse(bytes);
    let Some(anatomy) = dissect(bytes) else {
        // Headers without all of their payload are parsed too.
        if let Ok(packet) = parsed {
            assert!(packet.wire_len.0 as usize > bytes.len(), "{packet:?}");
            assert!(packet.tcp_offset + packet.header_length as usize <= bytes.len(), "{packet:?}");
            assert_eq!(packet.payload(bytes), None);
            assert!(!checksum_ok(bytes));
        }
        return;
    };
    let packet = parsed.unwrap_or_else(|error| panic!("{error}: {bytes:02x?}"));
    let tcp = anatomy.ip.len();
    assert_eq!(packet.tcp_offset, tcp);
    assert_eq!(packet.header_length as usize, 20 + anatomy.option_bytes().len());
    assert_eq!(packet.payload(bytes), Some(&anatomy.payload[..]));
    assert_eq!(packet.segment.payload as usize, anatomy.payload.len());
    let end = bytes.len() - anatomy.behind.len();
    assert_eq!(packet.wire_len.0 as usize, end);
    assert_eq!(packet.segment.options, anatomy.read());
    assert_eq!(packet.signed, anatomy.is_signed());
    assert_eq!(packet.says_more, anatomy.says_more());
    let number = |at: usize, n| anatomy.fixed[at..at + n].iter().fold(0, |sum, b| sum << 8 | u64::from(*b));
    let Segment { source_port, destination_port, seq, ack, flags, window, .. } = packet.segment;
    let halves = [source_port, destination_port, window].map(u64::from);
    assert_eq!(halves, [number(0, 2), number(2, 2), number(14, 2)]);
    assert_eq!([seq.0, ack.0].map(u64::from), [number(4, 4), number(8, 4)]);
    let bits = [flags.fin, flags.syn, flags.rst, flags.psh, flags.ack, flags.ece, flags.cwr];
    assert_eq!(bits, [0, 1, 2, 3, 4, 6, 7].map(|bit| number(13, 1) >> bit & 1 == 1));
    let right = folded(tcp_words(&bytes[..end], tcp)) == 0xffff
        && (bytes[0] >> 4 == 6 || folded(words(&anatomy.ip)) == 0xffff);
    assert_eq!(checksum_ok(bytes), right);
    // The headers are enough, and what is behind the packet does not matter.
    let headers = tcp + packet.header_length as usize;
    assert_eq!(parse(&bytes[..headers]), Ok(packet));
    assert!(parse(&bytes[..headers - 1]).is_err());
    assert_eq!(parse(&bytes[..end]), Ok(packet));
}

/// Sets the option, against the reference. Returns the packet as it is then.
pub fn setting(before: &[u8], milliseconds: u16) -> Vec<u8> {
    let rtt = Span::from_millis(milliseconds.into());
    let mut after = before.to_vec();
    match (reference::set(before, milliseconds), set_rtt(&mut after, rtt)) {
        (Some(expected), Ok(())) => {
            let (old, new) = (parse(before).expect("it was TCP"), parse(&after).expect("it is TCP"));
            assert!(same(&after, &expected, new.tcp_offset), "{after:02x?}\n{expected:02x?}");
            let grown = if old.segment.options.rtt_wired.is_some() { 0 } else { 8 };
            let mut unchanged = old;
            unchanged.segment.options.rtt_wired = Some(rtt);
            // One of a wrong length may have been all that said more.
            unchanged.says_more &= new.says_more;
            unchanged.header_length += grown;
            unchanged.wire_len += Bytes(grown.into());
            assert_eq!(new, unchanged);
            assert_eq!(
                (new.payload(&after), behind(&new, &after)),
                (old.payload(before), behind(&old, before))
            );
        }
        (None, Err(NoRoom)) => assert_eq!(before, after),
        (expected, outcome) => panic!("{expected:02x?} {outcome:?}"),
    }
    sums(before, &after);
    after
}

/// Removes the option, against the reference.
pub fn stripping(before: &[u8]) -> Vec<u8> {
    let mut after = before.to_vec();
    let stripped = strip_rtt(&mut after);
    assert_eq!(stripped, after != before);
    if let Some(expected) = reference::strip(before) {
        let tcp = parse(&after).expect("it was TCP").tcp_offset;
        assert!(same(&after, &expected, tcp), "{after:02x?}\n{expected:02x?}");
    }
    let unchanged = parse(before).map(|mut packet| {
        packet.segment.options.rtt_wired = None;
        packet.says_more &= parse(&after).is_ok_and(|after| after.says_more);
        packet
    });
    assert_eq!(parse(&after), unchanged);
    assert!(!strip_rtt(&mut after), "a second one is left");
    sums(before, &after);
    after
}

/// Lowers the segment size, against the reference.
pub fn clamping(before: &[u8], max: u16) -> Vec<u8> {
    let mut after = before.to_vec();
    let lowered = clamp_mss(&mut after, max);
    assert_eq!(lowered, after != before);
    if let Some(expected) = reference::clamp(before, max) {
        let tcp = parse(&after).expect("it was TCP").tcp_offset;
        assert!(same(&after, &expected, tcp), "{after:02x?}\n{expected:02x?}");
    }
    let unchanged = parse(before).map(|mut packet| {
        let mss = &mut packet.segment.options.mss;
        *mss = if packet.segment.flags.syn { mss.map(|mss| mss.min(max)) } else { *mss };
        packet
    });
    assert_eq!(parse(&after), unchanged);
    sums(before, &after);
    after
}

/// Writes the window, against the reference.
pub fn announcing(before: &[u8], window: u16) -> Vec<u8> {
    let mut after = before.to_vec();
    let changed = set_window(&mut after, window);
    assert_eq!(changed, after != before);
    if let Some(expected) = reference::announce(before, window) {
        let tcp = parse(&after).expect("it was TCP").tcp_offset;
        assert!(same(&after, &expected, tcp), "{after:02x?}\n{expected:02x?}");
    }
    let unchanged = parse(before).map(|mut packet| {
        packet.segment.window = window;
        packet
    });
    assert_eq!(parse(&after), unchanged);
    sums(before, &after);
    after
}

fn behind<'a>(packet: &Packet, bytes: &'a [u8]) -> &'a [u8] {
    &bytes[packet.wire_len.0 as usize..]
}

/// Right sums stay right to the bit, as if computed anew (RFC 1624, section 3); wrong ones stay wrong.
fn sums(before: &[u8], after: &[u8]) {
    assert_eq!(checksum_ok(after), checksum_ok(before));
    let fields = |bytes: &[u8]| {
        let anatomy = dissect(bytes)?;
        let (tcp, end) = (anatomy.ip.len(), bytes.len() - anatomy.behind.len());
        let field = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let mut zeroed = bytes[..end].to_vec();
        zeroed[tcp + 16..tcp + 18].fill(0);
        let mut found = vec![(field(tcp + 16), !folded(tcp_words(&zeroed, tcp)))];
        if bytes[0] >> 4 == 4 {
            zeroed[10..12].fill(0);
            found.push((field(10), !folded(words(&zeroed[..tcp]))));
        }
        Some(found)
    };
    let (Some(old), Some(new)) = (fields(before), fields(after)) else { return };
    for ((old, computed), (new, anew)) in old.into_iter().zip(new) {
        assert!(old != computed || new == anew, "{new:04x}, not {anew:04x}");
    }
}
