//! The time series of a run as columns.

use crate::probe::{FlowSample, Probe};
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
    subjects: Vec<Subject>,
    columns: [Vec<f64>; NAMES.len()],
}

/// TCP and IP, which the pacing rate of a result counts too.
const HEADERS: Bytes = Bytes(40);

const NAMES: [&str; 8] =
    ["t_s", "goodput_bps", "cwnd", "khd_s", "pacing_interval_s", "pacing_rate_bps", "rtt_s", "queue"];

impl Series {
    /// Nothing yet, of a run of `scenario`.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            flow_names: scenario.flows.iter().map(|flow| flow.id.clone()).collect(),
            node_names: scenario.mesh.iter().map(|node| node.id.clone()).collect(),
            packet_bits: scenario.flows.iter().map(|flow| (flow.segment + HEADERS).bits() as f64).collect(),
            previous: vec![(Instant::ZERO, Bytes::ZERO); scenario.flows.len()],
            subjects: Vec::new(),
            columns: Default::default(),
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

    /// The columns of numbers with their names: time; of flows the goodput since the sample before, window in
    /// segments, k-hop delay, pacing interval, the rate that it means, latest round-trip time; of nodes the packets
    /// that wait in the interface queue, the one in the MAC included.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        NAMES.into_iter().zip(self.columns.iter().map(Vec::as_slice))
    }

    fn add(&mut self, subject: Subject, row: [f64; NAMES.len()]) {
        self.subjects.push(subject);
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
        let rtt = sample.rtt.map(Span::as_secs_f64);
        let row = [Some(now.as_secs_f64()), goodput, sample.cwnd, sample.khd, interval, rate, rtt, None];
        self.add(Subject::Flow(sample.flow), row.map(|value| value.unwrap_or(f64::NAN)));
    }

    fn queue(&mut self, now: Instant, node: usize, waiting: usize) {
        let row = [Some(now.as_secs_f64()), None, None, None, None, None, None, Some(waiting as f64)];
        self.add(Subject::Node(node), row.map(|value| value.unwrap_or(f64::NAN)));
    }

    fn wants_queues(&self) -> bool {
        true
    }
}
