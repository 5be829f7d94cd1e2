//! From a scenario to a network at time 0.

use super::Network;
use super::reordering::Reordering;
use crate::air::{Air, Airs, Channel, Control, Fading, Listens, Movement, RateTable};
use crate::conversations::Accounts;
use crate::event::{EventQueue, InterfaceId};
use crate::gateway::{GatewayNode, Gateways};
use crate::measure::Statistics;
use crate::node::{ArpTable, Hosts, Interface, Nodes};
use crate::routing::{AddressBook, LinkCosts, Machines, Paths, Radios, host, protocol, shortest_paths};
use crate::wired::{Loss, Wired, WiredLink};
use meshpace_gateway::Behaviour;
use meshpace_radio::rate_control;
use meshpace_radio::reception::{Capture, Curve, ReceptionLimits, Sinr};
use meshpace_radio::{LinkLoss, Links, Losses, Phy, Position, Reception, Station, StationConfig};
use meshpace_relay::packet::Packets;
use meshpace_relay::{ExchangeLog, QueueConfig, QueueSite, Relay};
use meshpace_routing::{Cost, ShortestPaths};
use meshpace_scenario::{self as scenario, Measure, NodeRadio, RadioLink, Scenario};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, NodeId, Span};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

impl<T: Copy + Debug> Network<T> {
    /// The network of a scenario, whose flows do not matter here. `gateway` says what the gateways do; `None`: they pass packets on;
    /// `relays` makes the queues. Nothing happens before [`start`](Self::start).
    #[must_use]
    pub fn new(scenario: &Scenario, gateway: &dyn Fn() -> Behaviour, relays: &RelayFactory<'_>) -> Self {
        let count = scenario.mesh.len();
        let positions: Option<Vec<_>> = scenario.mesh.iter().map(|node| node.position).collect();
        let is_sent = scenario.emulated_events.iter().any(|event| event.what.moves());
        let movement = positions.as_ref().and_then(|at| {
            let by_itself = Movement::new(&scenario.mobility, at, scenario.seed);
            by_itself.or_else(|| is_sent.then(|| Movement::sent(at)))
        });
        let plans = plans(scenario);
        let mut interfaces = Vec::with_capacity(plans.iter().map(|plan| plan.radios.len()).sum());
        let (mut asks, mut numbers) = (Vec::new(), Vec::new());
        let air = |plan: &Plan<'_>| {
            let channel = channel(scenario, plan, positions.as_deref(), movement.is_some());
            let mut stations = Vec::with_capacity(plan.radios.len());
            let mut controls = Vec::new();
            for radio in &*plan.radios {
                let interface = interface(radio, scenario, &plan.radio, &channel.config, relays);
                asks.push(interface.asks());
                numbers.push(radio.number);
                let listening = Listens::of(interface.asks());
                let mut station = station(radio, scenario, &channel.config);
                if listening != Listens::No || interface.asks().busy_time {
                    station.watch();
                }
                stations.push((station, listening));
                controls.extend(control(radio, scenario, &channel));
                interfaces.push(interface);
            }
            let controls = (!controls.is_empty()).then(|| controls.into());
            Air::new(channel, plan.members(count), stations.into_iter(), controls)
        };
        let mut airs = plans.iter().map(air);
        let first = airs.next().unwrap_or_else(|| panic!("a network without air"));
        let mut airs = Airs::new(first, airs.collect());
        let mut paths = Arc::new(shortest_paths(scenario, &airs));
        let at_gateways = scenario.mesh.iter().enumerate().filter(|(_, node)| node.gateway);
        let at_gateways = at_gateways.map(|(at, _)| GatewayNode::new(NodeId::from_index(at), gateway()));
        let by_metric = (!LinkCosts::new(scenario).are_one()).then_some(&*paths);
        let gateways = Gateways::new(at_gateways.collect(), by_metric, count, |node| airs.neighbours(node));
        let radios = Radios::new(scenario, &airs, numbers);
        let protocols = (0..count).map(|index| protocol(NodeId::from_index(index), scenario, &paths));
        let routing = Machines::new(protocols);
        let asking: Vec<InterfaceId> =
            (0..).zip(&asks).filter(|(_, asks)| asks.conversations).map(|(at, _)| InterfaceId(at)).collect();
        if let Some(paths) = Arc::get_mut(&mut paths) {
            // DSDV begins with all routes, and asks for none later. An observer of conversations asks for their routes.
            if asking.is_empty() {
                *paths = ShortestPaths::new(&[], |_, _| Cost::ONE);
            } else {
                paths.forget();
            }
        }
        // Routes and gateways go by the means.
        airs.iter_mut().for_each(Air::fade);
        let epoch = asks.iter().find_map(|asks| asks.shares);
        let counting = asks.iter().any(|asks| asks.counted);
        let hosts = Hosts::new(scenario.processing, count, scenario.seed);
        let Measure { queues, hop_delays, .. } = scenario.measure;
        Self {
            queue: EventQueue::new(interfaces.len()),
            airs,
            movement,
            nodes: Nodes::new(count, interfaces, hosts),
            routing,
            radios,
            addresses: AddressBook::new(scenario),
            paths: Paths::default(),
            wired: Wired::new(wired_links(scenario, relays)),
            gateways,
            accounts: Accounts::new(asking, paths, counting.then_some(count), epoch),
            statistics: Statistics::new(queues.then_some(count), hop_delays),
            packets: Packets::default(),
            arrived: VecDeque::new(),
            set_out: 0,
            reordering: Reordering::default(),
            mac_actions: Vec::new(),
            dropped: Vec::new(),
            in_order: Vec::new(),
            together: Vec::new(),
        }
    }

    /// Schedules what happens by itself: movement and routing.
    pub fn start(&mut self) {
        self.schedule_movement();
        for index in 0..self.nodes.count() {
            self.routing.arm(NodeId::from_index(index), &mut self.queue);
        }
    }
}

/// A channel as a scenario has it: what its radios have in common, and whose they are.
struct Plan<'a> {
    /// What the scenario says of it; `None`: there is no other.
    channel: Option<&'a scenario::Channel>,
    radio: Cow<'a, scenario::Radio>,
    radios: Cow<'a, [NodeRadio]>,
}

impl Plan<'_> {
    /// True if something holds here that holds on this channel; `None`: on all.
    fn carries(&self, mhz: Option<u16>) -> bool {
        self.channel.is_none_or(|channel| channel.carries(mhz))
    }

    /// The number of a node's radio here among its own; 0 if it has none.
    fn number_of(&self, node: NodeId) -> u16 {
        self.channel.and_then(|channel| channel.radio_of(node)).map_or(0, |radio| radio.number)
    }

    /// The nodes that are on it; `None`: all.
    fn members(&self, nodes: usize) -> Option<Box<[NodeId]>> {
        (self.radios.len() < nodes).then(|| self.radios.iter().map(|radio| radio.node).collect())
    }
}

/// The channels of a scenario, in its order; without any that of `[radio]`, with all nodes.
fn plans(scenario: &Scenario) -> Vec<Plan<'_>> {
    let radio = &scenario.radio;
    if scenario.channels.is_empty() {
        let standard = &radio.standard;
        let mode = standard.data_mode(radio.rate).unwrap_or(standard.default_mode);
        let of_node = |index| NodeRadio { node: NodeId::from_index(index), number: 0, mode };
        let radios = (0..scenario.mesh.len()).map(of_node).collect();
        return vec![Plan { channel: None, radio: Cow::Borrowed(radio), radios: Cow::Owned(radios) }];
    }
    let channels = scenario.channels.iter();
    channels
        .map(|channel| Plan {
            channel: Some(channel),
            radio: Cow::Owned(channel.radio(radio)),
            radios: (&channel.radios[..]).into(),
        })
        .collect()
}

/// A channel, by nodes.
fn channel(scenario: &Scenario, plan: &Plan<'_>, positions: Option<&[Position]>, moving: bool) -> Channel {
    let radio = &*plan.radio;
    let listed: Vec<_> = scenario.radio_links.iter().filter(|link| plan.carries(link.mhz)).copied().collect();
    let links = radio.links(scenario.seed, &listed);
    let hearers = match positions {
        Some(positions) => links.table(positions),
        None => {
            let sensed = scenario.sensed_links.iter().filter(|link| plan.carries(link.mhz));
            let sensed: Vec<_> = sensed.map(|link| (link.from, link.to)).collect();
            links.graph(scenario.mesh.len(), &links.listed, &sensed)
        }
    };
    let config = station_config(radio, &links);
    let rates = RateTable::new(radio).with_radios(&plan.radios);
    let losses = losses(&listed, plan, &rates, &config.phy, scenario.seed);
    let fading = radio.fading.as_ref().zip(positions);
    let fading = fading.map(|(fading, positions)| Box::new(Fading::new(fading, &links, positions)));
    Channel { config, hearers, links: moving.then(|| Box::new(links)), fading, rates, losses }
}

/// The largest packet that the network carries: what a burst of losses is counted in.
const FULL_PACKET: Bytes = Bytes(1500);

/// The links that lose frames. A burst lasts as long as so many full data frames at the link's rate, one after another.
fn losses(listed: &[RadioLink], plan: &Plan<'_>, rates: &RateTable, phy: &Phy, seed: u64) -> Losses {
    let links = listed.iter().filter(|link| link.loss > 0.0).map(|link| {
        let mode = rates.between(link.from, link.to);
        let frame = phy.airtime(phy.mpdu(FULL_PACKET), mode).as_secs_f64();
        let burst = link.burst.map(|frames| Span::from_secs_f64(frames * frame));
        LinkLoss {
            from: link.from,
            radio: plan.number_of(link.from),
            to: link.to,
            loss: link.loss,
            length: link.loss_length,
            burst,
        }
    });
    Losses::new(&links.collect::<Vec<_>>(), seed)
}

/// Thermal noise at 290 K over 20 MHz with a noise figure of 7 dB: -94 dBm. Only `sinr` has noise.
const NOISE: f64 = 4e-13;
/// What that noise is measured over, Hz.
const NOISE_BANDWIDTH: f64 = 20e6;

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
    let noise = NOISE * (radio.standard.bandwidth as f64 / NOISE_BANDWIDTH);
    let (ratio_db, noise) = match radio.reception {
        scenario::Reception::Ns2Capture { capture_threshold_db } => (capture_threshold_db, 0.0),
        scenario::Reception::Sinr { sinr_threshold_db } => (sinr_threshold_db, noise),
        // The ratio is the curve's business.
        scenario::Reception::SinrCurve => (0.0, noise),
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

/// The station of a node's radio. Its streams go by the radio's number among its node's: what is on other channels changes none.
fn station(radio: &NodeRadio, scenario: &Scenario, config: &StationConfig) -> Station {
    let NodeRadio { node, number, .. } = *radio;
    let index = u64::from(number) << u32::BITS | u64::from(node.0);
    let stream = |name| Stream::new(scenario.seed, name, index);
    let reception = match scenario.radio.reception {
        scenario::Reception::Ns2Capture { .. } => Reception::Capture(Capture::default()),
        scenario::Reception::Sinr { .. } => Reception::Sinr(Sinr::default()),
        scenario::Reception::SinrCurve => {
            let curve = Curve::new(stream("reception"), &config.phy.standard, config.phy.preamble);
            Reception::Sinr(Sinr::with_curve(curve))
        }
    };
    Station::new(node, reception, stream("backoff"), config)
}

/// What chooses the modes of data frames of a node's radio; `None`: its links' rates do. Its stream goes by the radio's number, as its station's.
fn control(radio: &NodeRadio, scenario: &Scenario, channel: &Channel) -> Option<Control> {
    let NodeRadio { node, number, .. } = *radio;
    let scenario::RateControl { word, own } = &scenario.radio.rate_control;
    let part = rate_control::named(word).unwrap_or_else(|| panic!("no rate control is called {word}"));
    let phy = &channel.config.phy;
    let site = rate_control::Site {
        values: own,
        modes: rate_control::usable(&phy.standard, radio.mode),
        tries: phy.retry_short.max(1),
        stream: Stream::new(scenario.seed, "rates", u64::from(number) << u32::BITS | u64::from(node.0)),
    };
    (part.build.make)(site).map(Control::new)
}

/// What of a node belongs to one of its stations.
fn interface(
    radio: &NodeRadio,
    scenario: &Scenario,
    common: &scenario::Radio,
    config: &StationConfig,
    relays: &RelayFactory<'_>,
) -> Interface {
    let node = radio.node;
    let gateway = scenario.mesh[node.index()].gateway;
    let place = QueueSite::Radio { node, gateway, rate: radio.mode.rate };
    let relay = relays(&QueueConfig {
        place,
        limit: common.queue as usize,
        categories: config.phy.standard.qos,
        seed: scenario.seed,
    });
    let asks = relay.asks();
    let exchanges =
        (asks.reports || asks.shares.is_some()).then(|| Box::new(ExchangeLog::new(config.intervals.sifs)));
    Interface::new(relay, exchanges, common.arp.then(ArpTable::default))
}

fn wired_links(scenario: &Scenario, relays: &RelayFactory<'_>) -> Vec<WiredLink> {
    let both = scenario.links.iter().zip(0u64..).flat_map(|(link, index)| {
        let (a, b) = (host(link.a), host(link.b));
        let direction = |from, to, number| {
            let loss = (link.loss > 0.0)
                .then(|| Loss { share: link.loss, stream: Stream::new(scenario.seed, "wired-loss", number) });
            let place = QueueSite::Wired { from, to, rate: link.rate };
            let queue =
                QueueConfig { place, limit: link.queue as usize, categories: false, seed: scenario.seed };
            WiredLink::new((from, to), link.rate, link.delay, relays(&queue), loss)
        };
        [direction(a, b, 2 * index), direction(b, a, 2 * index + 1)]
    });
    both.collect()
}
