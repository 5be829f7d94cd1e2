//! How connections begin and end at the gateway, and what a hostile network cannot do (schemes.md 3.1).

use crate::common::*;
use meshpace_gateway::{Action, Config, DiscardReason, RttOption, Side, Verdict};
use meshpace_pacing::GoodputControlConfig;
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::{Bytes, Seq, Span};

/// An established flow with a pace and one held packet of 1460 bytes at `base + MSS`.
fn with_held() -> (Script, u32, Packet) {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let (first, second) = (s.down(base, MSS, 0), s.down(base + MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    let held = s.holds(&second);
    (s, base, held)
}

#[test]
fn both_fins_acknowledged_end_it() {
    let mut s = Script::established(config());
    let base = s.sample(0, 40);
    let fin = Segment { flags: FIN_ACK, ..s.down(base, 0, 0) };
    s.forwards(Side::Wired, &fin);
    let fin_ack = Segment { flags: FIN_ACK, ..s.up(0, 0, base + 1) };
    s.forwards(Side::Wireless, &fin_ack);
    assert_eq!(s.gateway.flow_count(), 1, "one FIN is not acknowledged yet");
    let last = s.down(base + 1, 0, 1);
    s.forwards(Side::Wired, &last);
    assert_eq!((s.gateway.flow_count(), s.gateway.buffered(), s.gateway.segments()), (0, Bytes::ZERO, 0));
    s.forwards(Side::Wired, &fin);
    s.forwards(Side::Wired, &last);
    assert_eq!(s.gateway.flow_count(), 0, "stray segments make no state");
}

#[test]
fn a_fin_in_sequence_still_gives_the_last_sample() {
    let mut s = Script::established(config());
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    let fin = Segment { flags: FIN_ACK, ..s.down(MSS, 0, 0) };
    s.forwards(Side::Wired, &fin);
    s.now = ms(40);
    let ack = s.ack(MSS + 1);
    s.forwards(Side::Wireless, &ack);
    assert_eq!((s.stats().samples, s.gateway.buffered()), ((1, 0), Bytes::ZERO));
}

#[test]
fn a_reset_from_the_wired_side_follows_the_held_data() {
    let (mut s, base, held) = with_held();
    let reset = Segment { flags: RST, ..s.down(base + 2 * MSS, 0, 0) };
    let reset = s.holds(&reset);
    s.releases(&[held, reset]);
    assert_eq!((s.gateway.flow_count(), s.gateway.held()), (0, 0));
}

#[test]
fn a_reset_from_the_mesh_discards_the_held_data() {
    let (mut s, _, held) = with_held();
    let reset = Segment { flags: RST, ..s.up(0, 0, 0) };
    s.forwards(Side::Wireless, &reset);
    assert_eq!(s.departures(), [(held, Action::Discard(DiscardReason::Closed))]);
    assert_eq!(s.gateway.flow_count(), 0);
}

#[test]
fn a_blind_reset_changes_nothing() {
    let (mut s, _, _) = with_held();
    for seq in [40_000, 1 << 20, 1 << 31, u32::MAX - 40_000] {
        let reset = Segment { flags: RST, seq: Seq(WIRELESS_ISN + 1) + seq, ..s.up(0, 0, 0) };
        s.forwards(Side::Wireless, &reset);
    }
    assert_eq!((s.gateway.flow_count(), s.gateway.held(), s.departures().len()), (1, 1, 0));
}

#[test]
fn a_silent_connection_is_forgotten_after_180_seconds() {
    let mut s = Script::established(config());
    s.now = ms(500);
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    assert_eq!(s.run_until(ms(180_499)), []);
    assert_eq!(s.gateway.flow_count(), 1);
    s.run_until(ms(180_500));
    assert_eq!((s.gateway.flow_count(), s.gateway.buffered(), s.gateway.segments()), (0, Bytes::ZERO, 0));
    assert_eq!(s.gateway.poll_timeout(), None);
}

#[test]
fn the_same_ports_used_again_are_a_new_connection() {
    let (mut s, base, held) = with_held();
    let repeated = Segment { flags: SYN, seq: Seq(WIRELESS_ISN), ..s.up(0, 0, 0) };
    s.forwards(Side::Wireless, &repeated);
    assert_eq!(s.gateway.held(), 1, "a repeated SYN is none");
    let syn = Segment { seq: Seq(0x1234_5678), ..repeated };
    s.forwards(Side::Wireless, &syn);
    assert_eq!(s.gateway.held(), 1, "nobody has answered");
    let options = Options { window_scale: Some(SCALE), ..Options::default() };
    let answer = Segment { flags: SYN_ACK, ack: Seq(0x1234_5679), options, ..s.down(base, 0, 0) };
    s.forwards(Side::Wired, &answer);
    s.releases(&[held]);
    assert!(!s.stats().down);
    let data = Segment { seq: Seq(0x1234_5679), ack: answer.end(), ..s.up(0, 100, 0) };
    s.forwards(Side::Wireless, &data);
    assert!(s.stats().up);
    assert_eq!(s.gateway.counters().opened, 2);
}

#[test]
fn data_of_a_new_connection_do_not_overtake_what_the_old_one_held() {
    let (mut s, _, held) = with_held();
    let request = Segment { seq: Seq(0x1234_5678), ..s.up(0, 100, 0) };
    s.forwards(Side::Wireless, &request);
    assert_eq!(s.gateway.held(), 1, "nobody has answered");
    let answer = Segment { seq: Seq(0x2345_6789), ack: request.end(), ..s.down(0, MSS, 0) };
    let answer = s.holds(&answer);
    s.releases(&[held, answer]);
    assert_eq!((s.gateway.counters().opened, s.gateway.held()), (2, 0));
}

/// Packets from either side by an attacker that knows addresses and ports, and no sequence numbers.
fn blind(s: &Script) -> Vec<(Side, Segment)> {
    let far = |seq: Seq, n: u32| seq + (1 << 20) + n * 77_777_777;
    let kinds = |segment: Segment, n: u32| {
        let segment = Segment { seq: far(segment.seq, n), ack: far(segment.ack, n), ..segment };
        [SYN, SYN_ACK, ACK, FIN_ACK, RST, Flags { rst: true, ..ACK }].map(move |flags| {
            let payload = if flags == ACK { MSS } else { 0 };
            Segment { flags, payload, ..segment }
        })
    };
    let numbers = 0..40;
    let of =
        |side, segment: Segment| numbers.clone().flat_map(move |n| kinds(segment, n)).map(move |s| (side, s));
    of(Side::Wired, s.down(0, 0, 0)).chain(of(Side::Wireless, s.up(0, 0, 0))).collect()
}

#[test]
fn what_cannot_be_of_a_connection_is_forwarded_and_changes_nothing() {
    let (mut s, base, held) = with_held();
    let before = (s.stats(), s.gateway.held(), s.gateway.buffered(), s.gateway.segments());
    let blind = blind(&s);
    // In this order no two of them agree.
    let (wired, wireless): (Vec<_>, Vec<_>) = blind.into_iter().partition(|&(side, _)| side == Side::Wired);
    for (side, segment) in wired.into_iter().chain(wireless) {
        s.now += Span::from_micros(1);
        s.forwards(side, &segment);
    }
    let after = (s.stats(), s.gateway.held(), s.gateway.buffered(), s.gateway.segments());
    assert_eq!(after, before);
    assert_eq!(s.gateway.counters().implausible, 480);
    assert_eq!(s.gateway.flow_count(), 1);
    // Those that are of it still wait in their order.
    let next = s.down(base + 2 * MSS, MSS, 0);
    let next = s.holds(&next);
    let left: Vec<_> = s.run_until(ms(1_000)).into_iter().map(|(_, packet)| packet).collect();
    assert_eq!(left, [held, next]);
}

#[test]
fn spoofed_data_takes_no_place_in_the_queue_from_genuine_data() {
    let (mut s, base, held) = with_held();
    let mut genuine = vec![held];
    let places = 65_536 * 2 / 1500 - 2;
    for n in 2..40 {
        for spoofed in 0..places {
            let data = s.down((1 << 24) + spoofed * MSS, MSS, 0);
            s.forwards(Side::Wired, &data);
        }
        let data = s.down(base + n * MSS, MSS, 0);
        genuine.push(s.holds(&data));
    }
    assert_eq!(s.stats().drops, 0);
    let left: Vec<_> = s.run_until(ms(10_000)).into_iter().map(|(_, packet)| packet).collect();
    assert_eq!(left, genuine);
}

#[test]
fn a_new_gateway_takes_over_in_the_middle() {
    let mut s = Script::new(config());
    let base = s.sample(700 * MSS, 40);
    assert_eq!(s.stats().samples, (1, 0));
    let (first, second) = (s.down(base, MSS, 0), s.down(base + MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    s.holds(&second);
}

#[test]
fn a_window_without_scale_options_is_not_scaled() {
    // The buffer limit shows the window: 512 bytes unscaled, twice that a flow; no packet of 1100 fits.
    let mut s = Script::new(config());
    let syn = Segment { flags: SYN, seq: Seq(WIRELESS_ISN), window: WINDOW, ..s.up(0, 0, 0) };
    s.forwards(Side::Wireless, &syn);
    let options = Options { window_scale: Some(SCALE), ..Options::default() };
    let syn_ack = Segment { flags: SYN_ACK, seq: Seq(WIRED_ISN), options, ..s.down(0, 0, 0) };
    s.forwards(Side::Wired, &syn_ack);
    let base = s.sample(0, 40);
    assert_eq!(s.gateway.buffered(), Bytes::ZERO);
    s.overhead = 1000;
    let (first, second) = (s.down(base, 100, 0), s.down(base + 100, 100, 0));
    s.forwards(Side::Wired, &first);
    s.drops(&second);
}

#[test]
fn a_flood_of_syns_takes_the_places_of_syns_only() {
    let mut s = Script::established(Config { flows_max: 10, ..config() });
    let base = s.sample(0, 40);
    let wired = s.down(0, 0, 0);
    for port in 0..1_000 {
        s.now += Span::from_millis(10);
        let syn = Segment { flags: SYN, source_port: port + 1_000, ..wired };
        s.forwards(Side::Wired, &syn);
    }
    assert_eq!(s.gateway.flow_count(), 10);
    assert_eq!(s.gateway.counters().evicted, 1_001 - 10);
    let data = s.down(base, MSS, 0);
    s.forwards(Side::Wired, &data);
    assert_eq!(s.stats().samples, (1, 0), "the established flow is still known");
}

#[test]
fn flows_that_hold_packets_are_not_evicted_and_others_pass_untracked() {
    let (mut s, _, held) = with_held();
    let mut small = Script::established(Config { flows_max: 1, ..config() });
    let base = small.sample(0, 40);
    let (first, second) = (small.down(base, MSS, 0), small.down(base + MSS, MSS, 0));
    small.forwards(Side::Wired, &first);
    small.holds(&second);
    small.flow = 2;
    let other = small.down(0, MSS, 0);
    small.forwards(Side::Wired, &other);
    assert_eq!((small.gateway.counters().untracked, small.gateway.flow_count()), (1, 1));
    s.now = ms(400);
    s.releases(&[held]);
}

#[test]
fn ten_silent_flows_that_hold_packets_are_no_obstacle() {
    let mut s = Script::new(Config { flows_max: 20, ..config() });
    for flow in 1..=20 {
        s.flow = flow;
        s.handshake();
        let base = s.sample(0, 400);
        s.now += Span::from_secs(1);
        let (first, second) = (s.down(base, MSS, 0), s.down(base + MSS, MSS, 0));
        s.forwards(Side::Wired, &first);
        if flow <= 10 {
            s.holds(&second);
        }
    }
    s.flow = 21;
    s.handshake();
    assert_eq!((s.gateway.counters().evicted, s.gateway.counters().untracked), (1, 0));
    assert!(s.gateway.flow(&key_of(10)).is_some(), "it holds a packet");
    assert!(s.gateway.flow(&key_of(11)).is_none(), "the most silent one that holds none");
}

#[test]
fn data_that_nobody_answers_takes_no_place_from_flows_with_answers() {
    let mut s = Script::established(Config { flows_max: 10, ..config() });
    let base = s.sample(0, 40);
    let wired = s.down(0, MSS, 0);
    for port in 0..1_000 {
        s.now += Span::from_millis(10);
        let data = Segment { source_port: port + 1_000, ..wired };
        s.forwards(Side::Wired, &data);
    }
    let data = s.down(base, MSS, 0);
    s.forwards(Side::Wired, &data);
    assert_eq!(s.stats().samples, (1, 0), "the established flow is still known");
}

#[test]
fn a_flood_of_tiny_segments_is_not_remembered() {
    let mut s = Script::established(Config { segments_max: 100, segments_total: 150, ..config() });
    for i in 0..1_000 {
        let data = s.up(i, 1, 0);
        s.forwards(Side::Wireless, &data);
    }
    assert_eq!(s.gateway.segments(), 100);
    s.flow = 2;
    s.handshake();
    for i in 0..1_000 {
        let data = s.down(i, 1, 0);
        s.forwards(Side::Wired, &data);
    }
    // Of the 50 left its host may take eight times of what is left then.
    assert_eq!(s.gateway.segments(), 145);
    // ACKs still work: what was timed is timed, the rest is counted.
    s.now = ms(30);
    s.flow = 1;
    let ack = s.down(0, 0, 100);
    s.forwards_with(Side::Wired, &ack, RttOption::Set(Span::from_millis(30)));
    let ack = s.down(0, 0, 1_000);
    s.forwards(Side::Wired, &ack);
    assert_eq!(s.gateway.segments(), 45);
}

/// Two downward flows, `shares` segments an interval each; returns the script after the run that may throttle.
fn competing(goodput_control: Option<GoodputControlConfig>) -> Script {
    let mut s = Script::new(Config { goodput_control, ..config() });
    for flow in [1, 2] {
        s.flow = flow;
        s.handshake();
    }
    let mut sent = [0, 0];
    for interval in 0..2 {
        for (flow, segments) in [(1, 40), (2, 10)] {
            s.flow = flow;
            for _ in 0..segments {
                let bytes = &mut sent[usize::from(flow) - 1];
                let data = s.down(*bytes, MSS, 0);
                *bytes += MSS;
                if s.hand_in(Side::Wired, &data).1 == Verdict::Held {
                    let due = s.gateway.poll_timeout().unwrap();
                    s.now = s.now.max(due);
                    assert_eq!(s.departures().len(), 1);
                }
                s.now += Span::from_millis(40);
                let ack = s.ack(sent[usize::from(flow) - 1]);
                s.forwards(Side::Wireless, &ack);
            }
        }
        assert_eq!(s.run_until(ms(5_000 * (interval + 1))), []);
    }
    s.flow = 1;
    s
}

#[test]
fn goodput_control_caps_the_fast_flow_and_lets_go_when_one_ends() {
    let mut s = competing(Some(GoodputControlConfig::PAPER));
    // 40 and 10 segments in 5 s: the mean is 25 segments in 5 s, 200 ms a segment.
    assert_eq!(s.stats().cap, Some(Span::from_millis(200)));
    assert_eq!(s.stats().interval, Some(Span::from_millis(200)));
    s.flow = 2;
    assert_eq!(s.stats().cap, None);
    let reset = Segment { flags: RST, ..s.up(0, 0, 0) };
    s.forwards(Side::Wireless, &reset);
    s.flow = 1;
    s.run_until(ms(15_000));
    assert_eq!(s.stats().cap, None);
    let without = competing(None);
    assert_eq!(without.stats().cap, None);
}
