use super::message::{Message, Messages, PacketId, bind, verdict, wholeness};
use super::statistics::find;
use super::{Options, Statistics, Verdicts};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io;

/// A netlink message as the kernel would write it.
fn message(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&(16 + body.len() as u32).to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(&[0; 10]);
    bytes.extend_from_slice(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// A queued packet: `nfgenmsg`, then the attributes.
fn queued(attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = vec![libc::AF_INET as u8, 0, 0, 5];
    for (kind, value) in attributes {
        body.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
        body.extend_from_slice(&kind.to_ne_bytes());
        body.extend_from_slice(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    message(3 << 8, &body)
}

/// What the test compares of a packet: id, indev, outdev, length, payload.
type Seen = (u32, Option<u32>, Option<u32>, u32, Vec<u8>);

/// All messages of a datagram; `None` for what is malformed.
fn read(mut datagram: Vec<u8>) -> Vec<Option<Result<Seen, (i32, bool)>>> {
    let mut messages = Messages::new();
    let mut all = Vec::new();
    while let Some(message) = messages.next(&datagram) {
        match message {
            Ok(Message::Packet(head)) => {
                let packet = head.with_payload(&mut datagram);
                let payload = packet.payload.to_vec();
                all.push(Some(Ok((packet.id.0, packet.indev, packet.outdev, packet.length, payload))));
            }
            Ok(Message::Answer { errno, configuration }) => all.push(Some(Err((errno, configuration)))),
            Ok(Message::Other) => {}
            Err(_) => all.push(None),
        }
    }
    all
}

// nfnetlink_queue.h: 1 packet header, 3 mark, 5 input, 6 output interface, 10 payload, 13 length before it was cut.
const HEADER: (u16, &[u8]) = (1, &[0, 0, 1, 2, 8, 0, 2]);

#[test]
fn a_packet_is_read_with_all_that_the_kernel_says() {
    let full = queued(&[
        HEADER,
        (5, &[0, 0, 0, 7]),
        (6, &[0, 0, 0, 8]),
        (3, &[0, 0, 0, 9]),
        (9, &[0, 6, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0]),
        (10, b"payload"),
        (13, &[0, 0, 5, 220]),
    ]);
    let plain = queued(&[HEADER, (10, b"packet")]);
    let bare = queued(&[HEADER]);
    let expected = [
        (258, Some(7), Some(8), 1500, b"payload".to_vec()),
        (258, None, None, 6, b"packet".to_vec()),
        (258, None, None, 0, Vec::new()),
    ];
    let datagram = [full, plain, bare].concat();
    assert_eq!(read(datagram), expected.map(|packet| Some(Ok(packet))));
}

#[test]
fn an_answer_is_an_error_number_and_what_it_is_about() {
    let answer = |errno: i32, about: u16| {
        let mut body = errno.wrapping_neg().to_ne_bytes().to_vec();
        body.extend_from_slice(&message(about, &[])[..16]);
        message(2, &body)
    };
    let datagram = [answer(0, 3 << 8 | 2), answer(libc::ENOENT, 3 << 8 | 1), message(1, &[])].concat();
    assert_eq!(read(datagram), [Some(Err((0, true))), Some(Err((libc::ENOENT, false)))]);
    // i32::MIN has no positive counterpart.
    assert_eq!(read(answer(i32::MIN, 3 << 8 | 1)), [None]);
}

#[test]
fn lengths_that_lie_are_malformed() {
    let good = queued(&[HEADER, (10, b"packet")]);
    for length in [0_u32, 15, good.len() as u32 + 1, u32::MAX] {
        let mut bad = good.clone();
        bad[..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(read(bad), [None], "message length {length}");
    }
    for length in [0_u16, 3, 13, 255, u16::MAX] {
        let mut bad = good.clone();
        bad[32..34].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(read(bad), [None], "payload's length {length}");
    }
    assert_eq!(read(queued(&[(10, b"a packet without a number")])), [None]);
    assert_eq!(read(queued(&[(1, b"123")])), [None]);
}

proptest! {
    #[test]
    fn hostile_bytes_never_reach_past_the_datagram(bytes in vec(any::<u8>(), 0..200)) {
        // Whatever is found lies within what was given; that nothing panics is the rest of the claim.
        let length = bytes.len();
        for message in read(bytes).into_iter().flatten().flatten() {
            prop_assert!(message.4.len() <= length);
        }
    }

    #[test]
    fn a_damaged_packet_is_read_or_refused(
        payload in vec(any::<u8>(), 0..64), at in 0..400_usize, value: u8, end in 0..400_usize,
    ) {
        let good = queued(&[HEADER, (5, &[0, 0, 0, 7]), (10, &payload), (13, &[0, 0, 5, 220])]);
        let mut bad = [good.clone(), good].concat();
        let length = bad.len();
        bad[at % length] = value;
        bad.truncate(end % (length + 1));
        prop_assert!(read(bad).len() <= 2 + length / 16);
    }

    #[test]
    fn truncation_is_noticed(payload in vec(any::<u8>(), 1..64), cut in 1..400_usize) {
        let mut bytes = queued(&[HEADER, (10, &payload)]);
        // Cutting only the padding takes nothing away.
        let whole = 16 + 4 + 12 + 4 + payload.len();
        bytes.truncate((whole - 1).saturating_sub(cut % whole).max(1));
        prop_assert_eq!(read(bytes), [None]);
    }

    #[test]
    fn counters_of_any_text_are_read_or_not(text in ".{0,200}", number: u16) {
        let _ = find(&text, number);
    }
}

#[test]
fn what_is_sent_has_the_layout_of_the_headers() {
    let mut bytes = Vec::new();
    verdict(&mut bytes, 0x0102, PacketId(0x0304_0506), libc::NF_ACCEPT, Some(b"abcde"));
    let mut expected = (16_u32 + 4 + 12 + 12).to_ne_bytes().to_vec();
    expected.extend_from_slice(&(3_u16 << 8 | 1).to_ne_bytes()); // queue subsystem, verdict
    expected.extend_from_slice(&1_u16.to_ne_bytes()); // NLM_F_REQUEST, no answer asked for
    expected.extend_from_slice(&[0; 8]);
    expected.extend_from_slice(&[0, 0, 1, 2]); // any family, version 0, the queue
    for (kind, value) in [(2_u16, &[0, 0, 0, 1, 3, 4, 5, 6][..]), (10, b"abcde")] {
        expected.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
        expected.extend_from_slice(&kind.to_ne_bytes());
        expected.extend_from_slice(value);
    }
    expected.extend_from_slice(&[0; 3]);
    assert_eq!(bytes, expected);

    let options = Options { length: 5, fail_open: true, ..Options::default() };
    let configuration = bind(3, u16::MAX, &options);
    assert_eq!(u32::from_ne_bytes(configuration[..4].try_into().expect("4")) as usize, configuration.len());
    assert_eq!(configuration[6..8], 5_u16.to_ne_bytes(), "an answer is asked for");
    assert_eq!(
        configuration[28..37],
        [[9, 0, 2, 0].as_slice(), &[0, 0, 255, 255, 2]].concat(),
        "copy 65,535 bytes"
    );
}

#[test]
fn what_the_kernel_has_still_to_finish_is_told() {
    // 14 what is open: 1 the checksum, 2 segments in one piece, 4 a checksum that nobody has verified.
    let unfinished = |info: u8| {
        let mut datagram = queued(&[HEADER, (14, &[0, 0, 0, info]), (10, b"packet")]);
        let Some(Ok(Message::Packet(head))) = Messages::new().next(&datagram) else { panic!("{datagram:?}") };
        head.with_payload(&mut datagram).unfinished
    };
    assert_eq!([0, 1, 2, 3, 4].map(unfinished), [false, true, true, true, false]);
    let whole = wholeness(3, true, 512);
    assert_eq!(u32::from_ne_bytes(whole[..4].try_into().expect("4")) as usize, whole.len());
    assert_eq!(whole[6..8], 1_u16.to_ne_bytes(), "no answer is asked for");
    let parameters = [9, 0, 2, 0, 0, 0, 2, 0, 2];
    assert_eq!(whole[20..29], parameters, "copy 512 bytes");
    assert_eq!(whole[32..], [[8, 0, 5, 0, 0, 0, 0, 4], [8, 0, 4, 0, 0, 0, 0, 4]].concat());
    assert_eq!(wholeness(3, false, 512)[32..40], [8, 0, 5, 0, 0, 0, 0, 0]);
}

#[test]
fn numbers_left_out_are_counted_across_the_wrap() {
    assert_eq!(PacketId(6).missed_since(PacketId(5)), 0);
    assert_eq!(PacketId(9).missed_since(PacketId(5)), 3);
    assert_eq!(PacketId(1).missed_since(PacketId(u32::MAX)), 1);
    assert_eq!(PacketId(5).missed_since(PacketId(9)), 0);
    assert_eq!(PacketId(5).missed_since(PacketId(5)), 0);
}

/// The ids of the verdicts in a batch, and the check that it consists of whole messages.
fn ids(batch: &[u8]) -> Vec<u32> {
    let (mut ids, mut at) = (Vec::new(), 0);
    while at < batch.len() {
        ids.push(u32::from_be_bytes(batch[at + 28..at + 32].try_into().expect("4 bytes")));
        at += u32::from_ne_bytes(batch[at..at + 4].try_into().expect("4 bytes")) as usize;
        at = at.next_multiple_of(4);
    }
    assert_eq!(at, batch.len());
    ids
}

#[test]
fn batches_are_bounded_and_what_fails_is_sent_again() {
    let mut verdicts = Verdicts::new(0);
    let big = vec![0; 65_531];
    verdicts.accept(PacketId(0));
    (1..=4).for_each(|id| verdicts.accept_with(PacketId(id), &big));
    (5..5000).for_each(|id| verdicts.drop(PacketId(id)));
    assert_eq!(verdicts.waiting(), 5000);

    let mut sent = Vec::new();
    let mut batches = 0;
    let result = verdicts.send_to(|batch| {
        batches += 1;
        if batches == 4 {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        sent.extend(ids(batch));
        Ok(())
    });
    assert_eq!(result.expect_err("the third send failed").kind(), io::ErrorKind::OutOfMemory);
    verdicts.accept(PacketId(5000));
    let again = verdicts.send_to(|batch| {
        assert!(batch.len() <= 2 * 65_536, "{} bytes", batch.len());
        sent.extend(ids(batch));
        Ok(())
    });
    again.expect("all is sent");
    assert_eq!(sent, (0..=5000).collect::<Vec<_>>());
    assert_eq!(verdicts.waiting(), 0);
    verdicts.send_to(|_| panic!("nothing is left")).expect("nothing to send");
}

#[test]
fn the_kernels_counters_are_found_by_queue() {
    let text = "    0  24063     2 2 65535     3     4    105  1\n    7      9     0 2 65535     0     0      0  1\n";
    let first = Statistics { port: 24063, waiting: 2, queue_dropped: 3, socket_dropped: 4, last_id: 105 };
    assert_eq!(find(text, 0), Some(first));
    assert_eq!(find(text, 7).map(|statistics| statistics.last_id), Some(0));
    assert_eq!(find(text, 1), None);
    assert_eq!(find("7 7\n", 7), None);
}
