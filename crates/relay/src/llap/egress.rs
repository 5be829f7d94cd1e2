//! All that a node knows of the packets for one egress.

use super::estimates::Estimates;
use super::input_queue::InputQueue;
use super::options::{Options, PdChange};
use super::overhearing::{Heard, Watched};
use crate::packet::Packet;
use meshpace_units::{Instant, NodeId, Span};

/// Where packets go: the node where they leave the mesh, and the path that they name, if they name one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EgressPath {
    pub exit: NodeId,
    path: u32,
}

impl EgressPath {
    pub fn of(packet: &Packet) -> Self {
        Self { exit: packet.exit, path: packet.path.map_or(0, |path| path.0.get()) }
    }

    /// True if routing decides the next hop.
    pub fn is_routed(&self) -> bool {
        self.path == 0
    }
}

/// State of one egress.
#[derive(Debug)]
pub(super) struct Egress {
    pub way: EgressPath,
    pub next_hop: Option<NodeId>,
    pub estimates: Estimates,
    pub queue: InputQueue,
    pub watched: Option<Watched>,
    /// Hops that NHT stands for: k of the latest packet.
    pub k: u32,
}

impl Egress {
    pub fn new(way: EgressPath) -> Self {
        let (estimates, queue) = Default::default();
        Self { way, next_hop: None, estimates, queue, watched: None, k: 0 }
    }

    /// The next hop for packets that come now. Of another one than before nothing is known.
    pub fn set_next_hop(&mut self, now: Instant, next_hop: Option<NodeId>, options: &Options) {
        if self.next_hop != next_hop {
            self.next_hop = next_hop;
            self.watched = None;
            self.change(now, options, Estimates::forget_next_hop);
        }
    }

    /// A relayed packet is through.
    pub fn passed(&mut self, now: Instant, here: Span, unheld: Span, options: &Options) {
        self.change(now, options, |estimates| estimates.passed(here, unheld, options));
    }

    /// Listening has come to an end. True if the packet was overheard.
    pub fn listened(&mut self, now: Instant, heard: Heard, options: &Options) {
        let Some(watched) = self.watched.take() else { return };
        let sample = match heard {
            Heard::Sample(sample) => Some(sample),
            Heard::Missed => watched.penalty(self.estimates.next, options),
        };
        if let Some(sample) = sample {
            self.change(now, options, |estimates| estimates.overheard(sample, options));
        }
    }

    fn change(&mut self, now: Instant, options: &Options, how: impl FnOnce(&mut Estimates)) {
        self.queue.idle(now, &self.estimates, options);
        how(&mut self.estimates);
        self.queue.idle(now, &self.estimates, options);
        if options.pd_change == PdChange::AtOnce {
            self.queue.arm_again(now, &self.estimates, options);
        }
    }

    /// When something is to be done next.
    pub fn deadline(&self) -> Option<Instant> {
        let expires = self.watched.as_ref().map(Watched::expires);
        match (self.queue.due(), expires) {
            (Some(due), Some(expires)) => Some(due.min(expires)),
            (due, expires) => due.or(expires),
        }
    }
}
