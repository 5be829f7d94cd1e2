//! Goodput control: fairness between the flows that cross a gateway.

mod config;
mod demand;
mod probe;

pub use config::{Aging, GoodputControlConfig, KEYS as GOODPUT_CONTROL_KEYS, Order, Profile, Reset};
pub use demand::Pending;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use demand::Demand;
use meshpace_units::{Bytes, Instant, Span};
use probe::{Judgement, Probe};

/// Bits of a kbit, as [`Aging::AdditiveKbit`] adds them a second.
const KBIT: f64 = 1e3;

/// Where a packet of data goes. A connection is one flow here, with the data of both directions: the requests of a
/// download are not a starving flow beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Wireless to wired, paced by its sender.
    Up,
    /// Wired to wireless, paced at the gateway.
    Down,
}

/// Caps the pace of wired-to-wireless flows that get more than their share, as long as that helps the slow flows.
///
/// The driver reports flows as they start and end, their payload and their newly acknowledged bytes and, for profile
/// `robust`, what waits or is outstanding, retransmissions and wireless round trips. It calls
/// [`GoodputControl::handle_timeout`] when [`GoodputControl::poll_timeout`] says so; caps change only there.
///
/// Source: schemes.md 3.5.
#[derive(Clone, Debug)]
pub struct GoodputControl<Id> {
    config: GoodputControlConfig,
    flows: BTreeMap<Id, Flow>,
    /// Whether a flow started or ended since the last run, as far as that resets.
    membership_changed: bool,
    /// The most that a flow which ended since the last run had acknowledged in that time.
    ended: Bytes,
    last_run: Instant,
    next_run: Option<Instant>,
    runs: u64,
    /// Flows compared in the latest run (the active ones, or the backlogged) and their mean goodput.
    active: usize,
    mean: Option<f64>,
    /// What the throttlings of the last run are judged by.
    probe: Option<Probe<Id>>,
}

/// What the latest run found about one flow, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Its goodput over the interval, bit/s; `None` if it was not compared: it carried no payload then or, in profile
    /// `robust`, did not want more than it got.
    pub goodput: Option<f64>,
    /// The mean over the flows compared, bit/s; `None` if there was none.
    pub mean: Option<f64>,
    /// How many flows were compared.
    pub active: usize,
    /// Its cap, as the least spacing of its packets.
    pub cap: Option<Span>,
    /// Runs since the cap was set.
    pub capped_runs: Option<u64>,
    /// Runs for which it is still left alone, because an earlier cap did not help the slow flows.
    pub left_alone_runs: Option<u64>,
}

#[derive(Clone, Debug)]
struct Flow {
    /// Its end in the mesh.
    host: IpAddr,
    /// Largest payload seen downwards, in place of the MSS.
    segment: Bytes,
    interval: Traffic,
    /// Goodput in the latest run, if it was compared.
    goodput: Option<f64>,
    /// Which way its data went in the latest interval in which there were any.
    direction: Direction,
    demand: Demand,
    /// It has carried enough for its start to count, and it did so in the latest run.
    started: bool,
    weighs: bool,
    cap: Option<Cap>,
    hold_off: Option<HoldOff>,
}

/// What a connection did since the last run.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    down: Bytes,
    up: Bytes,
    acked: Bytes,
}

impl Traffic {
    fn is_active(self) -> bool {
        self.down + self.up > Bytes::ZERO
    }

    /// The direction of most of the data; towards the wired part if both are equal.
    fn direction(self) -> Direction {
        if self.down > self.up { Direction::Down } else { Direction::Up }
    }
}

#[derive(Clone, Copy, Debug)]
struct Cap {
    packets_per_sec: f64,
    since_run: u64,
}

#[derive(Clone, Copy, Debug)]
struct HoldOff {
    runs: u32,
    until_run: u64,
}

impl<Id: Copy + Ord> GoodputControl<Id> {
    /// A controller without flows.
    #[must_use]
    pub const fn new(config: GoodputControlConfig) -> Self {
        Self {
            config,
            flows: BTreeMap::new(),
            membership_changed: false,
            ended: Bytes::ZERO,
            last_run: Instant::ZERO,
            next_run: None,
            runs: 0,
            active: 0,
            mean: None,
            probe: None,
        }
    }

    /// Applies other parameters where there may be no control: begins it, ends it (`None`), or sets its parameters.
    pub fn reconfigure(control: &mut Option<Self>, config: Option<GoodputControlConfig>) {
        match (control, config) {
            (Some(control), Some(config)) => control.set_config(config),
            (control, config) => *control = config.map(Self::new),
        }
    }

    /// Applies other parameters from the next run on.
    pub fn set_config(&mut self, config: GoodputControlConfig) {
        self.config = config;
    }

    /// A connection appeared, whose end in the mesh is `host`.
    pub fn on_flow_started(&mut self, now: Instant, id: Id, host: IpAddr) {
        if self.flows.is_empty() {
            self.last_run = now;
            self.next_run = now.checked_add(self.config.interval);
        }
        let flow = Flow {
            host,
            segment: Bytes::ZERO,
            interval: Traffic::default(),
            goodput: None,
            direction: Direction::Up,
            demand: Demand::default(),
            started: false,
            weighs: false,
            cap: None,
            hold_off: None,
        };
        self.flows.insert(id, flow);
        self.membership_changed |=
            self.config.profile == Profile::Paper && self.config.reset == Reset::StartEnd;
    }

    /// A connection ended; without any left nothing is scheduled.
    pub fn on_flow_ended(&mut self, id: Id) {
        if let Some(flow) = self.flows.remove(&id) {
            self.membership_changed |= self.config.profile == Profile::Paper || flow.weighs;
            self.ended = self.ended.max(flow.interval.acked);
        }
        if self.flows.is_empty() {
            self.next_run = None;
            self.probe = None;
            self.ended = Bytes::ZERO;
        }
    }

    /// A data packet of connection `id` was seen; the connection is active in this interval. A connection whose data
    /// goes mostly down (wired-to-wireless, paced here) may be throttled, any other only counts.
    pub fn on_payload(&mut self, id: Id, direction: Direction, payload: Bytes) {
        self.on_traffic(id, direction, payload, payload);
    }

    /// As [`GoodputControl::on_payload`] for several packets with `payload` bytes together, the largest of `segment`
    /// bytes: from a data path that counts where this code does not run.
    pub fn on_traffic(&mut self, id: Id, direction: Direction, payload: Bytes, segment: Bytes) {
        let Some(flow) = self.flows.get_mut(&id) else {
            return;
        };
        match direction {
            Direction::Up => flow.interval.up += payload,
            Direction::Down => {
                flow.interval.down += payload;
                flow.segment = flow.segment.max(segment);
            }
        }
    }

    /// `newly` more bytes of connection `id` were cumulatively acknowledged.
    pub fn on_acked(&mut self, id: Id, newly: Bytes) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.interval.acked += newly;
            if newly > Bytes::ZERO {
                flow.demand.on_progress();
            }
        }
    }

    /// What of connection `id` waits or is outstanding in a direction, from `now` on.
    pub fn on_pending(&mut self, now: Instant, id: Id, direction: Direction, pending: Pending) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.demand.on_pending(now, direction, pending);
        }
    }

    /// A segment of connection `id` that had passed before passed again, or was repaired here.
    pub fn on_retransmission(&mut self, id: Id) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.demand.on_retransmission();
        }
    }

    /// This share of the packets of connection `id` had to wait since the latest run: from a data path that delays packets
    /// where this code does not run, in place of [`GoodputControl::on_pending`].
    pub fn on_waited(&mut self, id: Id, share: f64) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.demand.on_waited(share);
        }
    }

    /// For so long, the pace of connection `id` was busy with data of a sender towards the mesh that has used up its allowed window.
    /// Such a sender would send more, though few of its packets wait.
    pub fn on_limited(&mut self, id: Id, busy: Span) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.demand.on_limited(busy);
        }
    }

    /// A wireless round trip of connection `id`, the wait in its pacing queue left out.
    pub fn on_round_trip(&mut self, id: Id, rtt: Span) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.demand.on_round_trip(rtt);
        }
    }

    /// The cap on the flow's pace as the least spacing of its packets; `None` if it is not throttled.
    #[must_use]
    pub fn cap(&self, id: Id) -> Option<Span> {
        let cap = self.flows.get(&id)?.cap?;
        Some(Span::try_from_secs_f64(1.0 / cap.packets_per_sec).unwrap_or(Span::MAX))
    }

    /// What the latest run found about a flow; `None` if it is not known.
    #[must_use]
    pub fn standing(&self, id: Id) -> Option<Standing> {
        let flow = self.flows.get(&id)?;
        Some(Standing {
            goodput: flow.goodput,
            mean: self.mean,
            active: self.active,
            cap: self.cap(id),
            capped_runs: flow.cap.map(|cap| self.runs - cap.since_run),
            left_alone_runs: flow
                .hold_off
                .and_then(|hold_off| hold_off.until_run.checked_sub(self.runs))
                .filter(|&runs| runs > 0),
        })
    }

    /// When the controller wants to run next; `None` without flows.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.next_run
    }

    /// Runs the control loop if it is due. `pace` tells a flow's own pacing interval (`None`: not paced), against
    /// which aging ends. True if it ran, so caps may have changed.
    pub fn handle_timeout(&mut self, now: Instant, pace: impl Fn(Id) -> Option<Span>) -> bool {
        let Some(due) = self.next_run.filter(|&due| due <= now) else {
            return false;
        };
        // Whole intervals late (a suspended machine) are skipped; goodput is over the time that really passed.
        let missed = (now - due).whole(self.config.interval.max(Span::NANOSECOND));
        self.next_run = due.checked_add(self.config.interval * (missed + 1));
        self.run(now, now.saturating_since(self.last_run), pace);
        self.last_run = now;
        true
    }

    fn run(&mut self, now: Instant, elapsed: Span, pace: impl Fn(Id) -> Option<Span>) {
        self.runs += 1;
        for flow in self.flows.values_mut() {
            let heard = flow.interval.is_active();
            if heard {
                flow.direction = flow.interval.direction();
            }
            flow.demand.end_interval(now, elapsed, heard, flow.direction, &self.config);
        }
        if self.config.profile == Profile::Robust {
            self.weigh();
        }
        let goodput = self.compared(elapsed.as_secs_f64());
        self.active = goodput.len();
        self.mean = self.mean_of(&goodput);
        if self.membership_changed {
            self.forget_all();
        } else if let Some(mean) = self.mean.filter(|&mean| mean > 0.0 && self.can_compare(&goodput)) {
            let probe = self.probe.take();
            match self.config.order {
                Order::JudgeFirst => {
                    if self.judge(probe, &goodput) != Some(Judgement::Later) {
                        self.throttle(&goodput, mean);
                    }
                }
                Order::Figure => {
                    self.throttle(&goodput, mean);
                    self.judge(probe, &goodput);
                }
            }
            self.age(|id| goodput.get(&id).map_or(0.0, |own| own / mean), pace);
        } else {
            self.age(|_| 1.0, pace);
            if self.config.profile == Profile::Robust && !self.can_compare(&goodput) {
                let probe = self.probe.take();
                self.judge(probe, &goodput);
                self.lift_all(); // no flow is left that a cap could help
            }
        }
        if self.config.profile == Profile::Robust {
            self.hold_up_caps();
        }
        for (id, flow) in &mut self.flows {
            flow.goodput = goodput.get(id).copied();
            flow.interval = Traffic::default();
        }
        self.ended = Bytes::ZERO;
    }

    /// The flows to compare, with their goodput: those with payload or, in profile `robust`, those that want more than they
    /// get; a flow that backs off is one of these, with nothing.
    fn compared(&self, elapsed: f64) -> BTreeMap<Id, f64> {
        let counts = |flow: &Flow| match self.config.profile {
            Profile::Paper => flow.interval.is_active(),
            Profile::Robust => flow.demand.backlogged(),
        };
        let compared = self.flows.iter().filter(|(_, flow)| counts(flow));
        compared.map(|(&id, flow)| (id, flow.interval.acked.bits() as f64 / elapsed)).collect()
    }

    /// Their mean; in profile `robust` each mesh host counts once, with the mean of its flows, so that a host gains nothing by
    /// opening many.
    fn mean_of(&self, goodput: &BTreeMap<Id, f64>) -> Option<f64> {
        let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
        if self.config.profile == Profile::Paper {
            return mean(goodput.values().sum(), goodput.len());
        }
        let mut hosts: BTreeMap<IpAddr, (f64, usize)> = BTreeMap::new();
        for (id, own) in goodput {
            let (sum, count) = hosts.entry(self.flows[id].host).or_default();
            (*sum, *count) = (*sum + own, *count + 1);
        }
        mean(hosts.values().map(|&(sum, count)| sum / count as f64).sum(), hosts.len())
    }

    /// Which flows carried enough in this interval for their start or end to count.
    fn weigh(&mut self) {
        let total: f64 = self.flows.values().map(|flow| flow.interval.acked.bits() as f64).sum();
        let ended = self.ended.bits() as f64;
        let least = self.config.reset_share * (total + ended);
        let weighs = |bits: f64| bits > 0.0 && bits >= least;
        self.membership_changed |= weighs(ended);
        for (id, flow) in &mut self.flows {
            flow.weighs = weighs(flow.interval.acked.bits() as f64);
            if flow.weighs && !core::mem::replace(&mut flow.started, true) {
                // That it gets more than before may be what a cap was for.
                let awaited = self.probe.as_ref().is_some_and(|probe| probe.awaits(id));
                self.membership_changed |= self.config.reset == Reset::StartEnd && !awaited;
            }
        }
    }

    /// No cap goes below a share of the present mean, nor below a packet a second (schemes.md 3.5).
    fn hold_up_caps(&mut self) {
        for flow in self.flows.values_mut() {
            if let Some(cap) = &mut flow.cap {
                let share =
                    self.mean.map_or(0.0, |mean| mean * self.config.cap_min / flow.segment.bits() as f64);
                cap.packets_per_sec = cap.packets_per_sec.max(share).max(1.0);
            }
        }
    }

    /// Two flows at least, and one that could be throttled: with less nothing is throttled or judged, but aging goes on,
    /// or a cap would outlive its reason (schemes.md 3.5).
    fn can_compare(&self, goodput: &BTreeMap<Id, f64>) -> bool {
        goodput.len() >= 2 && goodput.keys().any(|id| self.flows[id].direction == Direction::Down)
    }

    /// Every cap goes; a flow that is left alone stays so.
    fn lift_all(&mut self) {
        self.probe = None;
        for flow in self.flows.values_mut() {
            flow.cap = None;
        }
    }

    /// A connection started or ended: every cap and all throttle state goes.
    fn forget_all(&mut self) {
        self.membership_changed = false;
        self.probe = None;
        for flow in self.flows.values_mut() {
            flow.cap = None;
            flow.hold_off = None;
        }
    }

    fn throttle(&mut self, goodput: &BTreeMap<Id, f64>, mean: f64) {
        let slow = goodput.iter().filter(|&(_, &own)| own < mean);
        let slow: Vec<(Id, f64)> = slow.map(|(&id, &own)| (id, own)).collect();
        // A mean of equal goodputs may be rounded to below them: then no flow is slow, and none is helped.
        if slow.is_empty() {
            return;
        }
        let mut throttled = false;
        for (id, own) in goodput {
            let flow = self.flows.get_mut(id).expect("goodput is of known flows");
            // Never one whose cap this very run cancelled, however short the hold-off.
            let held_off = flow.hold_off.is_some_and(|hold_off| self.runs <= hold_off.until_run);
            if flow.direction == Direction::Down
                && flow.segment > Bytes::ZERO
                && !held_off
                && own / mean > self.config.threshold
            {
                let packets_per_sec = mean / flow.segment.bits() as f64;
                flow.cap = Some(Cap { packets_per_sec, since_run: self.runs });
                throttled = true;
            }
        }
        if throttled {
            self.probe = Some(Probe { run: self.runs, slow });
        }
    }

    /// Relaxes the caps set in earlier runs, and drops those that no longer bind.
    fn age(&mut self, deviation: impl Fn(Id) -> f64, pace: impl Fn(Id) -> Option<Span>) {
        for (&id, flow) in &mut self.flows {
            let Some(cap) = flow.cap.as_mut().filter(|cap| cap.since_run < self.runs) else {
                continue;
            };
            let factor = self.config.aging_factor;
            match self.config.aging {
                Aging::Additive => cap.packets_per_sec += factor * deviation(id),
                Aging::AdditiveKbit => {
                    cap.packets_per_sec += factor * deviation(id) * KBIT / flow.segment.bits() as f64;
                }
                Aging::Multiplicative => cap.packets_per_sec *= factor,
            }
            if pace(id).is_some_and(|own| cap.packets_per_sec * own.as_secs_f64() >= 1.0) {
                flow.cap = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
