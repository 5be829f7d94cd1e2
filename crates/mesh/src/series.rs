//! The time series of a run as columns.

use crate::probe::{FlowEvents, FlowSample, Probe};
use meshpace_network::{NodeState, Watch};
use meshpace_radio::Aggregates;
use meshpace_scenario::Scenario;
use meshpace_units::{Bytes, Instant, Span};

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A flow, by its index.
    Flow(usize),
    /// A mesh node, by its index.
    Node(usize),
}

/// Samples every 0.25 s of simulated time: one row a flow, then one row a mesh node, as a table in long form.
///
/// In columns of numbers NaN stands where there is no value: where the column does not apply to the row's subject, or
/// where the estimate does not exist (yet). No column has NaN for another reason.
#[derive(Clone, Debug)]
pub struct Series {
    flow_names: Vec<String>,
    node_names: Vec<String>,
    /// Bits that the pacing interval of a flow is counted for.
    packet_bits: Vec<f64>,
    /// The flows' previous samples.
    previous: Vec<(Instant, Bytes)>,
    events: Vec<FlowEvents>,
    /// Of the nodes.
    route_failures: Vec<u64>,
    subjects: Vec<Subject>,
    columns: [Vec<f64>; NAMES.len()],
    /// What nodes sent in frames of several packets; `None`: frames carry one.
    aggregates: Option<Aggregated>,
}

/// Columns of frames of several packets, and the nodes' counts of the sample before.
#[derive(Clone, Debug)]
struct Aggregated {
    previous: Vec<Aggregates>,
    columns: [Vec<f64>; AGGREGATES.len()],
}

/// Names of columns that are there where frames carry several packets.
const AGGREGATES: [&str; 5] = ["data_frames", "mpdus", "mpdu_retries", "block_ack_requests", "block_acks"];

/// TCP and IP, which the pacing rate of a result counts too.
const HEADERS: Bytes = Bytes(40);

const NAMES: [&str; 14] = [
    "t_s",
    "goodput_bps",
    "cwnd",
    "khd_s",
    "pacing_interval_s",
    "pacing_rate_bps",
    "rtt_s",
    "srtt_s",
    "queue",
    "lost",
    "lost_acks",
    "retransmits",
    "timeouts",
    "route_failures",
];

impl Series {
    /// Nothing yet, of a run of `scenario`.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            flow_names: scenario.flows.iter().map(|flow| flow.id.clone()).collect(),
            node_names: scenario.mesh.iter().map(|node| node.id.clone()).collect(),
            packet_bits: scenario.flows.iter().map(|flow| (flow.segment + HEADERS).bits() as f64).collect(),
            previous: vec![(Instant::ZERO, Bytes::ZERO); scenario.flows.len()],
            events: vec![FlowEvents::default(); scenario.flows.len()],
            route_failures: vec![0; scenario.mesh.len()],
            subjects: Vec::new(),
            columns: Default::default(),
            aggregates: scenario.radio.standard.aggregation.map(|_| Aggregated {
                previous: vec![Aggregates::default(); scenario.mesh.len()],
                columns: Default::default(),
            }),
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.subjects.len()
    }

    /// True if there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// What each row is about.
    #[must_use]
    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// `flow` or `node`, row by row.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.subjects.iter().map(|subject| match subject {
            Subject::Flow(_) => "flow",
            Subject::Node(_) => "node",
        })
    }

    /// The name of the flow or node, row by row.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.subjects.iter().map(|subject| match subject {
            Subject::Flow(flow) => self.flow_names[*flow].as_str(),
            Subject::Node(node) => self.node_names[*node].as_str(),
        })
    }

    /// The columns of numbers, each with its name. First the time. Then of each flow: the goodput since the sample before, the window
    /// in segments, the k-hop delay, the pacing interval and the rate that it means, the latest and the smoothed round trip, the
    /// packets in its pacing queue at the gateway; and since the sample before the data packets and acknowledgements lost, the
    /// segments sent again and the timeouts. Then of each node: the packets in the interface queue, including the one in the MAC, and
    /// the link failures since the sample before that took routes down or started a repair.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        let aggregates = self.aggregates.iter().flat_map(|it| AGGREGATES.into_iter().zip(&it.columns));
        NAMES.into_iter().zip(&self.columns).chain(aggregates).map(|(name, column)| (name, column.as_slice()))
    }

    fn add(&mut self, subject: Subject, row: [f64; NAMES.len()], sent: Option<Aggregates>) {
        self.subjects.push(subject);
        if let Some(aggregates) = &mut self.aggregates {
            let sent = sent.map_or([f64::NAN; AGGREGATES.len()], |it| {
                [it.frames, it.mpdus, it.retries, it.requests, it.block_acks].map(|count| count as f64)
            });
            aggregates.columns.iter_mut().zip(sent).for_each(|(column, value)| column.push(value));
        }
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
}

impl Probe for Series {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        let (then, before) = std::mem::replace(&mut self.previous[sample.flow], (now, sample.delivered));
        let elapsed = now.saturating_since(then);
        let goodput =
            (!elapsed.is_zero()).then(|| (sample.delivered - before).bits() as f64 / elapsed.as_secs_f64());
        let interval = sample.pacing_interval.map(Span::as_secs_f64);
        // No interval between packets is no pacing: there is no rate then.
        let rate = interval.filter(|s| *s > 0.0).map(|s| self.packet_bits[sample.flow] / s);
        let [rtt, srtt] = [sample.rtt, sample.srtt].map(|rtt| rtt.map(Span::as_secs_f64));
        let queue = sample.queue.map(|queue| queue as f64);
        let before = std::mem::replace(&mut self.events[sample.flow], sample.events);
        let since = |count: fn(&FlowEvents) -> u64| Some((count(&sample.events) - count(&before)) as f64);
        let row = [
            Some(now.as_secs_f64()),
            goodput,
            sample.cwnd,
            sample.khd,
            interval,
            rate,
            rtt,
            srtt,
            queue,
            since(|events| events.lost),
            since(|events| events.lost_acks),
            since(|events| events.retransmits),
            since(|events| events.timeouts),
            None,
        ];
        self.add(Subject::Flow(sample.flow), row.map(|value| value.unwrap_or(f64::NAN)), None);
    }
}

impl Watch for Series {
    fn node(&mut self, now: Instant, node: usize, state: NodeState) {
        let before = std::mem::replace(&mut self.route_failures[node], state.route_failures);
        let mut row = [f64::NAN; NAMES.len()];
        for (name, value) in [
            ("t_s", now.as_secs_f64()),
            ("queue", state.waiting as f64),
            ("route_failures", (state.route_failures - before) as f64),
        ] {
            let at = NAMES.iter().position(|found| *found == name);
            row[at.unwrap_or_else(|| panic!("no column {name}"))] = value;
        }
        let sent = self.aggregates.as_mut().map(|aggregates| {
            let before = std::mem::replace(&mut aggregates.previous[node], state.aggregates);
            state.aggregates.since(before)
        });
        self.add(Subject::Node(node), row, sent);
    }

    fn wants_nodes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run_with;
    use meshpace_scenario::{Overrides, ScenarioFile};

    const TEXT: &str = r#"
        measure = { duration = "3s", warmup = "0s" }
        topology = { kind = "chain", hops = 2, spacing = "200m" }
        routing = { protocol = "static" }
        defaults = { scheme = "tcp-ap" }
        flow = [
            { id = "web", from = "n0", to = "n2", start_jitter = "0s" },
            { id = "voice", from = "n2", to = "n0", app = "cbr", rate = "20kbps", packet = 100, start_jitter = "0s" },
        ]
    "#;

    fn scenario() -> Scenario {
        let file = ScenarioFile::parse("test.toml", TEXT.as_bytes(), &Overrides::none());
        file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn column<'a>(series: &'a Series, name: &str) -> &'a [f64] {
        series.columns().find(|(found, _)| *found == name).unwrap_or_else(|| panic!("no column {name}")).1
    }

    #[test]
    fn a_sample_becomes_a_row() {
        let mut series = Series::new(&scenario());
        assert!(series.is_empty() && series.wants_nodes());
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let first = FlowEvents { lost: 1, retransmits: 2, ..FlowEvents::default() };
        let none = FlowSample { events: first, ..FlowSample::of(0, Bytes(1000)) };
        series.flow(at(250), &none);
        let all = FlowSample {
            delivered: Bytes(3000),
            cwnd: Some(2.5),
            khd: Some(0.02),
            pacing_interval: Some(Span::from_millis(12)),
            rtt: Some(Span::from_millis(80)),
            srtt: Some(Span::from_millis(60)),
            queue: Some(4),
            events: FlowEvents { lost: 4, lost_acks: 1, retransmits: 2, timeouts: 1 },
            ..none
        };
        series.flow(at(500), &all);
        series.flow(at(500), &FlowSample { pacing_interval: Some(Span::ZERO), ..all });
        series.node(at(500), 2, NodeState { waiting: 7, route_failures: 3, ..NodeState::default() });
        let nan = f64::NAN;
        let expected = [
            ("t_s", [0.25, 0.5, 0.5, 0.5]),
            ("goodput_bps", [32_000.0, 64_000.0, nan, nan]),
            ("cwnd", [nan, 2.5, 2.5, nan]),
            ("khd_s", [nan, 0.02, 0.02, nan]),
            ("pacing_interval_s", [nan, 0.012, 0.0, nan]),
            ("pacing_rate_bps", [nan, 1e6, nan, nan]),
            ("rtt_s", [nan, 0.08, 0.08, nan]),
            ("srtt_s", [nan, 0.06, 0.06, nan]),
            ("queue", [nan, 4.0, 4.0, 7.0]),
            ("lost", [1.0, 3.0, 0.0, nan]),
            ("lost_acks", [0.0, 1.0, 0.0, nan]),
            ("retransmits", [2.0, 0.0, 0.0, nan]),
            ("timeouts", [0.0, 1.0, 0.0, nan]),
            ("route_failures", [nan, nan, nan, 3.0]),
        ];
        for ((name, column), (expected_name, expected)) in series.columns().zip(expected) {
            assert_eq!(name, expected_name);
            assert_eq!(column.len(), series.len());
            let same =
                |(a, b): (&f64, f64)| a.is_nan() && b.is_nan() || (a - b).abs() < 1e-6 * b.abs().max(1e-9);
            assert!(column.iter().zip(expected).all(same), "{name}: {column:?}, not {expected:?}");
        }
        assert_eq!(series.subjects()[3], Subject::Node(2));
        assert_eq!(series.kinds().collect::<Vec<_>>(), ["flow", "flow", "flow", "node"]);
        assert_eq!(series.names().collect::<Vec<_>>(), ["web", "web", "web", "n2"]);
    }

    /// Of 802.11n the columns of nodes are differences of counts.
    #[test]
    fn frames_of_several_packets_have_columns() {
        let file = ScenarioFile::parse(
            "test.toml",
            TEXT.as_bytes(),
            &Overrides::none().with("radio.standard=802.11n".to_owned()),
        );
        let scenario = file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"));
        let mut series = Series::new(&scenario);
        let mut node = |frames, mpdus| {
            let (retries, requests, block_acks) = (mpdus / 4, frames - 3, frames);
            let aggregates = Aggregates { frames, mpdus, retries, requests, block_acks };
            let state = NodeState { aggregates, ..NodeState::default() };
            series.node(Instant::ZERO, 1, state);
        };
        node(3, 12);
        node(5, 20);
        node(6, 24);
        series.flow(Instant::ZERO, &FlowSample::of(0, Bytes(1000)));
        for (name, expected) in [
            ("data_frames", [3.0, 2.0, 1.0]),
            ("mpdus", [12.0, 8.0, 4.0]),
            ("mpdu_retries", [3.0, 2.0, 1.0]),
            ("block_ack_requests", [0.0, 2.0, 1.0]),
            ("block_acks", [3.0, 2.0, 1.0]),
        ] {
            let found = column(&series, name);
            assert_eq!(found[..3], expected, "{name}");
            assert!(found[3].is_nan(), "{name}: a flow sends no frames");
        }
        assert!(Series::new(&self::scenario()).columns().all(|(name, _)| !AGGREGATES.contains(&name)));
    }

    #[test]
    fn a_run_gives_a_row_a_subject_every_quarter_second() {
        let scenario = scenario();
        let mut series = Series::new(&scenario);
        let result = run_with(&scenario, &mut series).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(series.len(), 12 * (2 + 3));
        let row = |index: usize| (column(&series, "t_s")[index], series.subjects()[index]);
        assert_eq!([row(0), row(1), row(5)].map(|row| row.0), [0.25, 0.25, 0.5]);
        assert_eq!(
            [row(0), row(1), row(2)].map(|row| row.1),
            [Subject::Flow(0), Subject::Flow(1), Subject::Node(0)]
        );
        for (flow, result) in result.flows.iter().enumerate() {
            let goodput = column(&series, "goodput_bps");
            let of_flow = series.subjects().iter().zip(goodput).filter(|(s, _)| **s == Subject::Flow(flow));
            let mean = of_flow.map(|(_, goodput)| goodput).sum::<f64>() / 12.0;
            assert!((mean - result.goodput_bps).abs() < 1e-3, "{mean}, {}", result.goodput_bps);
        }
        assert!(column(&series, "pacing_rate_bps").iter().any(|rate| *rate > 0.0), "tcp-ap paces");
        let smoothed = |series: &Series| column(series, "srtt_s").iter().filter(|rtt| **rtt > 0.0).count();
        assert!(smoothed(&series) > 5, "the estimator of tcp-ap has samples");
        assert!(column(&series, "queue").iter().any(|queue| *queue > 0.0));
    }
}
