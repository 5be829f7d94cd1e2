//! Looking at the flows at fixed times: samples of estimates, fairness windows, the start of the measured interval.

use crate::flow::{RunningFlow, Transport};
use crate::measure::{Baseline, SAMPLE_INTERVAL};
use crate::probe::{FlowEvents, FlowSample};
use crate::simulation::{Simulation, Timer};
use meshpace_gateway::{Endpoint, FlowKey};
use meshpace_units::{Bytes, Span};
use std::net::SocketAddr;

/// Bytes of TCP and IP header that a paced packet is taken to have when an interval is expressed as a rate.
const HEADERS: Bytes = Bytes(40);

impl Simulation<'_> {
    /// Schedules the sampling and, with a plan by time, the start of the measured interval.
    pub(crate) fn schedule_measurement(&mut self, warmup: Option<Span>) {
        self.network.schedule(self.now() + SAMPLE_INTERVAL, Timer::Sample);
        if let Some(warmup) = warmup {
            self.network.schedule(self.now() + warmup, Timer::MeasurementBegins);
        }
    }

    /// The measured interval begins: all counters start afresh.
    pub(crate) fn measurement_begins(&mut self) {
        let now = self.now();
        self.meter.begin(now);
        for index in 0..self.flows.len() {
            self.meter.flows[index].before = self.counters(index);
        }
        self.network.begin_counting();
        for window in 0..self.meter.windows.count() {
            self.start_window(window);
        }
    }

    /// What a flow's ends have counted since time 0.
    pub(crate) fn counters(&self, flow: usize) -> Baseline {
        match &self.flows[flow].transport {
            Transport::Udp(udp) => Baseline { segments: udp.sent, ..Baseline::default() },
            Transport::Tcp(tcp) => tcp.source.past.and(&Baseline::of(&tcp.sender, &tcp.receiver)),
        }
    }

    fn start_window(&mut self, window: usize) {
        let now = self.now();
        let bytes = self.meter.flows.iter().map(|flow| flow.delivered_bytes);
        let ends = self.meter.windows.start(window, now, bytes);
        self.network.schedule(ends, Timer::WindowEnds(window as u32));
    }

    pub(crate) fn window_ends(&mut self, window: u32) {
        let now = self.now();
        let active = self.flows.iter().map(|flow| flow.active_since(now));
        let state = self.meter.flows.iter().map(|flow| flow.delivered_bytes).zip(active);
        self.meter.windows.end(window as usize, state);
        self.start_window(window as usize);
    }

    /// Samples every flow's estimates, and the queues if the scenario asks for them.
    pub(crate) fn sample(&mut self) {
        let now = self.now();
        for index in 0..self.flows.len() {
            let sample = self.flow_sample(index);
            let RunningFlow { spec, .. } = &self.flows[index];
            let meter = &mut self.meter.flows[index];
            if meter.is_measuring() {
                if let Some(rtt) = sample.rtt {
                    meter.rtt.add(rtt.as_secs_f64());
                }
                if let Some(cwnd) = sample.cwnd {
                    meter.cwnd.add(cwnd.min(f64::from(spec.window)));
                }
                if let Some(interval) = sample.pacing_interval.filter(|interval| !interval.is_zero()) {
                    let bits = (spec.segment + HEADERS).bits() as f64;
                    meter.pacing_interval.add(interval.as_secs_f64());
                    meter.pacing_rate.add(bits / interval.as_secs_f64());
                }
            }
            self.probe.flow(now, &sample);
        }
        self.network.show_nodes(self.probe);
        self.network.schedule(now + SAMPLE_INTERVAL, Timer::Sample);
    }

    fn events(&self, flow: usize) -> FlowEvents {
        let counted = self.counters(flow);
        let account = self.flows[flow].account;
        let [lost, lost_acks] = account.map_or([0; 2], |account| self.network.lost_of(account));
        FlowEvents { lost, lost_acks, retransmits: counted.retransmits, timeouts: counted.timeouts }
    }

    fn flow_sample(&self, flow: usize) -> FlowSample {
        let delivered = Bytes(self.meter.flows[flow].delivered_bytes);
        let empty = FlowSample { events: self.events(flow), ..FlowSample::of(flow, delivered) };
        let tcp = match &self.flows[flow].transport {
            Transport::Udp(udp) => return FlowSample { rtt: udp.round_trip, ..empty },
            Transport::Tcp(tcp) => tcp,
        };
        let sender = &tcp.sender;
        let mut sample = FlowSample {
            cwnd: sender.cwnd(),
            rtt: sender.latest_rtt(),
            srtt: sender.srtt(),
            khd: sender.pacing().k_hop_delay,
            pacing_interval: sender.pacing().interval,
            ..empty
        };
        if self.is_downward(flow) {
            let ends = self.flows[flow].ends;
            let end = |end: SocketAddr| Endpoint { address: end.ip(), port: end.port() };
            let path = self.flows[flow].paths.map(|[there, _]| there);
            let connection = FlowKey { wireless: end(ends.receiver), wired: end(ends.sender) };
            if let Some(paced) = self.network.paced_at_gateway(&connection, path).filter(|stats| stats.paced)
            {
                sample.khd = paced.k_hop_delay;
                sample.pacing_interval = paced.interval;
                sample.queue = Some(paced.queued);
            }
        }
        sample
    }
}
