//! What each flow lost, where, and why.

use crate::simulation::Simulation;
use meshpace_network::LossPlace;
use meshpace_relay::packet::Host;
use meshpace_scenario::Scenario;
use meshpace_units::NodeId;
use serde::Serialize;

/// Packets of a flow that went no further, over the measured interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowLoss {
    /// The flow's name.
    pub flow: String,
    /// `data` or `ack`.
    pub kind: &'static str,
    /// `given-up` (by the MAC, and routing had no other way), `queue`, `route-broke` (waiting for a neighbour that was taken for
    /// gone), `no-route`, `loop`, `no-address`, `gateway`, `wire`.
    pub cause: &'static str,
    /// The node where.
    pub from: String,
    /// The neighbour on the way to which, if one was chosen.
    pub to: Option<String>,
    /// How many.
    pub packets: u64,
}

impl Simulation<'_> {
    /// The losses of all flows, in the order of flows, kinds, places and causes.
    pub(crate) fn losses(&self, scenario: &Scenario) -> Vec<FlowLoss> {
        let mesh = |node: NodeId| scenario.mesh[node.index()].id.clone();
        let host = |host: Host| match host {
            Host::Mesh(node) => mesh(node),
            Host::Wired(node) => scenario.wired[node as usize].id.clone(),
        };
        let mut rows: Vec<_> = self
            .network
            .losses()
            .filter_map(|loss| {
                let flow = self.flows.iter().position(|flow| flow.account == Some(loss.account))?;
                let (from, to) = match loss.place {
                    LossPlace::Mesh(node, next) => (mesh(node), next.map(mesh)),
                    LossPlace::Wired(link) => {
                        let link = &self.network.wired_links()[link as usize];
                        (host(link.from), Some(host(link.to)))
                    }
                };
                let kind = if loss.data { "data" } else { "ack" };
                let cause = loss.cause.word();
                let name = scenario.flows[flow].id.clone();
                Some((flow, FlowLoss { flow: name, kind, cause, from, to, packets: loss.packets }))
            })
            .collect();
        // Accounts are opened when flows start, which is in no order of theirs; the sort is stable.
        rows.sort_by_key(|row| row.0);
        rows.into_iter().map(|row| row.1).collect()
    }
}
