use super::*;
use crate::control::tests::example;
use std::collections::BTreeSet;

fn text(flows: Vec<FlowReport>) -> String {
    let config = Config::parse(
        "test",
        b"mode = \"pace\"\n[mesh]\ninterfaces = [\"mesh0\"]\n[[subnet]]\nprefix = \"10.1.2.0/30\"\n",
    );
    let mut snapshot = example::snapshot(flows);
    snapshot.driver.lateness.record(Span::from_micros(15));
    snapshot.driver.lateness.record(Span::from_secs(1));
    snapshot.round_trips.wireless.record(Span::from_millis(40));
    let doubt =
        Doubt { name: Name::Rate, since: example::now(), found: String::new(), remedy: String::new() };
    Exporter::text(Arc::new(snapshot), Arc::new(config.unwrap()), vec![doubt])
}

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
}

#[test]
fn counters_gauges_and_histograms_are_exported() {
    let text = text(vec![example::report(1, 900), example::report(5, 100)]);
    for (treatment, flows) in [("pace", "2.0"), ("shape", "0.0"), ("observe", "0.0")] {
        has(&text, &format!("meshpace_flows{{treatment=\"{treatment}\"}} {flows}"));
    }
    has(&text, "meshpace_flows_opened_total 2");
    has(&text, "# TYPE meshpace_flows_opened counter");
    has(&text, "meshpace_uptime_seconds 90.0");
    has(&text, "meshpace_doubts{name=\"rate\"} 1.0");
    has(&text, "meshpace_doubts{name=\"hops\"} 0.0");
    has(&text, "meshpace_unread_packets_total{reason=\"fragment\"} 0");
    has(&text, "meshpace_departure_lateness_seconds_count 2");
    has(&text, "meshpace_departure_lateness_seconds_bucket{le=\"0.00001\"} 0");
    has(&text, "meshpace_departure_lateness_seconds_bucket{le=\"0.00002\"} 1");
    has(&text, "meshpace_departure_lateness_seconds_bucket{le=\"+Inf\"} 2");
    has(&text, "meshpace_wireless_rtt_seconds_sum 0.04");
    has(&text, "meshpace_subnet_goodput_bits_per_second{subnet=\"10.1.2.0/30\"} 900000.0");
    has(&text, "meshpace_subnet_goodput_bits_per_second{subnet=\"other\"} 100000.0");
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn nothing_is_told_of_a_fairness_that_nobody_knows() {
    let text = text(vec![example::report(1, 900)]);
    assert!(!text.lines().any(|line| line.starts_with("meshpace_fairness_jain_index ")), "{text}");
    has(&text, "# TYPE meshpace_fairness_jain_index gauge");
}

#[test]
fn the_number_of_series_does_not_grow_with_the_number_of_flows() {
    let series = |flows| text(flows).lines().filter(|line| !line.starts_with('#')).count();
    let few = series((1..3).map(|n| example::report(n, 100)).collect());
    let many = series((1..200).map(|n| example::report(n, 100)).collect());
    assert_eq!(few, many);
}

/// Names of metrics in a PromQL expression.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    expression.split(move |c| !part_of_name(c)).filter(|word| word.starts_with("meshpace_"))
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana/meshpaced.json");
    let dashboard: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let text = text(vec![example::report(1, 900), example::report(5, 100)]);
    let series = text.lines().filter(|line| !line.starts_with('#'));
    let exported: BTreeSet<&str> = series.filter_map(|line| line.split(['{', ' ']).next()).collect();
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let expressions: Vec<&str> =
        targets.map(|target| target["expr"].as_str().expect("an expression")).collect();
    assert!(expressions.len() > 10, "{expressions:?}");
    let mut asked = BTreeSet::new();
    for name in expressions.iter().flat_map(|expression| names(expression)) {
        assert!(
            exported.contains(name),
            "the dashboard asks for {name}, which is not exported: {exported:?}"
        );
        asked.insert(name);
    }
    // And the other way round: histograms are asked for by bucket.
    let unused: Vec<&&str> = exported
        .iter()
        .filter(|name| !name.ends_with("_sum") && !name.ends_with("_count") && !asked.contains(**name))
        .collect();
    assert!(unused.is_empty(), "exported, but on no panel: {unused:?}");
}
