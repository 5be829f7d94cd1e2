//! Packets that waited in the mesh nodes' queues, for the result: `[measure] queues`.

use crate::result::{QueueResult, QueuedFlow};
use crate::simulation::Simulation;
use meshpace_network::{QueueLevels, Queues};
use meshpace_scenario::Scenario;
use meshpace_units::Instant;

impl Simulation<'_> {
    /// A row a mesh node in the order of the file, the flows in theirs. None if the scenario does not ask for it, or nothing was measured.
    pub(crate) fn queue_results(&self, scenario: &Scenario) -> Vec<QueueResult> {
        let Some(began) = self.meter.began() else { return Vec::new() };
        let queues = self.network.queues().map_or(&[][..], Queues::nodes);
        let rows = scenario.mesh.iter().zip(queues).map(|(node, queue)| QueueResult {
            node: node.id.clone(),
            packets_mean: queue.all.mean(began),
            packets_max: queue.all.most(),
            flows: self.queued_flows(queue, began),
        });
        rows.collect()
    }

    fn queued_flows(&self, queue: &QueueLevels, began: Instant) -> Vec<QueuedFlow> {
        let of_flow = |(flow, account)| {
            let [data, ack] = queue.get(account)?;
            Some((flow, data, ack))
        };
        let flows = self.flows.iter().filter_map(|flow| Some((flow, flow.account?)));
        let rows = flows.filter_map(of_flow).map(|(flow, data, ack)| QueuedFlow {
            id: flow.spec.id.clone(),
            data_mean: data.mean(began),
            data_max: data.most(),
            ack_mean: ack.mean(began),
            ack_max: ack.most(),
        });
        rows.collect()
    }
}
