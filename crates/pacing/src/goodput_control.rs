//! Goodput control: fairness between the flows that cross a gateway.

mod config;

pub use config::{Aging, GoodputControlConfig, KEYS as GOODPUT_CONTROL_KEYS, Order, Reset};

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use meshpace_units::{Bytes, Instant, Span};

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
/// The driver reports flows as they start and end, their payload and their newly acknowledged bytes, and calls
/// [`GoodputControl::handle_timeout`] when [`GoodputControl::poll_timeout`] says so; caps change only there.
///
/// Source: schemes.md 3.5.
#[derive(Clone, Debug)]
pub struct GoodputControl<Id> {
    config: GoodputControlConfig,
    flows: BTreeMap<Id, Flow>,
    /// Whether a flow started or ended since the last run, as far as that resets.
    membership_changed: bool,
    last_run: Instant,
    next_run: Option<Instant>,
    runs: u64,
    /// Flows active in the latest run and their mean goodput.
    active: usize,
    mean: Option<f64>,
    /// What the throttlings of the last run are judged by.
    probe: Option<Probe<Id>>,
}

/// What the latest run found about one flow, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Its goodput over the interval, bit/s; `None` if it carried no payload then.
    pub goodput: Option<f64>,
    /// The mean over the active flows, bit/s; `None` if there was none.
    pub mean: Option<f64>,
    /// How many flows were active.
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
    /// Largest payload seen downwards, in place of the MSS.
    segment: Bytes,
    interval: Traffic,
    /// Goodput in the latest run, if it was active.
    goodput: Option<f64>,
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

    /// Wired to wireless.
    fn is_downward(self) -> bool {
        self.down > self.up
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

/// The flows below the mean when others were throttled, and their mean goodput then.
#[derive(Clone, Debug)]
struct Probe<Id> {
    /// The run that throttled.
    run: u64,
    slow: Vec<Id>,
    goodput_before: f64,
}

impl<Id: Copy + Ord> GoodputControl<Id> {
    /// A controller without flows.
    #[must_use]
    pub const fn new(config: GoodputControlConfig) -> Self {
        Self {
            config,
            flows: BTreeMap::new(),
            membership_changed: false,
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

    /// A connection appeared.
    pub fn on_flow_started(&mut self, now: Instant, id: Id) {
        if self.flows.is_empty() {
            self.last_run = now;
            self.next_run = now.checked_add(self.config.interval);
        }
        let flow = Flow {
            segment: Bytes::ZERO,
            interval: Traffic::default(),
            goodput: None,
            cap: None,
            hold_off: None,
        };
        self.flows.insert(id, flow);
        self.membership_changed |= self.config.reset == Reset::StartEnd;
    }

    /// A connection ended; without any left nothing is scheduled.
    pub fn on_flow_ended(&mut self, id: Id) {
        if self.flows.remove(&id).is_some() {
            self.membership_changed = true;
        }
        if self.flows.is_empty() {
            self.next_run = None;
            self.probe = None;
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
        self.run(now.saturating_since(self.last_run).as_secs_f64(), pace);
        self.last_run = now;
        true
    }

    fn run(&mut self, elapsed: f64, pace: impl Fn(Id) -> Option<Span>) {
        self.runs += 1;
        let goodput: BTreeMap<Id, f64> = self
            .flows
            .iter()
            .filter(|(_, flow)| flow.interval.is_active())
            .map(|(&id, flow)| (id, flow.interval.acked.bits() as f64 / elapsed))
            .collect();
        self.active = goodput.len();
        self.mean = (!goodput.is_empty()).then(|| goodput.values().sum::<f64>() / goodput.len() as f64);
        if self.membership_changed {
            self.forget_all();
        } else if let Some(mean) = self.mean.filter(|&mean| mean > 0.0 && self.can_compare(&goodput)) {
            let probe = self.probe.take();
            match self.config.order {
                Order::JudgeFirst => {
                    self.judge(probe, &goodput);
                    self.throttle(&goodput, mean);
                }
                Order::Figure => {
                    self.throttle(&goodput, mean);
                    self.judge(probe, &goodput);
                }
            }
            self.age(|id| goodput.get(&id).map_or(0.0, |own| own / mean), pace);
        } else {
            self.age(|_| 1.0, pace);
        }
        for (id, flow) in &mut self.flows {
            flow.goodput = goodput.get(id).copied();
            flow.interval = Traffic::default();
        }
    }

    /// Two flows at least, and one that could be throttled: with less nothing is throttled or judged, but aging goes on,
    /// or a cap would outlive its reason (schemes.md 3.5).
    fn can_compare(&self, goodput: &BTreeMap<Id, f64>) -> bool {
        goodput.len() >= 2 && goodput.keys().any(|id| self.flows[id].interval.is_downward())
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

    /// In the first run that can tell after a throttling: without improvement of the flows that were slow then, the cap
    /// was useless (there is no shared bottleneck) and is removed, and the flow is left alone for a while. A cap that
    /// this run set anew is not judged.
    fn judge(&mut self, probe: Option<Probe<Id>>, goodput: &BTreeMap<Id, f64>) {
        let Some(probe) = probe else {
            return;
        };
        let total: f64 = probe.slow.iter().filter_map(|id| goodput.get(id)).sum();
        let after = total / probe.slow.len() as f64;
        // Flows that got nothing before must get something: 0 is no improvement on 0.
        let improved =
            after >= self.config.improvement * probe.goodput_before && after > probe.goodput_before;
        let judged = |cap: &Cap| cap.since_run == probe.run;
        for flow in self.flows.values_mut().filter(|flow| flow.cap.as_ref().is_some_and(judged)) {
            if improved {
                flow.hold_off = None;
                continue;
            }
            flow.cap = None;
            let runs = flow.hold_off.map_or(self.config.hold_off, |earlier| earlier.runs.saturating_mul(2));
            let runs = runs.min(self.config.hold_off_max);
            flow.hold_off = Some(HoldOff { runs, until_run: self.runs + u64::from(runs) });
        }
    }

    fn throttle(&mut self, goodput: &BTreeMap<Id, f64>, mean: f64) {
        let slow: Vec<Id> = goodput.iter().filter(|&(_, &own)| own < mean).map(|(&id, _)| id).collect();
        // A mean of equal goodputs may be rounded to below them: then nobody is slow, and nobody is helped.
        if slow.is_empty() {
            return;
        }
        let mut throttled = false;
        for (id, own) in goodput {
            let flow = self.flows.get_mut(id).expect("goodput is of known flows");
            // Never one whose cap this very run cancelled, however short the hold-off.
            let held_off = flow.hold_off.is_some_and(|hold_off| self.runs <= hold_off.until_run);
            if flow.interval.is_downward() && !held_off && own / mean > self.config.threshold {
                let packets_per_sec = mean / flow.segment.bits() as f64;
                flow.cap = Some(Cap { packets_per_sec, since_run: self.runs });
                throttled = true;
            }
        }
        if throttled {
            let goodput_before = slow.iter().map(|id| goodput[id]).sum::<f64>() / slow.len() as f64;
            self.probe = Some(Probe { run: self.runs, slow, goodput_before });
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
