//! Devices and the clock around an [`Emulation`]: one thread that waits for both.

use crate::air::Clock;
use crate::emulation::{Behind, Emulation, FramesResult, WIRED_DEVICE};
use crate::lateness::{Lateness, Verdict};
use crate::pace::Pace;
use crate::traffic::TrafficResult;
use crate::view::{Eye, View};
use crate::watched_writer::WatchedWriter;
use meshpace_linux::{
    Deadline, Namespace, Poller, Realtime, Standby, Tun, TunOptions, Waker, monotonic_now, realtime,
    stolen_time,
};
use meshpace_mesh::RunResult;
use meshpace_network::{Capture, host, ipv6_of};
use meshpace_relay::packet::Ethernet;
use meshpace_scenario::{Endpoint, Layer, Scenario, ScenarioError};
use meshpace_units::{Instant, Span};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::os::fd::AsFd;

/// Their MTU: that of the papers' packets.
pub const MTU: u32 = 1500;
/// Packets that a host's kernel may have ready which are read before the others get their turn.
const TURN: usize = 32;
/// Longer than any packet or frame that is carried: of a longer one, from a device whose MTU a host has raised, so much is read.
const LONGEST: usize = 4096;
/// Bits of the networks that a host has on its device (design of the scenario file: 10.77.x.y/16).
const PREFIX: u8 = 16;
/// Bits of fd77::/64.
const PREFIX_V6: u8 = 64;
/// Bits of one address, for a node's devices that are not its first: each network is on one device.
const ALONE: [u8; 2] = [32, 128];

/// What is to be emulated.
pub struct Options<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its real hosts.
    pub hosts: &'a [RealHost],
    /// Seconds of the clock that a simulated one takes.
    pub dilation: f64,
    /// Where a capture of the air goes.
    pub capture: Option<File>,
    /// Where a [live view](View) goes, line by line.
    pub view: Option<File>,
}

/// A node that is a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealHost {
    /// The node.
    pub node: Endpoint,
    /// The network namespace that is there for it, by name or path.
    pub namespace: String,
    /// What its devices toward the mesh carry.
    pub layer: Layer,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub result: RunResult,
    /// How late deliveries were, in simulated time.
    pub lateness: Verdict,
    /// What went from host to host.
    pub traffic: Vec<TrafficResult>,
    /// What went through devices that carry frames.
    pub frames: Vec<FramesResult>,
    /// What the kernel granted the thread, and the standby that watches it.
    pub scheduling: Scheduling,
}

/// What the thread had to be in time with, and what stood in its way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scheduling {
    /// What the kernel granted.
    pub scheduling: String,
    /// How often its wake-up was overdue and came from [another processor](Standby). `None`: there was none to watch, or no real-time
    /// scheduling to make that worth while.
    pub rescues: Option<u64>,
    /// What a hypervisor took from all processors meanwhile; `None`: the kernel does not say.
    pub stolen_s: Option<f64>,
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] Box<ScenarioError>),
    /// The kernel does not do what is asked of it.
    #[error("{0}")]
    Kernel(#[from] io::Error),
    /// The capture cannot be written.
    #[error("packet capture: {0}")]
    Capture(io::Error),
}

const TIMER: u64 = u64::MAX;
const CONTROL: u64 = u64::MAX - 1;
const RESCUE: u64 = u64::MAX - 2;

/// How far an emulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The devices are there.
    Ready,
    /// Time has come to its end. The devices are still there.
    Over,
}

/// Emulates, and tells `tell` how far it is. Time 0 is when `control` can be read after [`Stage::Ready`]; where it has ended, the
/// emulation ends before its time. The devices stay until it has.
///
/// # Errors
/// [`Failure`]; nothing is left of the devices then.
pub fn run(
    options: Options<'_>,
    control: &mut (impl Read + AsFd),
    tell: &mut dyn FnMut(Stage) -> io::Result<()>,
) -> Result<Outcome, Failure> {
    let Options { scenario, hosts, dilation, capture, view } = options;
    let (capture, failed) = match capture {
        Some(file) => {
            let (writer, failed) = WatchedWriter::new(file);
            (Some(Capture::new(writer, scenario)), Some(failed))
        }
        None => (None, None),
    };
    let eye = view.as_ref().map(|_| Eye::new(scenario));
    let clock = hosts.iter().any(|real| real.layer == Layer::Frames).then(|| Clock::new(scenario));
    let mut probe = (capture, (eye.clone(), clock.clone()));
    let nodes: Vec<_> = hosts.iter().map(|real| (host(real.node), real.layer)).collect();
    let emulation = Emulation::new(scenario, &nodes, &mut probe).map_err(Box::new)?;
    let devices = (0..emulation.ports().len()).map(|port| device(scenario, hosts, &emulation, port));
    let devices = devices.collect::<io::Result<Vec<_>>>()?;
    // Before this thread becomes a real-time one.
    let view = view.zip(eye).map(|(file, eye)| View::new(scenario, file, eye)).transpose()?;
    let addresses = emulation.ports().iter().map(|port| addresses(scenario, hosts[port.host].node));
    let mut driver = Driver {
        addresses: addresses.collect(),
        emulation,
        devices: &devices,
        view,
        pace: Pace::new(monotonic_now(), dilation),
        lateness: Lateness::default(),
        buffer: vec![0; LONGEST],
    };
    let granted = realtime();
    let waker = Waker::new()?;
    let standby = match granted {
        Realtime::Fifo { .. } => Standby::new(waker.clone())?,
        Realtime::Ordinary { .. } => None,
    };
    tell(Stage::Ready)?;
    // The beginning: one byte, or the end before there was one.
    let begun = control.read(&mut [0])? > 0;
    driver.pace = Pace::new(monotonic_now(), dilation);
    let stolen_before = stolen_time();
    let broken = || failed.as_ref().is_some_and(|failed| failed.get());
    let open = driver.run(control, begun, &broken, &waker, standby.as_ref())?;
    let stolen = stolen_time().zip(stolen_before).map(|(after, before)| after.saturating_sub(before));
    let scheduling = Scheduling {
        scheduling: in_words(&granted),
        rescues: standby.as_ref().map(Standby::rescues),
        stolen_s: stolen.map(Span::as_secs_f64),
    };
    drop(standby);
    let stopped = driver.pace.simulated(monotonic_now()).min(driver.emulation.end());
    let Driver { emulation, lateness, .. } = driver;
    let airtimes = clock.iter().flat_map(|clock| emulation.radios().map(|radio| clock.of(radio)));
    let airtimes: Vec<_> = airtimes.collect();
    let (mut result, traffic, mut frames) = emulation.report(scenario, stopped);
    frames.iter_mut().zip(airtimes).for_each(|(row, airtime)| row.airtime = airtime);
    result.wall_s = stopped.as_secs_f64() * dilation;
    probe.0.map(Capture::finish).transpose().map_err(Failure::Capture)?;
    tell(Stage::Over)?;
    while open && control.read(&mut [0])? > 0 {}
    Ok(Outcome { result, lateness: lateness.verdict(), traffic, frames, scheduling })
}

/// The device at a port, in its host's namespace. Its host's addresses are those of devices toward the mesh; their networks that of the first.
fn device(
    scenario: &Scenario,
    hosts: &[RealHost],
    emulation: &Emulation<'_>,
    port: usize,
) -> io::Result<Tun> {
    let at = emulation.ports()[port];
    let real = &hosts[at.host];
    let name = emulation.device(port);
    let [v4, v6] = addresses(scenario, real.node);
    let is_first = emulation.ports().iter().position(|other| other.host == at.host) == Some(port);
    let [bits, bits_v6] = if is_first { [PREFIX, PREFIX_V6] } else { ALONE };
    let both = [(v4, bits), (v6, bits_v6)];
    let addresses = if name == WIRED_DEVICE { &[][..] } else { &both };
    let ethernet = match (at.behind, real.node) {
        (Behind::Channel(air), Endpoint::Mesh(node)) => Some(scenario.mac_on(air.index(), node)),
        _ => None,
    };
    let options = TunOptions { name: &name, mtu: MTU, queue_length: None, ethernet, addresses };
    Namespace::named(&real.namespace)?.within(|| Tun::open(&options))
}

/// A node's addresses, IPv4 and IPv6.
fn addresses(scenario: &Scenario, node: Endpoint) -> [IpAddr; 2] {
    let address = match node {
        Endpoint::Mesh(node) => scenario.mesh[node.index()].address,
        Endpoint::Wired(node) => scenario.wired[node.index()].address,
    };
    [IpAddr::V4(address), IpAddr::V6(ipv6_of(address))]
}

fn in_words(granted: &Realtime) -> String {
    match granted {
        Realtime::Fifo { priority, .. } => format!("SCHED_FIFO {priority}"),
        Realtime::Ordinary { refused } => format!("ordinary (SCHED_FIFO was refused: {refused})"),
    }
}

struct Driver<'a> {
    emulation: Emulation<'a>,
    devices: &'a [Tun],
    /// Of the host at each port.
    addresses: Vec<[IpAddr; 2]>,
    view: Option<View>,
    pace: Pace,
    lateness: Lateness,
    buffer: Vec<u8>,
}

impl Driver<'_> {
    /// Until the end, until nothing more comes from `control`, or until `broken`; true if `control` is still open.
    fn run(
        &mut self,
        control: &mut (impl Read + AsFd),
        begun: bool,
        broken: &dyn Fn() -> bool,
        waker: &Waker,
        standby: Option<&Standby>,
    ) -> io::Result<bool> {
        let mut poller = Poller::new()?;
        let mut timer = Deadline::new()?;
        poller.add(&timer, TIMER)?;
        poller.add(control, CONTROL)?;
        poller.add(waker, RESCUE)?;
        for (index, device) in self.devices.iter().enumerate() {
            poller.add(device, index as u64)?;
        }
        let end = self.emulation.end();
        let (mut going, mut ready) = (begun, Vec::new());
        while going && !broken() && !self.emulation.is_complete() {
            let now = self.catch_up();
            if now >= end {
                break;
            }
            if let Some(view) = &mut self.view {
                view.show(monotonic_now(), now, self.emulation.places(), &self.lateness);
            }
            let next = self.emulation.next_at().map_or(end, |next| next.min(end));
            let shows = self.view.as_ref().and_then(View::due);
            let at = [self.pace.clock(next), shows].into_iter().flatten().min();
            timer.set(at)?;
            ready.clear();
            if let Some(standby) = standby {
                standby.waits_until(at);
            }
            ready.extend(poller.wait(None)?);
            if let Some(standby) = standby {
                standby.is_awake();
            }
            for token in &ready {
                match *token {
                    TIMER => timer.expired(),
                    RESCUE => drop(waker.acknowledge()?),
                    CONTROL => going = control.read(&mut [0])? > 0,
                    device => self.read(device as usize)?,
                }
            }
        }
        Ok(going)
    }

    /// Brings the network up to the clock, and what has come to the hosts to their kernels; until when.
    fn catch_up(&mut self) -> Instant {
        let now = self.pace.simulated(monotonic_now()).min(self.emulation.end());
        while let Some(delivery) = self.emulation.advance(now) {
            // A device that is down takes nothing, as a cable that is out.
            let _ = self.devices[delivery.port].send(&delivery.bytes);
            let done = self.pace.simulated(monotonic_now());
            self.lateness.record(done.saturating_since(delivery.at));
            if let Some(view) = &mut self.view {
                let header = match self.emulation.ports()[delivery.port].behind {
                    Behind::Channel(_) => Ethernet::HEADER,
                    Behind::Network | Behind::Side(_) => 0,
                };
                view.delivered(delivery.at, self.addresses[delivery.port], &delivery.bytes[header..]);
            }
        }
        now
    }

    /// Takes what the kernel of a host has ready at a port.
    fn read(&mut self, port: usize) -> io::Result<()> {
        for _ in 0..TURN {
            let now = self.catch_up();
            let Some(length) = self.devices[port].receive(&mut self.buffer)? else { break };
            self.emulation.send(now, port, &self.buffer[..length]);
        }
        Ok(())
    }
}
