//! From the checked tables to typed parts: all that does not depend on the seed.

mod building;
mod emulate;
mod flow;
mod measure;
mod network;
mod node_radio;
mod radio;
mod schemes;
mod topology;

pub(crate) use emulate::{EmulatedEventSpec, EmulatedHostSpec, read_emulated_events, read_emulated_hosts};
pub(crate) use flow::{FlowSpec, Period, read_flows};
pub(crate) use measure::read_measure;
pub(crate) use network::{LinkSpec, MobilitySpec, NodeSpec, Placement, Role};
pub(crate) use network::{read_links, read_mobility, read_nodes, read_routing};
pub(crate) use node_radio::NodeRadioSpec;
pub(crate) use radio::{RadioLinkSpec, RadioSpec, rates_of, read_radio, read_radio_links};
pub(crate) use schemes::{MeshScheme, read_mesh_scheme, read_schemes};
pub(crate) use topology::{Generator, Topology, WiredPart, read_topology};

pub(crate) use meshpace_settings::{Named, Settings};
