//! The engine with a shaper of hosts between it and the mesh ([`meshpace_gateway::Shaper`]), sans I/O: whatever goes into the mesh, TCP or
//! not, waits there by host, after the engine has let it go. Its driver calls it as the [`Engine`] itself.

use super::engine::side;
use super::hooked::HookedEngine;
use super::{Arrival, Decision, Engine, Output};
use crate::config::Config;
use crate::data_thread::Request;
use crate::hops::{Directory, WirelessPath};
use crate::state::{FlowReport, HostsReport};
use meshpace_gateway::{
    Coming, Echo, Endpoint, FlowHash, FlowKey, Parcel, Passage, Shaped, Shaper, ShaperConfig, Side, Sign,
    Terms, Uploading,
};
use meshpace_units::{Bytes, Ecn, Instant, Rate, Seq};
use meshpace_wire::protocol::{TCP, UDP};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

/// At the shaper waits at most this part of what the driver can hold.
const SHAPER_PART: usize = 4;
/// Hosts told at the most.
const TOLD: usize = 64;

/// Whose packet it is.
#[derive(Clone, Copy, Debug)]
struct Class {
    to: IpAddr,
    flow: FlowHash,
    size: Bytes,
    ecn: Ecn,
    timed: Option<Timed>,
    sign: Option<Sign>,
}

/// The connection of a segment with data, and where that begins and ends: the round trip in the mesh begins when it leaves the shaper.
#[derive(Clone, Copy, Debug)]
struct Timed {
    key: FlowKey,
    start: Seq,
    end: Seq,
}

/// A packet that waits for its host's turn.
#[derive(Debug)]
struct Waiting {
    /// `None`: a copy that is sent again.
    id: Option<u64>,
    /// The packet's bytes where they replace the kernel's, or may have to be marked.
    bytes: Option<Rc<[u8]>>,
    /// True if the bytes differ from the kernel's.
    changed: bool,
    timed: Option<Timed>,
    to: IpAddr,
}

/// A packet that the engine holds.
#[derive(Debug)]
struct Awaited {
    class: Class,
    /// Its bytes, if the shaper changed them.
    bytes: Option<Rc<[u8]>>,
}

/// See the module's description.
#[derive(Debug)]
pub struct ShapedEngine {
    engine: HookedEngine,
    hops: Directory,
    held_max: usize,
    shaper: Option<Shaper<Waiting>>,
    /// What the engine holds and is on its way into the mesh: it meets the shaper when it is let go.
    coming: BTreeMap<u64, Awaited>,
    /// A packet that was changed twice.
    rewritten: Vec<u8>,
    /// What left a shaper that is no longer in force.
    left: Vec<Shaped<Waiting>>,
    /// Hosts to ask for an echo.
    requests: Vec<Request>,
    /// The rate that the latest shaper had found.
    found: Option<Rate>,
}

impl ShapedEngine {
    /// Knows nothing yet. At the most `held_max` packets are held, a quarter of them at the shaper.
    pub fn new(config: Arc<Config>, held_max: usize, hops: Directory) -> Self {
        Self {
            shaper: parameters(&config, held_max).map(Shaper::new),
            engine: HookedEngine::new(config, held_max, hops.clone()),
            hops,
            held_max,
            coming: BTreeMap::new(),
            rewritten: Vec::new(),
            left: Vec::new(),
            requests: Vec::new(),
            found: None,
        }
    }

    /// The engine behind the shaper.
    pub const fn engine(&self) -> &Engine {
        self.engine.engine()
    }

    /// Decides on a packet.
    pub fn handle<'a>(&'a mut self, now: Instant, arrival: Arrival<'a>) -> Decision<'a> {
        let class = self.shaper.as_ref().and_then(|_| self.class(&arrival));
        let Some(class) = class else { return self.passes_by(now, arrival) };
        let window = self.bound_sender(now, class.to, &arrival);
        let Arrival { id, from_mesh, to_mesh, unfinished, bytes } = arrival;
        let bounded = window.is_some_and(|window| meshpace_wire::set_window(bytes, window));
        let changed = match self.engine.handle(now, Arrival { id, from_mesh, to_mesh, unfinished, bytes }) {
            Decision::Accept => bounded.then(|| Rc::from(&*bytes)),
            Decision::Rewrite(bytes) => Some(Rc::<[u8]>::from(bytes)),
            Decision::Drop => return Decision::Drop,
            Decision::Hold => {
                self.coming.insert(id, Awaited { class, bytes: bounded.then(|| Rc::from(&*bytes)) });
                return Decision::Hold;
            }
        };
        let is_changed = changed.is_some();
        // Without its bytes it cannot be marked.
        let bytes = changed.or_else(|| class.ecn.is_capable().then(|| Rc::from(&*bytes)));
        let Class { timed, to, .. } = class;
        self.shape(now, class, Waiting { id: Some(id), bytes, changed: is_changed, timed, to });
        Decision::Hold
    }

    /// Decides on a packet that does not go into the mesh.
    fn passes_by<'a>(&'a mut self, now: Instant, arrival: Arrival<'a>) -> Decision<'a> {
        match self.hear(now, &arrival) {
            Passage::Passes => self.engine.handle(now, arrival),
            Passage::Dropped => Decision::Drop,
            Passage::Marked => {
                let Arrival { id, from_mesh, to_mesh, unfinished, bytes } = arrival;
                let marked = meshpace_wire::mark(bytes);
                let again =
                    match self.engine.handle(now, Arrival { id, from_mesh, to_mesh, unfinished, bytes }) {
                        Decision::Accept => false,
                        Decision::Rewrite(changed) => {
                            self.rewritten.clear();
                            self.rewritten.extend(changed);
                            true
                        }
                        Decision::Hold => return Decision::Hold,
                        Decision::Drop => return Decision::Drop,
                    };
                match (again, marked) {
                    (true, _) => Decision::Rewrite(&self.rewritten),
                    (false, true) => Decision::Rewrite(bytes),
                    (false, false) => Decision::Accept,
                }
            }
        }
    }

    /// How far a segment that goes into the mesh is to let its receiver's sender go, if that is to be written into it.
    fn bound_sender(&mut self, now: Instant, to: IpAddr, arrival: &Arrival<'_>) -> Option<u16> {
        let shares = |config: &ShaperConfig| config.find.is_some() && config.uploads == Uploading::Shared;
        let shaper = self.shaper.as_mut().filter(|shaper| shares(shaper.config()))?;
        let packet = meshpace_wire::parse(arrival.bytes).ok()?;
        let segment = &packet.segment;
        let end = |address, port| Endpoint { address, port };
        let wireless = end(packet.destination, segment.destination_port);
        let key = FlowKey { wireless, wired: end(packet.source, segment.source_port) };
        let is_whole = packet.wire_len <= Bytes(arrival.bytes.len() as u64);
        let changes = is_whole && !arrival.unfinished && !packet.signed;
        let host = self.engine.engine().config().counts_as(to);
        shaper.announces(now, host, (&key, segment), changes)
    }

    /// What leaves at `now`; call until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        while let Some(output) = self.engine.poll(now) {
            match self.met(output) {
                Ok((class, packet)) => self.shape(now, class, packet),
                Err(output) => return Some(output),
            }
        }
        loop {
            let leaves = self.left.pop().or_else(|| self.shaper.as_mut()?.poll(now))?;
            if let Shaped::Passes { packet: Waiting { timed, to, .. }, .. } = &leaves {
                if let Some(Timed { key, start, end }) = timed {
                    self.engine.leaves(now, key, *start, *end);
                }
                self.ask(now, *to);
            }
            if let Some(output) = output(leaves) {
                return Some(output);
            }
        }
    }

    /// A packet has left for a host: it may have to be asked for an echo.
    fn ask(&mut self, now: Instant, to: IpAddr) {
        let host = self.engine.engine().config().counts_as(to);
        let number = self.shaper.as_mut().and_then(|shaper| shaper.asks(now, host));
        self.requests.extend(number.map(|number| Request { to, number }));
    }

    /// Hosts to ask for an echo now, behind what has left.
    pub fn requests(&mut self) -> impl Iterator<Item = Request> {
        self.requests.drain(..)
    }

    /// A host has answered such a request.
    pub fn on_echo(&mut self, now: Instant, from: IpAddr, number: u32) {
        let host = self.engine.engine().config().counts_as(from);
        self.shaper.iter_mut().for_each(|shaper| shaper.hears(now, Echo::Probe(host, number)));
    }

    /// What of the engine's output meets the shaper; all else goes by it.
    fn met(&mut self, output: Output) -> Result<(Class, Waiting), Output> {
        if self.shaper.is_none() {
            return Err(output);
        }
        match output {
            Output::Release { id, bytes, due } => match self.coming.remove(&id) {
                Some(Awaited { class, bytes: bounded }) => {
                    let Class { timed, to, .. } = class;
                    let bytes = bytes.or(bounded);
                    let class = without_mark(class, bytes.as_ref());
                    let changed = bytes.is_some();
                    Ok((class, Waiting { id: Some(id), bytes, changed, timed, to }))
                }
                None => Err(Output::Release { id, bytes, due }),
            },
            Output::Drop { id } => {
                self.coming.remove(&id);
                Err(Output::Drop { id })
            }
            Output::Send(bytes) => match class_of(&bytes) {
                Some((_, class)) => {
                    let Class { timed, to, .. } = class;
                    Ok((class, Waiting { id: None, bytes: Some(bytes), changed: true, timed, to }))
                }
                None => Err(Output::Send(bytes)),
            },
        }
    }

    fn shape(&mut self, now: Instant, class: Class, packet: Waiting) {
        let Class { to, flow, size, ecn, sign, .. } = class;
        let config = self.engine.engine().config();
        let shaper = self.shaper.as_mut().expect("a packet to shape came after the first look");
        let parcel = Parcel { host: config.counts_as(to), flow, size, ecn, sign, packet };
        shaper.handle(now, parcel, || terms(config, &self.hops, self.engine.engine(), to));
    }

    /// When [`Self::handle_timeout`] or [`Self::poll`] has something to do next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let shaper = self.shaper.as_ref().and_then(Shaper::poll_timeout);
        shaper.into_iter().chain(self.engine.poll_timeout()).min()
    }

    /// Until when the driver may put that off, so that more leaves at once.
    pub fn poll_latest(&self) -> Option<Instant> {
        let shaper = self.shaper.as_ref().and_then(Shaper::poll_latest);
        shaper.into_iter().chain(self.engine.poll_latest()).min()
    }

    /// Does what is due at `now`, departures excepted.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.engine.handle_timeout(now);
    }

    /// Puts another configuration in force. What waits at a shaper that is in it no longer goes on.
    pub fn reload(&mut self, now: Instant, config: Arc<Config>) {
        match (parameters(&config, self.held_max), &mut self.shaper) {
            (Some(parameters), Some(shaper)) => shaper.set_config(parameters),
            (Some(parameters), None) => self.shaper = Some(Shaper::new(self.beginning(now, parameters))),
            (None, _) => self.leave_shaper(now),
        }
        self.engine.reload(now, config);
    }

    /// A rate that is found begins where the shaper before left it, or at what downloads get now, if that is more than the least that it
    /// begins at: blocks of a guard or a trial would else begin with seconds in which a fast mesh carries hardly anything.
    fn beginning(&self, now: Instant, parameters: ShaperConfig) -> ShaperConfig {
        if parameters.find.is_none() {
            return parameters;
        }
        let downloads = || {
            let goodput = |flow: FlowReport| flow.stats.goodput_down?.rate(now);
            let flows = self.engine().flows().into_iter();
            Rate::bits_per_sec(flows.filter_map(goodput).map(Rate::as_bits_per_sec).sum())
        };
        ShaperConfig { rate: parameters.rate.max(self.found.unwrap_or_else(downloads)), ..parameters }
    }

    /// As [`Engine::set_held_max`].
    pub fn set_held_max(&mut self, now: Instant, held_max: usize) {
        self.held_max = held_max;
        self.engine.set_held_max(now, held_max);
        if let (Some(shaper), Some(config)) =
            (&mut self.shaper, parameters(self.engine.engine().config(), held_max))
        {
            shaper.set_config(config);
        }
    }

    /// Forgets all flows; all that is held comes out of [`Self::poll`] now.
    pub fn let_go(&mut self, now: Instant) {
        self.leave_shaper(now);
        self.engine.let_go(now);
    }

    /// Forgets everything, and without a word what was held: the driver lets that go.
    pub fn begin_anew(&mut self) {
        self.shaper = parameters(self.engine.engine().config(), self.held_max).map(Shaper::new);
        self.coming.clear();
        self.left.clear();
        self.requests.clear();
        self.engine.begin_anew();
    }

    /// Packets that wait for their host's turn.
    pub fn shaping(&self) -> usize {
        self.shaper.as_ref().map_or(0, Shaper::len)
    }

    /// The hosts that have got most lately, and all together; `None` where they are not shaped.
    pub fn hosts(&self, now: Instant) -> Option<HostsReport> {
        let shaper = self.shaper.as_ref()?;
        let mut hosts: Vec<_> = shaper.hosts(now).collect();
        hosts.sort_by_key(|host| std::cmp::Reverse((host.rate, host.queued, host.seen)));
        hosts.truncate(TOLD);
        Some(HostsReport {
            config: *shaper.config(),
            counters: *shaper.counters(),
            found: shaper.found(),
            queued: shaper.len(),
            known: shaper.host_count(),
            hosts,
        })
    }

    fn leave_shaper(&mut self, now: Instant) {
        self.coming.clear();
        let Some(mut shaper) = self.shaper.take() else { return };
        self.found = Some(shaper.config()).filter(|config| config.find.is_some()).map(|config| config.rate);
        // The last is taken first.
        self.left.extend(shaper.let_go(now).into_iter().rev());
    }

    /// What a packet out of the mesh says of how long another was under way there, and what becomes of it.
    fn hear(&mut self, now: Instant, arrival: &Arrival<'_>) -> Passage {
        let Some(shaper) = self.shaper.as_mut().filter(|shaper| shaper.config().find.is_some()) else {
            return Passage::Passes;
        };
        let Ok(read) = meshpace_wire::outline(arrival.bytes) else { return Passage::Passes };
        let config = self.engine.engine().config();
        let ends = ((arrival.from_mesh, read.source), (arrival.to_mesh, read.destination));
        if side(config, ends.0, ends.1) != Some(Side::Wireless) {
            return Passage::Passes;
        }
        let end = |address, port| Endpoint { address, port };
        let wireless = end(read.source, read.ports.0);
        let key = FlowKey { wireless, wired: end(read.destination, read.ports.1) };
        let packet = (read.protocol == TCP).then(|| meshpace_wire::parse(arrival.bytes).ok()).flatten();
        let segment = packet.as_ref().map(|packet| (&key, &packet.segment));
        let host = config.counts_as(read.source);
        // What is not all here, or has still to be finished, cannot be marked.
        let is_whole = !arrival.unfinished && read.length <= Bytes(arrival.bytes.len() as u64);
        let ecn = if is_whole { read.ecn } else { Ecn::NotEct };
        let passage = shaper.comes(now, &Coming { host, size: read.length, ecn, segment });
        let echo = match (segment, read.protocol) {
            (Some((_, segment)), _) => segment.flags.ack.then_some(Echo::Ack(key, segment.ack)),
            (None, UDP) => meshpace_wire::spin(arrival.bytes).map(|bit| Echo::Spin(key, bit)),
            _ => None,
        };
        echo.into_iter().for_each(|echo| shaper.hears(now, echo));
        passage
    }

    /// The class of a packet that goes into the mesh, and does not come from there.
    fn class(&self, arrival: &Arrival<'_>) -> Option<Class> {
        let (source, class) = class_of(arrival.bytes)?;
        let engine = self.engine.engine();
        let comes_in = side(engine.config(), (arrival.from_mesh, source), (arrival.to_mesh, class.to));
        let class = (comes_in == Some(Side::Wired)).then_some(class)?;
        if !arrival.unfinished {
            return Some(class);
        }
        // What the kernel has still to cut takes the air of all its headers; what it has to finish may not be marked.
        let on_wire = class.timed.and_then(|timed| engine.on_wire(&timed.key, arrival.bytes));
        Some(Class { ecn: Ecn::NotEct, size: on_wire.unwrap_or(class.size), ..class })
    }
}

/// What a whole packet says of where it comes from and whose it is.
fn class_of(bytes: &[u8]) -> Option<(IpAddr, Class)> {
    let read = meshpace_wire::outline(bytes).ok()?;
    let ends = (SocketAddr::new(read.source, read.ports.0), SocketAddr::new(read.destination, read.ports.1));
    let flow = FlowHash::new(0, ends.0, ends.1, read.protocol);
    let (timed, sign) = match read.protocol {
        TCP => timed(bytes).unzip(),
        UDP => {
            let end = |address, port| Endpoint { address, port };
            let wireless = end(read.destination, read.ports.1);
            let key = FlowKey { wireless, wired: end(read.source, read.ports.0) };
            (None, meshpace_wire::spin(bytes).map(|bit| Sign::Spin(key, bit)))
        }
        _ => (None, None),
    };
    Some((read.source, Class { to: read.destination, flow, size: read.length, ecn: read.ecn, timed, sign }))
}

/// Which round trip of the mesh begins with a packet.
fn timed(bytes: &[u8]) -> Option<(Timed, Sign)> {
    let packet = meshpace_wire::parse(bytes).ok()?;
    let segment = &packet.segment;
    let end = |address, port| Endpoint { address, port };
    let wireless = end(packet.destination, segment.destination_port);
    let wired = end(packet.source, segment.source_port);
    let key = FlowKey { wireless, wired };
    let sign = Sign::Segment(key, segment.seq, segment.end());
    (segment.payload > 0).then(|| (Timed { key, start: segment.seq, end: segment.end() }, sign))
}

/// The class of a packet whose bytes were not kept: it cannot be marked.
fn without_mark(class: Class, bytes: Option<&Rc<[u8]>>) -> Class {
    Class { ecn: if bytes.is_some() { class.ecn } else { Ecn::NotEct }, ..class }
}

/// What becomes of a packet that leaves the shaper; `None`: nothing more, it was a copy.
fn output(leaves: Shaped<Waiting>) -> Option<Output> {
    match leaves {
        Shaped::Passes { packet: Waiting { id, bytes, changed, .. }, mark, due, .. } => {
            let bytes =
                bytes.filter(|_| changed || mark).map(|bytes| if mark { marked(bytes) } else { bytes });
            match id {
                Some(id) => Some(Output::Release { id, bytes, due }),
                None => bytes.map(Output::Send),
            }
        }
        Shaped::Dropped(Waiting { id, .. }) => id.map(|id| Output::Drop { id }),
    }
}

/// The packet as having met congestion.
fn marked(mut bytes: Rc<[u8]>) -> Rc<[u8]> {
    meshpace_wire::mark(Rc::make_mut(&mut bytes));
    bytes
}

/// The configured terms of a host, and the known facts about the way to it.
fn terms(config: &Config, hops: &Directory, engine: &Engine, host: IpAddr) -> Terms {
    let WirelessPath { hops, rate, .. } = hops.table().way(host, engine.ttl_of(host));
    let policy = config.policy(host);
    Terms { weight: policy.weight, cap: policy.cap, hops, link: rate }
}

/// The shaper's parameters where one is in force and the driver can hold so many packets.
fn parameters(config: &Config, held_max: usize) -> Option<ShaperConfig> {
    let shaper = config.shaper()?;
    Some(ShaperConfig { packets_max: shaper.packets_max.min(held_max / SHAPER_PART).max(1), ..shaper })
}

#[cfg(test)]
mod tests;
