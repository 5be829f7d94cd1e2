//! Packets of all kinds.

use crate::reference::{self, folded};
use proptest::collection::vec;
use proptest::prelude::*;

/// A TCP packet with right lengths: IP options or extension headers, TCP options that can be or cannot, bytes behind its
/// end. Its checksums are right, or anything.
pub fn packet() -> impl Strategy<Value = Vec<u8>> {
    let ip = prop_oneof![ipv4(), ipv6()];
    let tcp = (any::<[u8; 12]>(), any::<u8>(), any::<[u8; 6]>(), options());
    let checksums = prop::option::weighted(0.3, any::<[u16; 2]>());
    (ip, tcp, vec(any::<u8>(), 0..60), vec(any::<u8>(), 0..9), checksums)
        .prop_map(|(ip, tcp, payload, behind, checksums)| assemble(ip, tcp, &payload, &behind, checksums))
}

type Tcp = ([u8; 12], u8, [u8; 6], Vec<u8>);

fn assemble(
    mut ip: Vec<u8>,
    tcp: Tcp,
    payload: &[u8],
    behind: &[u8],
    checksums: Option<[u16; 2]>,
) -> Vec<u8> {
    let (ports, flags, window, options) = tcp;
    let header = 20 + options.len();
    let at = ip.len();
    let v4 = ip[0] >> 4 == 4;
    let length = (ip.len() + header + payload.len() - if v4 { 0 } else { 40 }) as u16;
    let field = if v4 { 2 } else { 4 };
    ip[field..field + 2].copy_from_slice(&length.to_be_bytes());
    let offset = (header as u8 / 4) << 4;
    let mut packet = [&ip[..], &ports, &[offset, flags], &window, &options, payload].concat();
    packet[at + 16..at + 18].fill(0);
    let sum = !folded(reference::tcp_words(&packet, at));
    let [ip_sum, tcp_sum] = checksums.unwrap_or([!folded(reference::words(&ip)), sum]);
    packet[at + 16..at + 18].copy_from_slice(&tcp_sum.to_be_bytes());
    if v4 {
        packet[10..12].copy_from_slice(&ip_sum.to_be_bytes());
    }
    packet.extend_from_slice(behind);
    packet
}

/// Header with 0 to 10 words of options.
fn ipv4() -> BoxedStrategy<Vec<u8>> {
    (any::<[u8; 20]>(), 5..=15_u8)
        .prop_flat_map(|(fixed, words)| {
            (Just(fixed), vec(any::<u8>(), usize::from(words - 5) * 4), Just(words))
        })
        .prop_map(|(mut fixed, options, words)| {
            fixed[0] = 0x40 | words;
            fixed[6] &= 0xc0; // no fragment
            fixed[7] = 0;
            fixed[9] = 6;
            fixed[10..12].fill(0);
            [&fixed[..], &options].concat()
        })
        .boxed()
}

/// Header with up to three extension headers.
fn ipv6() -> BoxedStrategy<Vec<u8>> {
    let extension = (prop::sample::select(vec![0_u8, 43, 60]), 0..3_usize)
        .prop_flat_map(|(kind, units)| (Just(kind), Just(units), vec(any::<u8>(), 6 + 8 * units)));
    (any::<[u8; 40]>(), vec(extension, 0..4))
        .prop_map(|(mut fixed, extensions)| {
            fixed[0] = 0x60 | fixed[0] & 15;
            let kinds: Vec<u8> = extensions.iter().map(|(kind, ..)| *kind).chain([6]).collect();
            fixed[6] = kinds[0];
            let mut header = fixed.to_vec();
            for ((_, units, body), next) in extensions.iter().zip(&kinds[1..]) {
                header.extend([*next, *units as u8]);
                header.extend_from_slice(body);
            }
            header
        })
        .boxed()
}

/// Whole words of options, cut anywhere.
pub fn options() -> impl Strategy<Value = Vec<u8>> {
    let known = |kind: u8, length: u8| {
        vec(any::<u8>(), usize::from(length) - 2)
            .prop_map(move |body| [&[kind, length][..], &body].concat())
            .boxed()
    };
    let rtt = |lengths| {
        (lengths, any::<[u8; 6]>()).prop_map(|(length, body): (u8, _)| {
            let bytes = [253, length, 0x4d, 0x50, body[0], body[1], body[2], body[3], body[4], body[5]];
            bytes[..usize::from(length)].to_vec()
        })
    };
    let piece = prop_oneof![
        4 => Just(vec![1]),
        1 => Just(vec![0]),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        2 => known(2, 4),
        1 => known(3, 3),
        1 => Just(vec![4, 2]),
        2 => prop::sample::select(vec![10, 18, 26, 34, 9, 11]).prop_flat_map(move |length| known(5, length)),
        2 => known(8, 10),
        4 => rtt((6..=6_u8).boxed()),
        1 => rtt((4..=10_u8).boxed()),
        1 => known(253, 6),
        1 => (any::<u8>(), 2..9_u8).prop_flat_map(move |(kind, length)| known(kind, length)),
    ];
    (vec(piece, 0..9), 0..=10_usize, any::<bool>()).prop_map(|(pieces, words, cut)| {
        let mut options = pieces.concat();
        let wanted = if cut { words * 4 } else { options.len().next_multiple_of(4).min(40) };
        options.resize(wanted, 1);
        options
    })
}

/// A packet in which some bytes are changed, or that is cut.
pub fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (packet(), changes, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(mut packet, changes, end, cut)| {
            for (at, byte) in changes {
                // The headers' first bytes more often: there are the lengths.
                let at = at.index(packet.len() * 2) % packet.len().min(64);
                packet[at] = byte;
            }
            packet.truncate(if cut { end.index(packet.len() + 1) } else { packet.len() });
            packet
        },
    )
}
