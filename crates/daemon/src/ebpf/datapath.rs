//! The data thread of `datapath = "ebpf"`: the kernel's programs on one side, the engine on the other. Packets never come
//! here; if this thread dies or hangs, the programs let everything pass within seconds.

use super::engine::{Engine, Judge, places};
use super::exchange::{Handling, KernelFlow, Settings};
use super::kernel::{Kernel, KernelCounters};
use super::opening::{Opened, paces, prepare, shaper, unprepare};
use super::qdisc;
use super::shaping::{self, Hosts};
use crate::config::{Config, Mode};
use crate::data_thread::{Asking, Channel};
use crate::hops::{Directory, ReceivedTtl, WirelessPath};
use crate::state::{
    DriverCounters, FlowDetail, FlowReport, Page, Request, Snapshot, Traffic, Unread, no_lateness,
};
use crate::text::counted;
use crate::treatment::treatment;
use meshpace_gateway::{Counters, FlowKey, Route, Treatment};
use meshpace_linux::{Poller, monotonic_now};
use meshpace_pacing::LinkRates;
use meshpace_units::{Bytes, Instant, Span};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The programs act this long after the last sign of life. Longer than a busy machine makes a thread wait.
const ALIVE: Span = Span::from_secs(5);
/// Time between two signs of life.
const SIGN: Span = Span::from_secs(1);
/// The farthest departure ahead: short of where sch_fq drops (its `horizon`, 10 s).
const HORIZON: Span = Span::from_secs(9);
/// Events taken before questions get their turn.
const TURN: usize = 4096;

/// Where hosts are shaped, round trips of a host's unpaced connections are reported no closer than this: fewer of them are enough to find a
/// rate.
const APART: Span = Span::from_millis(5);

const EVENTS: u64 = 0;
const WAKER: u64 = 1;
const TELLINGS: u64 = 2;
const ECHOES: u64 = 3;

/// Configuration and hop table, asked about flows.
#[derive(Debug)]
struct Chosen {
    config: Arc<Config>,
    hops: Directory,
}

impl Chosen {
    fn way(&self, key: &FlowKey, ttl: Option<u8>) -> WirelessPath {
        self.hops.table().way(key.wireless.address, ttl.map(ReceivedTtl::on_arrival))
    }

    /// What the programs do with packets whose flow has no orders (yet): foreign options are only removed where that is
    /// what every flow wants.
    fn by_default(&self) -> Handling {
        let paces = |mode: Option<Mode>| mode.is_none_or(|mode| mode == Mode::Pace);
        let shares = |share: Option<f64>| share.is_none_or(|share| share >= 1.0);
        let Config { mode, paced_share, subnets, .. } = &*self.config;
        let all = !self.config.leaves_flows_free()
            && paces(Some(*mode))
            && shares(Some(*paced_share))
            && subnets.iter().all(|subnet| paces(subnet.mode) && shares(subnet.paced_share));
        Handling::Treat(if all { Treatment::Pace } else { Treatment::Observe })
    }
}

impl Judge for Chosen {
    fn handling(&self, key: &FlowKey) -> Handling {
        treatment(&self.config, key).map_or(Handling::Ignore, Handling::Treat)
    }

    fn route(&mut self, key: &FlowKey, ttl: Option<u8>) -> Route {
        let WirelessPath { hops, rate, .. } = self.way(key, ttl);
        Route { hops: Some(hops), rates: LinkRates::Uniform(rate) }
    }
}

/// See the module's description.
pub struct Datapath {
    kernel: Kernel,
    hosts: Option<Hosts>,
    engine: Engine,
    chosen: Chosen,
    channel: Channel,
    poller: Poller,
    asking: Asking,
    started: Instant,
    sign: Instant,
    /// Nothing is paced any more: sch_fq goes as soon as nothing waits in it.
    unprepares: bool,
    /// Everything passes: the end is near.
    passes: bool,
    /// Orders for which the kernel had no room.
    refused: u64,
}

impl Datapath {
    /// A data path over attached programs.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(opened: Opened, config: Arc<Config>, hops: Directory, channel: Channel) -> io::Result<Self> {
        let Opened { kernel, shaper } = opened;
        let poller = Poller::new()?;
        poller.add(kernel.events(), EVENTS)?;
        poller.add(&channel.waker, WAKER)?;
        let now = monotonic_now();
        let engine = Engine::new(now, config.gateway, config.law.clone());
        let chosen = Chosen { config, hops };
        let mut this = Self {
            kernel,
            hosts: None,
            engine,
            chosen,
            channel,
            poller,
            asking: Asking::default(),
            started: now,
            sign: now,
            unprepares: false,
            passes: false,
            refused: 0,
        };
        if let Some(shaper) = shaper {
            this.shape(now, shaper)?;
        }
        this.agree(now)?;
        Ok(this)
    }

    /// Hosts are shaped by these programs from now on.
    fn shape(&mut self, now: Instant, shaper: shaping::Kernel) -> io::Result<()> {
        self.poller.add(shaper.tellings(), TELLINGS)?;
        self.hosts = Some(Hosts::new(now, shaper));
        Ok(())
    }

    /// Has the shaper and what asks hosts for echoes go by the configuration.
    fn agree(&mut self, now: Instant) -> io::Result<()> {
        let find = self.chosen.config.shaper().and_then(|shaper| shaper.find);
        self.asking.follow(find, &self.poller, ECHOES);
        self.hosts.as_mut().map_or(Ok(()), |hosts| hosts.agree(now, &self.chosen.config))
    }

    /// Runs until it is stopped.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn run(mut self) -> io::Result<()> {
        while !self.channel.finish.load(Ordering::Acquire) {
            let now = monotonic_now();
            if now >= self.sign {
                self.give_sign(now)?;
            }
            let hosts = self.hosts.as_ref().map(Hosts::poll_timeout);
            let due = self.engine.poll_timeout().min(self.sign).min(hosts.unwrap_or(self.sign));
            let ready = self.poller.wait(Some(due.saturating_since(monotonic_now())))?;
            if ready.fold(0u64, |ready, token| ready | 1 << token) & 1 << WAKER != 0 {
                self.channel.waker.acknowledge()?;
                self.answer()?;
            }
            self.hear()?;
            let now = monotonic_now();
            if now >= self.engine.poll_timeout() {
                self.look(now);
                self.engine.handle_timeout(now);
                self.follow()?;
            }
            if let Some(hosts) = self.hosts.as_mut().filter(|hosts| now >= hosts.poll_timeout()) {
                hosts.look(now, &self.chosen.config, &self.chosen.hops);
            }
            self.obey();
        }
        unprepare(&self.chosen.config.mesh.interfaces);
        if let Some(hosts) = &mut self.hosts {
            hosts.kernel().programs.detach();
        }
        self.kernel.programs.detach();
        Ok(())
    }

    /// Takes what the programs tell, and answers to echoes.
    fn hear(&mut self) -> io::Result<()> {
        let Self { kernel, hosts, engine, chosen, asking, .. } = self;
        for _ in 0..TURN {
            let Some(event) = kernel.next_event() else { break };
            engine.handle_event(&event, chosen);
            if let Some(hosts) = hosts {
                hosts.on_event(&event, &chosen.config);
            }
        }
        let Some(hosts) = hosts else { return Ok(()) };
        asking.receive(|from, number| hosts.on_echo(monotonic_now(), from, number, &chosen.config))?;
        hosts.hear(TURN, &chosen.hops);
        hosts.requests().for_each(|request| asking.ask(request));
        hosts.follow_found(monotonic_now(), &chosen.config)
    }

    /// Puts the programs on interfaces that were made anew.
    fn follow(&mut self) -> io::Result<()> {
        for interface in self.kernel.programs.follow().map_err(io::Error::other)? {
            eprintln!("meshpaced: interface {interface} was made anew: attached again");
            prepare(&self.chosen.config).map_err(io::Error::other)?;
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.kernel().programs.follow().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Renews the programs' leave to act.
    fn give_sign(&mut self, now: Instant) -> io::Result<()> {
        let alive_until = if self.passes { Instant::ZERO } else { now + ALIVE };
        let shaper = self.chosen.config.shaper();
        let settings = Settings {
            alive_until,
            horizon: HORIZON,
            handling: self.chosen.by_default(),
            places: places(&self.chosen.config.gateway),
            apart: if shaper.is_some() { APART } else { Span::ZERO },
            finds: shaper.is_some_and(|shaper| shaper.find.is_some()),
        };
        self.kernel.set(settings)?;
        if let Some(hosts) = &mut self.hosts {
            hosts.give_sign(&self.chosen.config, alive_until)?;
        }
        self.channel.heartbeat.beat(now);
        self.sign = now + SIGN;
        if self.unprepares {
            let interfaces = &self.chosen.config.mesh.interfaces;
            // An interface that is gone took it along.
            self.unprepares = !interfaces.iter().all(|interface| qdisc::is_empty(interface).unwrap_or(true));
            if !self.unprepares {
                unprepare(interfaces);
            }
        }
        Ok(())
    }

    /// Reads the kernel's table.
    fn look(&mut self, now: Instant) {
        let Self { kernel, engine, chosen, .. } = self;
        for (key, known) in kernel.flows() {
            engine.handle_flow(now, &key, &known, chosen);
        }
    }

    /// Carries out what the engine orders. Where the kernel's map is full, the flow passes unpaced.
    fn obey(&mut self) {
        while let Some(order) = self.engine.poll_order() {
            if self.kernel.obey(&order).is_err() {
                self.refused += 1;
            }
        }
    }

    fn answer(&mut self) -> io::Result<()> {
        while let Ok(request) = self.channel.requests.try_recv() {
            let now = monotonic_now();
            // The client may have gone: then the answer is not missed.
            match request {
                Request::Snapshot(answer) => drop(answer.send(self.snapshot(now)?)),
                // A snapshot is complete here: departures are the kernel's, and wait for no answer.
                Request::Page(_, answer) => drop(answer.send(Page { flows: Vec::new(), complete: true })),
                Request::Flow(key, answer) => drop(answer.send(self.detail(now, &key).map(Box::new))),
                Request::Reload(config, answer) => drop(answer.send(self.reload(now, *config))),
                Request::Sign(answer) => {
                    self.give_sign(now)?;
                    let _ = answer.send(());
                }
                Request::Stop => {
                    self.passes = true;
                    self.give_sign(now)?;
                    self.channel.stopping.wake()?;
                }
            }
        }
        Ok(())
    }

    fn reload(&mut self, now: Instant, config: Config) -> Result<String, String> {
        let in_force = &self.chosen.config;
        if config.mesh.interfaces != in_force.mesh.interfaces || config.datapath != in_force.datapath {
            return Err(
                "datapath = \"ebpf\": [mesh] interfaces and datapath change with a restart only".to_owned()
            );
        }
        prepare(&config).map_err(|failure| {
            format!("datapath = \"ebpf\" cannot pace here: {failure}; a restart with this mode in the file, or with datapath = \"nfqueue\", paces")
        })?;
        let why = |why: io::Error| format!("eBPF maps: {why}");
        match (config.hosts.shaper, &mut self.hosts) {
            (Some(_), None) => {
                if let Some(shaper) = shaper(&config).map_err(|failure| failure.to_string())? {
                    self.shape(now, shaper).map_err(why)?;
                }
            }
            // What waits keeps its departure.
            (None, hosts) => *hosts = None,
            (Some(_), Some(_)) => {}
        }
        self.unprepares = !paces(&config);
        self.chosen.config = Arc::new(config);
        let law = self.chosen.config.law.clone();
        self.engine.reload(now, self.chosen.config.gateway, law, &self.chosen);
        self.agree(now).map_err(why)?;
        self.sign = now;
        Ok(format!("in force; {} kept", counted(self.engine.flow_count() as u64, "flow")))
    }

    fn detail(&mut self, now: Instant, key: &FlowKey) -> Option<FlowDetail> {
        let known = self.kernel.flow(key)?;
        self.engine.handle_flow(now, key, &known, &mut self.chosen);
        let report = report(&self.engine, &self.chosen, now, key, &known)?;
        Some(FlowDetail { report, explanation: self.engine.explain(key)? })
    }

    fn snapshot(&mut self, now: Instant) -> io::Result<Snapshot> {
        let mut flows = Vec::with_capacity(self.engine.flow_count());
        let Self { kernel, engine, chosen, .. } = self;
        for (key, known) in kernel.flows() {
            engine.handle_flow(now, &key, &known, chosen);
            flows.extend(report(engine, chosen, now, &key, &known));
        }
        flows.sort_unstable_by_key(|flow: &FlowReport| flow.stats.key);
        // The kernel begins its table anew if what was read last is deleted meanwhile: some come twice (linux kernel/bpf/hashtab.c,
        // htab_map_get_next_key).
        flows.dedup_by_key(|flow| flow.stats.key);
        let mut held = 0;
        let mut buffered = Bytes::ZERO;
        for flow in &flows {
            held += flow.stats.queued;
            buffered += flow.stats.buffered;
        }
        let seen = self.kernel.counters()?;
        let Chosen { config, hops } = &self.chosen;
        let hosts = match &self.hosts {
            Some(hosts) => hosts.report(now, config, hops)?,
            None => None,
        };
        Ok(Snapshot {
            hosts,
            sample: None,
            at: now,
            started: self.started,
            mode: self.chosen.config.mode,
            counters: self.counters(&seen, held),
            driver: DriverCounters { failed: self.refused + seen.lost_events, ..driver_counters(&seen) },
            round_trips: *self.engine.round_trips(),
            waits: None, // packets wait in sch_fq, which does not tell
            held,
            buffered,
            known: flows.len(),
            flows,
            complete: true,
        })
    }

    /// The kernel's counters under the gateway's names: what is given a departure in the future is held.
    fn counters(&self, seen: &KernelCounters, held: usize) -> Counters {
        Counters {
            opened: self.engine.opened(),
            untracked: seen.untracked + self.engine.untracked(),
            held: seen.delayed,
            forwarded: seen.forwarded,
            dropped: seen.dropped,
            released: seen.delayed.saturating_sub(held as u64),
            implausible: seen.unbelieved,
            ..Counters::default()
        }
    }
}

fn report(
    engine: &Engine,
    chosen: &Chosen,
    now: Instant,
    key: &FlowKey,
    known: &KernelFlow,
) -> Option<FlowReport> {
    let flow = engine.flow(key)?;
    let Handling::Treat(treatment) = flow.handling else { return None };
    let WirelessPath { hops, source, rate, .. } = chosen.way(key, known.ttl);
    let traffic = |half: super::exchange::Half| Traffic { packets: half.packets, bytes: half.bytes };
    Some(FlowReport {
        stats: engine.stats(now, key, known)?,
        treatment,
        hops: Some(hops),
        hop_source: source,
        link_rate: rate,
        down: traffic(known.down),
        up: traffic(known.up),
        opened: known.opened,
        last_activity: known.active,
        segment: flow.segment,
    })
}

fn driver_counters(seen: &KernelCounters) -> DriverCounters {
    DriverCounters {
        packets: seen.packets,
        bytes: Bytes(seen.bytes),
        unread: Unread {
            fragments: seen.fragments,
            other_protocol: seen.other_protocol,
            truncated: seen.truncated,
            malformed: seen.malformed,
            oversized: 0,
            not_crossing: seen.not_crossing,
            off: seen.off,
            signed: seen.signed,
        },
        verdict_batches: 0,
        kernel_dropped: 0,
        socket_dropped: 0,
        failed: 0,
        overflowed: seen.overflowed,
        lateness: no_lateness(),
    }
}
