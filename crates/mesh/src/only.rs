//! A probe that is shown the frames of some nodes and flows alone, for captures that are to stay small.

use crate::probe::{FlowSample, Probe};
use meshpace_network::{AirId, Watch};
use meshpace_radio::Frame;
use meshpace_relay::packet::{Account, Packet};
use meshpace_scenario::Scenario;
use meshpace_units::{Instant, NodeId};

/// Which frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Those that one of these nodes sends, or that are meant for it or for all; `None`: of any node.
    pub nodes: Option<Vec<NodeId>>,
    /// Those that carry a packet of one of these flows, either way; `None`: all, with or without a packet.
    pub flows: Option<Vec<usize>>,
}

impl Chosen {
    /// By the names of nodes and flows; none of a kind: of all.
    ///
    /// # Errors
    /// The name that no mesh node, or no flow, has.
    pub fn by_name(scenario: &Scenario, nodes: &[String], flows: &[String]) -> Result<Self, String> {
        let index = |mut names: Box<dyn Iterator<Item = &str> + '_>, name: &String| {
            names.position(|found| found == name).ok_or_else(|| name.clone())
        };
        let node = |name| index(Box::new(scenario.mesh.iter().map(|node| node.id.as_str())), name);
        let flow = |name| index(Box::new(scenario.flows.iter().map(|flow| flow.id.as_str())), name);
        let nodes: Vec<_> =
            nodes.iter().map(|name| Ok(NodeId(node(name)? as u32))).collect::<Result<_, String>>()?;
        let flows: Vec<_> = flows.iter().map(flow).collect::<Result<_, String>>()?;
        Ok(Self { nodes: (!nodes.is_empty()).then_some(nodes), flows: (!flows.is_empty()).then_some(flows) })
    }
}

/// A probe, and what it is shown of the frames.
#[derive(Clone, Debug)]
pub struct Only<P> {
    probe: P,
    chosen: Chosen,
    /// Of the chosen flows.
    accounts: Vec<Account>,
}

impl<P> Only<P> {
    /// Shows these.
    pub const fn new(probe: P, chosen: Chosen) -> Self {
        Self { probe, chosen, accounts: Vec::new() }
    }

    /// The probe again.
    pub fn into_inner(self) -> P {
        self.probe
    }

    fn shows(&self, frame: &Frame, packets: &[&Packet]) -> bool {
        let near = |nodes: &Vec<NodeId>| {
            nodes.contains(&frame.from) || frame.to.is_none_or(|to| nodes.contains(&to))
        };
        let mut accounts = packets.iter().filter_map(|packet| packet.account);
        let mut of_flow = || accounts.any(|account| self.accounts.contains(&account));
        self.chosen.nodes.as_ref().is_none_or(near) && (self.chosen.flows.is_none() || of_flow())
    }
}

impl<P: Watch> Watch for Only<P> {
    fn frame(&mut self, now: Instant, air: AirId, frame: &Frame, packets: &[&Packet]) {
        if self.shows(frame, packets) {
            self.probe.frame(now, air, frame, packets);
        }
    }
}

impl<P: Probe> Probe for Only<P> {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        self.probe.flow(now, sample);
    }

    fn account(&mut self, flow: usize, account: Account) {
        if self.chosen.flows.as_ref().is_some_and(|flows| flows.contains(&flow)) {
            self.accounts.push(account);
        }
        self.probe.account(flow, account);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_scenario::{Overrides, ScenarioFile};

    #[test]
    fn names_are_found_or_told() {
        let text = r#"
            measure = { duration = "3s", warmup = "0s" }
            topology = { kind = "chain", hops = 2, spacing = "200m" }
            flow = [{ id = "web", from = "n0", to = "n2" }, { id = "voice", from = "n2", to = "n0" }]
        "#;
        let file = ScenarioFile::parse("test.toml", text.as_bytes(), &Overrides::none());
        let scenario = file.and_then(|file| file.resolve(1)).unwrap_or_else(|error| panic!("{error}"));
        let chosen = |nodes: &[&str], flows: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
            Chosen::by_name(&scenario, &owned(nodes), &owned(flows))
        };
        assert_eq!(chosen(&[], &[]), Ok(Chosen::default()));
        let found = Chosen { nodes: Some(vec![NodeId(2), NodeId(0)]), flows: Some(vec![1]) };
        assert_eq!(chosen(&["n2", "n0"], &["voice"]), Ok(found));
        assert_eq!(chosen(&["n9"], &[]), Err("n9".to_owned()));
        assert_eq!(chosen(&[], &["1"]), Err("1".to_owned()));
    }
}
