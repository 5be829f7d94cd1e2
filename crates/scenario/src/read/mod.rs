//! From the checked tables to typed parts: all that does not depend on the seed.

mod flow;
mod measure;
mod network;
mod radio;
mod schemes;
mod topology;

pub(crate) use flow::{FlowSpec, network_scheme, read_flows};
pub(crate) use measure::read_measure;
pub(crate) use network::{LinkSpec, MobilitySpec, NodeSpec, Role};
pub(crate) use network::{read_links, read_mobility, read_nodes, read_routing};
pub(crate) use radio::{LinkRateSpec, read_radio};
pub(crate) use schemes::read_schemes;
pub(crate) use topology::{Generator, Topology, WiredPart, read_topology};

pub(crate) use meshpace_settings::{Named, Settings};
