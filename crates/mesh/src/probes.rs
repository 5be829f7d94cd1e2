//! Several probes at once: a pair watches with both, an option if there is one.

use crate::packet::Packet;
use crate::probe::{FlowSample, Probe};
use meshpace_radio::Frame;
use meshpace_units::Instant;

impl<A: Probe, B: Probe> Probe for (A, B) {
    fn frame(&mut self, now: Instant, frame: &Frame, packet: Option<&Packet>) {
        self.0.frame(now, frame, packet);
        self.1.frame(now, frame, packet);
    }

    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        self.0.flow(now, sample);
        self.1.flow(now, sample);
    }

    fn queue(&mut self, now: Instant, node: usize, waiting: usize) {
        self.0.queue(now, node, waiting);
        self.1.queue(now, node, waiting);
    }

    fn wants_queues(&self) -> bool {
        self.0.wants_queues() || self.1.wants_queues()
    }
}

impl<P: Probe> Probe for Option<P> {
    fn frame(&mut self, now: Instant, frame: &Frame, packet: Option<&Packet>) {
        if let Some(probe) = self {
            probe.frame(now, frame, packet);
        }
    }

    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        if let Some(probe) = self {
            probe.flow(now, sample);
        }
    }

    fn queue(&mut self, now: Instant, node: usize, waiting: usize) {
        if let Some(probe) = self {
            probe.queue(now, node, waiting);
        }
    }

    fn wants_queues(&self) -> bool {
        self.as_ref().is_some_and(Probe::wants_queues)
    }
}
