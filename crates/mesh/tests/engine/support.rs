//! Scenarios as text, runs, and a probe that writes down what it sees.

use meshpace_mesh::result::{FlowResult, LinkResult};
use meshpace_mesh::{FlowSample, Probe, RunResult};
use meshpace_network::{AirId, NodeState, Watch};
use meshpace_radio::{Frame, FrameKind};
use meshpace_relay::packet::{Body, Packet};
use meshpace_scenario::{Overrides, Scenario, ScenarioFile};
use meshpace_units::Instant;

/// The scenario of a text with a seed; panics with the message that a user would read.
pub fn scenario(text: &str, seed: u64) -> Scenario {
    let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
    file.and_then(|file| file.resolve(seed)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a text with seed 1.
pub fn run(text: &str) -> RunResult {
    run_seed(text, 1)
}

/// Runs a text.
pub fn run_seed(text: &str, seed: u64) -> RunResult {
    meshpace_mesh::run(&scenario(text, seed)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a text with seed 1 and writes down what happens on the air and every 0.25 s.
pub fn record(text: &str) -> (RunResult, Record) {
    let mut record = Record::default();
    let result = meshpace_mesh::run_with(&scenario(text, 1), &mut record);
    (result.unwrap_or_else(|error| panic!("{error}\n{text}")), record)
}

/// The result as JSON, without the one field that may differ between two runs.
pub fn json(mut result: RunResult) -> String {
    result.wall_s = 0.0;
    serde_json::to_string(&result).expect("a result is JSON")
}

/// Keys of `[measure]`, in seconds.
pub fn measure(duration: f64, warmup: f64) -> String {
    format!("[measure]\nduration = {duration}\nwarmup = {warmup}\n")
}

/// `[topology]` of a chain, and static routes.
pub fn chain(hops: u32) -> String {
    format!("[topology]\nkind = \"chain\"\nhops = {hops}\n[routing]\nprotocol = \"static\"\n")
}

/// A `[[flow]]`; `keys` are further lines.
pub fn flow(from: &str, to: &str, keys: &str) -> String {
    format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nstart_jitter = 0\n{keys}\n")
}

/// A flow of datagrams of `packet` payload bytes, `bps` payload bits a second, started at 0.
pub fn cbr(from: &str, to: &str, bps: f64, packet: u32) -> String {
    flow(from, to, &format!("app = \"cbr\"\nrate = {bps}\npacket = {packet}"))
}

/// A mesh node at a place.
pub fn node(id: &str, x: f64, y: f64) -> String {
    format!("[[node]]\nid = \"{id}\"\nx = {x}\ny = {y}\n")
}

/// A wired node.
pub fn wired(id: &str) -> String {
    format!("[[node]]\nid = \"{id}\"\nrole = \"wired\"\n")
}

/// A wired link.
pub fn link(a: &str, b: &str, rate: &str, delay: &str) -> String {
    format!("[[link]]\na = \"{a}\"\nb = \"{b}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n")
}

/// The row of a directed link.
pub fn row<'a>(result: &'a RunResult, from: &str, to: &str) -> Option<&'a LinkResult> {
    result.links.iter().find(|row| row.from == from && row.to == to)
}

/// Asserts that two numbers agree within a share of the expected one, and says both if not.
#[track_caller]
pub fn close(what: &str, got: f64, expected: f64, tolerance: f64) {
    let off = (got - expected).abs() / expected.abs();
    assert!(off <= tolerance, "{what}: {got} instead of {expected}, {:.2} % off", 100.0 * off);
}

/// The delay of a flow that delivered something.
#[track_caller]
pub fn delay(flow: &FlowResult) -> f64 {
    flow.delay_mean_s.unwrap_or_else(|| panic!("flow {} delivered nothing", flow.id))
}

/// A frame on the air, with what it carries.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When its first bit left.
    pub at: Instant,
    /// The frame.
    pub frame: Frame,
    /// What a data frame carries.
    pub packet: Option<Packet>,
}

impl Seen {
    /// True if it carries a datagram, or a segment with payload, toward a flow's receiver.
    pub fn is_flow_data(&self) -> bool {
        self.packet.as_ref().is_some_and(|packet| match &packet.body {
            Body::Udp(_) => true,
            Body::Tcp(segment) => segment.payload > 0,
            Body::Control(_) | Body::Arp(_) | Body::Opaque(_) | Body::Ethernet(_) => false,
        })
    }

    /// Microseconds since time 0.
    pub fn us(&self) -> f64 {
        self.at.as_secs_f64() * 1e6
    }
}

/// Everything that a probe sees.
#[derive(Default)]
pub struct Record {
    /// Frames in order.
    pub frames: Vec<Seen>,
    /// Samples of flows in order.
    pub samples: Vec<(Instant, FlowSample)>,
    /// Longest queue of a node at a sample.
    pub longest_queue: usize,
}

impl Record {
    /// The data frames that `node` sent for flows.
    pub fn data_from(&self, node: u32) -> impl Iterator<Item = &Seen> {
        self.frames.iter().filter(move |seen| {
            seen.frame.kind == FrameKind::Data && seen.frame.from.0 == node && seen.is_flow_data()
        })
    }

    /// Data frames that carry routing packets.
    pub fn control(&self) -> impl Iterator<Item = &Seen> {
        let control = |seen: &&Seen| matches!(&seen.packet, Some(p) if matches!(p.body, Body::Control(_)));
        self.frames.iter().filter(control)
    }
}

impl Probe for Record {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        self.samples.push((now, *sample));
    }
}

impl Watch for Record {
    fn frame(&mut self, now: Instant, _: AirId, frame: &Frame, packets: &[&Packet]) {
        let packet = packets.first().map(|packet| (*packet).clone());
        self.frames.push(Seen { at: now, frame: frame.clone(), packet });
    }

    fn node(&mut self, _now: Instant, _node: usize, state: NodeState) {
        self.longest_queue = self.longest_queue.max(state.waiting);
    }

    fn wants_nodes(&self) -> bool {
        true
    }
}
