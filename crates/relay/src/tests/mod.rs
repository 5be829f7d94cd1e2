//! Relays driven by hand.

mod cake_ack_filter;
mod drop_tail;
mod every;
mod ez_flow;
mod fq_codel;
mod hooked;
mod mac80211;
mod report;
mod source_queues;
mod throttle;
pub(crate) mod view;

use crate::packet::{Body, Class, Datagram, Handle, Host, Packet, Packets, Stamp};
use crate::{Exchange, ExchangeLog, Here, QueueConfig, QueueSite, Relay, Report};
use meshpace_keys::{Setting, Values};
use meshpace_radio::{Categories, Category, MacPacket, Peer, Priority};
use meshpace_units::{Bytes, Ecn, Instant, NodeId, Rate, Span};
use std::net::{IpAddr, Ipv4Addr};
use view::TestNode;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

fn radio(limit: usize) -> QueueConfig {
    let place = QueueSite::Radio { node: NodeId(3), gateway: false, rate: Rate::bits_per_sec(11_000_000) };
    QueueConfig { place, limit, categories: true, seed: 1 }
}

fn wired(limit: usize) -> QueueConfig {
    let rate = Rate::bits_per_sec(10_000_000);
    QueueConfig {
        place: QueueSite::Wired { from: Host::Wired(0), to: Host::Wired(1), rate },
        limit,
        categories: false,
        seed: 1,
    }
}

/// A packet of a flow, which its source port names.
fn packet(flow: u16, next_hop: u32, size: u64) -> Packet {
    let address = |last| IpAddr::V4(Ipv4Addr::new(10, 77, 0, last));
    let stamp = Stamp { number: 0, sent: Instant::ZERO };
    let body = Body::Udp(Datagram {
        source_port: flow,
        destination_port: 9,
        payload: Bytes(size.saturating_sub(28)),
        stamp,
    });
    let mut packet = Packet::new(address(2), address(9), Bytes(size), Class::Data, body);
    packet.next_hop = Some(NodeId(next_hop));
    packet
}

/// The same packet, of a class and from another entry to the mesh.
fn entering(entry: u32, class: Class, mut packet: Packet) -> Packet {
    (packet.entry, packet.class) = (NodeId(entry), class);
    packet
}

/// A relay with a store around it.
struct Bench {
    relay: Box<dyn Relay>,
    packets: Packets,
    now: Instant,
    node: TestNode,
    /// The transmitter is free.
    free: bool,
    /// Of which categories packets are asked for.
    asked: Categories,
    dropped: Vec<Handle>,
}

impl Bench {
    fn new(word: &str, queue: &QueueConfig) -> Self {
        Self::with(word, queue, &[])
    }

    /// With some keys set, the others at their defaults.
    fn with(word: &str, queue: &QueueConfig, said: &[(&'static str, Setting)]) -> Self {
        let part = crate::RELAYS.iter().find(|part| part.about.word == word).expect("a relay of that name");
        let defaults = Values::defaults(part.about.keys());
        let value = |key, default: &Setting| {
            said.iter().find(|(name, _)| *name == key).map_or(default, |(_, value)| value).clone()
        };
        let values = Values::new(defaults.iter().map(|(key, default)| (key, value(key, default))));
        let relay = (part.build)(&values, queue);
        let packets = Packets::default();
        Self {
            relay,
            packets,
            now: Instant::ZERO,
            node: TestNode::default(),
            free: false,
            asked: Category::ALL.map(Categories::only).into_iter().fold(Categories::NONE, Categories::and),
            dropped: Vec::new(),
        }
    }

    fn call<R>(&mut self, call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R) -> R {
        self.call_with(Categories::best_effort(self.free), call)
    }

    fn call_with<R>(
        &mut self,
        takes: Categories,
        call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R,
    ) -> R {
        let mut here = Here::new(self.now, &mut self.packets, takes, Some(&mut self.node), &mut self.dropped);
        call(self.relay.as_mut(), &mut here)
    }

    fn put(&mut self, packet: Packet) -> Handle {
        let handle = self.packets.add(packet);
        self.call(|relay, here| relay.enqueue(here, handle));
        handle
    }

    fn data(&mut self) -> Handle {
        self.put(packet(1, 1, 1000))
    }

    fn routing(&mut self) -> Handle {
        let mut routing = packet(1, 1, 60);
        routing.class = Class::Control;
        self.put(routing)
    }

    /// A packet whose transport reacts to marks.
    fn capable(&mut self, flow: u16) -> Handle {
        let mut capable = packet(flow, 1, 1000);
        capable.ecn = Ecn::Ect0;
        self.put(capable)
    }

    fn get(&mut self) -> Option<Handle> {
        self.call_with(self.asked, |relay, here| relay.dequeue(here))
    }

    fn get_to(&mut self, to: NodeId, room: Bytes) -> Option<Handle> {
        self.get_to_as(Peer { node: to, priority: Priority::BEST_EFFORT }, room)
    }

    fn get_to_as(&mut self, to: Peer, room: Bytes) -> Option<Handle> {
        self.call(|relay, here| relay.dequeue_to(here, to, room))
    }

    /// Takes everything out, each packet acknowledged before the next one is asked for.
    fn drain(&mut self) -> Vec<Handle> {
        let one = || {
            let packet = self.get()?;
            self.sent(packet, Span::from_micros(400));
            Some(packet)
        };
        std::iter::from_fn(one).collect()
    }

    /// A packet that was given out is acknowledged after `airtime` on the air, alone in its frame. A relay that asks for
    /// reports gets one.
    fn sent(&mut self, packet: Handle, airtime: Span) {
        if !self.relay.asks().reports {
            return;
        }
        let carried = self.packets.get(packet);
        let offered = MacPacket {
            handle: packet,
            to: carried.next_hop,
            size: carried.size,
            mode: self.node.mode,
            priority: Priority::of(carried.dscp),
        };
        let mut log = ExchangeLog::new(Span::ZERO);
        log.offered(self.now, &offered);
        let Report::Sent(exchange) = log.ended(packet, true) else { panic!("it was sent") };
        let report = Report::Sent(Exchange { airtime, ..exchange });
        self.call(|relay, here| relay.reported(here, &report));
    }

    fn purge(&mut self, mut wanted: impl FnMut(&Packet) -> bool) {
        self.call(|relay, here| relay.purge(here, &mut wanted));
    }
}
