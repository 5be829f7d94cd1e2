//! Wired-to-wireless flows: the gateway paces them (schemes.md 3.3, 3.4).

use crate::common::*;
use meshpace_gateway::{Action, Config, DiscardReason, Rewrite, Side};
use meshpace_pacing::{Departures, LinkRates};
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Bytes, Rate, Span};

/// One 40 ms round trip over 4 hops at 2 Mbit/s: 31.68 ms (schemes.md 1.4), no variation yet.
const INTERVAL: Span = Span::from_micros(31_680);

#[test]
fn nothing_is_held_before_the_first_sample() {
    let mut s = Script::established(config());
    for i in 0..10 {
        let data = s.down(i * MSS, MSS, 0);
        s.forwards(Side::Wired, &data);
    }
    assert_eq!(s.stats().interval, None);
    s.now = ms(40);
    let ack = s.ack(10 * MSS);
    s.forwards(Side::Wireless, &ack);
    assert_eq!(s.stats().interval, Some(INTERVAL));
    assert_eq!((s.stats().samples, s.stats().wireless_rtt), ((1, 0), Some(Span::from_millis(40))));
}

#[test]
fn then_packets_leave_an_interval_apart_in_order() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40); // sent at 0 ms, so the token is back since 31.68 ms
    let packets: Vec<_> = (0..4).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &packets[0]);
    let held: Vec<_> = packets[1..].iter().map(|p| s.holds(p)).collect();
    assert_eq!(s.departures(), [], "silence until due");
    let start = s.now;
    let left = s.run_until(start + Span::from_millis(200));
    let expected: Vec<_> = (1..).zip(&held).map(|(n, &packet)| (start + INTERVAL * n, packet)).collect();
    assert_eq!(left, expected);
    assert_eq!((s.gateway.held(), s.gateway.counters().released), (0, 3));
}

#[test]
fn after_a_pause_a_token_lets_a_packet_pass_and_a_timer_its_next_tick() {
    for (departures, left) in [(Departures::Token, None), (Departures::Timer, Some(ms(40) + INTERVAL * 6))] {
        let mut s = Script::established(Config { departures, ..config() });
        let base = s.sample(0, 40);
        let data = s.down(base, MSS, 0);
        s.forwards(Side::Wired, &data); // at 40 ms, which starts the timer
        s.now = ms(200);
        let data = s.down(base + MSS, MSS, 0);
        match left {
            None => drop(s.forwards(Side::Wired, &data)),
            Some(tick) => {
                let held = s.holds(&data);
                assert_eq!(s.run_until(ms(300)), [(tick, held)]);
            }
        }
    }
}

#[test]
fn a_new_pace_moves_what_waits() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let packets: Vec<_> = (0..3).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &packets[0]); // at 40 ms
    let second = s.holds(&packets[1]);
    let third = s.holds(&packets[2]);
    // A round trip of 20 ms at 60 ms is less than the air time of 4 * 6.384 ms, so there is no queueing: FHD is 4 * 6.112
    // ms, smoothed 0.7 * 31.68 + 0.3 * 24.448 = 29.5104 ms; the samples 40 and 20 have mean 30 and deviation 14.142:
    // times 1 + 2 * 0.471405.
    s.now = ms(60);
    let ack = s.ack(base + MSS);
    s.forwards(Side::Wireless, &ack);
    let interval = s.stats().interval.unwrap();
    assert!((interval.as_secs_f64() - 0.057_333_07).abs() < 1e-8, "{interval:?}");
    assert_eq!(
        s.run_until(ms(300)),
        [(ms(40) + interval, second), (ms(40) + interval * 2, third)],
        "counted from the last departure"
    );
}

#[test]
fn the_departure_not_the_arrival_starts_the_round_trip() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let (first, second) = (s.down(base, MSS, 0), s.down(base + MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    s.holds(&second);
    s.run_until(ms(40) + INTERVAL); // the second leaves at 71.68 ms
    s.now = ms(40) + INTERVAL + Span::from_millis(40);
    let ack = s.ack(base + 2 * MSS);
    s.forwards(Side::Wireless, &ack);
    // Two equal samples of 40 ms: the same pace, no variation. The newest covered segment is the second.
    assert_eq!((s.stats().interval, s.stats().variation), (Some(INTERVAL), 0.0));
}

#[test]
fn a_segment_sent_twice_gives_no_sample() {
    let mut s = Script::established(config());
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    s.now = ms(300);
    s.forwards(Side::Wired, &data);
    s.now = ms(340);
    let ack = s.ack(MSS);
    s.forwards(Side::Wireless, &ack);
    assert_eq!(s.stats().samples, (0, 0));
}

#[test]
fn an_ack_of_data_not_sent_gives_no_sample() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let before = s.stats();
    let (first, second) = (s.down(base, MSS, 0), s.down(base + MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    s.holds(&second);
    // The second is still held here: its ACK is a lie, and so is one of data nobody sent.
    for bytes in [base + 2 * MSS, base + 900 * MSS] {
        let ack = s.ack(bytes);
        s.forwards(Side::Wireless, &ack);
    }
    assert_eq!((s.stats().samples, s.stats().interval), (before.samples, before.interval));
}

#[test]
fn acks_and_syns_are_not_paced_and_the_fin_stays_behind() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let data: Vec<_> = (0..2).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &data[0]);
    let held = s.holds(&data[1]);
    let ack = s.down(base + 2 * MSS, 0, 0);
    s.forwards(Side::Wired, &ack);
    let fin = Segment { flags: FIN_ACK, ..ack };
    let fin = s.holds(&fin);
    assert_eq!(s.run_until(ms(300)).iter().map(|&(_, p)| p).collect::<Vec<_>>(), [held, fin]);
}

#[test]
fn two_flows_do_not_block_each_other_and_leave_in_order_of_eligibility() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    s.flow = 2;
    s.now = ms(0);
    s.handshake();
    let (first, second) = (s.down(0, MSS, 0), s.down(MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    s.now = ms(20);
    let ack = s.ack(MSS);
    s.forwards(Side::Wireless, &ack); // 20 ms: an interval of 24.448 ms, counted from 0
    s.now = ms(21);
    let other = s.holds(&second);
    s.now = ms(40);
    s.flow = 1;
    let one: Vec<_> = (0..2).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &one[0]);
    let own = s.holds(&one[1]);
    // Polled late, at 80 ms: flow 2 was eligible at 24.448 ms, flow 1 at 71.68 ms.
    s.now = ms(80);
    s.releases(&[other, own]);
}

#[test]
fn a_late_driver_does_not_slow_the_flow_down_nor_make_it_burst() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let data: Vec<_> = (0..4).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &data[0]);
    let held: Vec<_> = data[1..].iter().map(|p| s.holds(p)).collect();
    // 0.9 ms late is within the tolerance: the next is due an interval after the due time.
    let due = ms(40) + INTERVAL;
    s.now = due + Span::from_micros(900);
    s.releases(&held[..1]);
    assert_eq!(s.gateway.poll_timeout(), Some(due + INTERVAL));
    // 100 ms late, three intervals: one packet, and the next counts from 1 ms ago.
    s.now = due + INTERVAL + Span::from_millis(100);
    s.releases(&held[1..2]);
    assert_eq!(s.gateway.poll_timeout(), Some(s.now - Span::from_millis(1) + INTERVAL));
}

#[test]
fn at_high_rates_what_is_due_within_a_burst_leaves_together_and_no_more() {
    // 1 Gbit/s of full packets.
    let mut s = Script::established(Config { initial_interval: Some(Span::from_micros(12)), ..config() });
    let data: Vec<_> = (0..200).map(|i| s.down(i * 100, 100, 0)).collect();
    s.forwards(Side::Wired, &data[0]);
    let held: Vec<_> = data[1..].iter().map(|p| s.holds(p)).collect();
    assert_eq!((s.gateway.poll_timeout(), s.gateway.poll_latest()), (Some(us(12)), Some(us(512))));
    s.now = us(500);
    s.releases(&held[..41]);
    assert_eq!(s.gateway.poll_timeout(), Some(us(504)), "nothing is lost");
    // 3 ms late: a millisecond of it is made up for.
    s.now = us(3_504);
    s.releases(&held[41..125]);
    assert_eq!(s.gateway.poll_timeout(), Some(us(2_504 + 84 * 12)));
}

#[test]
fn spaced_packets_wait_for_others_by_a_tenth_of_their_interval_at_most() {
    let mut s = Script::established(Config { initial_interval: Some(Span::from_micros(2_400)), ..config() });
    for flow in [1, 2] {
        s.flow = flow;
        s.now = us(u64::from(flow) * 100);
        let data: Vec<_> = (0..2).map(|i| s.down(i * MSS, MSS, 0)).collect();
        s.forwards(Side::Wired, &data[0]);
        s.holds(&data[1]);
    }
    assert_eq!((s.gateway.poll_timeout(), s.gateway.poll_latest()), (Some(us(2_500)), Some(us(2_740))));
}

#[test]
fn nothing_overtakes_a_queue_that_is_due_but_not_yet_polled() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let data: Vec<_> = (0..3).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &data[0]);
    let first = s.holds(&data[1]);
    s.now = ms(400);
    let second = s.holds(&data[2]);
    s.releases(&[first]);
    s.now = ms(500);
    s.releases(&[second]);
}

#[test]
fn a_held_packet_loses_a_foreign_option_when_it_leaves() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let data: Vec<_> = (0..2).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &data[0]);
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    let held = s.holds(&Segment { options: forged, ..data[1] });
    s.now = ms(200);
    assert_eq!(s.departures(), [(held, Action::Release { strip: true, mark: false })]);
}

#[test]
fn a_short_path_uses_its_own_hops_and_unknown_hops_count_as_one() {
    for (hops, khd_ms) in [(2, 15.84), (1, 12.92), (0, 12.92)] {
        // RTT 20 ms: k/2 * (20/h + 5.84) ms; at h = 1: 0.5 * 25.84.
        let mut s = Script::established(config());
        s.hops = hops;
        s.sample(0, 20);
        let khd = s.stats().k_hop_delay.unwrap() * 1e3;
        assert!((khd - khd_ms).abs() < 1e-6, "{hops} hops: {khd} ms");
    }
}

#[test]
fn links_of_known_rates_count_by_their_slowest_stretch() {
    // Five links at 11, 11, 2, 2 and 11 Mbit/s. Air time of 12,768 bit: 3 * 1.160727 + 2 * 6.384 = 16.250182 ms; of a
    // round trip of 40 ms 23.749818 are queueing, 2.3749818 ms a hop and way. Any four links hold both
    // slow ones and two fast ones: 2 * 1.111273 + 2 * 6.112 ms.
    let rates: Vec<_> = [11, 11, 2, 2, 11].map(|n| Rate::bits_per_sec(n * 1_000_000)).into();
    let mut s = Script::established(config());
    s.rates = Some(LinkRates::PerLink(rates.into()));
    s.sample(0, 40);
    let khd = s.stats().k_hop_delay.unwrap() * 1e3;
    assert!((khd - (4.0 * 2.374_981_8 + 14.446_545_5)).abs() < 1e-6, "{khd} ms");
}

#[test]
fn an_unseen_handshake_means_a_scale_of_seven() {
    // The field 512 is 65,536 bytes; twice that is 87.4 packets of 1500 besides what the cache gives up.
    let mut s = Script::new(config());
    let base = s.sample(0, 40);
    let verdicts: Vec<_> = (0..100)
        .map(|i| {
            let data = s.down(base + i * MSS, MSS, 0);
            s.hand_in(Side::Wired, &data).1
        })
        .collect();
    assert_eq!(verdicts.iter().filter(|v| **v == meshpace_gateway::Verdict::Held).count(), 87);
}

#[test]
fn a_full_buffer_drops_at_the_tail_and_refuses_new_flows() {
    let buffer_total = Bytes(6 * 1500);
    let initial_interval = Some(Span::from_millis(50));
    let mut s = Script::established(Config { buffer_total, initial_interval, ..config() });
    let data: Vec<_> = (0..9).map(|i| s.down(i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &data[0]); // cached: 1 place
    let mut held: Vec<_> = data[1..6].iter().map(|p| s.holds(p)).collect();
    held.push(s.holds(&data[6])); // the cached copy makes way
    s.drops(&data[7]);
    assert_eq!((s.stats().drops, s.gateway.buffered()), (1, buffer_total));
    s.flow = 2;
    s.handshake();
    for i in 0..3 {
        let bypass = s.down(i * MSS, MSS, 0);
        s.forwards(Side::Wired, &bypass);
    }
    assert!(!s.stats().paced);
    // The first flow ends; flow 2 is paced from now on.
    s.flow = 1;
    let reset = Segment { flags: RST, ..s.ack(0) };
    s.forwards(Side::Wireless, &reset);
    let discarded: Vec<_> = held.iter().map(|&p| (p, Action::Discard(DiscardReason::Closed))).collect();
    assert_eq!(s.departures(), discarded);
    assert_eq!(s.gateway.buffered(), Bytes::ZERO);
    s.flow = 2;
    let next = s.down(3 * MSS, MSS, 0);
    s.holds(&next);
    assert!(s.stats().paced);
}

#[test]
fn a_flow_keeps_at_most_twice_its_window() {
    let initial_interval = Some(Span::from_millis(50));
    let mut s = Script::established(Config { initial_interval, ..config() });
    // 2 * 65,536 bytes are 43.7 packets of 3000: one leaves, its cached copy makes way, 43 wait. The 45th is the last
    // that begins in the window.
    s.overhead = 3000 - MSS;
    let mut held = 0;
    for i in 0..45 {
        let data = s.down(i * MSS, MSS, 0);
        match s.hand_in(Side::Wired, &data).1 {
            meshpace_gateway::Verdict::Held => held += 1,
            meshpace_gateway::Verdict::Forward(_, Rewrite::NOTHING) => assert_eq!(i, 0),
            verdict => assert!(matches!(verdict, meshpace_gateway::Verdict::Dropped(_)), "{verdict:?}"),
        }
    }
    assert_eq!((held, s.stats().drops), (43, 1));
}

#[test]
fn goodput_and_round_trips_are_told_and_the_pace_is_explained() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let base = s.sample(base, 40);
    assert_eq!(s.stats().goodput(s.now), None, "less than a second has passed");
    s.now = ms(1000);
    // 2 * 1460 bytes in the first second.
    assert_eq!(s.stats().goodput(s.now), Some(Rate::bits_per_sec(23_360)));
    assert_eq!(s.stats().goodput_down.unwrap().total(), Bytes(u64::from(base)));
    let round_trips = s.gateway.round_trips();
    assert_eq!((round_trips.wireless.count(), round_trips.wired.count()), (2, 0));
    assert_eq!(round_trips.wireless.total(), Span::from_millis(80));
    let explanation = s.gateway.explain(s.now, &s.key()).unwrap();
    let law = explanation.law.unwrap();
    let law = law.rate_law().expect("TCP-GAP's");
    assert_eq!((law.interval(), law.history().len()), (s.stats().interval, 2));
    assert_eq!(explanation.law_interval, s.stats().interval);
    assert_eq!(explanation.standing, None, "goodput control is off");
    assert!(s.gateway.explain(s.now, &key_of(9)).is_none());
}

#[test]
fn who_was_held_says_since_when() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let data = s.down(base, MSS, 0);
    s.forwards(Side::Wired, &data);
    s.now += Span::from_millis(5);
    let (arrived, data) = (s.now, s.down(base + MSS, MSS, 0));
    s.holds(&data);
    s.now = s.gateway.poll_timeout().expect("due");
    let left = s.gateway.poll_transmit(s.now).expect("a departure");
    assert_eq!(left.held_since, Some(arrived));
    assert_eq!(s.now - arrived, INTERVAL - Span::from_millis(5), "an interval after the one before");
}
