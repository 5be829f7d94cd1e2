//! What a live view keeps of the air between two snapshots, and the latest of queues and of simulated flows.

use meshpace_mesh::probe::{FlowSample, Probe};
use meshpace_mesh::{frame_word, loss_word};
use meshpace_network::{AirId, NodeState, Watch};
use meshpace_radio::{Frame, FrameEnd};
use meshpace_relay::packet::Packet;
use meshpace_scenario::Scenario;
use meshpace_units::{Bytes, Instant, NodeId, Span};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Frames that are kept; more than stations of 11 Mbit/s send in the time between two snapshots, unless dozens do at once.
const MOST: usize = 1_000;
/// A frame is handed over so long after its end: by then its receivers, some kilometres off, have reported their
/// losses.
const MARGIN: Span = Span::from_micros(50);

/// Looks on for a view. What it saw is shared with the view.
#[derive(Clone)]
pub struct Eye(Rc<RefCell<Seen>>);

/// When, what was delivered, and the queue at the gateway of a simulated flow.
pub type Sample = (Instant, Bytes, Option<usize>);

struct Seen {
    shots: VecDeque<Shot>,
    /// The number of the first of `shots`, counted from the beginning.
    first: u64,
    /// By channel and node the latest frame by its number, if it was kept.
    latest: Vec<Option<u64>>,
    left_out: u64,
    queues: Vec<usize>,
    samples: Vec<Option<Sample>>,
}

struct Shot {
    start: Instant,
    airtime: Span,
    from: NodeId,
    to: Option<NodeId>,
    kind: &'static str,
    retry: bool,
    losses: Vec<(NodeId, &'static str)>,
}

/// Frames and losses as columns: nodes by index, times in whole nanoseconds.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Columns {
    frames: Frames,
    losses: Losses,
    /// Frames since the beginning that were too many to be shown.
    left_out: u64,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Frames {
    start_ns: Vec<u64>,
    airtime_ns: Vec<u64>,
    from: Vec<u32>,
    to: Vec<Option<u32>>,
    kind: Vec<&'static str>,
    retry: Vec<u8>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Losses {
    /// Index of the frame among these.
    frame: Vec<usize>,
    node: Vec<u32>,
    cause: Vec<&'static str>,
}

impl Eye {
    /// Has seen nothing yet of a scenario.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = scenario.mesh.len();
        Self(Rc::new(RefCell::new(Seen {
            shots: VecDeque::new(),
            first: 0,
            latest: vec![None; nodes * scenario.channels.len().max(1)],
            left_out: 0,
            queues: vec![0; nodes],
            samples: vec![None; scenario.flows.len()],
        })))
    }

    /// Frames that were over well before `now`, which are forgotten, and the queues.
    pub fn take(&self, now: Instant) -> (Columns, Vec<usize>) {
        let mut seen = self.0.borrow_mut();
        let mut columns = Columns { left_out: seen.left_out, ..Columns::default() };
        while let Some(shot) = seen.shots.front()
            && shot.start + shot.airtime + MARGIN <= now
            && let Some(shot) = seen.shots.pop_front()
        {
            seen.first += 1;
            columns.add(&shot);
        }
        (columns, seen.queues.clone())
    }

    /// The latest of each simulated flow.
    pub fn samples(&self) -> Vec<Option<Sample>> {
        self.0.borrow().samples.clone()
    }
}

impl Seen {
    /// Where the latest frame of a frame's sender stands on its channel.
    fn sender(&self, air: AirId, frame: &Frame) -> usize {
        air.index() * self.queues.len() + frame.from.index()
    }
}

impl Columns {
    fn add(&mut self, shot: &Shot) {
        for (node, cause) in &shot.losses {
            self.losses.frame.push(self.frames.kind.len());
            self.losses.node.push(node.0);
            self.losses.cause.push(cause);
        }
        let frames = &mut self.frames;
        frames.start_ns.push(shot.start.as_nanos());
        frames.airtime_ns.push(shot.airtime.as_nanos());
        frames.from.push(shot.from.0);
        frames.to.push(shot.to.map(|to| to.0));
        frames.kind.push(shot.kind);
        frames.retry.push(u8::from(shot.retry));
    }
}

impl Watch for Eye {
    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        let mut seen = self.0.borrow_mut();
        let sender = seen.sender(air, frame);
        if seen.shots.len() >= MOST {
            seen.left_out += 1;
            seen.latest[sender] = None;
            return;
        }
        let number = seen.first + seen.shots.len() as u64;
        seen.latest[sender] = Some(number);
        seen.shots.push_back(Shot {
            start: now,
            airtime: frame.airtime,
            from: frame.from,
            to: frame.to,
            kind: frame_word(frame.kind, packets.first().map(|packet| packet.class)),
            retry: frame.retry,
            losses: Vec::new(),
        });
    }

    fn lost(&mut self, _now: Instant, air: AirId, at: NodeId, frame: &Frame, end: &FrameEnd) {
        // A broadcast is lost at many.
        if frame.to != Some(at) {
            return;
        }
        let mut seen = self.0.borrow_mut();
        let sender = seen.sender(air, frame);
        let Some(number) = seen.latest[sender] else { return };
        let first = seen.first;
        let shot = number.checked_sub(first).and_then(|index| seen.shots.get_mut(index as usize));
        // The transmitter may have gone on to another frame, where the way is long.
        if let Some(shot) = shot.filter(|shot| shot.to == frame.to && shot.airtime == frame.airtime) {
            shot.losses.push((at, loss_word(end.outcome)));
        }
    }

    fn node(&mut self, _now: Instant, node: usize, state: NodeState) {
        self.0.borrow_mut().queues[node] = state.waiting;
    }

    fn wants_nodes(&self) -> bool {
        true
    }
}

impl Probe for Eye {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        self.0.borrow_mut().samples[sample.flow] = Some((now, sample.delivered, sample.queue));
    }
}
