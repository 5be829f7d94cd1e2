//! Watching without touching, and changing between watching and pacing (schemes.md 3.6; the live gateway's modes).

use crate::common::*;
use meshpace_gateway::{Action, Config, DupAck, FlowStats, RttOption, Side, Treatment};
use meshpace_pacing::{AdaptiveConfig, GoodputControlConfig};
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Bytes, Span};

fn observed(treatment: Treatment, config: Config) -> Script {
    let mut s = Script::new(config);
    s.treatment = treatment;
    s.handshake();
    s
}

/// Data both ways, far enough apart that a pacer lets all of it pass, with round trips that vary.
fn trace(treatment: Treatment) -> FlowStats {
    let mut s = observed(treatment, Config::PAPER);
    for i in 0..60 {
        s.now = ms(200 * u64::from(i));
        let (down, up) = (s.down(i * MSS, MSS, i * 100), s.up(i * 100, 100, i * MSS));
        s.forwards(Side::Wired, &down);
        s.forwards(Side::Wireless, &up);
        s.now += Span::from_millis(30 + u64::from(i * 7 % 23));
        let ack = s.ack((i + 1) * MSS);
        s.forwards(Side::Wireless, &ack);
        s.now += Span::from_millis(20);
        let ack = s.down((i + 1) * MSS, 0, (i + 1) * 100);
        match treatment {
            Treatment::Observe => s.forwards(Side::Wired, &ack),
            Treatment::Pace => s.hand_in(Side::Wired, &ack).0,
        };
        assert_eq!(s.departures(), []);
    }
    s.stats()
}

#[test]
fn the_law_says_what_pacing_would_do() {
    let (watched, paced) = (trace(Treatment::Observe), trace(Treatment::Pace));
    assert!(watched.interval.is_some() && watched.variation > 0.0 && watched.samples.0 == 60);
    assert_eq!((watched.interval, watched.k_hop_delay), (paced.interval, paced.k_hop_delay));
    assert_eq!((watched.variation, watched.samples), (paced.variation, paced.samples));
    assert_eq!((watched.wireless_rtt, watched.wired_rtt), (paced.wireless_rtt, paced.wired_rtt));
    assert!(watched.wired_rtt.is_some());
    assert_eq!((watched.options_written, paced.options_written), (0, 60));
    assert_eq!((watched.paced, paced.paced), (false, true));
}

#[test]
fn a_burst_passes_a_watched_flow_at_once_and_nothing_is_kept() {
    let mut s = observed(Treatment::Observe, config());
    let base = s.sample(0, 40);
    let interval = s.stats().interval;
    for i in 0..50 {
        let data = s.down(base + i * MSS, MSS, 0);
        s.forwards(Side::Wired, &data);
    }
    assert!(interval.is_some());
    assert_eq!((s.gateway.held(), s.gateway.buffered()), (0, Bytes::ZERO));
    assert_eq!(s.run_until(ms(10_000)), []);
}

#[test]
fn duplicates_and_foreign_options_pass_a_watched_flow_as_they_came() {
    let mut s = observed(Treatment::Observe, config());
    for i in 0..5 {
        let data = s.down(i * MSS, MSS, 0);
        s.forwards(Side::Wired, &data);
    }
    for _ in 0..5 {
        let duplicate = s.ack(0);
        s.forwards(Side::Wireless, &duplicate);
    }
    let forged = Options { rtt_wired: Some(Span::from_millis(1)), ..Options::default() };
    let (up, down) = (s.up(0, 100, 0), s.down(5 * MSS, MSS, 0));
    s.forwards(Side::Wireless, &Segment { options: forged, ..up });
    s.forwards(Side::Wired, &Segment { options: forged, ..down });
    let reset = Segment { flags: RST, options: forged, ..s.down(6 * MSS, 0, 0) };
    s.forwards(Side::Wired, &reset);
    assert_eq!(s.departures(), []);
}

#[test]
fn a_flow_has_data_outstanding_from_their_passage_to_their_acknowledgement() {
    let mut s = observed(Treatment::Observe, config());
    let mut told = Vec::new();
    for (side, segment) in [
        (Side::Wired, s.down(0, MSS, 0)),
        (Side::Wireless, s.ack(MSS)),
        (Side::Wireless, s.up(0, 100, MSS)),
        (Side::Wired, s.down(MSS, 0, 100)),
    ] {
        s.forwards(side, &segment);
        told.push(s.stats().outstanding);
    }
    assert_eq!(told, [true, false, true, false]);
}

/// A segment that waits behind the gateway for its host's turn is timed from its departure there. A segment that leaves twice is timed
/// from the later departure. A segment that the gateway never saw belongs to no flow.
#[test]
fn the_round_trip_in_the_mesh_begins_when_a_segment_leaves_behind_the_gateway() {
    let mut s = observed(Treatment::Observe, config());
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    let key = s.key();
    s.gateway.leaves(ms(100), &key, data.seq, data.end());
    s.gateway.leaves(ms(120), &key, data.seq, data.end());
    s.gateway.leaves(ms(140), &key, data.end(), data.end() + 1);
    s.gateway.leaves(ms(140), &key, data.seq, data.seq + (MSS - 1));
    s.gateway.leaves(ms(140), &key_of(9), data.seq, data.end());
    s.now = ms(150);
    let ack = s.ack(MSS);
    s.forwards(Side::Wireless, &ack);
    assert_eq!((s.stats().wireless_rtt, s.stats().samples.0), (Some(Span::from_millis(30)), 1));
}

/// A paced flow with `n` packets held, the first of which starts at the returned offset.
fn with_held(config: Config, n: u32) -> (Script, u32, Vec<Packet>) {
    let mut s = Script::established(config);
    let base = s.sample(0, 40);
    let first = s.down(base, MSS, 0);
    s.forwards(Side::Wired, &first);
    let held = (1..=n)
        .map(|i| {
            let data = s.down(base + i * MSS, MSS, 0);
            s.holds(&data)
        })
        .collect();
    (s, base + MSS, held)
}

#[test]
fn a_flow_that_is_no_longer_paced_gets_all_it_held_at_once_in_order() {
    let (mut s, base, mut held) = with_held(config(), 3);
    assert!(s.stats().wait.is_some(), "one that was paced has left");
    s.treatment = Treatment::Observe;
    s.now = ms(41);
    let next = s.down(base + 3 * MSS, MSS, 0);
    held.push(s.holds(&next));
    s.releases(&held);
    assert_eq!((s.gateway.held(), s.gateway.buffered()), (0, Bytes::ZERO), "the cache went as well");
    assert_eq!(s.stats().wait, None, "none waits any more");
    let data = s.down(base + 4 * MSS, MSS, 0);
    s.forwards(Side::Wired, &data);
    // What was released is timed from its release.
    s.now = ms(81);
    let ack = s.ack(base + 4 * MSS);
    s.forwards(Side::Wireless, &ack);
    assert_eq!((s.stats().samples.0, s.stats().variation), (2, 0.0));
    assert_eq!(s.run_until(ms(1_000)), []);
}

#[test]
fn a_cached_packet_acknowledged_in_part_is_given_back_with_the_treatment() {
    let mut s = Script::established(config());
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    let partial = s.ack(MSS / 2);
    s.forwards(Side::Wireless, &partial);
    assert_eq!(s.gateway.buffered(), Bytes(u64::from(MSS) + 40), "it may still have to be sent again");
    s.treatment = Treatment::Observe;
    let more = s.ack(MSS / 2 + 100);
    s.forwards(Side::Wireless, &more);
    s.forwards(Side::Wireless, &more);
    assert_eq!(s.gateway.buffered(), Bytes::ZERO);
    s.now = ms(40);
    let whole = s.ack(MSS);
    s.forwards(Side::Wireless, &whole);
    assert_eq!((s.gateway.buffered(), s.gateway.segments(), s.departures()), (Bytes::ZERO, 0, vec![]));
}

/// Point 2 of the audit of the live gateway: the full ACK took what the partial one had left off an account that the treatment had
/// closed. The underflow was a panic, and a panic makes the daemon forget every flow and let all held packets go.
#[test]
fn an_ack_inside_a_cached_segment_then_observe_then_the_full_ack_leave_another_hosts_flow_alone() {
    const OTHER: u8 = 2;
    let (mut s, _, held) = with_held(config(), 3);
    let of_another = s.stats();
    s.flow = OTHER;
    s.handshake();
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    s.now += Span::from_millis(1);
    let inside = s.ack(MSS / 2);
    s.forwards(Side::Wireless, &inside);
    s.treatment = Treatment::Observe;
    let whole = s.ack(MSS);
    s.forwards(Side::Wireless, &whole);
    assert!(!s.stats().paced);

    s.flow = 1;
    s.treatment = Treatment::Pace;
    assert_eq!((s.stats().samples, s.stats().interval), (of_another.samples, of_another.interval), "kept");
    assert_eq!((s.gateway.held(), s.departures()), (3, vec![]), "and its packets wait");
    let interval = s.stats().interval.unwrap();
    let first = s.gateway.poll_timeout().unwrap();
    let left = s.run_until(first + interval * 3);
    let paced: Vec<_> = (0..).zip(&held).map(|(n, &packet)| (first + interval * n, packet)).collect();
    assert_eq!(left, paced, "they leave by its pace");
}

#[test]
fn an_ack_alone_frees_the_queue_too() {
    let (mut s, _, held) = with_held(config(), 2);
    s.treatment = Treatment::Observe;
    let ack = s.ack(MSS);
    s.forwards(Side::Wireless, &ack);
    s.releases(&held);
}

#[test]
fn a_watched_flow_is_paced_from_the_packet_on_that_says_so() {
    let mut s = observed(Treatment::Observe, config());
    let base = s.sample(0, 40);
    let data: Vec<_> = (0..3).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &data[0]);
    s.treatment = Treatment::Pace;
    let held = [s.holds(&data[1]), s.holds(&data[2])];
    assert!(s.stats().paced);
    let interval = s.stats().interval.unwrap();
    assert_eq!(s.run_until(ms(300)), [(ms(40) + interval, held[0]), (ms(40) + interval * 2, held[1])]);
}

#[test]
fn a_packet_lost_while_watching_is_repaired_only_if_sent_while_pacing() {
    let mut s = observed(Treatment::Observe, config());
    let (first, second) = (s.down(0, MSS, 0), s.down(MSS, MSS, 0));
    s.forwards(Side::Wired, &first);
    s.treatment = Treatment::Pace;
    let cached = s.forwards(Side::Wired, &second);
    let ack = s.ack(0);
    s.forwards(Side::Wireless, &ack);
    s.forwards(Side::Wireless, &ack);
    assert_eq!(s.departures(), [], "the first was never cached");
    let ack = s.ack(MSS);
    s.forwards(Side::Wireless, &ack);
    s.consumes(&ack);
    assert_eq!(s.departures(), [(cached, Action::Retransmit)]);
}

#[test]
fn goodput_control_neither_counts_nor_caps_a_watched_flow() {
    // Flow 1 gets ten times what flow 2 gets; without flow 2 there is nobody to be fair to.
    let cap_of_fast_flow = |slow: Treatment| {
        let mut s =
            Script::established(Config { goodput_control: Some(GoodputControlConfig::PAPER), ..config() });
        s.flow = 2;
        s.treatment = slow;
        s.handshake();
        for i in 0..130u32 {
            s.now = ms(100 * u64::from(i));
            s.gateway.handle_timeout(s.now);
            for (flow, treatment, every) in [(1, Treatment::Pace, 1), (2, slow, 10)] {
                if i % every == 0 {
                    (s.flow, s.treatment) = (flow, treatment);
                    let (data, ack) = (s.down(i / every * MSS, MSS, 0), s.ack((i / every + 1) * MSS));
                    s.hand_in(Side::Wired, &data);
                    s.now += Span::from_millis(20);
                    s.departures();
                    s.forwards_with(Side::Wireless, &ack, RttOption::Keep);
                }
            }
        }
        s.flow = 1;
        s.stats().cap
    };
    assert!(cap_of_fast_flow(Treatment::Pace).is_some());
    assert_eq!(cap_of_fast_flow(Treatment::Observe), None);
}

#[test]
fn a_review_frees_what_the_flows_hold_without_waiting_for_a_packet() {
    let (mut s, _, held) = with_held(config(), 3);
    s.gateway.review(s.now, |_| Some(Treatment::Pace));
    assert_eq!(s.departures(), [], "nothing changed");
    s.gateway.review(s.now, |_| Some(Treatment::Observe));
    s.releases(&held);
    assert_eq!((s.gateway.flow_count(), s.gateway.held(), s.gateway.buffered()), (1, 0, Bytes::ZERO));

    let (mut s, _, held) = with_held(config(), 3);
    s.gateway.review(s.now, |key| (*key != key_of(1)).then_some(Treatment::Pace));
    s.releases(&held);
    assert_eq!((s.gateway.flow_count(), s.gateway.held(), s.gateway.buffered()), (0, 0, Bytes::ZERO));
    assert_eq!(s.run_until(ms(100_000)), []);
}

#[test]
fn other_parameters_hold_nothing_up_and_count_from_the_next_sample() {
    let (mut s, base, held) = with_held(config(), 2);
    let interval = s.stats().interval.unwrap();
    let slower = AdaptiveConfig { n: 2, alpha: 0.0, ..AdaptiveConfig::PAPER };
    s.gateway.set_config(s.now, Config { dupack: DupAck::Off, ..config() });
    s.gateway.set_law(khd(slower));
    assert_eq!(s.stats().interval, Some(interval));
    assert_eq!(s.run_until(ms(40) + interval), [(ms(40) + interval, held[0])]);
    s.now = ms(80);
    let ack = s.ack(base);
    s.forwards(Side::Wireless, &ack);
    // Two hops apart instead of four, and nothing remembered: half the pace of one sample of 40 ms.
    assert_eq!(s.stats().k_hop_delay, Some(interval.as_secs_f64() / 2.0));
}

#[test]
fn goodput_control_can_be_switched_off_and_on() {
    let with = Config { goodput_control: Some(GoodputControlConfig::PAPER), ..config() };
    let (mut s, ..) = with_held(with, 1);
    assert!(s.gateway.explain(s.now, &s.key()).unwrap().standing.is_some());
    s.gateway.set_config(s.now, config());
    assert!(s.gateway.explain(s.now, &s.key()).unwrap().standing.is_none());
    s.gateway.set_config(s.now, with);
    let data = s.down(9 * MSS, MSS, 0);
    s.hand_in(Side::Wired, &data);
    assert!(s.gateway.explain(s.now, &s.key()).unwrap().standing.is_some());
}

#[test]
fn packets_are_counted_by_the_side_they_came_from() {
    let (s, ..) = with_held(config(), 2);
    let (_, activity) = s.gateway.flows_with_activity(None).next().unwrap();
    let wire = |payload: u32| u64::from(payload + 40);
    assert_eq!((activity.down.packets, activity.down.bytes), (5, Bytes(wire(0) + 4 * wire(MSS))));
    assert_eq!((activity.up.packets, activity.up.bytes), (3, Bytes(3 * wire(0))));
    assert_eq!((activity.opened, activity.last_activity), (ms(0), ms(40)));
    assert_eq!((activity.segment, activity.treatment), (Bytes(u64::from(MSS)), Treatment::Pace));
}
