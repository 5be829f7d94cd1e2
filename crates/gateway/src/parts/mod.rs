//! What a gateway can do, as schemes choose it (`gateway`).

use crate::Config;
use meshpace_keys::{Part, Values};

/// How a gateway's part is built from the values of its keys; `None`: packets are passed on, and nobody looks at them.
pub type GatewayPart = Part<fn(&Values) -> Option<Config>>;

meshpace_keys::parts! {
    /// The parts of gateways.
    pub static GATEWAYS: GatewayPart = [none, pacing, pacing_and_goodput_control];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_papers_gateway() {
        let without = Config { goodput_control: None, ..Config::PAPER };
        let built = GATEWAYS.iter().map(|part| (part.build)(&Values::defaults(part.about.keys())));
        assert!(built.eq([None, Some(without), Some(Config::PAPER)]));
    }
}
