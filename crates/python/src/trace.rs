//! The time series of a run as columns.

use meshpace_mesh::{FlowSample, Probe};
use meshpace_scenario::Scenario;
use meshpace_units::{Bytes, Instant, Span};

/// One row a flow and sample, then one a mesh node and sample; NaN where a column does not apply.
#[derive(Debug, Default)]
pub struct Trace {
    flows: Vec<String>,
    packet_bits: Vec<f64>,
    nodes: Vec<String>,
    delivered: Vec<(Instant, Bytes)>,
    /// Name of the flow, or of the node in rows of a queue.
    pub subject: Vec<String>,
    /// `flow` or `node`.
    pub kind: Vec<String>,
    /// Columns of numbers by name.
    pub numbers: [(&'static str, Vec<f64>); 7],
}

/// TCP and IP, which the pacing rate of a result counts too.
const HEADERS: Bytes = Bytes(40);

const COLUMNS: [&str; 7] = ["t", "goodput_bps", "cwnd", "khd_s", "pacing_rate_bps", "rtt_s", "queue"];

impl Trace {
    /// An empty trace of this scenario's flows and nodes.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            flows: scenario.flows.iter().map(|flow| flow.id.clone()).collect(),
            packet_bits: scenario.flows.iter().map(|flow| (flow.segment + HEADERS).bits() as f64).collect(),
            nodes: scenario.mesh.iter().map(|node| node.id.clone()).collect(),
            delivered: vec![(Instant::ZERO, Bytes(0)); scenario.flows.len()],
            numbers: COLUMNS.map(|name| (name, Vec::new())),
            ..Self::default()
        }
    }

    fn row(&mut self, kind: &str, subject: String, values: [f64; 7]) {
        self.kind.push(kind.to_owned());
        self.subject.push(subject);
        for ((_, column), value) in self.numbers.iter_mut().zip(values) {
            column.push(value);
        }
    }
}

fn seconds(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, Span::as_secs_f64)
}

impl Probe for Trace {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        let (then, before) = std::mem::replace(&mut self.delivered[sample.flow], (now, sample.delivered));
        let elapsed = now.saturating_since(then).as_secs_f64();
        let goodput = (sample.delivered - before).bits() as f64 / elapsed;
        let subject = self.flows[sample.flow].clone();
        let none = f64::NAN;
        self.row(
            "flow",
            subject,
            [
                now.as_secs_f64(),
                if elapsed > 0.0 { goodput } else { none },
                sample.cwnd.unwrap_or(none),
                sample.khd.unwrap_or(none),
                self.packet_bits[sample.flow] / seconds(sample.pacing_interval),
                seconds(sample.rtt),
                none,
            ],
        );
    }

    fn queue(&mut self, now: Instant, node: usize, waiting: usize) {
        let subject = self.nodes[node].clone();
        let none = f64::NAN;
        self.row("node", subject, [now.as_secs_f64(), none, none, none, none, none, waiting as f64]);
    }

    fn wants_queues(&self) -> bool {
        true
    }
}
