//! Readings of what the paper leaves open (docs/experiments/gap.md): one pacing queue for all flows (O15), state for a mesh
//! host (O25).

use crate::common::*;
use meshpace_gateway::{Config, Kept, Queues, Side};
use meshpace_pacing::AdaptiveConfig;
use meshpace_units::{Instant, Span};

/// One 40 ms round trip over 4 hops at 2 Mbit/s: 31.68 ms (schemes.md 1.4), no variation yet.
const INTERVAL: Span = Span::from_micros(31_680);

/// Two flows with samples whose tokens are there, and what they have sent.
fn two_flows(config: Config) -> (Script, [u32; 2]) {
    let mut s = Script::new(config);
    let sent = [1, 2].map(|flow| {
        s.flow = flow;
        s.handshake();
        s.sample(0, 40)
    });
    s.now = ms(200);
    (s, sent)
}

/// Hands in full segments of these flows, one after the other at once; which passed, and the others with their departures.
fn burst(queues: Queues, flows: &[u8]) -> (Vec<u32>, Vec<(Instant, u32)>) {
    let (mut s, mut sent) = two_flows(Config { queues, ..config() });
    let mut passed = Vec::new();
    let before = 6; // packets of the two handshakes; a sample is two more
    for &flow in flows {
        s.flow = flow;
        let offset = &mut sent[usize::from(flow) - 1];
        let data = s.down(*offset, MSS, 0);
        *offset += MSS;
        let (packet, verdict) = s.hand_in(Side::Wired, &data);
        if matches!(verdict, meshpace_gateway::Verdict::Forward(..)) {
            passed.push(packet - before - 4);
        }
    }
    let left = s.run_until(ms(900)).into_iter().map(|(at, packet)| (at, packet - before - 4)).collect();
    (passed, left)
}

#[test]
fn in_one_queue_a_flow_waits_for_those_before_it() {
    let after = |n: u64| ms(200) + INTERVAL * n;
    let flows = [1, 1, 1, 2, 2, 1];
    // A queue a flow: the second one's first packet passes, and the two flows leave side by side.
    let apart = [(after(1), 2), (after(1), 5), (after(2), 3), (after(3), 6)];
    assert_eq!(burst(Queues::Flow, &flows), (vec![1, 4], apart.to_vec()));
    // One queue: its token is there all the time, but it stands behind the first one's packets and leaves with the last of them; the
    // last packet, of the first flow, has its turn an interval after the third, but not before the fifth.
    let one = [(after(1), 2), (after(2), 3), (after(2), 4), (after(3), 5), (after(3), 6)];
    assert_eq!(burst(Queues::One, &flows), (vec![1], one.to_vec()));
}

#[test]
fn what_waited_for_others_is_followed_by_a_whole_interval() {
    // The second flow's first packet leaves when the first one's third does, two intervals late: its next one an interval after that.
    let (_, left) = burst(Queues::One, &[1, 1, 1, 2, 2, 2]);
    let second: Vec<Instant> = left.iter().filter(|(_, packet)| *packet > 3).map(|(at, _)| *at).collect();
    assert_eq!(second, [2, 3, 4].map(|n| ms(200) + INTERVAL * n));
}

#[test]
fn the_line_moves_on_when_the_connection_before_it_ends_and_when_lines_are_parted() {
    for parts in [false, true] {
        let (mut s, sent) = two_flows(Config { queues: Queues::One, ..config() });
        s.flow = 1;
        let data = s.down(sent[0], MSS, 0);
        s.forwards(Side::Wired, &data);
        let data = s.down(sent[0] + MSS, MSS, 0);
        s.holds(&data);
        s.flow = 2;
        let data = s.down(sent[1], MSS, 0);
        let waits = s.holds(&data);
        assert_eq!(s.departures(), [], "not before the packet of the first flow");
        if parts {
            s.gateway.set_config(s.now, config());
        } else {
            s.flow = 1;
            let reset = meshpace_tcp::Segment { flags: RST, ..s.up(0, 0, sent[0]) };
            s.forwards(Side::Wireless, &reset);
        }
        let left: Vec<u32> = s.departures().into_iter().map(|(packet, _)| packet).collect();
        assert!(left.contains(&waits), "{left:?}");
    }
}

/// The interval with which a second connection to a mesh host begins, after the first.
fn second(kept: Kept, pause: Span) -> Option<Span> {
    let mut s = Script::new(Config { kept, ..config() });
    s.host = Some(9);
    s.flow = 1;
    s.handshake();
    let sent = s.sample(0, 40);
    assert_eq!(s.stats().interval, Some(INTERVAL));
    let reset = meshpace_tcp::Segment { flags: RST, ..s.up(0, 0, sent) };
    s.forwards(Side::Wireless, &reset);
    assert!(s.gateway.flow(&s.key()).is_none(), "it has ended");
    s.now += pause;
    s.flow = 2;
    s.handshake();
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    s.stats().interval
}

#[test]
fn a_hosts_next_connection_begins_with_the_pace_of_the_last() {
    let pause = Span::from_secs(5);
    assert_eq!(second(Kept::Connection, pause), None);
    assert_eq!(second(Kept::Host, pause), Some(INTERVAL));
    assert_eq!(second(Kept::Host, Config::PAPER.idle), None, "forgotten as a silent connection is");
}

#[test]
fn connections_to_one_host_have_one_history() {
    // A history of two round trips: 40 and 60 ms of two connections vary as they would in one.
    let law = khd(AdaptiveConfig { history: 2, ..AdaptiveConfig::PAPER });
    let intervals = |kept: Kept, flows: [u8; 2]| {
        let mut s = Script::by(law.clone(), Config { kept, ..config() });
        s.host = Some(9);
        let mut sent = [0; 2];
        for flow in [1, 2] {
            s.flow = flow;
            s.handshake();
        }
        for (flow, rtt) in [(flows[0], 40), (flows[1], 60)] {
            s.flow = flow;
            s.now += Span::from_secs(1);
            let offset = sent[usize::from(flow) - 1];
            sent[usize::from(flow) - 1] = s.sample(offset, rtt);
        }
        flows.map(|flow| {
            s.flow = flow;
            s.stats().interval.expect("a sample")
        })
    };
    let alone = intervals(Kept::Connection, [1, 1]);
    assert!(alone[0] > INTERVAL);
    assert_eq!(intervals(Kept::Host, [1, 2]), alone);
    assert_ne!(intervals(Kept::Connection, [1, 2]), alone);
}

#[test]
fn another_hosts_connection_has_its_own() {
    let mut s = Script::new(Config { kept: Kept::Host, ..config() });
    s.handshake();
    s.sample(0, 40);
    s.flow = 2;
    s.handshake();
    let data = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &data);
    assert_eq!(s.stats().interval, None);
}
