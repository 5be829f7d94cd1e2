//! What a gateway can do, as schemes choose it (`gateway`).

mod by_law;

pub use by_law::law_gateways;

use crate::Config;
use meshpace_keys::{Part, Values};
use meshpace_pacing::{FlowLawPart, LawMaker};

/// What a gateway that acts is made of.
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

/// How a gateway's part is built from the values of its keys, and the law of flows that it was chosen with; `None`: packets are passed
/// on, and nobody looks at them.
pub type GatewayPart = Part<fn(&Values, &'static FlowLawPart) -> Option<Equipment>>;

meshpace_keys::parts! {
    /// The parts of gateways, those apart that are named after their law ([`law_gateways`]): these have TCP-GAP's.
    pub static GATEWAYS: GatewayPart = [none, pacing, pacing_and_goodput_control];
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
        let expected = [None, Some(without), Some(Config::PAPER)];
        assert!(built.eq(expected.map(|config| Some(Equipment { config: config?, law: paper.clone() }))));
    }
}
