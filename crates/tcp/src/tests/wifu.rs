//! WiFu's TCP and its rate limiter (schemes.md 5, 2.1).

use super::script::{Out, Script, data, ms};
use crate::control::{Fixed, Rules, Waiting, WifuKhd, tahoe};
use crate::{Config, Ns2Stamp};
use alloc::vec::Vec;
use meshpace_pacing::AdaptiveConfig;
use meshpace_units::{Instant, Span};

/// Payload of a full segment: 1500 bytes less 20 of IP and 32 of TCP.
const MSS: u64 = 1448;

fn full(n: u64) -> Out {
    data((n - 1) * MSS..n * MSS)
}

/// A connection to a peer whose segments carry timestamps, as it insists on.
fn established(config: Config) -> Script {
    let mut s = Script::established(config);
    s.options.timestamps = Some(crate::Timestamps { value: 1, echo: 0 });
    s
}

/// The peer has everything up to segment `n`.
fn ack(s: &mut Script, at: u64, n: u64) {
    s.ack(at, n * MSS);
}

/// The pacing part `Fixed` at 10 ms beside WiFu's Tahoe, with more of a window to begin with.
fn paced(waiting: Waiting) -> Script {
    let rules = Rules { initial_window: crate::control::InitialWindow::Segments(6.0), ..Rules::WIFU };
    let config = Config::wifu().controlled_by(tahoe(rules));
    established(config.paced_by(Fixed::new(Span::from_millis(10)).waiting(waiting)))
}

#[test]
fn one_segment_then_slow_start_up_to_45_whole_ones() {
    let mut s = established(Config::wifu());
    s.write_endless(0);
    s.expect(0, &[full(1)]);
    ack(&mut s, 10, 1);
    s.expect(10, &[full(2), full(3)]);
    let mut sent = 3;
    for n in 2..200 {
        ack(&mut s, 10 + n, n);
        sent += s.out.drain(..).count() as u64;
        // 65,535 bytes are 45 segments and 375 bytes.
        assert!(sent - n <= 45, "{} outstanding", sent - n);
    }
    assert_eq!(sent - 199, 45);
    assert_eq!(s.tcp.rto(), Span::from_secs(1), "never less");
}

#[test]
fn three_seconds_before_the_first_round_trip_one_after_it_and_it_doubles() {
    let mut s = Script::connect(Config::wifu());
    s.expect_until(9_000, &[0, 3_000, 9_000].map(|at| (at, Out::syn())));
    // The handshake told a round trip.
    let mut s = established(Config::wifu());
    s.write(0, 10_000);
    s.expect_until(7_000, &[0, 1_000, 3_000, 7_000].map(|at| (at, full(1))));
}

#[test]
fn a_loss_leaves_one_segment_and_half_of_what_was_outstanding() {
    for (duplicates, threshold) in [(3, 3), (4, 4)] {
        let rules = Rules { duplicate_threshold: threshold, ..Rules::WIFU };
        let mut s = established(Config::wifu().controlled_by(tahoe(rules)));
        s.write_endless(0);
        (1..20).for_each(|n| ack(&mut s, n, n));
        s.out.clear();
        let outstanding = 20.0;
        for n in 1..duplicates {
            ack(&mut s, 100 + n, 19);
        }
        s.expect(110, &[]); // no limited transmit
        ack(&mut s, 110, 19);
        s.expect(110, &[full(20)]);
        assert_eq!((s.cwnd(), s.tcp.ssthresh()), (1.0, Some(outstanding / 2.0)));
    }
}

/// When the lost segment, the second of six, leaves again; a segment every 10 ms.
fn retransmission(waiting: Waiting) -> (Vec<u64>, Option<u64>) {
    let mut s = paced(waiting);
    s.write(0, 12 * MSS);
    s.advance(ms(12));
    // 1 is acknowledged; of the window of 7 five segments wait. Two that followed 2 were already there, and a third.
    ack(&mut s, 12, 1);
    s.advance(ms(21));
    s.out.clear();
    for at in [22, 23, 24] {
        ack(&mut s, at, 1);
    }
    s.advance(ms(200));
    let again: Vec<u64> = s
        .out
        .iter()
        .filter(|(_, transmit)| transmit.offset == MSS)
        .map(|(at, _)| at.as_nanos() / 1_000_000)
        .collect();
    let all = s.out.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    (all, again.first().copied())
}

#[test]
fn retransmissions_wait_behind_what_is_queued() {
    // The queue lets nothing past: the segments 4 to 8 leave first, at 30 to 70 ms.
    let (all, again) = retransmission(Waiting::All);
    assert_eq!(again, Some(80), "{all:?}");
    assert_eq!(all, [30, 40, 50, 60, 70, 80]);
    // Past the queue, which keeps what the window had let out.
    let (all, again) = retransmission(Waiting::Data);
    assert_eq!(again, Some(24), "{all:?}");
    assert!(all.len() > 2, "{all:?}");
    // Permission: what leaves is chosen then, and a window of one segment lets nothing else out.
    assert_eq!(retransmission(Waiting::Permission), ([24].into(), Some(24)));
}

#[test]
fn nothing_waits_before_the_first_sample_and_the_law_is_of_the_echoed_departure() {
    let pacing = WifuKhd::new(AdaptiveConfig::WIFU, Waiting::All);
    let mut s = established(Config::wifu().paced_by(pacing));
    s.hops = Some(1);
    s.write_endless(0);
    s.expect(0, &[full(1)]);
    assert_eq!(s.tcp.pacing().interval, None);
    // The receiver echoes the departure at 0: 40 ms, over one hop of 2 Mbit/s. KHD = 2 (RTT - s_ack/b), of four hops.
    s.raw(40, |segment| {
        segment.ack = super::script::ISS + 1 + MSS as u32;
        segment.ns2 = Some(Ns2Stamp { sent: ms(40), echo: Some(Instant::ZERO) });
    });
    let expected = Span::from_secs_f64(2.0 * (0.040 - 8.0 * 52.0 / 2e6));
    assert_eq!((s.tcp.pacing().interval, s.tcp.pacing().samples), (Some(expected), 1));
}
