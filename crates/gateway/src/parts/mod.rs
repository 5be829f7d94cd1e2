//! What a gateway can do, as schemes choose it (`gateway`).

mod by_law;

pub use by_law::law_gateways;

use crate::{Config, ShaperConfig};
use alloc::boxed::Box;
use meshpace_hook::PacketHook;
use meshpace_keys::{Part, Values};
use meshpace_pacing::{FlowLawPart, LawMaker};

/// What a machine at a gateway is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Equipment {
    /// Of the machine that holds and repairs what goes into the mesh.
    pub config: Config,
    /// What paces it.
    pub law: LawMaker,
}

impl Equipment {
    /// A machine whose flows go by this law, with the law's parameters among `values`.
    #[must_use]
    pub fn new(config: Config, law: &'static FlowLawPart, values: &Values) -> Self {
        let own = law.about.keys().filter_map(|key| Some((key.name, values.get(key.name)?.clone())));
        Self { config, law: LawMaker::of(law, Values::new(own)) }
    }
}

/// What a gateway does.
#[derive(Debug, Default)]
pub struct Behaviour {
    /// Holds and repairs what goes into the mesh; `None`: it passes.
    pub machine: Option<Equipment>,
    /// Sees every packet between the machine and the Internet; `None`: no hook.
    pub hook: Option<Box<dyn PacketHook>>,
    /// Shapes what goes into the mesh by host, behind the machine; `None`: no shaper.
    pub shaper: Option<ShaperConfig>,
}

impl Behaviour {
    /// A machine whose flows go by this law, with the law's parameters among `values`.
    #[must_use]
    pub fn paced(config: Config, law: &'static FlowLawPart, values: &Values) -> Self {
        Self { machine: Some(Equipment::new(config, law, values)), ..Self::default() }
    }

    /// A hook alone.
    #[must_use]
    pub fn hooked(hook: Option<Box<dyn PacketHook>>) -> Self {
        Self { hook, ..Self::default() }
    }

    /// True if packets pass as they come.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.machine.is_none() && self.hook.is_none() && self.shaper.is_none()
    }
}

/// How the behaviour of one gateway is built from the values of its part's keys, and the law of flows that it was chosen with.
pub type GatewayPart = Part<fn(&Values, &'static FlowLawPart) -> Behaviour>;

meshpace_keys::parts! {
    /// The parts of gateways, those apart that are named after their law ([`law_gateways`]): these have TCP-GAP's, or none.
    pub static GATEWAYS: GatewayPart = [none, pacing, pacing::WITH_GOODPUT_CONTROL, hosts];
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_pacing::FLOW_LAWS;

    #[test]
    fn the_defaults_are_the_papers_gateway() {
        let without = Config { goodput_control: None, ..Config::PAPER };
        let law = FLOW_LAWS[0];
        let paper = LawMaker::of(law, Values::defaults(law.about.keys()));
        let built = GATEWAYS.iter().map(|part| (part.build)(&Values::defaults(part.about.keys()), law));
        let built =
            built.inspect(|behaviour| assert!(behaviour.hook.is_none())).map(|behaviour| behaviour.machine);
        let expected = [None, Some(without), Some(Config::PAPER), None];
        assert!(built.eq(expected.map(|config| Some(Equipment { config: config?, law: paper.clone() }))));
    }
}
