//! Frames of several packets: each is read or lost, acknowledged, sent again and given up by itself.

use super::properties::{Scenario, assert_same, scenario};
use super::star;
use crate::air::{Action, Air, Draws, Entry, Setup, What::*, at, line};
use meshpace_radio::phy::{ACK_BYTES, BLOCK_ACK_REQ_BYTES, mpdus};
use meshpace_radio::standard::Aggregation;
use meshpace_radio::{Bitmap, Frame, FrameKind, Peer, Priority, Reorder};
use meshpace_units::{Bytes, Dscp, Instant, NodeId, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

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

/// The block acknowledgement was lost. What came is not sent again, and the rest goes with what waits.
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

/// A packet of a frame is given up while others arrived: the receiver is told at once, though nothing else waits.
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

/// A packet alone in its frame is given up: the receiver is told before the next one for it.
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

/// What goes up behind reorder buffers.
#[derive(Default)]
struct Up {
    /// Number and handle of the packets in the order in which they go up, by receiver and neighbour.
    packets: BTreeMap<(u32, Peer), Vec<(u16, u32)>>,
    /// MPDUs that came too late.
    late: usize,
    /// Packets that wait still.
    held: usize,
    /// All that were delivered.
    delivered: usize,
}

/// What goes up behind a reorder buffer at each receiver. The buffers are as wide as the sender takes them to be; no clock runs.
fn in_order(air: &Air) -> Up {
    let window = air.config.phy.standard.most_packets();
    let mut buffers: BTreeMap<(u32, Peer), Reorder<(u16, u32)>> = BTreeMap::new();
    let mut all = Up::default();
    // Of the MPDU whose packets are delivered one after another.
    let mut together = Vec::new();
    for entry in &air.log {
        let from = match entry.action {
            Action::Deliver { from, seq: Some(_), packet, .. } => {
                Peer { node: from, priority: packet.priority }
            }
            Action::Release { from, .. } => from,
            _ => continue,
        };
        let buffer = buffers.entry((entry.node, from)).or_insert_with(|| Reorder::new(window));
        let up = all.packets.entry((entry.node, from)).or_default();
        match entry.action {
            Action::Deliver { seq: Some(seq), packet, more, .. } => {
                together.push((seq, packet.handle));
                if !more {
                    all.delivered += together.len();
                    let late = buffer.arrived_together(Instant::ZERO, seq, together.drain(..), up);
                    all.late += usize::from(late);
                }
            }
            Action::Release { start, .. } => buffer.starts_at(start, up),
            _ => {}
        }
    }
    assert_eq!(together, [], "the rest of an MPDU was not delivered");
    all.held = buffers.values().map(Reorder::held).sum();
    all
}

/// Every packet lies within a window from the first that its receiver has not acknowledged, as long as it has not been given up.
fn within_windows(air: &Air) -> Result<(), TestCaseError> {
    let window = air.config.phy.standard.most_packets();
    // By handle: of whom, for whom, which number.
    let mut unacknowledged: BTreeMap<u32, (u32, Peer, u16)> = BTreeMap::new();
    for entry in &air.log {
        match &entry.action {
            Action::Transmit(frame) => {
                let Some(to) = frame.packets().first().and_then(|mpdu| mpdu.packet.peer()) else { continue };
                for mpdu in frame.packets() {
                    unacknowledged.insert(mpdu.packet.handle, (entry.node, to, mpdu.seq));
                }
                let for_it = unacknowledged.values().filter(|sent| (sent.0, sent.1) == (entry.node, to));
                let oldest = for_it.map(|sent| sent.2).min();
                for mpdu in frame.packets() {
                    let ahead = mpdu.seq - oldest.unwrap_or(mpdu.seq);
                    prop_assert!(usize::from(ahead) < window, "{} from {:?}: {:?}", mpdu.seq, oldest, frame);
                }
            }
            Action::Sent(packet) | Action::GaveUp(packet) => {
                unacknowledged.remove(&packet.handle);
            }
            _ => {}
        }
    }
    Ok(())
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

/// Bytes of an A-MSDU by hand: 14 of header and 8 of LLC/SNAP each, each but the last padded to 4.
fn amsdu(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, |end, size| end.div_ceil(4) * 4 + 14 + 8 + size)
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

fn dscp(number: u8) -> Dscp {
    Dscp::new(number).expect("six bits")
}

/// The random scenarios of one packet a frame, with more, of which the links lose some.
fn bursts(on_grid: bool) -> impl Strategy<Value = (Scenario, Vec<Bitmap>)> {
    let lost = vec(any::<[bool; 4]>(), 0..40).prop_map(|frames| {
        let places = |frame: [bool; 4]| (0..4).filter(|at| frame[*at]).collect::<Vec<_>>();
        frames.into_iter().map(|frame| only(&places(frame))).collect::<Vec<_>>()
    });
    let limits = (2..9usize, 1_000..8_000u64, 0..4usize, prop_oneof![Just(0u64), 100..4_000u64]);
    // Of best effort alone, or of codepoints of all categories.
    let classes = prop_oneof![Just(vec![Dscp::DEFAULT]), vec((0..64u8).prop_map(dscp), 1..60)];
    (scenario(on_grid), limits, lost, classes).prop_map(|(mut scenario, limits, lost, classes)| {
        let (packets, bytes, ahead, amsdu) = limits;
        let (bytes, amsdu) = (Bytes(bytes), Bytes(amsdu));
        let (delimiter, airtime) = (Bytes(4), Span::from_millis(8));
        let aggregation = Aggregation { packets, bytes, airtime, delimiter, alignment: 4, ahead, amsdu };
        scenario.setup.phy.standard.aggregation = Some(aggregation);
        // Packets that come close together, for the same neighbours.
        for (at, (when, node, packet)) in scenario.packets.iter_mut().enumerate() {
            *when = *when - Span::from_nanos(when.as_nanos() / 20 * 19);
            (*node, packet.to) = if at % 3 == 0 { (*node, packet.to) } else { (0, Some(NodeId(1))) };
            packet.priority = Priority::of(classes[at % classes.len()]);
        }
        (scenario, lost)
    })
}

fn run(scenario: &Scenario, lost: &[Bitmap], eager: bool) -> Air {
    let mut air = scenario.air();
    air.erased.extend(lost);
    (air.eager, air.postponing) = (eager, !eager);
    scenario.run(air)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every packet is sent or given up, once; one is delivered to its receiver at most once, and goes up in order. No frame is
    /// beyond its limits, no number outside its window.
    #[test]
    fn every_packet_of_a_burst_has_one_fate((scenario, lost) in prop_oneof![bursts(true), bursts(false)]) {
        let air = run(&scenario, &lost, false);
        let (mut fates, mut arrived) = (vec![0; scenario.packets.len()], vec![0; scenario.packets.len()]);
        let limits = scenario.setup.phy.standard.aggregation.expect("set above");
        for entry in &air.log {
            match &entry.action {
                Action::Sent(packet) | Action::GaveUp(packet) => fates[packet.handle as usize] += 1,
                Action::Deliver { packet, .. } => {
                    prop_assert!(packet.to.is_none_or(|to| to.0 == entry.node));
                    arrived[packet.handle as usize] += u32::from(packet.to.is_some());
                }
                Action::Transmit(frame) if frame.is_several() => {
                    prop_assert!(frame.to.is_some() && mpdus(frame.packets()).count() <= limits.packets, "{:?}", frame);
                    for mpdu in mpdus(frame.packets()).filter(|mpdu| mpdu.len() > 1) {
                        prop_assert!(amsdu(mpdu.iter().map(|mpdu| mpdu.packet.size.0)) <= limits.amsdu.0, "{:?}", mpdu);
                    }
                    prop_assert!(frame.size <= limits.bytes && frame.airtime <= limits.airtime, "{:?}", frame);
                    prop_assert!(frame.packets().iter().all(|mpdu| mpdu.packet.to == frame.to), "{:?}", frame);
                    let priority = frame.packets()[0].packet.priority;
                    prop_assert!(frame.packets().iter().all(|mpdu| mpdu.packet.priority == priority), "{:?}", frame);
                }
                Action::Transmit(_) | Action::Release { .. } => {}
            }
        }
        prop_assert!(fates.iter().all(|n| *n == 1), "{:?}", fates);
        let up = in_order(&air);
        prop_assert_eq!(up.late, 0, "a window moved past a packet that was not given up");
        for (pair, packets) in &up.packets {
            prop_assert!(packets.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{:?}: {:?}", pair, packets);
        }
        let went_up: usize = up.packets.values().map(Vec::len).sum();
        prop_assert_eq!(went_up + up.held, up.delivered);
        within_windows(&air)?;
        prop_assert!(arrived.iter().all(|n| *n <= 1), "{:?}", arrived);
    }

    /// Whatever is lost, an MPDU of several packets is the same whenever it is sent, has one fate, and goes up once, whole, its packets
    /// in their order, or not at all.
    #[test]
    fn an_mpdu_of_several_packets_is_never_parted((scenario, lost) in bursts(false)) {
        let air = run(&scenario, &lost, false);
        // Handles by receiver, sender and number.
        let mut sent: BTreeMap<(u32, Peer, u16), Vec<u32>> = BTreeMap::new();
        let mut fates: BTreeMap<u32, bool> = BTreeMap::new();
        for entry in &air.log {
            match &entry.action {
                Action::Transmit(frame) if frame.is_several() => {
                    let to = frame.to.expect("for a neighbour").0;
                    for mpdu in mpdus(frame.packets()) {
                        let handles: Vec<_> = mpdu.iter().map(|mpdu| mpdu.packet.handle).collect();
                        let from = Peer { node: frame.from, priority: mpdu[0].packet.priority };
                        let before = sent.entry((to, from, mpdu[0].seq)).or_insert_with(|| handles.clone());
                        prop_assert_eq!(&*before, &handles);
                    }
                }
                Action::Sent(packet) => drop(fates.insert(packet.handle, true)),
                Action::GaveUp(packet) => drop(fates.insert(packet.handle, false)),
                _ => {}
            }
        }
        for handles in sent.values() {
            prop_assert!(handles.iter().all(|handle| fates[handle] == fates[&handles[0]]), "{:?}", handles);
        }
        for ((to, from), packets) in in_order(&air).packets {
            // A number that came twice would be longer than what was sent.
            for mpdu in packets.chunk_by(|one, next| one.0 == next.0) {
                let handles: Vec<_> = mpdu.iter().map(|(_, handle)| *handle).collect();
                // Of a frame of one packet there is nothing to part.
                let whole = sent.get(&(to, from, mpdu[0].0)).map_or(handles.len() == 1, |sent| *sent == handles);
                prop_assert!(whole, "{:?} of {:?}", handles, sent);
            }
        }
    }

    /// With RTS/CTS for everything, an acknowledged packet has arrived.
    #[test]
    fn what_a_block_acknowledgement_names_was_delivered((mut scenario, lost) in bursts(false)) {
        scenario.setup.phy.rts_threshold = Some(Bytes(0));
        let air = run(&scenario, &lost, false);
        let mut delivered = vec![false; scenario.packets.len()];
        for entry in &air.log {
            match entry.action {
                Action::Deliver { packet, .. } => delivered[packet.handle as usize] = true,
                Action::Sent(packet) if packet.to.is_some() => {
                    prop_assert!(delivered[packet.handle as usize], "{:?}", packet);
                }
                _ => {}
            }
        }
    }

    /// Laziness is exact with bursts, too.
    #[test]
    fn looking_at_bursts_at_once_changes_nothing((scenario, lost) in bursts(false)) {
        let (lazy, eager) = (run(&scenario, &lost, false), run(&scenario, &lost, true));
        assert_same(&lazy, &eager, scenario.positions.len())?;
    }
}
