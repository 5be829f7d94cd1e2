//! A live view: some times a second a line of JSON with what has happened on the air, of the flows and of lateness since the last one.
//!
//! A reader cannot make the emulation late. The engine's thread puts a snapshot of bounded size together and hands it
//! over; another thread, without real-time priority, writes it. While that one is still at work on earlier ones, because
//! the reader does not keep up, snapshots are left out and counted. Counters count from the beginning, so that the next
//! snapshot makes up for those that were left out.

mod flows;
mod frames;

use crate::lateness::{Lateness, Verdict};
use flows::RealFlows;
use frames::Columns;
pub use frames::Eye;
use meshpace_network::ipv6_of;
use meshpace_radio::Position;
use meshpace_scenario::Scenario;
use meshpace_units::{Bytes, Instant, Span};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::Builder;

/// Between two snapshots, by the clock.
const PERIOD: Span = Span::from_millis(100);
/// Snapshots that wait to be written.
const WAITING: usize = 4;

/// Puts snapshots together and hands them over.
pub struct View {
    eye: Eye,
    flows: RealFlows,
    simulated: Vec<SimulatedFlow>,
    due: Instant,
    skipped: u64,
    /// `None`: the viewer has gone.
    out: Option<SyncSender<Snapshot>>,
}

/// What a simulated flow is called.
struct SimulatedFlow {
    id: String,
    from: String,
    to: String,
    scheme: String,
}

/// What a line says. Times in seconds of simulated time, unless their name says otherwise.
#[derive(Debug, Serialize)]
struct Snapshot {
    at_s: f64,
    #[serde(flatten)]
    columns: Columns,
    /// Packets in each mesh node's interface queue.
    queues: Vec<usize>,
    /// Where the mesh nodes are; `None`: where they were at the beginning.
    places: Option<Vec<[f64; 2]>>,
    flows: Vec<FlowRow>,
    lateness: Verdict,
    /// Snapshots before this one that were not taken.
    skipped: u64,
}

/// A flow up to now.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct FlowRow {
    id: String,
    from: String,
    to: String,
    /// The protocol and the ports of a real host's, the scheme of a simulated one.
    kind: String,
    real: bool,
    /// When this was so.
    at_s: f64,
    /// Payload that has come to the receiver since the beginning, each byte once (of TCP).
    bytes: u64,
    /// Packets in its pacing queue at a simulated gateway.
    queue: Option<usize>,
}

impl View {
    /// A view of a scenario that is written to `file`; `eye` looks on.
    ///
    /// # Errors
    /// What `pthread_create(3)` answers.
    pub fn new(scenario: &Scenario, file: File, eye: Eye) -> io::Result<Self> {
        let (out, snapshots) = sync_channel(WAITING);
        Builder::new().name("view".to_owned()).spawn(move || write(file, &snapshots))?;
        Ok(Self::handing_over(scenario, eye, out))
    }

    fn handing_over(scenario: &Scenario, eye: Eye, out: SyncSender<Snapshot>) -> Self {
        let nodes = scenario.mesh.iter().map(|node| (node.address, &node.id));
        let nodes = nodes.chain(scenario.wired.iter().map(|node| (node.address, &node.id)));
        let names =
            nodes.flat_map(|(v4, id)| [(IpAddr::V4(v4), id.clone()), (IpAddr::V6(ipv6_of(v4)), id.clone())]);
        let simulated = scenario.flows.iter().map(|flow| SimulatedFlow {
            id: flow.id.clone(),
            from: scenario.name_of(flow.from).to_owned(),
            to: scenario.name_of(flow.to).to_owned(),
            scheme: flow.scheme.clone(),
        });
        let (flows, simulated) = (RealFlows::new(names.collect()), simulated.collect());
        Self { eye, flows, simulated, due: Instant::ZERO, skipped: 0, out: Some(out) }
    }

    /// When it wants to show something, by the clock; `None`: never again.
    pub fn due(&self) -> Option<Instant> {
        self.out.as_ref().map(|_| self.due)
    }

    /// A packet has come to a device at a host that has these addresses.
    pub fn delivered(&mut self, at: Instant, host: [IpAddr; 2], bytes: &[u8]) {
        self.flows.delivered(at, host, bytes);
    }

    /// Shows how things are at `now`, if it is time by the clock.
    pub fn show(&mut self, clock: Instant, now: Instant, places: Option<&[Position]>, lateness: &Lateness) {
        if clock < self.due || self.out.is_none() {
            return;
        }
        self.due = clock + PERIOD;
        let (columns, queues) = self.eye.take(now);
        let snapshot = Snapshot {
            at_s: seconds(now),
            columns,
            queues,
            places: places.map(|places| places.iter().map(|place| [place.x, place.y]).collect()),
            flows: self.rows(now),
            lateness: lateness.verdict(),
            skipped: self.skipped,
        };
        let Some(out) = &self.out else { return };
        match out.try_send(snapshot) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.skipped += 1,
            Err(TrySendError::Disconnected(_)) => self.out = None,
        }
    }

    fn rows(&mut self, now: Instant) -> Vec<FlowRow> {
        let samples = self.eye.samples();
        let simulated = self.simulated.iter().zip(samples).filter_map(|(flow, sample)| {
            let (at, Bytes(bytes), queue) = sample?;
            let SimulatedFlow { id, from, to, scheme } = flow;
            let [id, from, to, kind] = [id, from, to, scheme].map(String::clone);
            Some(FlowRow { id, from, to, kind, real: false, at_s: seconds(at), bytes, queue })
        });
        simulated.chain(self.flows.rows(now)).collect()
    }
}

fn seconds(at: Instant) -> f64 {
    (at - Instant::ZERO).as_secs_f64()
}

/// Until there are no more, or the viewer has gone.
fn write(mut file: File, snapshots: &Receiver<Snapshot>) {
    for snapshot in snapshots {
        let mut line =
            serde_json::to_vec(&snapshot).expect("a snapshot has no map with keys other than strings");
        line.push(b'\n');
        if file.write_all(&line).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
