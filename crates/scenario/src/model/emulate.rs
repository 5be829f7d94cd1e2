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

/// Something happens to a node while the scenario is emulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmulatedEvent {
    /// When, from time 0.
    pub at: Span,
    /// The node.
    pub node: NodeId,
    /// What.
    pub what: Happening,
}

/// What happens to a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// Its radios are on from now on, or off.
    Switched {
        /// On.
        on: bool,
    },
    /// It goes to another place, straight and as fast as that takes.
    Goes {
        /// East, in metres.
        x: f64,
        /// North, in metres.
        y: f64,
        /// How long it is on its way.
        takes: Span,
    },
}

impl Happening {
    /// True if the node has another place then.
    #[must_use]
    pub const fn moves(&self) -> bool {
        matches!(self, Self::Goes { .. })
    }
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
