//! Frames that are fixed before their turn.

use super::bursts::{ACK, ALONE, BLOCK_ACK, DIFS, PAIR, SIFS, numbers, only};
use crate::air::{Action, Air, Draws, Setup, What::*, at, line};
use meshpace_radio::FrameKind;

/// As [`Setup::bursts`], with so many frames ahead.
fn ahead(packets: usize, frames: usize) -> Setup {
    let mut setup = Setup::bursts(packets);
    setup.phy.standard.aggregation.as_mut().expect("frames of several").ahead = frames;
    setup
}

/// Numbers of the packets of each data frame of node 0.
fn frames(air: &Air) -> Vec<Vec<u16>> {
    let of_0 = air.frames_of(0).into_iter().filter(|(_, frame)| frame.kind == FrameKind::Data);
    of_0.map(|(_, frame)| numbers(&frame).into_iter().map(|(seq, _)| seq).collect()).collect()
}

/// With two frames ahead the first two packets have a frame each; what comes meanwhile goes together, once a place is free.
///
/// ```text
/// 0  |DIFS|bo|DATA(1)      (1 sent: 3 and 4 are fixed) |DIFS|bo|DATA(2)  ...  |DIFS|bo|DATA(3, 4)
/// 1                  SIFS ACK                                         SIFS ACK                   SIFS BLOCK-ACK
/// ```
#[test]
fn a_frame_has_what_waited_when_it_was_fixed() {
    let setup = ahead(4, 2);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    let mut draws = Draws::of(&setup, 0);
    for size in [1500, 1500, 1500, 1500] {
        air.offer(at(0.0), 0, setup.packet(Some(1), size));
    }
    let first = DIFS + draws.backoff(15);
    let first_sent = first + ALONE + SIFS + ACK;
    // Comes when the third frame is fixed, before its turn.
    air.offer(at(first_sent + 1.0), 0, setup.packet(Some(1), 1500));
    let second = first_sent + DIFS + draws.backoff(15);
    let second_sent = second + ALONE + SIFS + ACK;
    let third = second_sent + DIFS + draws.backoff(15);
    let script = [
        (first, 0, Data),
        (first + ALONE, 1, Deliver),
        (first + ALONE + SIFS, 1, Ack),
        (first_sent, 0, Sent),
        (second, 0, Data),
        (second + ALONE, 1, Deliver),
        (second + ALONE + SIFS, 1, Ack),
        (second_sent, 0, Sent),
        (third, 0, Data),
        (third + PAIR, 1, Deliver),
        (third + PAIR, 1, Deliver),
        (third + PAIR + SIFS, 1, BlockAck),
        (third + PAIR + SIFS + BLOCK_ACK, 0, Sent),
        (third + PAIR + SIFS + BLOCK_ACK, 0, Sent),
    ];
    air.expect(third + PAIR + SIFS + BLOCK_ACK + 1.0, &script);
    air.run_until(at(50_000.0));
    assert_eq!(frames(&air), [vec![1], vec![2], vec![3, 4], vec![5]]);
}

/// One frame ahead: the frame whose turn it is does not grow while it waits for the medium.
#[test]
fn a_frame_does_not_grow_while_it_waits() {
    for (frames_ahead, expected) in [(0, vec![vec![1, 2, 3]]), (1, vec![vec![1], vec![2, 3]])] {
        let setup = ahead(4, frames_ahead);
        let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
        (0..3).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1500)));
        air.run_until(at(50_000.0));
        assert_eq!(frames(&air), expected, "{frames_ahead} ahead");
    }
}

/// What a frame lost goes behind the frame that was fixed, with what waits then.
#[test]
fn what_was_lost_goes_behind_what_was_fixed() {
    let setup = ahead(8, 2);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.erased.push_back(only(&[0]));
    (0..4).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1500)));
    // 5 is fixed when 2 is through, 6 waits behind it.
    air.offer(at(500.0), 0, setup.packet(Some(1), 1500));
    air.offer(at(1_100.0), 0, setup.packet(Some(1), 1500));
    air.run_until(at(50_000.0));
    assert_eq!(frames(&air), [vec![1], vec![2], vec![3, 4], vec![5], vec![3, 6]]);
    assert_eq!(air.sent[0], 6);
}

/// A packet is given up while later packets wait in a frame that is fixed: the receiver learns the first of these packets, not the
/// number that comes next.
#[test]
fn what_is_fixed_is_still_to_come() {
    let mut setup = ahead(8, 2);
    setup.phy.retry_short = 1;
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.erased.push_back(only(&[0]));
    (0..4).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1500)));
    air.offer(at(500.0), 0, setup.packet(Some(1), 1500));
    air.run_until(at(50_000.0));
    assert_eq!(frames(&air), [vec![1], vec![2], vec![3, 4], vec![5]]);
    let released = air.log.iter().filter_map(|entry| match entry.action {
        Action::Release { start, .. } => Some(start),
        _ => None,
    });
    assert_eq!(released.collect::<Vec<_>>(), [5]);
    assert_eq!((air.sent[0], air.given_up[0]), (4, 1));
}

/// No number lies further than a window behind the first that was not acknowledged, whatever is fixed.
#[test]
fn the_window_counts_what_is_fixed() {
    let setup = ahead(3, 5);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
    (0..6).for_each(|_| air.offer(at(0.0), 0, setup.packet(Some(1), 1000)));
    air.run_until(at(10.0));
    // A frame each for 1, 2 and 3; 4 would be outside.
    assert_eq!(air.station(0).held(), 3);
}
