//! What user space does for the kernel's programs, sans I/O: round-trip samples in, orders out.
//!
//! The same law, goodput control and limits as [`meshpace_gateway::Gateway`]; what that does to packets, the programs do. Of a law's answers
//! they carry out the spacing and the window: they have no bursts, and mark by CoDel alone.
//! The driver calls
//!
//! 1. [`Engine::handle_event`] for each event of the ring,
//! 2. when [`Engine::poll_timeout`] says so: [`Engine::handle_flow`] for each flow of the kernel's table, then
//!    [`Engine::handle_timeout`],
//!
//! and then [`Engine::poll_order`] until `None`.

mod counted;

use super::exchange::{Event, EventKind, Handling, KernelFlow, Pace};
use counted::Counted;
use meshpace_gateway::{
    Announced, Config, Explanation, FlowKey, FlowStats, Goodput, Path, RoundTrips, Route, Treatment,
    Unforeseen, WirelessLaw, least_window,
};
use meshpace_pacing::{Direction, GoodputControl, LawMaker, Progress, RateLaw, RoundTrip};
use meshpace_units::{Bytes, Instant, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Headers of a segment without options (IPv4 and TCP), added to its payload when bytes become packets.
const HEADERS: Bytes = Bytes(40);
/// Time between two looks at the kernel's table if goodput control does not ask for one earlier.
const SCAN: Span = Span::from_secs(5);

/// sch_fq holds packets of this size, for `gap_buffer_total`.
const PACKET: u64 = 1500;
/// Windows are counted in segments of an Ethernet at least: the programs do not know what the ends agreed upon, and a sender that has said
/// little so far has shown small ones only.
const FULL: Bytes = Bytes(1_460);
/// One flow takes at most this part of all places, whatever window its receiver announces.
const FLOWS_THAT_FILL_ALL: u32 = 4;

/// Flows without a round trip take at most this part of all places: they need no law, and a single host can make many.
const UNMEASURED_PART: usize = 4;

/// Most packets that may wait in all.
pub fn places(config: &Config) -> u32 {
    let packets = (config.held_max as u64).min(config.buffer_total.0 / PACKET);
    u32::try_from(packets).unwrap_or(u32::MAX)
}

/// What the kernel is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Handle the flow so.
    Pace(FlowKey, Pace),
    /// Forget the orders for it: the kernel forgot the flow.
    Forget(FlowKey),
    /// Forget the flow and the orders for it.
    Evict(FlowKey),
}

/// What decides about flows: configuration and hop table.
pub trait Judge {
    /// What is to be done with a flow.
    fn handling(&self, key: &FlowKey) -> Handling;
    /// The wireless way to its mesh end, whose latest packet had this TTL.
    fn route(&mut self, key: &FlowKey, ttl: Option<u8>) -> Route;
}

/// One connection.
#[derive(Debug)]
pub struct Flow {
    /// The kernel's current order for the flow.
    pub handling: Handling,
    /// Its law, and its smoothed wireless round trip; `None` before the first of them. Large, so that flows which are never
    /// acknowledged (a flood) have none.
    wireless: Option<Box<WirelessLaw>>,
    /// Latest wired round trip.
    pub wired: Option<Span>,
    /// Goodput control's cap.
    pub cap: Option<Span>,
    /// Largest payload towards the mesh.
    pub segment: Bytes,
    /// Largest window that the wireless end announced.
    pub window: Option<Bytes>,
    /// What the kernel had counted at the latest look at its table.
    counted: Counted,
    /// Wired-to-wireless data acknowledged.
    goodput_down: Goodput,
    /// Wireless-to-wired data acknowledged.
    goodput_up: Goodput,
    /// Goodput control knows it.
    controlled: bool,
    /// When it was met, until a round trip of it is known.
    unmeasured_since: Option<Instant>,
    /// The kernel's table had it in the look that is under way, or it was heard of since.
    present: bool,
    /// The latest orders given.
    ordered: Option<Pace>,
}

impl Flow {
    fn new(now: Instant, handling: Handling) -> Self {
        Self {
            handling,
            wireless: None,
            wired: None,
            cap: None,
            segment: Bytes::ZERO,
            window: None,
            counted: Counted::default(),
            goodput_down: Goodput::new(now),
            goodput_up: Goodput::new(now),
            controlled: false,
            unmeasured_since: Some(now),
            present: true,
            ordered: None,
        }
    }

    /// The spacing in force: the slower of the law's and the cap's (schemes.md 3.4).
    pub fn interval(&self) -> Option<Span> {
        self.law_interval().max(self.cap)
    }

    fn law_interval(&self) -> Option<Span> {
        self.wireless.as_ref()?.pace.spacing
    }

    fn rate_law(&self) -> Option<&RateLaw> {
        self.wireless.as_ref()?.law().rate_law()
    }

    fn is_paced(&self) -> bool {
        self.handling == Handling::Treat(Treatment::Pace)
    }

    fn orders(&self, config: &Config) -> Pace {
        let packets = config.flow_limit(self.window).0 / (self.segment + HEADERS).0;
        // One packet may always wait, or a flow whose window is below a segment would never be sent anything.
        let most = (places(config) / FLOWS_THAT_FILL_ALL).max(1);
        let packets = u32::try_from(packets.max(1)).unwrap_or(u32::MAX).min(most);
        let path = Path {
            wired: self.wired,
            wireless: self.wireless.as_ref().and_then(|wireless| wireless.smoothed),
            spacing: self.interval(),
        };
        let codel = config.codel.map(|codel| codel.of(&path)).map(|codel| (codel.target, codel.interval));
        let segment = self.segment.max(FULL);
        let pipe = (config.announced == Announced::Pipe).then(|| path.window(segment, config)).flatten();
        let law = self.wireless.as_ref().and_then(|wireless| wireless.pace.window);
        let law = law.map(|window| window.max(least_window(segment, config)));
        let window = pipe.into_iter().chain(law).min().map(|window| (window, segment));
        Pace { interval: self.interval(), packets, handling: self.handling, codel, window }
    }
}

/// The flows that cross the gateway, and what is to be done with them.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    law: LawMaker,
    flows: BTreeMap<FlowKey, Flow>,
    goodput: Option<GoodputControl<FlowKey>>,
    /// Flows whose orders may have changed. A round trip a packet is one order a batch.
    changed: BTreeSet<FlowKey>,
    /// Flows without a round trip, by when they were met: the first to make way when all places are taken.
    unmeasured: BTreeSet<(Instant, FlowKey)>,
    gone: VecDeque<Order>,
    next_scan: Instant,
    opened: u64,
    untracked: u64,
    round_trips: RoundTrips,
}

impl Engine {
    /// An engine that knows no flow.
    pub fn new(now: Instant, config: Config, law: LawMaker) -> Self {
        Self {
            config,
            law,
            flows: BTreeMap::new(),
            goodput: config.goodput_control.map(GoodputControl::new),
            changed: BTreeSet::new(),
            unmeasured: BTreeSet::new(),
            gone: VecDeque::new(),
            next_scan: now + SCAN,
            opened: 0,
            untracked: 0,
            round_trips: RoundTrips::default(),
        }
    }

    /// Takes an event of the kernel.
    pub fn handle_event(&mut self, event: &Event, judge: &mut impl Judge) {
        if event.told == EventKind::Closed {
            self.end(&event.key);
            return;
        }
        self.make_room(&event.key);
        self.adopt(event.at, &event.key, judge);
        let Some(flow) = self.flows.get_mut(&event.key) else {
            self.untracked += 1;
            return;
        };
        flow.present = true;
        flow.segment = flow.segment.max(event.segment);
        flow.window = flow.window.max(event.window);
        if matches!(event.told, EventKind::Sample(_) | EventKind::WiredSample(_)) {
            if let Some(since) = flow.unmeasured_since.take() {
                self.unmeasured.remove(&(since, event.key));
            }
        }
        match event.told {
            EventKind::Sample(rtt) => {
                self.round_trips.wireless.record(rtt);
                let route = judge.route(&event.key, event.ttl);
                // What leaves before the first round trip has no orders, and so no initial interval.
                let law = || Box::new(WirelessLaw::new(&self.law, None));
                let answered = flow.wired.map(|wired| wired + rtt);
                let trip = RoundTrip {
                    now: event.at,
                    rtt,
                    segment: flow.segment,
                    route: &route,
                    sharing: 1,
                    answered,
                };
                flow.wireless.get_or_insert_with(law).on_round_trip(&trip);
                if let Some(goodput) = self.goodput.as_mut().filter(|_| flow.controlled) {
                    goodput.on_round_trip(event.key, rtt);
                }
            }
            EventKind::WiredSample(rtt) => {
                self.round_trips.wired.record(rtt);
                flow.wired = Some(rtt);
            }
            EventKind::Opened | EventKind::Closed | EventKind::Again(_) => {}
        }
        self.changed.insert(event.key);
        self.control(event.at, &event.key);
    }

    /// Takes one entry of the kernel's table; all of them before [`Self::handle_timeout`].
    pub fn handle_flow(&mut self, now: Instant, key: &FlowKey, known: &KernelFlow, judge: &mut impl Judge) {
        if now.saturating_since(known.active) >= self.config.idle {
            self.remove(key);
            self.gone.push_back(Order::Evict(*key));
            return;
        }
        if known.ignored {
            return;
        }
        self.adopt(now, key, judge);
        let Some(flow) = self.flows.get_mut(key) else {
            return;
        };
        flow.present = true;
        flow.segment = flow.segment.max(known.segment);
        flow.window = flow.window.max(known.window);
        self.changed.insert(*key);
        self.control(now, key);
        let Some(flow) = self.flows.get_mut(key) else {
            return;
        };
        let counted = Counted::of(known);
        let news = counted.since(std::mem::replace(&mut flow.counted, counted));
        flow.goodput_down.on_acked(now, news.down_acked);
        if let Some(wireless) = flow.wireless.as_mut().filter(|_| news.down_acked > Bytes::ZERO) {
            // The programs do not know what was sent again or marked.
            wireless.on_progress(&Progress { now, acked: news.down_acked, again: 0, marked: false });
        }
        flow.goodput_up.on_acked(now, news.up_acked);
        if let Some(goodput) = self.goodput.as_mut().filter(|_| flow.controlled) {
            goodput.on_traffic(*key, Direction::Down, news.down, flow.segment);
            goodput.on_traffic(*key, Direction::Up, news.up, flow.segment);
            goodput.on_acked(*key, news.down_acked + news.up_acked);
            if news.down_packets > 0 {
                goodput.on_waited(*key, news.delayed as f64 / news.down_packets as f64);
            }
        }
    }

    /// When the kernel's table is to be read next.
    pub fn poll_timeout(&self) -> Instant {
        let goodput = self.goodput.as_ref().and_then(GoodputControl::poll_timeout);
        goodput.map_or(self.next_scan, |due| due.min(self.next_scan))
    }

    /// Does what follows from the kernel's table: flows that are gone are forgotten, goodput control runs if it is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let gone: Vec<FlowKey> =
            self.flows.iter().filter(|(_, flow)| !flow.present).map(|(key, _)| *key).collect();
        for key in gone {
            self.end(&key);
        }
        for flow in self.flows.values_mut() {
            flow.present = false;
        }
        self.next_scan = now + SCAN;
        let Some(goodput) = &mut self.goodput else {
            return;
        };
        let flows = &self.flows;
        if goodput.handle_timeout(now, |key| flows.get(&key)?.law_interval()) {
            for (key, flow) in &mut self.flows {
                flow.cap = goodput.cap(*key).filter(|_| flow.is_paced());
                self.changed.insert(*key);
            }
        }
    }

    /// Decides anew about every flow: the configuration changed.
    pub fn reload(&mut self, now: Instant, config: Config, law: LawMaker, judge: &impl Judge) {
        GoodputControl::reconfigure(&mut self.goodput, config.goodput_control);
        let uncontrolled = self.goodput.is_none();
        self.config = config;
        self.law = law;
        let keys: Vec<FlowKey> = self.flows.keys().copied().collect();
        for key in keys {
            let Some(flow) = self.flows.get_mut(&key) else {
                continue;
            };
            flow.handling = judge.handling(&key);
            if let Some(wireless) = &mut flow.wireless {
                wireless.set_law(&self.law);
            }
            if uncontrolled {
                flow.controlled = false;
                flow.cap = None;
            }
            self.changed.insert(key);
            self.control(now, &key);
        }
    }

    /// The next order for the kernel; call until `None`.
    pub fn poll_order(&mut self) -> Option<Order> {
        if let Some(order) = self.gone.pop_front() {
            return Some(order);
        }
        while let Some(key) = self.changed.pop_first() {
            let Some(flow) = self.flows.get_mut(&key) else {
                continue;
            };
            let orders = flow.orders(&self.config);
            if flow.ordered.replace(orders) != Some(orders) {
                return Some(Order::Pace(key, orders));
            }
        }
        None
    }

    /// One flow.
    pub fn flow(&self, key: &FlowKey) -> Option<&Flow> {
        self.flows.get(key)
    }

    /// How many flows are known.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// A flow as the gateway's reports tell it; `known` is its entry in the kernel's table. `None` if it is not known.
    pub fn stats(&self, now: Instant, key: &FlowKey, known: &KernelFlow) -> Option<FlowStats> {
        let flow = self.flows.get(key)?;
        let interval = flow.interval();
        let waiting = known.departure.saturating_since(now);
        // Those that were ordered keep their departures when the flow is not paced any more.
        let queued = interval.map_or(0, |interval| waiting.as_nanos().div_ceil(interval.as_nanos().max(1)));
        Some(FlowStats {
            key: *key,
            up: known.up.begun,
            down: known.down.begun,
            // The kernel's table does not tell.
            outstanding: true,
            interval: interval.filter(|_| known.down.begun),
            k_hop_delay: flow.rate_law().and_then(RateLaw::k_hop_delay),
            variation: flow.rate_law().map_or(0.0, RateLaw::variation),
            cap: flow.cap,
            paced: known.down.begun && flow.is_paced(),
            queued: usize::try_from(queued).unwrap_or(usize::MAX),
            buffered: (flow.segment + HEADERS) * queued,
            drops: known.drops,
            duplicates: 0,
            aqm_drops: known.aged.0,
            aqm_marks: known.aged.1,
            wait: (known.down.begun && flow.is_paced()).then_some(waiting),
            window: known.limited,
            local_retransmissions: 0,
            samples: flow.rate_law().map_or((0, 0), |law| (law.samples(), law.rejected())),
            wireless_rtt: flow.wireless.as_ref().and_then(|wireless| wireless.smoothed),
            wired_rtt: known.wired_rtt.or(flow.wired),
            options_written: known.options,
            goodput_down: known.down.begun.then_some(flow.goodput_down),
            goodput_up: known.up.begun.then_some(flow.goodput_up),
        })
    }

    /// Why a flow has its pace.
    pub fn explain(&self, key: &FlowKey) -> Option<Explanation> {
        let flow = self.flows.get(key)?;
        Some(Explanation {
            law: flow.wireless.as_ref().map(|wireless| wireless.law().boxed()),
            law_interval: flow.law_interval(),
            standing: self.goodput.as_ref().and_then(|goodput| goodput.standing(*key)),
            // Only the kernel knows what was on its way when a segment left, and it does not report that.
            forecast: (flow.wireless.is_some() && !flow.is_paced()).then_some(Err(Unforeseen::NotMeasured)),
        })
    }

    /// All round trips measured since the beginning.
    pub const fn round_trips(&self) -> &RoundTrips {
        &self.round_trips
    }

    /// Flows met since the beginning.
    pub const fn opened(&self) -> u64 {
        self.opened
    }

    /// Flows for which there was no place since the beginning.
    pub const fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Whether there is a place for one more flow.
    fn has_room(&self) -> bool {
        self.flows.len() < self.config.flows_max
            && self.unmeasured.len() < (self.config.flows_max / UNMEASURED_PART).max(1)
    }

    /// Takes back the place of the flow that has been without a round trip the longest, if none is left for this one. The
    /// kernel goes on measuring it: its first round trip makes it known again.
    fn make_room(&mut self, key: &FlowKey) {
        if self.has_room() || self.flows.contains_key(key) {
            return;
        }
        if let Some((_, oldest)) = self.unmeasured.pop_first() {
            self.end(&oldest);
        }
    }

    /// Makes a flow known, if there is a place.
    fn adopt(&mut self, now: Instant, key: &FlowKey, judge: &impl Judge) {
        if self.flows.contains_key(key) || !self.has_room() {
            return;
        }
        self.opened += 1;
        self.unmeasured.insert((now, *key));
        self.flows.insert(*key, Flow::new(now, judge.handling(key)));
    }

    /// Goodput control counts paced flows only, from their first data on.
    fn control(&mut self, now: Instant, key: &FlowKey) {
        let (Some(flow), Some(goodput)) = (self.flows.get_mut(key), &mut self.goodput) else {
            return;
        };
        let paced = flow.is_paced();
        if paced == std::mem::replace(&mut flow.controlled, paced) {
            return;
        }
        if paced {
            goodput.on_flow_started(now, *key, key.wireless.address);
        } else {
            goodput.on_flow_ended(*key);
            flow.cap = None;
        }
    }

    /// A flow is over.
    fn end(&mut self, key: &FlowKey) {
        if self.remove(key) {
            self.gone.push_back(Order::Forget(*key));
        }
    }

    fn remove(&mut self, key: &FlowKey) -> bool {
        self.changed.remove(key);
        let flow = self.flows.remove(key);
        let known = flow.is_some();
        if let Some(since) = flow.as_ref().and_then(|flow| flow.unmeasured_since) {
            self.unmeasured.remove(&(since, *key));
        }
        if let Some(goodput) = self.goodput.as_mut().filter(|_| flow.is_some_and(|flow| flow.controlled)) {
            goodput.on_flow_ended(*key);
        }
        known
    }
}

#[cfg(test)]
mod tests;
