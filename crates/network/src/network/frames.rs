//! Frames from transmitters to receivers, and the stations' actions.

use super::Network;
use super::link_layer::LINK_LAYER_DELAY;
use crate::air::OnAir;
use crate::event::Event;
use crate::watch::Watch;
use meshpace_packet::{Body, Class, Handle};
use meshpace_radio::{Action, Bitmap, Frame, Hearer, MacPacket, Mpdu, Outcome, Signal};
use meshpace_relay::Heard;
use meshpace_routing::LinkEvent;
use meshpace_units::{Instant, NodeId, Span};
use std::fmt::Debug;

/// A receiver nearer than this (6 km) has read a frame before its transmitter sends another or gives its packet up:
/// that takes DIFS after the end, 28 us at the least (schemes.md 17.3).
const NEAR: Span = Span::from_micros(20);

impl<T: Copy + Debug> Network<T> {
    /// The last bit of the frame that `from` sent arrives at `node`.
    pub(super) fn frame_ends(&mut self, node: u32, from: u32, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        let Some(OnAir { frame, erased }) = &self.on_air[from as usize] else {
            panic!("node {from} sent nothing")
        };
        let broadcast = if frame.to.is_none() { frame.burst.first().map(handle) } else { None };
        let mut actions = std::mem::take(&mut self.mac_actions);
        let this = &mut self.nodes[node as usize];
        let end = this.station.frame_ends(now, frame, erased.as_deref(), &self.config, &mut actions);
        if end.outcome != Outcome::Read {
            watch.lost(now, NodeId(node), frame, &end);
        }
        if this.listens.to_all() && end.any() {
            let (frame, read) = (frame.clone(), end.read(frame));
            self.tell_heard(node, &Heard { frame: &frame, read, mine: true });
        }
        self.carry_out(node, &mut actions, watch);
        self.mac_actions = actions;
        if let Some(packet) = broadcast {
            self.packets.reader_done(packet);
        }
    }

    /// The last bit of a frame from far away arrives at `node`.
    pub(super) fn far_frame_ends(&mut self, node: u32, copy: u32, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        let OnAir { frame, erased } = self.far.take(copy);
        let mut actions = std::mem::take(&mut self.mac_actions);
        let this = &mut self.nodes[node as usize];
        let end = this.station.frame_ends(now, &frame, erased.as_deref(), &self.config, &mut actions);
        if end.outcome != Outcome::Read {
            watch.lost(now, NodeId(node), &frame, &end);
        }
        if this.listens.to_all() && end.any() {
            self.tell_heard(node, &Heard { frame: &frame, read: end.read(&frame), mine: true });
        }
        self.carry_out(node, &mut actions, watch);
        self.mac_actions = actions;
        self.forget_far(&frame);
    }

    /// The last bit of a frame that `from` sent for somebody else arrives at `node`, which listens.
    pub(super) fn overheard(&mut self, node: u32, from: u32) {
        let Some(OnAir { frame, .. }) = &self.on_air[from as usize] else {
            panic!("node {from} sent nothing")
        };
        let frame = frame.clone();
        self.overhear(node, &frame);
    }

    /// The last bit of a frame from far away that is for somebody else arrives at `node`, which listens.
    pub(super) fn far_overheard(&mut self, node: u32, copy: u32) {
        let OnAir { frame, .. } = self.far.take(copy);
        self.overhear(node, &frame);
        self.forget_far(&frame);
    }

    /// A copy of a frame has come to whom it was for; so have the copies of its packets.
    fn forget_far(&mut self, frame: &Frame) {
        frame.packets().iter().for_each(|mpdu| self.packets.remove(mpdu.packet.handle));
    }

    fn overhear(&mut self, node: u32, frame: &Frame) {
        let now = self.now();
        if self.nodes[node as usize].station.overhear(now, frame.from, &self.config) {
            let read = Bitmap::first(frame.burst.len());
            self.tell_heard(node, &Heard { frame, read, mine: false });
            self.wake(node);
        }
    }

    /// A station's deadline.
    pub(super) fn station_alarm(&mut self, node: u32, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        let mut actions = std::mem::take(&mut self.mac_actions);
        let station = &mut self.nodes[node as usize].station;
        station.timer(now, &self.config, &mut actions);
        if actions.is_empty() {
            // A bystander looked up and found the medium busy: by far the commonest case.
            self.queue.set_station(node, station.next_deadline(&self.config));
        } else {
            self.carry_out(node, &mut actions, watch);
        }
        self.mac_actions = actions;
    }

    /// Carries out what a station asks for, hands it the next packet if it is free, and sets its alarm.
    fn carry_out(&mut self, node: u32, actions: &mut Vec<Action>, watch: &mut (impl Watch + ?Sized)) {
        for action in actions.iter_mut() {
            match action {
                Action::Transmit(frame) => self.transmit(node, frame, watch),
                Action::Deliver { packet, from } => self.deliver(node, packet, *from),
                Action::Sent(packet) => self.packet_sent(node, packet),
                Action::GaveUp(packet) => self.packet_given_up(node, packet),
            }
        }
        actions.clear();
        self.feed(node);
    }

    /// Hands the station, which has been brought up to now, its next packet if it takes one, and sets its alarm.
    pub(super) fn feed(&mut self, node: u32) {
        self.offer(node);
        let deadline = self.nodes[node as usize].station.next_deadline(&self.config);
        self.queue.set_station(node, deadline);
    }

    /// Hands the station its next packet, if it takes one and there is one; then sets its alarm. Without a packet its alarm
    /// stays: it may have been postponed since the station was looked at last.
    pub(super) fn wake(&mut self, node: u32) {
        if self.offer(node) {
            let deadline = self.nodes[node as usize].station.next_deadline(&self.config);
            self.queue.set_station(node, deadline);
        }
    }

    /// Hands the station its next packet, and with it those that go in one frame with it; false if it takes none, or its relay
    /// gives none.
    #[inline]
    fn offer(&mut self, node: u32) -> bool {
        let this = &self.nodes[node as usize];
        let several = self.config.phy.standard.aggregation.is_some();
        let offered = this.station.accepts() && !this.relay.is_empty() && self.hand_over(node);
        if several {
            self.join(node);
        }
        offered
    }

    /// Hands the station what goes in one frame with the packets that it has. Its deadline stays: its backoff runs for them, too.
    #[inline(never)]
    fn join(&mut self, node: u32) {
        while let Some((to, room)) = self.nodes[node as usize].station.room(&self.config) {
            let Some(handle) = self.dequeue_to(node, to, room) else { return };
            let offered = self.taken(node, handle);
            self.nodes[node as usize].station.join(offered, &self.config);
        }
    }

    /// Apart from [`Network::offer`], which mostly finds the station occupied.
    #[inline(never)]
    fn hand_over(&mut self, node: u32) -> bool {
        let Some(handle) = self.dequeue(node) else { return false };
        let offered = self.taken(node, handle);
        let now = self.now();
        self.nodes[node as usize].station.offer(now, offered, &self.config);
        true
    }

    /// The station of a node takes a packet: as it sees it.
    #[inline]
    fn taken(&mut self, node: u32, handle: Handle) -> MacPacket {
        self.note_taken(node, handle);
        let packet = self.packets.get(handle);
        let mode = packet.next_hop.map(|to| self.rates.between(NodeId(node), to));
        let offered = MacPacket {
            handle,
            to: packet.next_hop,
            size: packet.size,
            mode: mode.unwrap_or(self.config.phy.basic),
        };
        let now = self.now();
        if let Some(exchanges) = &mut self.nodes[node as usize].exchanges {
            exchanges.offered(now, &offered);
        }
        offered
    }

    /// A frame goes on the air. It is taken, and the node's last one left in its place: it is too large to be copied without need.
    fn transmit(&mut self, node: u32, frame: &mut Frame, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        self.frames += 1;
        match frame.packets() {
            [] => watch.frame(now, frame, &[]),
            [one] => watch.frame(now, frame, &[self.packets.get(handle(one))]),
            several => {
                let packets: Vec<_> = several.iter().map(|mpdu| self.packets.get(handle(mpdu))).collect();
                watch.frame(now, frame, &packets);
            }
        }
        for mpdu in frame.packets() {
            self.note_attempt(node, &mpdu.packet);
        }
        if let Some(exchanges) = &mut self.nodes[node as usize].exchanges {
            if let Some(report) = exchanges.transmits(now, frame) {
                self.report_to_relay(node, &report);
            }
        }
        let erased = if let (Some(to), false) = (frame.to, self.listening || self.losses.any()) {
            self.spread_among_bystanders(now, node, to, frame);
            None
        } else {
            self.spread(now, node, frame)
        };
        match &mut self.on_air[node as usize] {
            Some(last) => {
                std::mem::swap(&mut last.frame, frame);
                last.erased = erased;
            }
            none => *none = Some(OnAir { frame: frame.clone(), erased }),
        }
    }

    /// Every station in range hears a frame. Returns which of several packets its receiver's link loses.
    fn spread(&mut self, now: Instant, node: u32, frame: &Frame) -> Option<Box<Bitmap>> {
        let signal = Signal::of(frame);
        let mut erased = None;
        for hearer in self.hearers.of(NodeId(node)) {
            let unicast = frame.to == Some(hearer.node);
            let mut lost = false;
            if hearer.lossy && hearer.decodable {
                if unicast && frame.burst.is_several() {
                    let lost = self.losses.lose_packets(now, hearer.node, frame, &self.config.phy);
                    erased = Some(Box::new(lost));
                } else {
                    lost = self.losses.lose(now, frame.from, hearer.node, frame.size);
                }
            }
            let decodable = hearer.decodable && !lost;
            let arrival = signal.at(now + hearer.delay, hearer.power, decodable, unicast);
            let mine = arrival.mine();
            if mine && hearer.delay < NEAR {
                if let (None, Some(mpdu)) = (frame.to, frame.burst.first()) {
                    self.packets.expect_reader(handle(mpdu));
                }
                self.queue.schedule(arrival.end(), Event::FrameEnds { node: hearer.node.0, from: node });
            } else if mine {
                let copy = self.far.add(frame, erased.as_deref(), &mut self.packets);
                self.queue.schedule(arrival.end(), Event::FarFrameEnds { node: hearer.node.0, copy });
            } else if decodable && self.nodes[hearer.node.index()].listens.to(frame.kind) {
                let listener = hearer.node.0;
                let event = if hearer.delay < NEAR {
                    Event::Overheard { node: listener, from: node }
                } else {
                    let copy = self.far.add(frame, None, &mut self.packets);
                    Event::FarOverheard { node: listener, copy }
                };
                self.queue.schedule(arrival.end(), event);
            }
            let station = &mut self.nodes[hearer.node.index()].station;
            if let Some(not_before) = station.hear(now, arrival, &self.config) {
                self.queue.postpone_station(hearer.node.0, arrival.start, not_before);
            }
        }
        erased
    }

    /// The same of a frame for one station, where no relay listens and no link loses frames: the loop over all who hear it asks only
    /// who that is. Not inlined, since what surrounds it would leave it too few registers.
    #[inline(never)]
    fn spread_among_bystanders(&mut self, now: Instant, node: u32, to: NodeId, frame: &Frame) {
        let signal = Signal::of(frame);
        let mut addressee = None;
        for hearer in self.hearers.of(NodeId(node)) {
            if hearer.node == to {
                addressee = Some(hearer);
                continue;
            }
            let arrival = signal.passing(now + hearer.delay, hearer.power, hearer.decodable);
            let station = &mut self.nodes[hearer.node.index()].station;
            if let Some(not_before) = station.hear(now, arrival, &self.config) {
                self.queue.postpone_station(hearer.node.0, arrival.start, not_before);
            }
        }
        let Some(Hearer { delay, power, decodable, .. }) = addressee else { return };
        let arrival = signal.at(now + delay, power, decodable, true);
        if arrival.mine() {
            let event = if delay < NEAR {
                Event::FrameEnds { node: to.0, from: node }
            } else {
                let copy = self.far.add(frame, None, &mut self.packets);
                Event::FarFrameEnds { node: to.0, copy }
            };
            self.queue.schedule(arrival.end(), event);
        }
        let station = &mut self.nodes[to.index()].station;
        if let Some(not_before) = station.hear(now, arrival, &self.config) {
            self.queue.postpone_station(to.0, arrival.start, not_before);
        }
    }

    /// The receiver gets a copy: the sender keeps its own until it is acknowledged.
    fn deliver(&mut self, node: u32, packet: &MacPacket, from: NodeId) {
        let carried = self.packets.get(packet.handle);
        if let Body::Arp(message) = carried.body {
            return self.arp_input(node, message);
        }
        if carried.is_probe() {
            return;
        }
        let now = self.now();
        let packet = self.packets.copy(packet.handle);
        let copy = self.packets.get_mut(packet);
        copy.travelled += 1;
        copy.arrived = now;
        self.note_arrived(node, packet);
        let handed_on = self.hosts.as_mut().map_or(now, |hosts| hosts.hand_on(node, now));
        let at = handed_on + LINK_LAYER_DELAY;
        self.queue.schedule(at, Event::NetworkInput { node, packet, from: from.0 });
    }

    fn packet_sent(&mut self, node: u32, packet: &MacPacket) {
        self.exchange_ended(node, packet.handle, true);
        match packet.to {
            Some(to) => {
                self.note_through(node, packet);
                self.nodes[node as usize].links.toward(to).carried += 1;
                self.packets.remove(packet.handle);
                self.link_event(node, to, LinkEvent::Acknowledged);
            }
            None => self.packets.sender_done(packet.handle),
        }
    }

    fn packet_given_up(&mut self, node: u32, packet: &MacPacket) {
        let to = packet.to.unwrap_or_else(|| panic!("a broadcast was given up: {packet:?}"));
        self.exchange_ended(node, packet.handle, false);
        self.note_through(node, packet);
        let class = self.packets.get(packet.handle).class;
        self.nodes[node as usize].links.toward(to).given_up(class);
        match class {
            // ns-2's routing learns nothing of its own packets (ns2-behaviour 3.8, 5.5).
            Class::Control => {
                self.packets.remove(packet.handle);
                self.link_event(node, to, LinkEvent::ControlGivenUp);
            }
            Class::Arp => self.packets.remove(packet.handle),
            Class::Data | Class::Ack => self.link_failed(node, to, packet.handle),
        }
    }
}

/// What the store knows a packet in a frame by.
const fn handle(mpdu: &Mpdu) -> Handle {
    mpdu.packet.handle
}
