//! From a scenario to a network at time 0.

use super::Network;
use crate::air::{Fading, FarFrames, Movement, RateTable};
use crate::conversations::Accounts;
use crate::event::{Alarm, EventQueue};
use crate::gateway::Gateways;
use crate::measure::{LinkCounters, Loads, Statistics};
use crate::node::{ArpTable, Hosts, Listens, Node};
use crate::routing::{AddressBook, Paths, host, protocol, shortest_paths};
use crate::wired::{WiredLink, WiredRoutes};
use meshpace_gateway::Behaviour;
use meshpace_packet::Packets;
use meshpace_radio::reception::{Capture, Curve, ReceptionLimits, Sinr};
use meshpace_radio::{LinkLoss, Links, Losses, Phy, Reception, Station, StationConfig};
use meshpace_random::Stream;
use meshpace_relay::{ExchangeLog, Place, QueueConfig, Relay};
use meshpace_routing::{Cost, ShortestPaths};
use meshpace_scenario::{self as scenario, Scenario};
use meshpace_units::{Bytes, NodeId, Span};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

impl<T: Copy + Debug> Network<T> {
    /// The network of a scenario, whose flows do not matter here. `gateway` says what the gateways do; `None`: they pass
    /// packets on; `relays` makes the queues. Nothing happens before [`start`](Self::start).
    #[must_use]
    pub fn new(scenario: &Scenario, gateway: &dyn Fn() -> Behaviour, relays: &RelayFactory<'_>) -> Self {
        let radio = &scenario.radio;
        let links = radio.links(scenario.seed, &scenario.radio_links);
        let positions: Option<Vec<_>> = scenario.mesh.iter().map(|node| node.position).collect();
        let mut hearers = match &positions {
            Some(positions) => links.table(positions),
            None => links.graph(scenario.mesh.len(), &links.listed),
        };
        let config = station_config(radio, &links);
        let rates = RateTable::new(radio);
        let losses = losses(scenario, &rates, &config.phy);
        losses.mark(&mut hearers);
        let mut paths = Arc::new(shortest_paths(scenario, &hearers));
        let nodes: Vec<_> = (0..scenario.mesh.len())
            .map(|index| node(NodeId::from_index(index), scenario, &config, &paths, relays))
            .collect();
        let asking: Vec<u32> = (0u32..)
            .zip(&nodes)
            .filter(|(_, node)| node.relay.asks().conversations)
            .map(|(at, _)| at)
            .collect();
        if let Some(paths) = Arc::get_mut(&mut paths) {
            // DSDV begins with all routes, and asks for none later. Who watches conversations asks for their ways.
            if asking.is_empty() {
                *paths = ShortestPaths::new(&[], |_, _| Cost::ONE);
            } else {
                paths.forget();
            }
        }
        let wired = wired_links(scenario, relays);
        let directions: Vec<_> = wired.iter().map(|link| (link.from, link.to)).collect();
        let at_gateways = scenario.mesh.iter().enumerate().filter(|(_, node)| node.gateway);
        let at_gateways = at_gateways.map(|(index, _)| NodeId::from_index(index));
        let gateways = Gateways::new(at_gateways, gateway, &hearers);
        let fading = radio.fading.as_ref().zip(positions.as_deref());
        let fading = fading.map(|(fading, positions)| Fading::new(fading, &links, positions));
        if let Some(fading) = &fading {
            // Routes and gateways go by the means.
            fading.table_into(&mut hearers);
            losses.mark(&mut hearers);
        }
        let epoch = nodes.iter().find_map(|node: &Node| node.relay.asks().shares);
        let counting = nodes.iter().any(|node: &Node| node.relay.asks().counted);
        Self {
            queue: EventQueue::new(scenario.mesh.len()),
            on_air: vec![None; scenario.mesh.len()],
            far: FarFrames::default(),
            listening: nodes.iter().any(|node: &Node| node.listens != Listens::No),
            nodes,
            movement: positions.and_then(|positions| Movement::new(&scenario.mobility, &positions, links)),
            hearers,
            fading,
            hosts: Hosts::new(scenario.processing, scenario.mesh.len(), scenario.seed),
            config,
            rates,
            losses,
            packets: Packets::default(),
            arrived: VecDeque::new(),
            set_out: 0,
            wired,
            wired_routes: WiredRoutes::new(&directions),
            addresses: AddressBook::new(scenario),
            gateways,
            paths: Paths::default(),
            accounts: Accounts::new(asking, paths, counting.then_some(scenario.mesh.len()), epoch),
            statistics: Statistics::new(
                scenario.measure.queues.then_some(scenario.mesh.len()),
                scenario.measure.hop_delays,
            ),
            frames: 0,
            control_packets: 0,
            failures_before: 0,
            mac_actions: Vec::new(),
            dropped: Vec::new(),
            routing_actions: Vec::new(),
        }
    }

    /// Schedules what happens by itself: movement and routing.
    pub fn start(&mut self) {
        self.schedule_movement();
        for node in 0..self.nodes.len() as u32 {
            self.arm_routing(node);
        }
    }
}

/// The largest packet that the network carries: what a burst of losses is counted in.
const FULL_PACKET: Bytes = Bytes(1500);

/// The links that lose frames. A burst lasts as long as so many full data frames at the link's rate, one after another.
fn losses(scenario: &Scenario, rates: &RateTable, phy: &Phy) -> Losses {
    let links = scenario.radio_links.iter().filter(|link| link.loss > 0.0).map(|link| {
        let mode = rates.between(link.from, link.to);
        let frame = phy.airtime(phy.mpdu(FULL_PACKET), mode).as_secs_f64();
        let burst = link.burst.map(|frames| Span::from_secs_f64(frames * frame));
        LinkLoss { from: link.from, to: link.to, loss: link.loss, length: link.loss_length, burst }
    });
    Losses::new(&links.collect::<Vec<_>>(), scenario.seed)
}

/// Thermal noise at 290 K over 20 MHz with a noise figure of 7 dB: -94 dBm. Only `sinr` has noise.
const NOISE: f64 = 4e-13;

fn station_config(radio: &scenario::Radio, links: &Links) -> StationConfig {
    let basic = radio.standard.basic_mode(radio.basic_rate);
    let phy = Phy {
        standard: radio.standard,
        preamble: radio.preamble,
        basic: basic.unwrap_or_else(|| panic!("{} has no {:?}", radio.standard.word, radio.basic_rate)),
        mac_overhead: radio.mac_overhead,
        rts_threshold: match radio.rts {
            scenario::RtsThreshold::Always => Some(Bytes::ZERO),
            scenario::RtsThreshold::Never => None,
            scenario::RtsThreshold::From(size) => Some(size),
        },
        retry_short: radio.retry_short,
        retry_long: radio.retry_long,
        backoff_range: radio.backoff_range,
        propagation_allowance: radio.ack_timeout,
    };
    let (ratio_db, noise) = match radio.reception {
        scenario::Reception::Ns2Capture { capture_threshold_db } => (capture_threshold_db, 0.0),
        scenario::Reception::Sinr { sinr_threshold_db } => (sinr_threshold_db, NOISE),
        // The ratio is the curve's business.
        scenario::Reception::SinrCurve => (0.0, NOISE),
    };
    let limits = ReceptionLimits {
        ratio: libm::pow(10.0, ratio_db / 10.0),
        noise,
        thresholds: links.thresholds(),
        eifs: phy.eifs(),
    };
    StationConfig::new(phy, limits)
}

/// What makes the relay of a queue.
pub type RelayFactory<'a> = dyn Fn(&QueueConfig) -> Box<dyn Relay> + 'a;

fn node(
    id: NodeId,
    scenario: &Scenario,
    config: &StationConfig,
    paths: &Arc<ShortestPaths>,
    relays: &RelayFactory<'_>,
) -> Node {
    let stream = |name| Stream::new(scenario.seed, name, u64::from(id.0));
    let reception = match scenario.radio.reception {
        scenario::Reception::Ns2Capture { .. } => Reception::Capture(Capture::default()),
        scenario::Reception::Sinr { .. } => Reception::Sinr(Sinr::default()),
        scenario::Reception::SinrCurve => {
            let curve = Curve::new(stream("reception"), &config.phy.standard, config.phy.preamble);
            Reception::Sinr(Sinr::with_curve(curve))
        }
    };
    let routing = protocol(id, scenario, paths);
    let place =
        Place::Radio { node: id, gateway: scenario.mesh[id.index()].gateway, rate: scenario.radio.rate };
    let relay = relays(&QueueConfig { place, limit: scenario.radio.queue as usize, seed: scenario.seed });
    let asks = relay.asks();
    let mut station = Station::new(id, reception, stream("backoff"), config);
    let listens = Listens::of(asks);
    if listens != Listens::No || asks.busy_time {
        station.watch();
    }
    Node {
        station,
        relay,
        relay_alarm: Alarm::default(),
        listens,
        exchanges: (asks.reports || asks.shares.is_some())
            .then(|| Box::new(ExchangeLog::new(config.intervals.sifs))),
        link_events: routing.asks_for_link_events(),
        routing,
        routing_alarm: Alarm::default(),
        arp: scenario.radio.arp.then(ArpTable::default),
        links: LinkCounters::default(),
        relay_before: Vec::new(),
        loads: Loads::default(),
    }
}

fn wired_links(scenario: &Scenario, relays: &RelayFactory<'_>) -> Vec<WiredLink> {
    let both = scenario.links.iter().flat_map(|link| {
        let (a, b) = (host(link.a), host(link.b));
        let direction = |from, to| {
            let place = Place::Wired { from, to, rate: link.rate };
            let queue = QueueConfig { place, limit: link.queue as usize, seed: scenario.seed };
            WiredLink::new(from, to, link.rate, link.delay, relays(&queue))
        };
        [direction(a, b), direction(b, a)]
    });
    both.collect()
}
