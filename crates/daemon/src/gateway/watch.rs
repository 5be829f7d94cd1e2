//! Noticing what happened, from two looks at the data thread a second apart. The data thread itself tells no events: it
//! would pay for each of them on the way of a packet. The same looks tell whether what is believed can be
//! ([`plausible`](crate::plausible)).

use super::strays::Strays;
use crate::control::Daemon;
use crate::events::{Event, FlowClosed, FlowOpened, Sink};
use crate::flow_name::flow_name;
use crate::hops::Directory;
use crate::plausible::{Changes, Facts, Machine, Plausibility};
use crate::state::{DriverCounters, FlowReport, Snapshot};
use crate::text::treatment_name;
use meshpace_gateway::{Counters, FlowKey};
use meshpace_units::{Bytes, Instant, Span};
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two looks.
const PERIOD: Duration = Duration::from_secs(1);
/// A departure later than this is late: the bound for the 99th percentile.
const LATE: Span = Span::from_millis(1);

/// The thread that looks.
#[derive(Debug)]
pub struct Watch {
    /// Dropped to end it.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Starts looking. It ends by itself when the data thread does.
    ///
    /// # Errors
    /// What the system says to another thread.
    pub fn start(daemon: Arc<Daemon>, hops: Directory, sink: Sink) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("watch".into()).spawn(move || {
            let mut differences = Differences::default();
            let (mut plausibility, mut strays) = (Plausibility::default(), Strays::default());
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                // A data thread that does not answer now may do so a second later.
                let Ok(snapshot) = daemon.data().look() else { continue };
                differences.since_last(&snapshot).into_iter().for_each(|event| sink.emit(event));
                daemon.attend(&snapshot);
                let config = daemon.config();
                let machine = Machine::look(&config.mesh.interfaces);
                let facts = Facts { snapshot: &snapshot, config: &config, machine: &machine };
                tell_doubts(plausibility.look(&facts), &sink);
                strays.forgive(&config, plausibility.strayed());
                hops.hear(plausibility.steady());
                daemon.set_doubts(plausibility.doubts().cloned().collect());
            }
        })?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread.
    pub fn stop(self) {
        drop(self.stop);
        self.thread.join().unwrap_or_else(|_| eprintln!("meshpaced: the watching thread panicked"));
    }
}

/// One event and one line for each doubt that begins, an event for its end.
fn tell_doubts(Changes { begun, over }: Changes, sink: &Sink) {
    for doubt in begun {
        eprintln!("meshpaced: doubt ({}): {}; {}", doubt.name.word(), doubt.found, doubt.remedy);
        let name = doubt.name.word();
        sink.emit(Event::Doubted { name, message: doubt.found, remedy: doubt.remedy });
    }
    over.into_iter().for_each(|name| sink.emit(Event::DoubtOver { name: name.word() }));
}

/// What changed between snapshots.
#[derive(Debug, Default)]
pub struct Differences {
    last: Option<Last>,
}

/// What the next look needs of a snapshot: a snapshot itself takes four times as much.
#[derive(Debug)]
struct Last {
    counters: Counters,
    driver: DriverCounters,
    /// In the order of their keys.
    flows: Vec<LastOfFlow>,
}

/// The same of a flow.
#[derive(Debug)]
struct LastOfFlow {
    key: FlowKey,
    opened: Instant,
    last_activity: Instant,
    treatment: &'static str,
    capped: bool,
    down: Bytes,
    up: Bytes,
    wireless_rtt: Option<Span>,
    wired_rtt: Option<Span>,
    drops: u64,
    local_retransmissions: u64,
}

impl LastOfFlow {
    fn of(flow: &FlowReport, shaped: bool) -> Self {
        let stats = &flow.stats;
        Self {
            key: stats.key,
            opened: flow.opened,
            last_activity: flow.last_activity,
            treatment: treatment_name(flow.treatment, shaped),
            capped: stats.cap.is_some(),
            down: flow.down.bytes,
            up: flow.up.bytes,
            wireless_rtt: stats.wireless_rtt,
            wired_rtt: stats.wired_rtt,
            drops: stats.drops,
            local_retransmissions: stats.local_retransmissions,
        }
    }
}

impl Differences {
    /// What happened since the last snapshot given; at the first, which flows there are.
    pub fn since_last(&mut self, now: &Snapshot) -> Vec<Event> {
        let last = self.last.take();
        let mut events = Vec::new();
        let flows = last.as_ref().map_or(&[][..], |last| &last.flows);
        let opened = of_flows(flows, now, &mut events);
        if let Some(last) = last {
            let began = now.counters.opened.saturating_sub(last.counters.opened);
            let count = began.saturating_sub(opened);
            tell(count > 0, &mut events, Event::ShortFlows { count });
            of_totals(&last, now, &mut events);
        }
        let flows = now.flows.iter().map(|flow| LastOfFlow::of(flow, now.shapes())).collect();
        self.last = Some(Last { counters: now.counters, driver: now.driver, flows });
        events
    }
}

fn tell(happened: bool, events: &mut Vec<Event>, event: Event) {
    if happened {
        events.push(event);
    }
}

/// The flows of both snapshots side by side, as both are in the order of keys. Returns how many are new.
fn of_flows(before: &[LastOfFlow], now: &Snapshot, events: &mut Vec<Event>) -> u64 {
    let (mut before, mut after) = (before.iter().peekable(), now.flows.iter().peekable());
    let mut opened = 0;
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return opened,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.key.cmp(&new.stats.key),
        };
        let old = before.next_if(|_| order.is_le());
        let new = after.next_if(|_| order.is_ge());
        match (old, new) {
            (Some(old), Some(new)) if old.opened == new.opened => of_flow(old, new, events),
            _ => {
                events.extend(old.map(closed));
                events.extend(new.map(|flow| self::opened(flow, now.shapes())));
                opened += u64::from(new.is_some());
            }
        }
    }
}

fn of_flow(old: &LastOfFlow, new: &FlowReport, events: &mut Vec<Event>) {
    match (old.capped, new.stats.cap) {
        (false, Some(cap)) => events.push(Event::FlowThrottled {
            flow: flow_name(&new.stats.key),
            cap_pps: 1.0 / cap.as_secs_f64(),
            goodput_bps: new.stats.goodput(new.last_activity).map(|rate| rate.as_bits_per_sec()),
        }),
        (true, None) => events.push(Event::FlowReleased { flow: flow_name(&new.stats.key) }),
        _ => {}
    }
}

fn opened(flow: &FlowReport, shaped: bool) -> Event {
    Event::FlowOpened(FlowOpened {
        flow: flow_name(&flow.stats.key),
        treatment: treatment_name(flow.treatment, shaped),
        hops: flow.hops,
        hop_source: flow.hop_source.name(),
    })
}

fn closed(flow: &LastOfFlow) -> Event {
    Event::FlowClosed(FlowClosed {
        flow: flow_name(&flow.key),
        treatment: flow.treatment,
        age_s: flow.last_activity.saturating_since(flow.opened).as_secs_f64(),
        down_bytes: flow.down.0,
        up_bytes: flow.up.0,
        wireless_rtt_s: flow.wireless_rtt.map(Span::as_secs_f64),
        wired_rtt_s: flow.wired_rtt.map(Span::as_secs_f64),
        drops: flow.drops,
        local_retransmissions: flow.local_retransmissions,
    })
}

fn of_totals(last: &Last, now: &Snapshot, events: &mut Vec<Event>) {
    let driver = |of: fn(&DriverCounters) -> u64| of(&now.driver).saturating_sub(of(&last.driver));
    let (queue, socket) = (driver(|d| d.kernel_dropped), driver(|d| d.socket_dropped));
    tell(queue + socket > 0, events, Event::QueueOverflow { queue, socket });
    let packets = driver(|d| d.overflowed);
    tell(packets > 0, events, Event::HeldLimit { packets });
    let packets = now.counters.dropped.saturating_sub(last.counters.dropped);
    tell(packets > 0, events, Event::BufferFull { packets });
    let evicted = now.counters.evicted.saturating_sub(last.counters.evicted);
    let untracked = now.counters.untracked.saturating_sub(last.counters.untracked);
    tell(evicted + untracked > 0, events, Event::TableFull { evicted, untracked });
    let departures = driver(|d| d.lateness.count());
    let late = driver(|d| {
        let beyond = |bound: Option<Span>| bound.is_none_or(|bound| bound > LATE);
        d.lateness.buckets().filter(|&(bound, _)| beyond(bound)).map(|(_, n)| n).sum()
    });
    tell(late * 100 > departures, events, Event::Late { departures, late });
}

#[cfg(test)]
mod tests;
