//! One undisturbed exchange.

use super::{ACK, CTS, DATA, DIFS, RTS, SIFS};
use crate::air::{Air, Draws, Setup, What::*, at, line, mbps, standard, us_between};
use meshpace_radio::{FrameKind, Preamble};
use meshpace_units::{Bytes, NodeId};

/// One packet from 0 to 1 at 200 m, over the air by `until`.
fn one_packet(setup: &Setup, size: u64, until: f64) -> Air {
    let mut air = Air::new(setup, &line(&[0.0, 200.0]));
    air.offer(at(0.0), 0, setup.packet(Some(1), size));
    air.run_until(at(until));
    assert_eq!((air.sent[0], air.given_up[0]), (1, 0));
    air
}

/// First bit of the first frame to the last bit of the ACK.
fn length(setup: &Setup, size: u64) -> f64 {
    let air = one_packet(setup, size, 20_000.0);
    let (first, _) = air.frames_of(0)[0];
    let (ack_at, ack) = air.frames_of(1).pop().expect("an ACK");
    assert_eq!(ack.kind, FrameKind::Ack);
    us_between(first, ack_at + ack.airtime)
}

/// ```text
/// 0  |DIFS|bo|RTS      SIFS DATA          (sent)
/// 1              SIFS CTS       SIFS ACK
/// ```
#[test]
fn an_exchange_takes_its_course() {
    let setup = Setup::dsss(11.0, true);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    let rts = DIFS + Draws::of(&setup, 0).backoff(31);
    let cts = rts + RTS + SIFS;
    let data = cts + CTS + SIFS;
    let ack = data + DATA + SIFS;
    let script = [
        (rts, 0, Rts),
        (cts, 1, Cts),
        (data, 0, Data),
        (data + DATA, 1, Deliver),
        (ack, 1, Ack),
        (ack + ACK, 0, Sent),
    ];
    air.expect(50_000.0, &script);
}

#[test]
fn isolated_exchanges_last_as_long_as_the_tables_say() {
    // schemes.md 17.2, both overheads.
    for (overhead, rts, packet, want) in [
        (34, true, 1500, 2297.6),
        (28, true, 1500, 2293.3),
        (34, false, 1500, 1621.6),
        (28, false, 1500, 1617.3),
        (34, true, 40, 1235.8),
        (34, false, 40, 559.8),
    ] {
        let mut setup = Setup::dsss(11.0, rts);
        setup.phy.mac_overhead = Bytes(overhead);
        let got = length(&setup, packet);
        assert!(
            (got - want).abs() < 0.06,
            "overhead {overhead}, RTS {rts}, {packet} B: {got} us, table {want} us"
        );
    }
}

#[test]
fn ofdm_exchanges_use_the_mandatory_rates() {
    // schemes.md 17.3: DATA (1536 bytes) 2072, 536, 248; RTS 20 bytes: 8 symbols at 6 Mbit/s, 2 at 24 Mbit/s.
    for (rate, control, [rts, cts, data, ack]) in [
        (6.0, 6.0, [52.0, 44.0, 2072.0, 44.0]),
        (18.0, 12.0, [36.0, 32.0, 704.0, 32.0]),
        (24.0, 24.0, [28.0, 28.0, 536.0, 28.0]),
        (54.0, 24.0, [28.0, 28.0, 248.0, 28.0]),
    ] {
        for with_rts in [true, false] {
            let mut setup = Setup::ofdm(rate, with_rts);
            setup.phy.mac_overhead = Bytes(36);
            let before_data = if with_rts { rts + cts + 2.0 * 16.0 } else { 0.0 };
            let want = before_data + data + 16.0 + ack;
            assert!((length(&setup, 1500) - want).abs() < 0.01, "{rate} Mbit/s");
            let air = one_packet(&setup, 1500, 20_000.0);
            let rates: Vec<_> =
                air.log.iter().filter_map(|e| e.frame()).map(|f| (f.kind, f.mode.rate)).collect();
            for (kind, got) in rates {
                let want = if kind == FrameKind::Data { rate } else { control };
                assert_eq!(got, mbps(want), "{kind:?} at {rate} Mbit/s");
            }
        }
    }
}

#[test]
fn erp_ofdm_has_short_slots_and_a_signal_extension() {
    let mut setup = Setup::ofdm(54.0, false);
    setup.phy.standard = standard("802.11g");
    setup.phy.mac_overhead = Bytes(36);
    assert!((length(&setup, 1500) - (248.0 + 6.0 + 10.0 + 28.0 + 6.0)).abs() < 0.01);
    let air = one_packet(&setup, 1500, 20_000.0);
    let first = 28.0 + f64::from(Draws::of(&setup, 0).slots(15)) * 9.0;
    assert_eq!(air.frames_of(0)[0].0, at(first));
}

/// schemes.md 17.3: ns-2 with nothing but its data rate raised.
#[test]
fn ns2_without_ofdm_sends_the_payload_at_54_mbps_after_a_dsss_preamble() {
    let mut setup = Setup::dsss(54.0, false);
    setup.phy.standard = standard("802.11g-ns2");
    let data = 192.0 + 1534.0 * 8.0 / 54.0;
    assert!((length(&setup, 1500) - (data + SIFS + ACK)).abs() < 0.0015);
}

#[test]
fn each_hop_of_the_exchange_adds_its_propagation_delay() {
    let mut setup = Setup::dsss(11.0, true);
    setup.no_delay = false;
    let air = one_packet(&setup, 1500, 20_000.0);
    let (first, sent) = (air.frames_of(0)[0].0, air.log.last().expect("an entry").at);
    assert!((us_between(first, sent) - (RTS + CTS + DATA + ACK + 3.0 * SIFS + 4.0 * 0.667)).abs() < 0.0015);
}

#[test]
fn the_short_preamble_shortens_frames_above_1_mbps() {
    let mut setup = Setup::dsss(11.0, true);
    setup.phy.preamble = Preamble::Short;
    assert!((length(&setup, 1500) - (RTS + CTS + DATA - 96.0 + ACK + 3.0 * SIFS)).abs() < 0.0015);
    setup.phy.basic = setup.mode_of(mbps(2.0));
    let (rts, answer) = (96.0 + 80.0, 96.0 + 56.0);
    assert!((length(&setup, 1500) - (rts + answer + DATA - 96.0 + answer + 3.0 * SIFS)).abs() < 0.0015);
}

#[test]
fn every_packet_has_its_own_rate() {
    let setup = Setup::dsss(11.0, false);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    let rates = [1.0, 2.0, 5.5, 11.0];
    for rate in rates {
        air.offer(at(0.0), 0, Setup::dsss(rate, false).packet(Some(1), 1500));
    }
    air.run_until(at(60_000.0));
    let data: Vec<_> =
        air.frames_of(0).into_iter().map(|(_, f)| (f.mode.rate, f.airtime.as_micros())).collect();
    let want = [192 + 12_272, 192 + 6136, 192 + 2231, 192 + 1115];
    assert_eq!(data, rates.into_iter().map(mbps).zip(want).collect::<Vec<_>>());
    assert_eq!(air.sent[0], 4);
}

#[test]
fn the_rts_threshold_compares_the_mpdu() {
    let mut setup = Setup::dsss(11.0, true);
    setup.phy.rts_threshold = Some(Bytes(1534));
    for (size, kinds) in [(1500, vec![FrameKind::Rts, FrameKind::Data]), (1499, vec![FrameKind::Data])] {
        let air = one_packet(&setup, size, 20_000.0);
        assert_eq!(air.frames_of(0).iter().map(|(_, f)| f.kind).collect::<Vec<_>>(), kinds);
    }
}

#[test]
fn duration_fields_announce_the_rest_of_the_exchange() {
    // ns2-behaviour 3.1, in whole microseconds: 3 SIFS + CTS + DATA + ACK, less at every further frame.
    let air = one_packet(&Setup::dsss(11.0, true), 1500, 20_000.0);
    let durations: Vec<_> =
        air.log.iter().filter_map(|e| e.frame()).map(|f| (f.kind, f.duration.as_nanos() / 1000)).collect();
    let want = [(FrameKind::Rts, 1946), (FrameKind::Cts, 1632), (FrameKind::Data, 314), (FrameKind::Ack, 0)];
    assert_eq!(durations, want);
}

#[test]
fn sequence_numbers_count_packets_not_attempts() {
    let setup = Setup::dsss(11.0, false);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0, 400.0])).puppets(&[1]);
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.offer(at(0.0), 0, setup.packet(None, 100));
    air.offer(at(0.0), 0, setup.packet(Some(1), 1500));
    air.run_until(at(500_000.0));
    let frames: Vec<_> =
        air.frames_of(0).into_iter().map(|(_, f)| (f.to, f.packets()[0].seq, f.retry)).collect();
    let seq = |i: usize| frames[i].1;
    for (i, (to, ..)) in frames.iter().enumerate() {
        assert_eq!(*to, if i == 7 { None } else { Some(NodeId(1)) });
    }
    assert_eq!(frames.len(), 15);
    for i in 1..7 {
        assert_eq!((seq(i), frames[i].2), (seq(0), true));
        assert_eq!((seq(i + 8), frames[i + 8].2), (seq(8), true));
    }
    assert!(!frames[0].2 && !frames[7].2 && !frames[8].2);
    assert_eq!((seq(7), seq(8)), (seq(0) + 1, seq(0) + 2));
}
