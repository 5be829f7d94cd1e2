//! Frames whose modes are chosen one by one: what fits goes, the rest waits aside, and each exchange is told.

use super::bursts::{numbers, only};
use crate::air::{Action, Air, Setup, at, line, mbps};
use meshpace_radio::{Bitmap, FrameKind, Mode};
use proptest::prelude::*;

/// Two stations, frames of eight packets and 5 ms at the most, so many packets of 1,500 bytes at time 0.
fn air(setup: &Setup, packets: u32) -> Air {
    let mut air = Air::new(setup, &line(&[0.0, 200.0]));
    air.config.told_of_exchanges = true;
    for handle in 0..packets {
        let packet = meshpace_radio::MacPacket { handle, ..setup.packet(Some(1), 1_500) };
        air.offer(at(0.0), 0, packet);
    }
    air
}

/// Numbers of the packets of each data frame, and its Mbit/s.
fn frames(air: &Air) -> Vec<(Vec<u16>, u64)> {
    let data = air.frames_of(0).into_iter().filter(|(_, frame)| frame.kind == FrameKind::Data);
    let each = data.map(|(_, frame)| {
        let numbers = numbers(&frame).into_iter().map(|(seq, _)| seq).collect();
        (numbers, frame.mode.rate.as_bits_per_sec() / 1_000_000)
    });
    each.collect()
}

/// MPDUs sent and arrived, exchange by exchange.
fn exchanges(air: &Air) -> Vec<(u16, u16)> {
    let told = air.log.iter().filter_map(|entry| match &entry.action {
        Action::Exchanged(exchange) => Some((exchange.sent, exchange.acknowledged)),
        _ => None,
    });
    told.collect()
}

fn fast(setup: &Setup) -> &'static Mode {
    setup.mode()
}

/// At 6 Mbit/s 5 ms have 3,735 bytes: two MPDUs of 1,528 behind delimiters.
fn slow(setup: &Setup) -> &'static Mode {
    setup.mode_of(mbps(6.0))
}

/// Three of four packets are lost. At 6 Mbit/s two of them go, and the third waits; when the first is lost again, it goes with the third
/// at 54 Mbit/s.
#[test]
fn what_does_not_fit_waits_until_it_does() {
    let setup = Setup::bursts(8);
    let mut air = air(&setup, 4);
    air.choices = [(fast(&setup), false), (slow(&setup), false), (fast(&setup), false)].into();
    air.erased = [only(&[0, 1, 2]), only(&[0])].into();
    air.run_until(at(100_000.0));
    assert_eq!(frames(&air), [(vec![1, 2, 3, 4], 54), (vec![1, 2], 6), (vec![1, 3], 54)]);
    assert_eq!(exchanges(&air), [(4, 1), (2, 1), (2, 2)]);
}

/// A packet that waits aside goes before later packets.
#[test]
fn what_waits_aside_goes_next() {
    let setup = Setup::bursts(8);
    let mut air = air(&setup, 4);
    air.choices = [(fast(&setup), false), (slow(&setup), false), (slow(&setup), false)].into();
    air.erased = [only(&[0, 1, 2])].into();
    air.offer(at(500.0), 0, setup.packet(Some(1), 1_500));
    air.run_until(at(100_000.0));
    assert_eq!(frames(&air), [(vec![1, 2, 3, 4], 54), (vec![1, 2], 6), (vec![3, 5], 6)]);
}

#[test]
fn a_mode_is_tried_with_one_mpdu() {
    let setup = Setup::bursts(8);
    let mut air = air(&setup, 4);
    air.choices = [(fast(&setup), true), (fast(&setup), false)].into();
    air.run_until(at(100_000.0));
    assert_eq!(frames(&air), [(vec![1], 54), (vec![2, 3, 4], 54)]);
    assert_eq!(exchanges(&air), [(1, 1), (3, 3)]);
}

/// No station answers: every attempt is reported in its own mode, until the packet is given up.
#[test]
fn attempts_that_fail_are_told() {
    let setup = Setup::ofdm(54.0, false);
    let mut air = air(&setup, 1).puppets(&[1]);
    let modes = [54.0, 54.0, 48.0, 36.0, 24.0, 12.0, 6.0];
    air.choices = modes.map(|rate| (setup.mode_of(mbps(rate)), false)).into();
    air.run_until(at(1e6));
    assert_eq!(frames(&air).iter().map(|(_, rate)| *rate as f64).collect::<Vec<_>>(), modes);
    assert_eq!(exchanges(&air), [(1_u16, 0_u16); 7]);
    assert_eq!(air.given_up[0], 1);
}

/// An RTS that gets no answer is no exchange of data.
#[test]
fn an_rts_in_vain_is_not_told() {
    let setup = Setup::ofdm(54.0, true);
    let mut air = air(&setup, 1).puppets(&[1]);
    air.run_until(at(1e6));
    assert!(exchanges(&air).is_empty() && air.given_up[0] == 1);
}

proptest! {
    /// For any modes and losses: every packet has one end, no frame of several packets is longer than its limit, and each data frame is
    /// reported.
    #[test]
    fn every_packet_has_one_end(
        packets in 1_u32..30,
        choices in prop::collection::vec((0_usize..8, any::<bool>()), 1..40),
        lost in prop::collection::vec(prop::collection::vec(0_usize..8, 0..8), 0..40),
        ahead in 0_usize..3,
    ) {
        let mut setup = Setup::bursts(8);
        setup.phy.standard.aggregation.as_mut().expect("frames of several").ahead = ahead;
        let rates = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
        let mut air = air(&setup, packets);
        // A control is asked at every win: what waits aside may be too long for its mode until then.
        let choice = |(rate, alone): &(usize, bool)| (setup.mode_of(mbps(rates[*rate])), *alone);
        air.choices = choices.iter().cycle().take(1_000).map(choice).collect();
        air.erased = lost.iter().map(|places| only(places)).collect::<Vec<Bitmap>>().into();
        air.run_until(at(5e6));
        let mut ends = vec![0; packets as usize];
        for entry in &air.log {
            match &entry.action {
                Action::Sent(packet) | Action::GaveUp(packet) => ends[packet.handle as usize] += 1,
                _ => {}
            }
        }
        prop_assert!(ends.iter().all(|count| *count == 1), "{ends:?}");
        for (_, frame) in air.frames_of(0) {
            let longest = if frame.packets().len() > 1 { 5_000 } else { 20_000 };
            prop_assert!(frame.airtime.as_micros() <= longest, "{frame:?}");
        }
        let sent: Vec<_> = frames(&air).iter().map(|(numbers, _)| numbers.len() as u16).collect();
        prop_assert_eq!(exchanges(&air).iter().map(|(sent, _)| *sent).collect::<Vec<_>>(), sent);
    }
}
