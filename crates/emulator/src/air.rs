//! How long the radios of nodes whose kernels forward were on the air.

use meshpace_mesh::probe::Probe;
use meshpace_network::{AirId, Watch};
use meshpace_radio::Frame;
use meshpace_relay::packet::Packet;
use meshpace_scenario::{Plan, Scenario};
use meshpace_units::{Instant, NodeId, Span};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;

/// When the measured interval begins.
pub fn measured_from(scenario: &Scenario) -> Instant {
    match scenario.measure.plan {
        Plan::Time { warmup, .. } => Instant::ZERO + warmup,
        Plan::Batches { .. } => Instant::ZERO,
    }
}

/// Looks on, and adds up. What it has is shared by its clones.
#[derive(Clone)]
pub struct Clock {
    /// What was before does not count.
    begin: Instant,
    nodes: usize,
    /// By channel and node.
    radios: Rc<RefCell<Vec<AirTime>>>,
}

/// How long a radio was on the air in the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AirTime {
    /// Seconds that all its frames took: data, answers to other radios, and each attempt.
    pub airtime_s: f64,
    /// Seconds that frames for all or for several stations took.
    pub airtime_to_all_s: f64,
}

impl Clock {
    /// Nothing was on the air yet.
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = scenario.mesh.len();
        let radios = vec![AirTime::default(); nodes * scenario.channels.len().max(1)];
        Self { begin: measured_from(scenario), nodes, radios: Rc::new(RefCell::new(radios)) }
    }

    /// What a node's radio on a channel took so far.
    pub fn of(&self, (air, node): (AirId, NodeId)) -> AirTime {
        self.radios.borrow()[self.index(air, node)]
    }

    fn index(&self, air: AirId, node: NodeId) -> usize {
        air.index() * self.nodes + node.index()
    }
}

impl Watch for Clock {
    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, _packets: &[&Packet]) {
        if now < self.begin {
            return;
        }
        let index = self.index(air, frame.from);
        let radio = &mut self.radios.borrow_mut()[index];
        let took = Span::as_secs_f64(frame.airtime);
        radio.airtime_s += took;
        if frame.to.is_none() {
            radio.airtime_to_all_s += took;
        }
    }
}

impl Probe for Clock {}
