//! Real hosts.

use crate::Endpoint;
use meshpace_units::{NodeId, Span};

/// A node that is a real host where the scenario is emulated.
#[derive(Clone, Debug, PartialEq)]
pub struct EmulatedHost {
    /// The node.
    pub node: Endpoint,
    /// What its device carries.
    pub layer: Layer,
    /// What runs there.
    pub command: Option<HostCommand>,
}

/// What goes between a real host's kernel and its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// IP packets: the mesh is one link, and its nodes forward.
    Packets,
    /// Ethernet frames to and from neighbours: the kernels forward.
    Frames,
}

/// A node is switched on or off while the scenario is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatedEvent {
    /// When, from time 0.
    pub at: Span,
    /// The node.
    pub node: NodeId,
    /// On, or off.
    pub on: bool,
}

/// A command on a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCommand {
    /// For the shell.
    pub run: String,
    /// When it starts, from time 0.
    pub start: Span,
    /// What becomes of its output.
    pub collect: Collect,
}

/// What of a command's output goes into the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collect {
    /// Nothing.
    Nothing,
    /// The text.
    Output,
    /// The flows of `iperf3 -J`.
    Iperf3,
}
