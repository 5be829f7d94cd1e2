//! What a view shows of packets of real hosts, and what it does when nobody reads.

use super::*;
use crate::emulation::Emulation;
use meshpace_mesh::probe::{FlowSample, Probe};
use meshpace_scenario::{Overrides, ScenarioFile};
use meshpace_tcp::{Flags, Segment};
use meshpace_units::Seq;
use serde_json::Value;
use std::sync::mpsc::sync_channel;

const TEXT: &str = r#"
    measure = { duration = "10s", warmup = "0s" }
    topology = { kind = "chain", hops = 3 }
    routing = { protocol = "static" }
    defaults = { scheme = "newreno" }
    flow = [{ id = "web", from = "n0", to = "n3", start_jitter = "0s" }]
"#;
const HERE: &str = "10.77.0.2";
const THERE: &str = "10.77.0.5";

fn scenario() -> Scenario {
    let file = ScenarioFile::parse("test.toml", TEXT.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"))
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// A segment of n0's to n3.
fn segment(seq: u32, payload: u32, syn: bool) -> Vec<u8> {
    let mut segment = Segment::new(40_000, 5201, Seq(seq));
    segment.payload = payload;
    segment.flags = Flags { syn, ack: !syn, ..Flags::default() };
    meshpace_wire::build(address(HERE), address(THERE), 64, &segment, &vec![7; payload as usize])
}

fn flows() -> RealFlows {
    RealFlows::new([(address(HERE), "n0".to_owned()), (address(THERE), "n3".to_owned())].into())
}

fn bytes(flows: &mut RealFlows) -> Vec<u64> {
    flows.rows(at(0)).iter().map(|row| row.bytes).collect()
}

#[test]
fn a_byte_of_tcp_counts_once() {
    let mut flows = flows();
    let host = [address(THERE), address("fd77::a4d:5")];
    let start = u32::MAX - 1_500;
    flows.delivered(at(0), host, &segment(start, 0, true));
    assert!(bytes(&mut flows).is_empty(), "a SYN carries nothing");
    // The second is lost, comes again; the third comes twice; they cross the end of the numbers.
    for (number, expected) in [(0, 1000), (2, 3000), (1, 3000), (2, 3000), (3, 4000)] {
        flows.delivered(at(0), host, &segment((start + 1).wrapping_add(1000 * number), 1000, false));
        assert_eq!(bytes(&mut flows), [expected], "after number {number}");
    }
    flows.delivered(at(0), host, &segment(7, 0, true));
    flows.delivered(at(0), host, &segment(8, 500, false));
    assert_eq!(bytes(&mut flows), [4500], "the ports begin anew at other numbers");
    let row = &flows.rows(at(0))[0];
    assert_eq!((&*row.from, &*row.to, &*row.kind, row.real), ("n0", "n3", "TCP 40000 → 5201", true));
}

#[test]
fn what_only_crosses_a_host_or_acknowledges_is_no_flow() {
    let mut flows = flows();
    flows.delivered(at(0), [address("10.77.0.4"), address("fd77::a4d:4")], &segment(1, 1000, false));
    flows.delivered(at(0), [address(THERE), address("fd77::a4d:5")], &segment(1, 0, false));
    assert_eq!(flows.rows(at(0)), []);
}

#[test]
fn flows_are_bounded_and_forgotten() {
    let mut flows = flows();
    let host = [address(THERE), address("fd77::a4d:5")];
    for number in 0..100 {
        let mut segment = Segment::new(1_000 + number, 80, Seq(1));
        segment.payload = 10;
        let packet = meshpace_wire::build(address(HERE), address(THERE), 64, &segment, &[7; 10]);
        flows.delivered(at(u64::from(number)), host, &packet);
    }
    let kinds: Vec<_> = flows.rows(at(100)).into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds.len(), 64);
    assert_eq!((&*kinds[0], &*kinds[63]), ("TCP 1036 → 80", "TCP 1099 → 80"), "the latest");
    assert_eq!(flows.rows(at(60_000)), []);
}

/// Shows an emulation without real hosts every 100 ms for a second; `read` takes what is shown.
fn shown(mut read: impl FnMut(&Receiver<Snapshot>)) -> (View, Vec<u64>) {
    let scenario = scenario();
    let eye = Eye::new(&scenario);
    let mut probe = eye.clone();
    let mut emulation = Emulation::new(&scenario, &[], &mut probe).expect("it runs");
    let (out, snapshots) = sync_channel(WAITING);
    let mut view = View::handing_over(&scenario, eye, out);
    let mut skipped = Vec::new();
    for now in (0..10).map(|tenth| at(100 * tenth)) {
        while emulation.advance(now).is_some() {}
        // Once a period, however often it is asked.
        for _ in 0..3 {
            view.show(now, now, emulation.places(), &Lateness::default());
        }
        skipped.push(view.skipped);
        read(&snapshots);
    }
    (view, skipped)
}

#[test]
fn frames_queues_and_flows_are_shown_once_each() {
    let mut lines = Vec::new();
    let (_, skipped) = shown(|snapshots| {
        lines.extend(snapshots.try_iter().map(|shot| serde_json::to_value(&shot).expect("it is JSON")));
    });
    assert_eq!((lines.len(), skipped), (10, vec![0; 10]));
    let starts: Vec<u64> =
        lines.iter().flat_map(|line: &Value| numbers(&line["frames"]["start_ns"])).collect();
    assert!(starts.len() > 100 && starts.is_sorted(), "{}", starts.len());
    assert!(starts.windows(2).all(|pair| pair[0] < pair[1]), "no frame is shown twice");
    let losses: Vec<usize> = lines.iter().map(|line| numbers(&line["losses"]["frame"]).len()).collect();
    assert!(losses.iter().sum::<usize>() > 0, "n0 and n3 do not hear each other");
    let kinds: Vec<&str> = lines
        .iter()
        .flat_map(|line| line["frames"]["kind"].as_array().expect("a column"))
        .filter_map(Value::as_str)
        .collect();
    assert!(["rts", "cts", "data", "tcp-ack", "ack"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let last = &lines[9];
    assert_eq!(last["queues"].as_array().map(Vec::len), Some(4));
    assert!(numbers(&last["queues"]).iter().sum::<u64>() > 0, "a window waits at n0");
    let flow = &last["flows"][0];
    assert_eq!(
        (&flow["id"], &flow["from"], &flow["to"], &flow["kind"]),
        (&"web".into(), &"n0".into(), &"n3".into(), &"newreno".into())
    );
    assert!(flow["bytes"].as_u64() > Some(20_000), "{flow}");
    assert_eq!((&last["places"], &last["lateness"]["deliveries"]), (&Value::Null, &0.into()));
}

fn numbers(column: &Value) -> Vec<u64> {
    column.as_array().expect("a column").iter().filter_map(Value::as_u64).collect()
}

#[test]
fn where_nobody_reads_snapshots_are_left_out_and_where_nobody_can_there_are_none() {
    let (_, skipped) = shown(|_| {});
    assert_eq!(skipped, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6], "as many wait as have room");

    let scenario = scenario();
    let (out, snapshots) = sync_channel(WAITING);
    let mut view = View::handing_over(&scenario, Eye::new(&scenario), out);
    assert_eq!(view.due(), Some(Instant::ZERO));
    view.show(at(5), at(5), None, &Lateness::default());
    assert_eq!(view.due(), Some(at(105)));
    drop(snapshots);
    view.show(at(200), at(200), None, &Lateness::default());
    assert_eq!(view.due(), None);
}

#[test]
fn frames_that_nobody_asks_for_are_bounded() {
    let scenario = scenario();
    let eye = Eye::new(&scenario);
    let mut probe = eye.clone();
    let mut emulation = Emulation::new(&scenario, &[], &mut probe).expect("it runs");
    while emulation.advance(at(8_000)).is_some() {}
    let (columns, _) = eye.take(at(8_000));
    let told = serde_json::to_value(&columns).expect("it is JSON");
    assert_eq!(numbers(&told["frames"]["start_ns"]).len(), 1_000);
    let (after, _) = eye.take(at(8_000));
    let left_out = serde_json::to_value(&after).expect("it is JSON")["left_out"].as_u64();
    assert!(left_out > Some(1_000), "{left_out:?}");
}

#[test]
fn the_latest_sample_of_a_simulated_flow_counts() {
    let mut eye = Eye::new(&scenario());
    for (ms, bytes) in [(250, 10), (500, 30)] {
        let sample = FlowSample { queue: Some(3), ..FlowSample::of(0, Bytes(bytes)) };
        eye.flow(at(ms), &sample);
    }
    assert_eq!(eye.samples(), [Some((at(500), Bytes(30), Some(3)))]);
}
