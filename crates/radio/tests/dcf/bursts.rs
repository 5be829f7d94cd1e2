//! Frames of several packets: each is read or lost, acknowledged, sent again and given up by itself.

use super::burst_properties::in_order;
use super::star;
use crate::air::{Action, Air, Draws, Entry, Setup, What::*, at, line};
use meshpace_radio::standard::control_sizes::{ACK_BYTES, BLOCK_ACK_REQ_BYTES};
use meshpace_radio::{Bitmap, Frame, FrameKind};
use meshpace_units::{Bytes, Span};

/// Of 802.11g, microseconds: SIFS 10, two slots of 9.
pub(super) const SIFS: f64 = 10.0;
pub(super) const DIFS: f64 = 28.0;
/// Two packets of 1,500 bytes with 28 around each, 4 before each: 3,064 bytes, in 114 symbols of 216 bits.
pub(super) const PAIR: f64 = 26.0 + 114.0 * 4.0;
/// One of them alone: 1,528 bytes in 57 symbols.
pub(super) const ALONE: f64 = 26.0 + 57.0 * 4.0;
/// A block acknowledgement of 32 bytes at 24 Mbit/s: 3 symbols of 96 bits.
pub(super) const BLOCK_ACK: f64 = 26.0 + 3.0 * 4.0;
/// A request for one, of 24 bytes: 3 symbols as well.
const REQUEST: f64 = 26.0 + 3.0 * 4.0;
/// An acknowledgement at 24 Mbit/s.
pub(super) const ACK: f64 = 26.0 + 2.0 * 4.0;

pub(super) fn only(places: &[usize]) -> Bitmap {
    let mut some = Bitmap::NONE;
    places.iter().for_each(|at| some.set(*at));
    some
}

/// Sizes of the packets that were delivered, in order.
fn delivered(air: &Air) -> Vec<u64> {
    let size = |entry: &Entry| match entry.action {
        Action::Deliver { packet, .. } => Some(packet.size.0),
        _ => None,
    };
    air.log.iter().filter_map(size).collect()
}

/// Sequence numbers of a frame's packets, and whether they say that they go again.
pub(super) fn numbers(frame: &Frame) -> Vec<(u16, bool)> {
    frame.packets().iter().map(|mpdu| (mpdu.seq, mpdu.retry)).collect()
}

/// ```text
/// 0  |DIFS|bo|DATA(1, 2)                 (sent 1, sent 2)
/// 1                     SIFS BLOCK-ACK
/// ```
#[test]
fn two_packets_take_one_access() {
    let setup = Setup::bursts(2);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    let mut draws = Draws::of(&setup, 0);
    // The first one's last byte is followed by one of padding.
    for size in [1499, 1500, 1500] {
        air.offer(at(0.0), 0, setup.packet(Some(1), size));
    }
    let data = DIFS + draws.backoff(15);
    let ack = data + PAIR + SIFS;
    let through = ack + BLOCK_ACK;
    let third = through + DIFS + draws.backoff(15);
    let script = [
        (data, 0, Data),
        (data + PAIR, 1, Deliver),
        (data + PAIR, 1, Deliver),
        (ack, 1, BlockAck),
        (through, 0, Sent),
        (through, 0, Sent),
        (third, 0, Data),
        (third + ALONE, 1, Deliver),
        (third + ALONE + SIFS, 1, Ack),
        (third + ALONE + SIFS + ACK, 0, Sent),
    ];
    air.expect(50_000.0, &script);
    assert_eq!(air.frames_of(0)[0].1.size, Bytes(3_064));
    assert_eq!(air.frames_of(0)[0].1.duration, Span::from_micros(48), "SIFS and the block acknowledgement");
}

/// The first of two is lost: it goes again with what waits, and counts as no failure of the exchange.
///
/// ```text
/// 0  DATA(1 lost, 2)            (sent 2)  |DIFS|bo|DATA(1 again, 3)
/// 1                  SIFS BLOCK-ACK(2)                             SIFS BLOCK-ACK(1, 3)
/// ```
#[test]
fn what_was_lost_goes_again_alone() {
    let setup = Setup::bursts(3);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    let mut draws = Draws::of(&setup, 0);
    air.erased.push_back(only(&[0]));
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.offer(at(0.0), 0, setup.packet(Some(1), 1499));
    // While the frame is on the air, it takes no other.
    let data = DIFS + draws.backoff(15);
    air.offer(at(data + 1.0), 0, setup.packet(Some(1), 1498));
    let ack = data + PAIR + SIFS;
    let again = ack + BLOCK_ACK + DIFS + draws.backoff(15);
    let script = [
        (data, 0, Data),
        (data + PAIR, 1, Deliver),
        (ack, 1, BlockAck),
        (ack + BLOCK_ACK, 0, Sent),
        (again, 0, Data),
        (again + PAIR, 1, Deliver),
        (again + PAIR, 1, Deliver),
        (again + PAIR + SIFS, 1, BlockAck),
        (again + PAIR + SIFS + BLOCK_ACK, 0, Sent),
        (again + PAIR + SIFS + BLOCK_ACK, 0, Sent),
    ];
    air.expect(50_000.0, &script);
    assert_eq!(delivered(&air), [1499, 1500, 1498]);
    let frames = air.frames_of(0);
    assert_eq!(numbers(&frames[0].1), [(1, false), (2, false)]);
    assert_eq!(numbers(&frames[1].1), [(1, true), (3, false)]);
    let (_, ack) = &air.frames_of(1)[0];
    let told = ack.block_ack().expect("what it tells");
    assert_eq!((told.start, told.arrived), (1, only(&[1])));
}

/// Nobody answers: the frame is asked after, with a wider window each time, and both packets are given up after as many requests as
/// the limit says.
#[test]
fn without_an_answer_the_frame_is_asked_after_and_given_up() {
    let mut setup = Setup::bursts(2);
    setup.phy.retry_short = 3;
    let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
    let mut draws = Draws::of(&setup, 0);
    (0..2).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1500)));
    // SIFS, the block acknowledgement and 4 us.
    let waits = SIFS + BLOCK_ACK + 4.0;
    let data = DIFS + draws.backoff(15);
    let first = data + PAIR + waits + DIFS + draws.backoff(31);
    let second = first + REQUEST + waits + DIFS + draws.backoff(63);
    let third = second + REQUEST + waits + DIFS + draws.backoff(127);
    let end = third + REQUEST + waits;
    let script = [
        (data, 0, Data),
        (first, 0, BlockAckReq),
        (second, 0, BlockAckReq),
        (third, 0, BlockAckReq),
        (end, 0, GaveUp),
        (end, 0, GaveUp),
    ];
    air.expect(50_000.0, &script);
    let (_, request) = &air.frames_of(0)[1];
    assert_eq!((request.size, request.duration), (BLOCK_ACK_REQ_BYTES, Span::from_micros(48)));
    assert_eq!(request.block_ack().map(|asked| asked.start), Some(1));
}

/// The block acknowledgement was lost. Packets that arrived are not sent again; the other packets of the
/// frame go with those that wait.
///
/// ```text
/// 0  DATA(1, 2)  ... |DIFS|bo|REQUEST(1)                   (sent 2)  |DIFS|bo|DATA(1 again, 3)
/// 1                                     SIFS BLOCK-ACK(2)
/// ```
#[test]
fn what_came_without_an_answer_is_not_sent_again() {
    let setup = Setup::bursts(3);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
    let mut draws = Draws::of(&setup, 0);
    for size in [1500, 1499] {
        air.offer(at(0.0), 0, setup.packet(Some(1), size));
    }
    let data = DIFS + draws.backoff(15);
    air.offer(at(data + 1.0), 0, setup.packet(Some(1), 1498));
    let request = data + PAIR + SIFS + BLOCK_ACK + 4.0 + DIFS + draws.backoff(31);
    let answer = request + REQUEST + SIFS;
    air.say(at(answer), setup.block_ack(1, 0, 1, only(&[1])));
    let again = answer + BLOCK_ACK + DIFS + draws.backoff(15);
    let script =
        [(data, 0, Data), (request, 0, BlockAckReq), (answer + BLOCK_ACK, 0, Sent), (again, 0, Data)];
    air.expect(again + 100.0, &script);
    assert_eq!(numbers(&air.frames_of(0)[2].1), [(1, true), (3, false)]);
}

/// A request is answered with what came of the neighbour's, whichever frame brought it, and says what need not be waited for.
#[test]
fn a_request_is_answered_and_moves_the_window() {
    let setup = Setup::bursts(3);
    let mut air = star(&setup, &[200.0]);
    air.erased.push_back(only(&[0]));
    air.say(at(0.0), setup.burst(1, 0, &[(1500, 1), (1400, 2)]));
    air.say(at(1_000.0), setup.burst(1, 0, &[(1300, 3), (1200, 5)]));
    air.say(at(2_000.0), setup.block_ack_req(1, 0, 2));
    air.run_until(at(5_000.0));
    let told = |(_, frame): &(_, Frame)| frame.block_ack().copied();
    let answers: Vec<_> = air.frames_of(0).iter().filter_map(told).collect();
    assert_eq!(answers.len(), 3);
    assert_eq!((answers[2].start, answers[2].arrived), (2, only(&[0, 1, 3])));
    let released = |entry: &Entry| matches!(entry.action, Action::Release { start: 2, .. });
    assert_eq!(air.log.iter().filter(|entry| released(entry)).count(), 1);
    assert_eq!(air.times(0, FrameKind::BlockAck)[2], at(2_000.0 + REQUEST + SIFS));
}

/// A packet of a frame is given up while other packets arrived: the receiver learns of it at once, though no
/// other packet waits.
#[test]
fn what_was_given_up_is_told() {
    let mut setup = Setup::bursts(2);
    setup.phy.retry_short = 1;
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.erased.push_back(only(&[0]));
    (0..2).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1500)));
    air.run_until(at(50_000.0));
    assert_eq!((air.sent[0], air.given_up[0]), (1, 1));
    assert_eq!(air.times(0, FrameKind::BlockAckReq).len(), 1);
    let start = air.log.iter().find_map(|entry| match entry.action {
        Action::Release { start, .. } => Some(start),
        _ => None,
    });
    assert_eq!(start, Some(3), "the number of the next packet");
    let up = in_order(&air);
    let numbers: Vec<_> = up.packets.values().flatten().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, [2]);
    assert_eq!((up.late, up.held), (0, 0));
}

/// A packet alone in its frame is given up: the receiver learns of it before the next packet for it.
#[test]
fn a_neighbour_is_told_before_its_next_packet() {
    let mut setup = Setup::bursts(2);
    setup.phy.retry_short = 1;
    let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
    let mut draws = Draws::of(&setup, 0);
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.offer(at(10_000.0), 0, setup.packet(Some(1), 1400));
    let data = DIFS + draws.backoff(15);
    let given_up = data + ALONE + SIFS + ACK + 4.0;
    let request = 10_000.0 + DIFS + draws.backoff(15);
    let answer = request + REQUEST + SIFS;
    air.say(at(answer), setup.block_ack(1, 0, 2, Bitmap::NONE));
    let next = answer + BLOCK_ACK + DIFS + draws.backoff(15);
    let script = [(data, 0, Data), (given_up, 0, GaveUp), (request, 0, BlockAckReq), (next, 0, Data)];
    air.expect(next + 50.0, &script);
    assert_eq!(air.frames_of(0)[1].1.block_ack().map(|told| told.start), Some(2));
}

/// A packet that is lost again and again is given up by itself, those beside it are not.
#[test]
fn a_packet_counts_its_own_losses() {
    let mut setup = Setup::bursts(3);
    setup.phy.retry_short = 2;
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.erased.extend([only(&[0]), only(&[0])]);
    for (when, size) in [(0.0, 1500), (0.0, 1400), (200.0, 1300)] {
        air.offer(at(when), 0, setup.packet(Some(1), size));
    }
    air.run_until(at(50_000.0));
    assert_eq!(delivered(&air), [1400, 1300]);
    assert_eq!((air.sent[0], air.given_up[0]), (2, 1));
    let given_up =
        |entry: &Entry| matches!(entry.action, Action::GaveUp(packet) if packet.size == Bytes(1500));
    assert!(air.log.iter().any(given_up));
}

/// The sender did not hear the acknowledgement: the same packets come again, are acknowledged again, and not delivered again.
#[test]
fn a_repetition_is_acknowledged_and_not_delivered() {
    let setup = Setup::bursts(2);
    let mut air = star(&setup, &[200.0]);
    let frame = setup.burst(1, 0, &[(1500, 8), (1400, 9)]);
    air.say(at(0.0), frame.clone());
    air.say(at(1_000.0), frame);
    air.say(at(2_000.0), setup.burst(1, 0, &[(1300, 9), (1200, 10)]));
    air.run_until(at(5_000.0));
    assert_eq!(delivered(&air), [1500, 1400, 1200]);
    assert_eq!(air.times(0, FrameKind::BlockAck).len(), 3);
}

/// Two packets are long enough for an RTS where one is not; its duration counts the block acknowledgement.
#[test]
fn the_frame_decides_whether_an_rts_goes_first() {
    let mut setup = Setup::bursts(2);
    setup.phy.rts_threshold = Some(Bytes(2_000));
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    (0..3).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1500)));
    air.run_until(at(50_000.0));
    let frames: Vec<_> = air.frames_of(0).into_iter().map(|(_, frame)| frame).collect();
    let kinds: Vec<_> = frames.iter().map(|frame| (frame.kind, frame.protected)).collect();
    assert_eq!(kinds, [(FrameKind::Rts, true), (FrameKind::Data, true), (FrameKind::Data, false)]);
    let micros = (3.0 * SIFS + ACK + PAIR + BLOCK_ACK) as u64;
    assert_eq!(frames[0].duration, Span::from_micros(micros), "a CTS is as long as an ACK");
    assert_eq!(setup.phy.ack_bytes(false), ACK_BYTES);
    assert_eq!(air.sent[0], 3);
}

/// Under `sinr` each packet is lost to what it met.
///
/// ```text
/// 1 (200 m)  DATA 1 ----- DATA 2 -----
/// 2 (250 m)                  ACK --      the first packet arrives
/// 2 (250 m)      ACK --                  the second does
/// 2 (250 m) ACK --                       before the header: none does
/// ```
#[test]
fn each_packet_is_lost_to_the_interference_that_it_met() {
    let mut setup = Setup::bursts(2);
    setup.sinr = true;
    let (from, other) = (30.0, setup.ack(2, 9));
    for (start, read) in [
        (from + 300.0, vec![1500]),
        (from + 60.0, vec![1400]),
        (from - 5.0, vec![]),
        (from + 1_000.0, vec![1500, 1400]),
    ] {
        let mut air = star(&setup, &[200.0, 250.0]);
        air.say(at(from), setup.burst(1, 0, &[(1500, 1), (1400, 2)]));
        air.say(at(start), other.clone());
        air.run_until(at(5_000.0));
        assert_eq!(delivered(&air), read, "interference at {start} us");
        let answers = usize::from(!read.is_empty());
        assert_eq!(air.times(0, FrameKind::BlockAck).len(), answers, "interference at {start} us");
    }
}

/// Two packets in one MPDU, two in a second: the first is lost and goes again as it is, with a new MPDU behind it.
///
/// ```text
/// 0  DATA(1 = a b, lost; 2 = c d)         (sent c d)  |DIFS|bo|DATA(1 = a b again, 3 = e)
/// 1                            SIFS BLOCK-ACK(2)                                    SIFS BLOCK-ACK(1, 3)
/// ```
#[test]
fn packets_of_an_mpdu_fare_as_one() {
    let mut setup = Setup::bursts(8);
    setup.phy.standard.aggregation.as_mut().expect("frames of several").amsdu = Bytes(1_200);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    let mut draws = Draws::of(&setup, 0);
    air.erased.push_back(only(&[0]));
    for size in [501, 502, 503, 504] {
        air.offer(at(0.0), 0, setup.packet(Some(1), size));
    }
    let data = DIFS + draws.backoff(15);
    air.offer(at(data + 1.0), 0, setup.packet(Some(1), 505));
    air.run_until(at(50_000.0));
    let frames: Vec<_> = air.frames_of(0).into_iter().map(|(_, frame)| frame).collect();
    let seqs = [vec![1, 1, 2, 2], vec![1, 1, 3]];
    for (frame, seqs) in frames.iter().zip(&seqs) {
        assert_eq!(numbers(frame).iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), *seqs);
    }
    assert_eq!(frames.len(), 2);
    // Each MPDU: delimiter 4, header and FCS 28 - 8, 22 + 501 padded to 524, 22 + 502; the first padded to a multiple of 4.
    let mpdu = |a: u64, b: u64| 4 + 20 + (22 + a).next_multiple_of(4) + 22 + b;
    assert_eq!(frames[0].size, Bytes(mpdu(501, 502).next_multiple_of(4) + mpdu(503, 504)));
    assert_eq!(frames[1].size, Bytes(mpdu(501, 502).next_multiple_of(4) + 4 + 28 + 505));
    assert_eq!(delivered(&air), [503, 504, 501, 502, 505]);
    let told: Vec<_> = air.frames_of(1).iter().filter_map(|(_, frame)| frame.block_ack().copied()).collect();
    assert_eq!((told[0].start, told[0].arrived), (1, only(&[1])));
    assert_eq!((told[1].start, told[1].arrived), (1, only(&[0, 2])));
    assert_eq!(air.sent[0], 5);
}
