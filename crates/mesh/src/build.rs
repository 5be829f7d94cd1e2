//! From a scenario to a simulation at time 0.

use crate::ends::{Directory, FlowEnds, flow_of};
use crate::flow::{Application, ConnectionSource, RunningFlow, TcpFlow, Transport, UdpFlow};
use crate::measure::{Baseline, Meter};
use crate::probe::Probe;
use crate::schemes::{ChosenSchemes, FlowScheme};
use crate::simulation::Simulation;
use meshpace_network::{Alarm, Network, RelayFactory, host};
use meshpace_scenario::{self as scenario, Scenario};
use meshpace_units::random::Stream;

impl<'a> Simulation<'a> {
    /// The simulation of a scenario, with everything scheduled that happens by itself.
    pub(crate) fn new(
        scenario: &'a Scenario,
        schemes: &ChosenSchemes,
        relays: &RelayFactory<'_>,
        probe: &'a mut dyn Probe,
    ) -> Self {
        let flows: Vec<_> = scenario
            .flows
            .iter()
            .enumerate()
            .map(|(index, spec)| flow(index, spec, &schemes.flows[index], scenario))
            .collect();
        let mut simulation = Self {
            network: Network::new(scenario, &|| schemes.gateway(), relays),
            connection_alarms: vec![Alarm::default(); 2 * flows.len()],
            meter: Meter::new(&scenario.measure, flows.len()),
            directory: Directory::new(scenario),
            flows,
            probe,
        };
        simulation.start(scenario);
        simulation
    }

    fn start(&mut self, scenario: &Scenario) {
        let warmup = match scenario.measure.plan {
            scenario::Plan::Time { warmup, .. } => Some(warmup),
            scenario::Plan::Batches { .. } => None,
        };
        self.schedule_measurement(warmup);
        self.network.start();
        for (index, flow) in self.flows.iter_mut().enumerate() {
            flow.paths = flow.spec.path.clone().map(|there| {
                let other_way = || there.iter().rev().copied().collect();
                let back = flow.spec.path_back.clone().unwrap_or_else(other_way);
                [self.network.add_path(there), self.network.add_path(back)]
            });
            let path = flow.paths.map(|[there, _]| there);
            let account = self.network.open_account(flow.from, flow.to, path);
            assert_eq!(flow_of(account) as usize, index, "accounts are opened in the order of the flows");
            flow.account = Some(account);
            self.probe.account(index, account);
        }
        for flow in 0..self.flows.len() as u32 {
            self.schedule_application(flow);
        }
    }
}

fn flow<'a>(
    index: usize,
    spec: &'a scenario::Flow,
    scheme: &FlowScheme,
    scenario: &Scenario,
) -> RunningFlow<'a> {
    let ends = FlowEnds::new(scenario, index);
    let stream = |name| Stream::new(scenario.seed, name, index as u64);
    let transport = match spec.app {
        scenario::App::Cbr { udp_header, .. }
        | scenario::App::Echo { udp_header, .. }
        | scenario::App::SelfSimilar { udp_header, .. } => {
            Transport::Udp(UdpFlow { sent: 0, header: udp_header, round_trip: None })
        }
        _ => {
            let past = Baseline::default();
            let mut source = ConnectionSource { scheme: scheme.clone(), draw: stream("tcp"), past };
            let [sender, receiver] = source.open(&ends, spec.start);
            Transport::Tcp(Box::new(TcpFlow {
                sender,
                receiver,
                source,
                received: 0,
                rates: meshpace_pacing::LinkRates::Uniform(
                    scenario.one_rate().unwrap_or(scenario.radio.rate),
                ),
            }))
        }
    };
    RunningFlow {
        spec,
        from: host(spec.from),
        to: host(spec.to),
        ends,
        paths: None,
        account: None,
        transport,
        application: Application::new(stream("traffic")),
    }
}
