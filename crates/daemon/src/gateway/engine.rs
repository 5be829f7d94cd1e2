//! The gateway on bytes, sans I/O: packets in, decisions out. It joins the wire format, the state machine of
//! [`meshpace_gateway`], the configuration and the hop counts; its driver has the queue, the clock and the sockets.
//!
//! 1. [`Engine::handle`] for each packet, then [`Engine::poll`] until `None`: what it gives must leave before the next
//!    packet's decision;
//! 2. [`Engine::handle_timeout`] when [`Engine::poll_timeout`] says so, then `poll` until `None`.

use super::segmentation::Segments;
use crate::config::Config;
use crate::hops::{Directory, ReceivedTtl, WirelessPath};
use crate::state::{FlowDetail, FlowReport, Unread};
use crate::treatment::treatment;
use meshpace_gateway::{
    Action, Activity, Departure, DupAck, FlowKey, FlowStats, Gateway, Rewrite, Route, RttOption, Side,
    TcpView, Treatment, Verdict,
};
use meshpace_pacing::LinkRates;
use meshpace_units::{Bytes, Ecn, Instant, Seq};
use meshpace_wire::{NotTcp, Packet};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

/// A packet at the gateway.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// The driver's name for it.
    pub id: u64,
    /// It came through a mesh interface.
    pub from_mesh: bool,
    /// It will leave through a mesh interface.
    pub to_mesh: bool,
    /// It is not what will be on the wire: the kernel has still to cut it, or to fill in a checksum. It can only go on as it is, now.
    pub unfinished: bool,
    /// From its IP header on; may be cut off at the end.
    pub bytes: &'a mut [u8],
}

/// What becomes of a packet now.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It goes on as it is.
    Accept,
    /// These bytes go on in its place.
    Rewrite(&'a [u8]),
    /// It waits, and comes out of [`Engine::poll`] by its id.
    Hold,
    /// It has done its work, or finds its buffer full.
    Drop,
}

/// What leaves the gateway's care.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// A packet that was held goes on.
    Release {
        /// Its name.
        id: u64,
        /// The packet's new bytes, if it is changed.
        bytes: Option<Rc<[u8]>>,
        /// When its flow's pacer allowed it.
        due: Instant,
    },
    /// A packet that was held is dropped: its connection is over.
    Drop {
        /// Its name.
        id: u64,
    },
    /// A copy of an earlier packet is sent again, towards the mesh.
    Send(Rc<[u8]>),
}

/// A packet in the gateway's queues and caches.
#[derive(Clone, Debug)]
struct Handle {
    id: u64,
    /// Kept where a repair or the removal of a foreign option may need them; without such an option.
    bytes: Option<Rc<[u8]>>,
}

/// What the engine counted since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counted {
    /// Packets handed in.
    pub packets: u64,
    /// Their lengths together.
    pub bytes: Bytes,
    /// Those that went on unread.
    pub unread: Unread,
}

/// See the module's description.
#[derive(Debug)]
pub struct Engine {
    config: Arc<Config>,
    /// The most packets that the driver can hold.
    held_max: usize,
    gateway: Gateway<Handle>,
    hops: Directory,
    /// The TTL of the packet by which a mesh host's round trip was last measured.
    ttls: BTreeMap<IpAddr, ReceivedTtl>,
    counted: Counted,
    rewritten: Vec<u8>,
}

impl Engine {
    /// An engine without flows, whose driver can hold `held_max` packets.
    #[must_use]
    pub fn new(config: Arc<Config>, held_max: usize, hops: Directory) -> Self {
        Self {
            gateway: Gateway::new(effective(&config, held_max), config.law.clone()),
            config,
            held_max,
            hops,
            ttls: BTreeMap::new(),
            counted: Counted::default(),
            rewritten: Vec::new(),
        }
    }

    /// Decides on a packet.
    pub fn handle<'a>(&'a mut self, now: Instant, arrival: Arrival<'a>) -> Decision<'a> {
        let Arrival { id, from_mesh, to_mesh, unfinished, bytes } = arrival;
        self.counted.packets += 1;
        let unread = &mut self.counted.unread;
        let packet = match meshpace_wire::parse(bytes) {
            Ok(packet) => packet,
            Err(why) => {
                self.counted.bytes += Bytes(bytes.len() as u64);
                *reason(unread, why) += 1;
                return Decision::Accept;
            }
        };
        self.counted.bytes += packet.wire_len;
        let Some(side) = side(&self.config, (from_mesh, packet.source), (to_mesh, packet.destination)) else {
            unread.not_crossing += 1;
            return Decision::Accept;
        };
        let view = TcpView {
            source: packet.source,
            destination: packet.destination,
            segment: &packet.segment,
            header_length: packet.header_length,
            wire_len: packet.wire_len,
            ecn: Ecn::NotEct,
            whole: packet.wire_len <= Bytes(bytes.len() as u64),
        };
        let key = FlowKey::new(side, &view);
        let Some(treatment) = treatment(&self.config, &key) else {
            unread.off += 1;
            return Decision::Accept;
        };
        if packet.signed {
            unread.signed += 1;
            return Decision::Accept;
        }
        if unfinished {
            return self.watch(now, (side, &key), id, &packet);
        }
        let whole = view.whole;
        let keeps = whole && treatment == Treatment::Pace && self.keeps(side, &packet);
        // Without its bytes it cannot be marked.
        let view = TcpView { ecn: if keeps { packet.ecn() } else { Ecn::NotEct }, ..view };
        let handle = Handle { id, bytes: keeps.then(|| without_option(bytes, &packet)) };
        let route = route(&self.hops, &mut self.ttls, packet.ttl);
        match self.gateway.handle(now, side, &view, treatment, route, handle) {
            Verdict::Forward(_, changes) if whole => self.rewrite(bytes, changes),
            Verdict::Forward(..) => Decision::Accept,
            Verdict::Held => Decision::Hold,
            Verdict::Consumed(_) | Verdict::Dropped(_) | Verdict::Duplicate(_) => Decision::Drop,
        }
    }

    /// Bytes of what will be on the wire of a connection's packet that the kernel will cut; `None` of what is no packet of TCP.
    pub fn on_wire(&self, key: &FlowKey, bytes: &[u8]) -> Option<Bytes> {
        let packet = meshpace_wire::parse(bytes).ok()?;
        Some(Segments::on_wire(&packet, self.gateway.mss(key)))
    }

    /// Observes what the packet will be on the wire. What its flow holds since it was paced leaves before it.
    fn watch(
        &mut self,
        now: Instant,
        (side, key): (Side, &FlowKey),
        id: u64,
        packet: &Packet,
    ) -> Decision<'static> {
        let (source, destination) = (packet.source, packet.destination);
        let all = (packet.wire_len, packet.segment.payload);
        let mut goes = None;
        for segment in Segments::of(packet, self.gateway.mss(key)) {
            let wire_len = Segments::wire_len(all, &segment);
            let view = TcpView {
                source,
                destination,
                segment: &segment,
                header_length: packet.header_length,
                wire_len,
                ecn: Ecn::NotEct,
                whole: false,
            };
            let route = route(&self.hops, &mut self.ttls, packet.ttl);
            let handle = Handle { id, bytes: None };
            let verdict = self.gateway.handle(now, side, &view, Treatment::Observe, route, handle);
            if goes.is_some() {
                self.counted.packets += 1;
                self.counted.bytes += wire_len - Bytes(u64::from(segment.payload));
            }
            goes.get_or_insert(match verdict {
                Verdict::Held => Decision::Hold,
                _ => Decision::Accept,
            });
        }
        goes.unwrap_or(Decision::Accept)
    }

    /// What leaves at `now`; call until `None`.
    #[must_use = "the packet has left the engine"]
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        loop {
            let Departure { packet: Handle { id, bytes }, action, due, .. } =
                self.gateway.poll_transmit(now)?;
            return Some(match (action, bytes) {
                (Action::Release { mark: true, .. }, Some(bytes)) => {
                    Output::Release { id, bytes: Some(marked(bytes)), due }
                }
                (Action::Release { strip, .. }, bytes) => {
                    Output::Release { id, bytes: bytes.filter(|_| strip), due }
                }
                (Action::Discard(_), _) => Output::Drop { id },
                (Action::Retransmit, Some(bytes)) => Output::Send(bytes),
                // It was cut off, or came before a reload that switched repairs on: the sender repairs it, as soon as
                // the gateway's attempts are used up and duplicate ACKs pass again.
                (Action::Retransmit, None) => continue,
            });
        }
    }

    /// Segments from `start` to `end` that went on have waited for their host's turn, and leave for the mesh now.
    pub fn leaves(&mut self, now: Instant, key: &FlowKey, start: Seq, end: Seq) {
        self.gateway.leaves(now, key, start, end);
    }

    /// When [`Engine::handle_timeout`] or [`Engine::poll`] has something to do next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.gateway.poll_timeout()
    }

    /// Until when the driver may put that off, so that more leaves at once.
    #[must_use]
    pub fn poll_latest(&self) -> Option<Instant> {
        self.gateway.poll_latest()
    }

    /// Does what is due at `now`, departures excepted. Early or repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.gateway.handle_timeout(now);
        // A host is only noted with a measured round trip; those whose flows have ended make place.
        if self.ttls.len() > 2 * self.config.gateway.flows_max {
            let hosts: BTreeSet<IpAddr> =
                self.gateway.flows().map(|flow| flow.key.wireless.address).collect();
            self.ttls.retain(|host, _| hosts.contains(host));
        }
    }

    /// Puts another configuration in force. Flows stay; what those held that are no longer paced comes out of
    /// [`Engine::poll`] now.
    pub fn reload(&mut self, now: Instant, config: Arc<Config>) {
        self.config = config;
        self.gateway.set_config(now, effective(&self.config, self.held_max));
        self.gateway.set_law(self.config.law.clone());
        self.gateway.review(now, |key| treatment(&self.config, key));
    }

    /// Changes how many packets the driver can hold. What is held beyond it stays.
    pub fn set_held_max(&mut self, now: Instant, held_max: usize) {
        self.held_max = held_max;
        self.gateway.set_config(now, effective(&self.config, held_max));
    }

    /// Forgets all flows; all that is held comes out of [`Engine::poll`] now.
    pub fn let_go(&mut self, now: Instant) {
        self.gateway.review(now, |_| None);
    }

    /// Forgets all flows and, without a word, what they held: the driver lets that go.
    pub fn begin_anew(&mut self) {
        self.gateway = Gateway::new(effective(&self.config, self.held_max), self.config.law.clone());
    }

    /// How many flows are known.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.gateway.flow_count()
    }

    /// The configuration in force.
    #[must_use]
    pub const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The state machine's totals.
    #[must_use]
    pub const fn totals(
        &self,
    ) -> (&meshpace_gateway::Counters, &meshpace_gateway::RoundTrips, &meshpace_gateway::Waits) {
        (self.gateway.counters(), self.gateway.round_trips(), self.gateway.waits())
    }

    /// The TTL of the packet by which a mesh host's round trip was last measured.
    #[must_use]
    pub fn ttl_of(&self, host: IpAddr) -> Option<ReceivedTtl> {
        self.ttls.get(&host).copied()
    }

    /// What was counted here.
    #[must_use]
    pub const fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Packets held now.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.gateway.held()
    }

    /// Bytes in queues and caches now.
    #[must_use]
    pub const fn buffered(&self) -> Bytes {
        self.gateway.buffered()
    }

    /// All flows in the order of their keys.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowReport> {
        self.gateway
            .flows_with_activity(None)
            .map(|(stats, activity)| self.report(stats, &activity))
            .collect()
    }

    /// The flows that follow `after` in the order of their keys, or the first ones, `most` of them; and whether they are the
    /// last.
    #[must_use]
    pub fn page(&self, after: Option<&FlowKey>, most: usize) -> (Vec<FlowReport>, bool) {
        let mut following = self.gateway.flows_with_activity(after);
        let flows =
            following.by_ref().take(most).map(|(stats, activity)| self.report(stats, &activity)).collect();
        (flows, following.next().is_none())
    }

    /// One flow, if known, and why it has its pace.
    #[must_use]
    pub fn flow(&self, now: Instant, key: &FlowKey) -> Option<FlowDetail> {
        let (stats, activity) = self.gateway.flow_with_activity(key)?;
        let explanation = self.gateway.explain(now, key)?;
        Some(FlowDetail { report: self.report(stats, &activity), explanation })
    }

    fn report(&self, stats: FlowStats, activity: &Activity) -> FlowReport {
        let host = stats.key.wireless.address;
        let way = self.hops.table().way(host, self.ttls.get(&host).copied());
        FlowReport {
            stats,
            treatment: activity.treatment,
            hops: Some(way.hops),
            hop_source: way.source,
            link_rate: way.rate,
            down: activity.down,
            up: activity.up,
            opened: activity.opened,
            last_activity: activity.last_activity,
            segment: activity.segment,
        }
    }

    /// True if the gateway may need the bytes of the packet after its verdict: for a repair, or to take an option out of
    /// it or to mark it when it leaves its queue.
    fn keeps(&self, side: Side, packet: &Packet) -> bool {
        let occupies = packet.segment.sequence_length() > 0 && !packet.segment.flags.syn;
        let caches = self.config.gateway.dupack != DupAck::Off;
        let may_be_marked = occupies && self.config.gateway.codel.is_some() && packet.ecn().is_capable();
        side == Side::Wired
            && ((occupies && caches) || may_be_marked || packet.segment.options.rtt_wired.is_some())
    }

    /// Changes a whole packet.
    fn rewrite<'a>(&'a mut self, bytes: &'a mut [u8], changes: Rewrite) -> Decision<'a> {
        let announces = changes.window.is_some_and(|window| meshpace_wire::set_window(bytes, window));
        let strips = match changes.option {
            RttOption::Keep => false,
            RttOption::Strip => meshpace_wire::strip_rtt(bytes),
            RttOption::Set(rtt) => {
                self.rewritten.clear();
                self.rewritten.extend_from_slice(bytes);
                match meshpace_wire::set_rtt(&mut self.rewritten, rtt) {
                    Ok(()) => return Decision::Rewrite(&self.rewritten),
                    Err(meshpace_wire::NoRoom) => meshpace_wire::strip_rtt(bytes),
                }
            }
        };
        if announces || strips { Decision::Rewrite(bytes) } else { Decision::Accept }
    }
}

/// Finds the way to a mesh host; a packet of the host came with this TTL.
fn route<'a>(
    hops: &'a Directory,
    ttls: &'a mut BTreeMap<IpAddr, ReceivedTtl>,
    ttl: u8,
) -> impl FnOnce(IpAddr) -> Route + 'a {
    move |host| {
        let ttl = ReceivedTtl::at_forward(ttl);
        ttls.insert(host, ttl);
        let WirelessPath { hops, rate, .. } = hops.table().way(host, Some(ttl));
        Route { hops: Some(hops), rates: LinkRates::Uniform(rate) }
    }
}

/// The packet as having met congestion. Its copy in the cache stays as it was.
fn marked(mut bytes: Rc<[u8]>) -> Rc<[u8]> {
    let capable = meshpace_wire::mark(Rc::make_mut(&mut bytes));
    assert!(capable, "only what may be marked is: {bytes:02x?}");
    bytes
}

/// A copy of a packet without an RTT option: on its way to the mesh it may not carry one.
fn without_option(bytes: &[u8], packet: &Packet) -> Rc<[u8]> {
    let mut copy = Rc::<[u8]>::from(bytes);
    if packet.segment.options.rtt_wired.is_some() {
        meshpace_wire::strip_rtt(Rc::make_mut(&mut copy));
    }
    copy
}

/// The gateway's parameters, no packet more being held than the driver can.
fn effective(config: &Config, held_max: usize) -> meshpace_gateway::Config {
    let (held_max, sampled) = (config.gateway.held_max.min(held_max), config.samples().is_some());
    meshpace_gateway::Config { held_max, sampled, ..config.gateway }
}

/// The side from which a packet crosses between mesh and Internet, if it does: one of its ends lies in the mesh, by
/// interface or address, and the other does not. The flag of each end says whether its interface is one of the
/// mesh's.
pub(super) fn side(config: &Config, from: (bool, IpAddr), to: (bool, IpAddr)) -> Option<Side> {
    let is_mesh = |(by_interface, address)| by_interface || config.mesh.contains(address);
    let (from_mesh, to_mesh) = (is_mesh(from), is_mesh(to));
    match (from_mesh, to_mesh) {
        (true, false) => Some(Side::Wireless),
        (false, true) => Some(Side::Wired),
        (true, true) | (false, false) => None,
    }
}

fn reason(unread: &mut Unread, why: NotTcp) -> &mut u64 {
    match why {
        NotTcp::Fragment => &mut unread.fragments,
        NotTcp::OtherProtocol(_) => &mut unread.other_protocol,
        NotTcp::Truncated => &mut unread.truncated,
        NotTcp::Malformed(_) => &mut unread.malformed,
        NotTcp::Super => &mut unread.oversized,
    }
}

#[cfg(test)]
mod tests;
