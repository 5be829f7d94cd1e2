//! From the state at the end of a run to its result.

use crate::flow::{RunningFlow, Transport};
use crate::measure::{half_width_95, jain};
use crate::result::{
    AggregateResult, ENGINE, FlowResult, GatewayResult, HopDelayResult, LinkResult, LoadResult, NodeLoad,
    RateResult, RelayResult, RoutingResult, RunResult,
};
use crate::simulation::Simulation;
use meshpace_network::{AirId, GatewayNode, HopDelays, InterfaceCounts, RateCount};
use meshpace_radio::{Aggregates, Category};
use meshpace_relay::packet::Host;
use meshpace_scenario::{App, Channel, MeshNode, Plan, Scenario};
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;

impl Simulation<'_> {
    /// The result. `end` is when the run would have ended by the clock.
    pub(crate) fn report(&mut self, scenario: &Scenario, end: Instant) -> RunResult {
        let stopped = if self.meter.is_complete() { self.now() } else { end };
        self.network.settle(stopped);
        if self.meter.began().is_none() {
            // Cut before there was anything to measure: nothing of what was counted since time 0 belongs to the result.
            self.network.begin_counting();
        }
        let began = self.meter.began().unwrap_or(stopped);
        let routing = RoutingResult {
            route_failures: self.network.route_failures(),
            control_packets: self.network.control_packets(),
        };
        self.network.end();
        let flows: Vec<_> =
            (0..self.flows.len()).map(|i| self.flow_result(i, scenario, began, stopped)).collect();
        let by_hops = |weigh: fn(f64, f64) -> f64| {
            let weighed: Option<Vec<f64>> =
                flows.iter().map(|f| Some(weigh(f.goodput_bps, f.hops.filter(|h| *h > 0)? as f64))).collect();
            weighed.and_then(jain)
        };
        let utilities =
            flows.iter().map(|f| (f.goodput_bps > 0.0).then(|| libm::log(f.goodput_bps / 1000.0)));
        let seconds = |window: Span| {
            let seconds = window.as_secs_f64();
            if seconds.fract() == 0.0 { format!("{seconds:.0}") } else { format!("{seconds}") }
        };
        RunResult {
            schema: 1,
            engine: ENGINE.into(),
            scenario: scenario.name.clone(),
            scenario_sha256: scenario.scenario_sha256.clone(),
            overrides: scenario.overrides.clone(),
            scheme: scenario.network_scheme.clone(),
            seed: scenario.seed,
            simulated_s: stopped.as_secs_f64(),
            measured_s: (stopped - began).as_secs_f64(),
            wall_s: 0.0,
            events: self.network.events(),
            frames: self.network.frames(),
            // From +0: an empty `sum` of floats is -0, which would be printed.
            aggregate_goodput_bps: flows.iter().fold(0.0, |sum, flow| sum + flow.goodput_bps),
            jain: jain(flows.iter().map(|f| f.goodput_bps)),
            jain_windows: self.meter.windows.results().map(|(w, index)| (seconds(w), index)).collect(),
            jain_per_hop: by_hops(|goodput, hops| goodput / hops),
            jain_times_hops: by_hops(|goodput, hops| goodput * hops),
            log_utility: utilities.sum::<Option<f64>>().map_or(0.0, |sum| 0.0 + sum),
            links: self.link_results(scenario),
            gateways: self.gateway_results(scenario),
            routing,
            relays: self.relay_results(scenario),
            hop_delays: self.hop_delay_results(scenario),
            queues: self.queue_results(scenario),
            flows,
        }
    }

    /// Nodes whose relays count something, in the order of the file.
    fn relay_results(&self, scenario: &Scenario) -> Vec<RelayResult> {
        let counters = |node| {
            let mut sums = BTreeMap::new();
            for (name, count) in self.network.interfaces(node).flat_map(|interface| interface.relay()) {
                *sums.entry(name).or_default() += count;
            }
            sums
        };
        let nodes = scenario.mesh.iter().enumerate();
        let rows = nodes.map(|(index, spec)| RelayResult {
            node: spec.id.clone(),
            counters: counters(NodeId::from_index(index)),
        });
        rows.filter(|row| !row.counters.is_empty()).collect()
    }

    fn hop_delay_results(&self, scenario: &Scenario) -> Vec<HopDelayResult> {
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        let rows = self.network.hop_delays().into_iter().flat_map(HopDelays::iter);
        rows.map(|(node, egress, row)| HopDelayResult {
            node: scenario.mesh[node.index()].id.clone(),
            egress: scenario.mesh[egress.index()].id.clone(),
            hops: row.hops,
            packets: row.packets,
            actual_mean_s: mean(row.actual, row.packets),
            estimate_mean_s: mean(row.estimate, row.expected),
            error_mean: mean(row.error, row.expected),
            error_abs_mean: mean(row.magnitude, row.expected),
            node_mean_s: mean(row.here, row.passed),
            mac_mean_s: mean(row.mac, row.passed),
            interval_mean_s: mean(row.interval, row.intervals),
            interval_std_s: row.interval_deviation(),
            within_share: self.network.hop_delays().and_then(|delays| delays.within(node, egress)),
            taken: row.seconds.iter().map(|s| s.taken).collect(),
            estimate_s: row.seconds.iter().map(|s| mean(s.estimate, s.expected.into())).collect(),
            actual_s: row.seconds.iter().map(|s| mean(s.actual, s.packets.into())).collect(),
            node_s: row.seconds.iter().map(|s| mean(s.here, s.passed.into())).collect(),
            mac_s: row.seconds.iter().map(|s| mean(s.mac, s.passed.into())).collect(),
        })
        .collect()
    }

    fn flow_result(&self, index: usize, scenario: &Scenario, began: Instant, stopped: Instant) -> FlowResult {
        let (flow, meter) = (&self.flows[index], &self.meter.flows[index]);
        let RunningFlow { spec, transport, application, .. } = flow;
        let (now, before) = (self.counters(index), meter.before);
        let tcp = matches!(transport, Transport::Tcp(_));
        let measured = self.meter.began().is_some();
        let since = |count: u64, before: u64| if measured { count - before } else { 0 };
        let counted = |count, before| tcp.then(|| since(count, before));
        let sent = since(now.segments, before.segments);
        let bits = meter.measured_bytes() as f64 * 8.0;
        let over = |seconds: f64| if seconds > 0.0 { bits / seconds } else { 0.0 };
        let batches = match scenario.measure.plan {
            Plan::Batches { .. } => self.meter.batches.as_ref().map(|b| b.goodput(index)),
            Plan::Time { .. } => None,
        };
        let files = flow.files(&meter.transfers, measured, stopped);
        let goodput = match spec.app {
            App::Http { .. } => files.mean().unwrap_or(0.0),
            App::Transfer { .. } => over(flow.active_within(began, stopped).as_secs_f64()),
            _ => match batches.and_then(|b| b.mean()) {
                Some(mean) => mean,
                None => over((stopped - began).as_secs_f64()),
            },
        };
        let interval = match spec.app {
            App::Http { .. } => batches.and(half_width_95(&files)),
            _ => batches.and_then(half_width_95),
        };
        FlowResult {
            id: spec.id.clone(),
            from: scenario.name_of(spec.from).into(),
            to: scenario.name_of(spec.to).into(),
            hops: meter.median_hops(),
            scheme: spec.scheme.clone(),
            app: app_name(&spec.app),
            goodput_bps: goodput,
            goodput_ci95_bps: interval,
            delivered_bytes: meter.measured_bytes(),
            segments_sent: sent,
            retransmits: counted(now.retransmits, before.retransmits),
            timeouts: counted(now.timeouts, before.timeouts),
            fast_retransmits: counted(now.fast_retransmits, before.fast_retransmits),
            acks_sent: counted(now.acks, before.acks),
            timer_acks: counted(now.timer_acks, before.timer_acks),
            loss_ratio: (sent > 0).then(|| (1.0 - meter.distinct_packets as f64 / sent as f64).max(0.0)),
            delay_mean_s: meter.delay.mean(),
            delay_std_s: meter.delay.standard_deviation(),
            delay_p50_s: meter.delays.quantile(0.5).map(Span::as_secs_f64),
            delay_p95_s: meter.delays.quantile(0.95).map(Span::as_secs_f64),
            delay_p99_s: meter.delays.quantile(0.99).map(Span::as_secs_f64),
            packet_delay_p50_s: meter.ways.quantile(0.5).map(Span::as_secs_f64),
            packet_delay_p95_s: meter.ways.quantile(0.95).map(Span::as_secs_f64),
            srtt_s: meter.rtt.mean(),
            pacing_rate_bps: meter.pacing_rate.mean(),
            pacing_interval_s: meter.pacing_interval.mean(),
            pacing_interval_acks_s: meter.interval_at_acks.mean(),
            khd_acks_s: meter.khd_at_acks.mean(),
            cwnd_mean: meter.cwnd.mean(),
            transfers: matches!(spec.app, App::Http { .. }).then(|| files.count()),
            completed_s: application.completed.map(Instant::as_secs_f64),
            load: if measured { self.loads(flow, scenario) } else { Vec::new() },
        }
    }

    /// What the nodes sent for a flow.
    fn loads(&self, flow: &RunningFlow<'_>, scenario: &Scenario) -> Vec<NodeLoad> {
        let of_node = |(index, name): (usize, &MeshNode)| {
            let account = flow.account?;
            let interfaces = self.network.interfaces(NodeId::from_index(index));
            let loads = interfaces.filter_map(|interface| interface.load(account));
            let [data, ack] =
                loads.reduce(|[data, ack], [more, acks]| [data.and(more), ack.and(acks)])?.map(|load| {
                    LoadResult {
                        attempts: load.attempts,
                        bytes: load.bytes.0,
                        packets: load.packets,
                        packet_bytes: load.packet_bytes.0,
                    }
                });
            Some(NodeLoad { node: name.id.clone(), data, ack })
        };
        scenario.mesh.iter().enumerate().filter_map(of_node).collect()
    }

    /// Radio links in order of transmitter, receiver and channel, then the wired links in the order of the file.
    fn link_results(&self, scenario: &Scenario) -> Vec<LinkResult> {
        let name = |node: NodeId| scenario.mesh[node.index()].id.clone();
        let interfaces = || {
            let nodes = (0..scenario.mesh.len()).map(NodeId::from_index);
            nodes.flat_map(|node| self.network.interfaces(node).map(move |interface| (node, interface)))
        };
        // Rows have names: each is made once, where it stays.
        let mut ends = Vec::new();
        for (here, interface) in interfaces() {
            let air = interface.air();
            ends.extend(interface.links().map(|(to, _)| (here, to, air)));
            ends.extend(interface.station().collisions().map(|(from, _)| (from, here, air)));
        }
        ends.sort_unstable();
        ends.dedup();
        let wired = self.network.wired_links();
        let mut rows = Vec::with_capacity(ends.len() + wired.len());
        let row = |(from, to, air): &(NodeId, NodeId, AirId)| {
            let channel = scenario.channels.get(air.index());
            LinkResult {
                channel: channel.and_then(Channel::number),
                frequency_hz: channel.map(|channel| u64::from(channel.mhz) * 1_000_000),
                ..empty_row(name(*from), name(*to))
            }
        };
        rows.extend(ends.iter().map(row));
        let place = |from, to, air| {
            ends.binary_search(&(from, to, air)).unwrap_or_else(|_| panic!("no row from {from:?} to {to:?}"))
        };
        for (here, interface) in interfaces() {
            let air = interface.air();
            for (to, count) in interface.links() {
                let row: &mut LinkResult = &mut rows[place(here, to, air)];
                row.data_drops += count.data_drops;
                row.ack_drops += count.ack_drops;
                row.retry_drops += count.retry_drops;
                row.queue_drops += count.queue_drops;
                row.arp_drops += count.arp_drops;
            }
            for (from, [rts, cts, data, ack]) in interface.station().collisions() {
                let row = &mut rows[place(from, here, air)];
                row.collisions += rts + cts + data + ack;
                row.collisions_rts += rts;
                row.collisions_cts += cts;
                row.collisions_data += data;
                row.collisions_ack += ack;
            }
        }
        for ((from, to, air), row) in ends.iter().zip(&mut rows) {
            let sent =
                |by: NodeId, to: NodeId| self.on_air(by, *air).map(move |there| there.station().sent_to(to));
            row.attempts = Some(sent(*from, *to).map(|there| there.attempts).sum());
            let frames = sent(*from, *to).map(|there| there.airtime);
            let answers = sent(*to, *from).map(|back| back.answers);
            row.airtime_s =
                Some(frames.chain(answers).fold(Span::ZERO, |sum, span| sum + span).as_secs_f64());
            row.aggregates = self.aggregates(*from, *to, *air);
            row.rates = self.rates(*from, *to, *air);
        }
        let host = |host: Host| match host {
            Host::Mesh(node) => name(node),
            Host::Wired(node) => scenario.wired[node as usize].id.clone(),
        };
        rows.extend(wired.iter().map(|link| LinkResult {
            data_drops: link.count().data_drops,
            ack_drops: link.count().ack_drops,
            queue_drops: link.count().data_drops + link.count().ack_drops,
            attempts: None,
            airtime_s: None,
            ..empty_row(host(link.from), host(link.to))
        }));
        rows
    }

    /// In which modes data went on a channel, in the order of the standard's table; nothing where none is chosen.
    fn rates(&self, from: NodeId, to: NodeId, air: AirId) -> Vec<RateResult> {
        let counts = self.on_air(from, air).flat_map(|interface| interface.rates_to(to));
        counts.map(|count| rate_result(&count)).collect()
    }

    /// The interface of a node on a channel, if it has one there.
    fn on_air(&self, node: NodeId, air: AirId) -> impl Iterator<Item = InterfaceCounts<'_>> {
        self.network.interfaces(node).filter(move |interface| interface.air() == air)
    }

    /// What went in frames of several packets on a channel; `None`: frames carry one.
    fn aggregates(&self, from: NodeId, to: NodeId, air: AirId) -> Option<AggregateResult> {
        let sent = |by: NodeId, to: NodeId, category| {
            self.on_air(by, air).find_map(|interface| interface.aggregates_to(to, category))
        };
        // Block acknowledgements are of the frames that the neighbour sent.
        let both = |category| {
            let block_acks = sent(to, from, category)?.block_acks;
            Some(Aggregates { block_acks, ..sent(from, to, category)? })
        };
        let mut all = Aggregates::default();
        let mut categories = BTreeMap::new();
        for category in Category::ALL {
            let counts = both(category)?;
            all += counts;
            if counts != Aggregates::default() {
                categories.insert(category.word(), aggregate_result(counts, BTreeMap::new()));
            }
        }
        if categories.keys().eq([Category::BestEffort.word()].iter()) {
            categories.clear();
        }
        Some(aggregate_result(all, categories))
    }

    fn gateway_results(&self, scenario: &Scenario) -> Vec<GatewayResult> {
        let measured = self.meter.began().is_some();
        let since = |count: u64, before: u64| if measured { count - before } else { 0 };
        let wait = |gateway: &GatewayNode, share| {
            gateway.waits.quantile(share).filter(|_| measured).map(Span::as_secs_f64)
        };
        let result = |gateway: &GatewayNode| {
            if gateway.machine.is_none() && gateway.shaper.is_none() {
                return None;
            }
            let (now, before) = (
                gateway.machine.as_ref().map_or(gateway.before, |machine| *machine.counters()),
                gateway.before,
            );
            let shaped_before = gateway.shaped_before;
            let shaped = gateway.shaper.as_ref().map_or(shaped_before, |shaper| *shaper.counters());
            let crowded = since(shaped.crowded, shaped_before.crowded);
            let shaper_drops = since(shaped.dropped, shaped_before.dropped) - crowded;
            Some(GatewayResult {
                node: scenario.mesh[gateway.node.index()].id.clone(),
                buffer_drops: since(now.dropped, before.dropped) + crowded,
                local_retransmits: since(now.retransmitted, before.retransmitted),
                options_written: since(now.options_written, before.options_written),
                wait_p50_s: wait(gateway, 0.5),
                wait_p95_s: wait(gateway, 0.95),
                queue_max: if measured { gateway.queue_max as u64 } else { 0 },
                aqm_drops: since(now.aqm_drops, before.aqm_drops) + shaper_drops,
                aqm_marks: since(now.aqm_marks, before.aqm_marks)
                    + since(shaped.marked, shaped_before.marked),
            })
        };
        self.network.gateways().iter().filter_map(result).collect()
    }
}

/// A radio link that nothing happened on.
fn empty_row(from: String, to: String) -> LinkResult {
    LinkResult {
        from,
        to,
        channel: None,
        frequency_hz: None,
        data_drops: 0,
        ack_drops: 0,
        retry_drops: 0,
        queue_drops: 0,
        arp_drops: 0,
        collisions: 0,
        collisions_rts: 0,
        collisions_cts: 0,
        collisions_data: 0,
        collisions_ack: 0,
        attempts: Some(0),
        airtime_s: Some(0.0),
        aggregates: None,
        rates: Vec::new(),
    }
}

fn rate_result(count: &RateCount) -> RateResult {
    let RateCount { mode, frames, mpdus, acknowledged } = *count;
    RateResult {
        rate_bps: mode.rate.as_bits_per_sec(),
        mcs: mode.mcs.map(|mcs| mcs.index),
        streams: mode.streams(),
        frames,
        mpdus,
        acknowledged,
    }
}

fn aggregate_result(
    counts: Aggregates,
    categories: BTreeMap<&'static str, AggregateResult>,
) -> AggregateResult {
    let Aggregates { frames, mpdus, retries, requests, block_acks } = counts;
    AggregateResult { frames, mpdus, retries, requests, block_acks, categories }
}

fn app_name(app: &App) -> &'static str {
    match app {
        App::Ftp => "ftp",
        App::Transfer { .. } => "transfer",
        App::Http { .. } => "http",
        App::Cbr { .. } => "cbr",
        App::Echo { .. } => "echo",
        App::SelfSimilar { .. } => "self-similar",
    }
}
