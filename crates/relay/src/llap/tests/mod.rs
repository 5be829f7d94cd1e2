//! LLAP driven by hand: frames at given times, and nodes in a row without radio.

mod air;
mod options;
mod tandem;

use super::{KEYS, Llap, Options};
use crate::here::Here;
use crate::packet::{Body, Class, Datagram, Handle, Packet, PacketId, Packets, Stamp};
use crate::relay::Relay;
use crate::report::Heard;
use crate::report::{Exchange, Report};
use crate::tests::view::TestNode;
use crate::{QueueConfig, QueueSite};
use meshpace_keys::{RawValue, Setting, Values};
use meshpace_radio::{Categories, Frame, FrameKind, Header, MacPacket, Mode, Mpdu, Priority, Standard};
use meshpace_units::{Bytes, Instant, NodeId, Rate, Span};
use std::net::{IpAddr, Ipv4Addr};

const RATE: Rate = Rate::bits_per_sec(11_000_000);
/// Where the packets of these tests leave the mesh.
const EXIT: NodeId = NodeId(9);

fn mode() -> &'static Mode {
    Standard::named("802.11b").and_then(|standard| standard.data_mode(RATE)).expect("a rate of it")
}

fn us(us: u64) -> Span {
    Span::from_micros(us)
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Span::from_micros(us)
}

/// The options, some of them as a scheme would set them.
fn options(said: &[(&'static str, RawValue)]) -> Options {
    Options::new(&Values::new(KEYS.iter().map(|key| {
        let said = said.iter().find(|(name, _)| *name == key.name);
        let default = key.default.and_then(|preset| preset.setting());
        let setting: Option<Setting> = match said {
            Some((_, value)) => key.kind.accept(value),
            None => default,
        };
        (key.name, setting.unwrap_or_else(|| panic!("{said:?} for {}", key.name)))
    })))
}

/// A packet on its way to [`EXIT`], made here or received here.
fn packet(id: u64, next_hop: NodeId, received: Option<Instant>) -> Packet {
    let address = |last| IpAddr::V4(Ipv4Addr::new(10, 77, 0, last));
    let stamp = Stamp { number: 0, sent: Instant::ZERO };
    let body = Body::Udp(Datagram { source_port: 1, destination_port: 9, payload: Bytes(972), stamp });
    let mut packet = Packet::new(address(2), address(10), Bytes(1000), Class::Data, body);
    packet.id = PacketId(id);
    packet.exit = EXIT;
    packet.next_hop = Some(next_hop);
    packet.travelled = u16::from(received.is_some());
    packet.arrived = received.unwrap_or(Instant::ZERO);
    packet
}

/// One node, whose transmitter is the test.
struct Node {
    relay: Llap,
    packets: Packets,
    told: TestNode,
    now: Instant,
    free: bool,
    dropped: Vec<Handle>,
}

impl Node {
    /// A node `hops` before the exit, whose next hop is n2.
    fn new(hops: u32, said: &[(&'static str, RawValue)]) -> Self {
        let place = QueueSite::Radio { node: NodeId(1), gateway: false, rate: RATE };
        let queue = QueueConfig { place, limit: 50, categories: false, seed: 1 };
        Self {
            relay: Llap::new(options(said), &queue),
            packets: Packets::default(),
            told: TestNode { hops: Some(hops), next_hop: Some(NodeId(2)), rate: RATE, ..TestNode::default() },
            now: Instant::ZERO,
            free: true,
            dropped: Vec::new(),
        }
    }

    fn call<R>(&mut self, now: Instant, call: impl FnOnce(&mut Llap, &mut Here<'_>) -> R) -> R {
        assert!(now >= self.now, "{now:?} is past");
        self.now = now;
        let mut here = Here::new(
            now,
            &mut self.packets,
            Categories::best_effort(self.free),
            Some(&mut self.told),
            &mut self.dropped,
        );
        call(&mut self.relay, &mut here)
    }

    fn put(&mut self, now: Instant, packet: Packet) -> Handle {
        let handle = self.packets.add(packet);
        self.call(now, |relay, here| relay.enqueue(here, handle));
        handle
    }

    /// A packet that was received at `received`, and handed on to the queue 50 us later.
    fn relayed(&mut self, id: u64, received: u64) -> Handle {
        self.put(at(received + 50), packet(id, NodeId(2), Some(at(received))))
    }

    fn own(&mut self, id: u64, now: u64) -> Handle {
        self.put(at(now), packet(id, NodeId(2), None))
    }

    /// What a free transmitter gets at a time: the packet's number.
    fn get(&mut self, now: u64) -> Option<u64> {
        let handle = self.call(at(now), |relay, here| relay.dequeue(here))?;
        self.free = false;
        Some(self.packets.get(handle).id.0)
    }

    /// The MAC is through with the packet that it has: its DATA ended then, its acknowledgement ends 314 us later.
    fn sent(&mut self, data_ended: u64) {
        let exchange = self.exchange(data_ended);
        self.call(at(data_ended + 314), |relay, here| relay.reported(here, &Report::Sent(exchange)));
        self.packets.remove(exchange.packet);
        self.free = true;
    }

    fn given_up(&mut self, now: u64) {
        let exchange = self.exchange(now);
        self.call(at(now), |relay, here| relay.reported(here, &Report::GivenUp(exchange)));
        self.packets.remove(exchange.packet);
        self.free = true;
    }

    fn exchange(&self, data_ended: u64) -> Exchange {
        let packet = self.relay.in_mac.expect("a packet is in the MAC").passenger.packet;
        Exchange {
            packet,
            next_hop: self.packets.get(packet).next_hop,
            size: Bytes(1000),
            mode: mode(),
            offered: self.now,
            granted: None,
            attempts: 1,
            data_frames: 1,
            packets: 1,
            airtime: us(944),
            data_size: Bytes(1000),
            data_airtime: us(944),
            cts_ended: None,
            data_ended: Some(at(data_ended)),
            told: None,
        }
    }

    /// A DATA frame for another node has been read: its end, its sender, its packet.
    fn overhear(&mut self, now: u64, from: u32, id: u64) {
        self.overhear_at(at(now), from, id);
    }

    fn overhear_at(&mut self, now: Instant, from: u32, id: u64) {
        let carried = self.packets.add(packet(id, NodeId(3), Some(now)));
        let size = Bytes(1000);
        let mac = MacPacket {
            handle: carried,
            to: Some(NodeId(3)),
            size,
            mode: mode(),
            priority: Priority::BEST_EFFORT,
        };
        let frame = Frame::new(Header {
            kind: FrameKind::Data,
            from: NodeId(from),
            to: mac.to,
            airtime: us(944),
            duration: Span::ZERO,
            mode: mac.mode,
            size,
            data_mode: mac.mode,
            retry: false,
            protected: false,
            packet: Some(Mpdu { packet: mac, seq: 1, retry: false, losses: 0 }),
        });
        self.call(now, |relay, here| {
            relay.heard(here, &Heard { frame: &frame, read: None, mine: false });
        });
        self.packets.remove(carried);
    }

    fn wake(&mut self, now: u64) {
        self.call(at(now), |relay, here| relay.handle_timeout(here));
    }

    /// HT, NHT and PD in us; 0: unknown.
    fn estimates(&self) -> [u64; 3] {
        let estimates = self.relay.egresses[0].estimates;
        let us = |span: Option<Span>| span.map_or(0, Span::as_micros);
        [us(estimates.here), us(estimates.next), estimates.delay.as_micros()]
    }

    fn deadline(&self) -> Option<u64> {
        self.relay.poll_timeout().map(|at| (at - Instant::ZERO).as_micros())
    }

    /// A relayed packet is held for so long, and goes through.
    fn pass_held(&mut self, id: u64, received: u64, held: u64, here: u64, there: u64) {
        self.relayed(id, received);
        assert_eq!(self.get(received + held), Some(id));
        self.sent(here);
        self.overhear(there, 2, id);
    }

    /// A relayed packet goes through: received, DATA ended here, DATA ended at n2.
    fn pass(&mut self, id: u64, received: u64, here: u64, there: u64) {
        self.relayed(id, received);
        assert_eq!(self.get(received + 50), Some(id), "it is not held");
        self.sent(here);
        self.overhear(there, 2, id);
    }
}
