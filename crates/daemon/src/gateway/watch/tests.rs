use super::*;
use crate::control::tests::example;

fn events(differences: &mut Differences, snapshot: &Snapshot) -> Vec<Event> {
    differences.since_last(snapshot)
}

/// What kind each event is of.
fn kinds(events: &[Event]) -> Vec<String> {
    let kind = |event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
    events.iter().map(kind).collect()
}

#[test]
fn flows_open_and_close() {
    let mut differences = Differences::default();
    let first =
        events(&mut differences, &example::snapshot(vec![example::report(1, 9), example::report(3, 9)]));
    assert_eq!(kinds(&first), ["flow_opened", "flow_opened"]);
    let mut reopened = example::report(3, 9);
    reopened.opened = example::now();
    let mut next = example::snapshot(vec![example::report(2, 9), reopened]);
    next.counters.opened = 4;
    let events = events(&mut differences, &next);
    assert_eq!(kinds(&events), ["flow_closed", "flow_opened", "flow_closed", "flow_opened"]);
    assert!(
        matches!(&events[0], Event::FlowClosed(flow) if flow.flow.starts_with("10.1.2.1:") && flow.age_s > 59.0)
    );
    assert!(matches!(&events[1], Event::FlowOpened(flow) if flow.flow.starts_with("10.1.2.2:")));
}

#[test]
fn nothing_new_is_silence_and_short_flows_are_counted() {
    let mut differences = Differences::default();
    let snapshot = example::snapshot(vec![example::report(1, 9)]);
    events(&mut differences, &snapshot);
    assert_eq!(events(&mut differences, &snapshot), []);
    let mut later = snapshot;
    later.counters.opened += 50;
    assert_eq!(events(&mut differences, &later), [Event::ShortFlows { count: 50 }]);
}

#[test]
fn a_cap_comes_and_goes() {
    let mut differences = Differences::default();
    let free = example::snapshot(vec![example::report(1, 9)]);
    let mut capped = free.clone();
    capped.flows[0].stats.cap = Some(Span::from_millis(50));
    events(&mut differences, &free);
    let told = events(&mut differences, &capped);
    assert!(
        matches!(&told[..], [Event::FlowThrottled { cap_pps, .. }] if (cap_pps - 20.0).abs() < 1e-9),
        "{told:?}"
    );
    assert_eq!(events(&mut differences, &capped), []);
    assert_eq!(kinds(&events(&mut differences, &free)), ["flow_released"]);
}

#[test]
fn overflows_and_lateness_are_told_once() {
    let mut differences = Differences::default();
    let fine = example::snapshot(Vec::new());
    events(&mut differences, &fine);
    let mut bad = fine;
    (bad.driver.kernel_dropped, bad.driver.overflowed, bad.counters.dropped) = (7, 3, 2);
    (bad.counters.evicted, bad.counters.untracked) = (1, 4);
    (0..98).for_each(|_| bad.driver.lateness.record(Span::from_millis(1)));
    bad.driver.lateness.record(Span::from_millis(2));
    let told = events(&mut differences, &bad);
    assert_eq!(
        told,
        [
            Event::QueueOverflow { queue: 7, socket: 0 },
            Event::HeldLimit { packets: 3 },
            Event::BufferFull { packets: 2 },
            Event::TableFull { evicted: 1, untracked: 4 },
            Event::Late { departures: 99, late: 1 },
        ]
    );
    (0..101).for_each(|_| bad.driver.lateness.record(Span::from_millis(1)));
    bad.driver.lateness.record(Span::from_millis(2));
    assert_eq!(events(&mut differences, &bad), [], "one of 102 since then is no more than 1 %");
}
