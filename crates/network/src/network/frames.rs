//! Frames that end at receivers, and what stations ask for.

use super::Network;
use super::link_layer::LINK_LAYER_DELAY;
use crate::air::Ends;
use crate::event::{Event, InterfaceId};
use crate::measure::LossCause;
use crate::watch::Watch;
use meshpace_radio::{Action, Category, Frame, Header, MacPacket, Mpdu, Outcome, Peer};
use meshpace_relay::Heard;
use meshpace_relay::packet::{Body, Class, Handle};
use meshpace_routing::LinkEvent;
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// The last bit of the frame that the station `from` sent arrives at an interface on its air.
    pub(super) fn frame_ends(&mut self, at: InterfaceId, from: u32, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        let on = self.airs.id(at);
        let (air, station) = self.airs.at_mut(at);
        let node = air.node(station);
        let (end, frame, listens) = air.frame_ends(now, (from, station), &mut self.mac_actions);
        let broadcast = if frame.to.is_none() { frame.packet.as_ref().map(handle) } else { None };
        if end.outcome != Outcome::Read {
            watch.lost(now, on, node, frame, &end);
        }
        if listens.to_all() && end.any() {
            let frame = frame.clone();
            self.tell_heard(at, &Heard { frame: &frame, read: end.partly.as_deref(), mine: true });
        }
        self.carry_out(at, watch);
        if let Some(packet) = broadcast {
            self.packets.reader_done(packet);
        }
    }

    /// The last bit of a frame from far away arrives at an interface.
    pub(super) fn far_frame_ends(&mut self, at: InterfaceId, copy: u32, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        let (air, station) = self.airs.at_mut(at);
        let (node, listens) = (air.node(station), air.listens(station));
        let (end, frame) = air.far_frame_ends(now, (copy, station), &mut self.mac_actions);
        if end.outcome != Outcome::Read {
            watch.lost(now, self.airs.id(at), node, &frame, &end);
        }
        if listens.to_all() && end.any() {
            self.tell_heard(at, &Heard { frame: &frame, read: end.partly.as_deref(), mine: true });
        }
        self.carry_out(at, watch);
        self.forget_far(&frame);
    }

    /// The last bit of a frame that the station `from` sent for another station arrives at an interface, which listens.
    pub(super) fn overheard(&mut self, at: InterfaceId, from: u32) {
        let frame = self.airs.at(at).0.latest(from).clone();
        self.overhear(at, &frame);
    }

    /// The last bit of a frame from far away that is for another station arrives at an interface, which listens.
    pub(super) fn far_overheard(&mut self, at: InterfaceId, copy: u32) {
        let frame = self.airs.at_mut(at).0.take_far(copy);
        self.overhear(at, &frame);
        self.forget_far(&frame);
    }

    /// A copy of a frame has come to whom it was for; so have the copies of its packets.
    fn forget_far(&mut self, frame: &Frame) {
        frame.packets().iter().for_each(|mpdu| self.packets.remove(mpdu.packet.handle));
    }

    /// Part of the events that it serves: where relays listen, every frame comes here at dozens of them.
    #[inline(always)]
    fn overhear(&mut self, at: InterfaceId, frame: &Frame) {
        let now = self.now();
        let (air, station) = self.airs.at_mut(at);
        if air.overhear(now, station, frame.from) {
            self.tell_heard(at, &Heard { frame, read: None, mine: false });
            self.wake(at);
        }
    }

    /// A station's deadline.
    pub(super) fn station_alarm(&mut self, at: InterfaceId, watch: &mut (impl Watch + ?Sized)) {
        let now = self.now();
        let (air, station) = self.airs.at_mut(at);
        if air.settles_frames() && air.wins(now, station) {
            let more = air.choose_mode(now, station);
            if more && air.aggregates() {
                self.join(at, None);
            }
        }
        let (air, station) = self.airs.at_mut(at);
        air.timer(now, station, &mut self.mac_actions);
        if self.mac_actions.is_empty() {
            // A bystander looked up and found the medium busy: by far the commonest case.
            self.queue.set_station(at, air.deadline(station));
        } else {
            self.carry_out(at, watch);
        }
    }

    /// Carries out what a station, which has been brought up to now, asks for, if anything; sets its alarm, and hands it its next packet
    /// if it takes one.
    #[inline(always)]
    fn carry_out(&mut self, at: InterfaceId, watch: &mut (impl Watch + ?Sized)) {
        if !self.mac_actions.is_empty() {
            self.act(at, watch);
        }
        let (air, station) = self.airs.at(at);
        if air.fixes_ahead() {
            self.fix_ahead(at);
            self.set_station(at);
        } else if !air.takes(station) || self.nodes.interface(at).is_empty() {
            self.queue.set_station(at, air.deadline(station));
        } else if !self.hand_over(at) {
            self.set_station(at);
        }
    }

    /// Hands the station what goes with a frame that it has begun, and further frames as long as it takes them: each gets what
    /// waits now, and no more before its turn.
    #[inline(never)]
    fn fix_ahead(&mut self, at: InterfaceId) {
        loop {
            let (air, station) = self.airs.at(at);
            let categories = air.station(station).categories();
            for category in categories.iter() {
                self.join(at, Some(category));
                let (air, station) = self.airs.at_mut(at);
                air.fix(station, category);
            }
            let (air, station) = self.airs.at(at);
            if !(air.takes(station) && self.offer(at)) {
                return;
            }
        }
    }

    /// Apart from [`Network::carry_out`]: half of the frames that end, and of the deadlines, ask for nothing.
    #[inline(never)]
    fn act(&mut self, at: InterfaceId, watch: &mut (impl Watch + ?Sized)) {
        let mut actions = std::mem::take(&mut self.mac_actions);
        for action in &actions {
            match action {
                Action::Transmit(header) => self.transmit(at, header, watch),
                Action::Deliver { packet, from, seq: None, .. } => self.deliver(at, packet, *from),
                Action::Deliver { packet, from, seq: Some(seq), more } => {
                    let from = Peer { node: *from, priority: packet.priority };
                    self.deliver_in_order(at, packet, from, (*seq, *more));
                }
                Action::Release { from, start } => self.release(at, *from, *start),
                Action::Sent(packet) => self.packet_sent(at, packet),
                Action::GaveUp(packet) => self.packet_given_up(at, packet),
                Action::Exchanged(exchange) => {
                    let now = self.now();
                    let (air, station) = self.airs.at_mut(at);
                    air.exchange_ended(now, station, exchange);
                }
            }
        }
        actions.clear();
        self.mac_actions = actions;
    }

    /// Hands the station its next packet, if it takes one and there is one; then sets its alarm. Without a packet its alarm
    /// stays: it may have been postponed since the station was looked at last.
    pub(super) fn wake(&mut self, at: InterfaceId) {
        let (air, station) = self.airs.at(at);
        if air.takes(station) && self.offer(at) && self.airs.at(at).0.fixes_ahead() {
            self.fix_ahead(at);
        }
    }

    /// The alarm of a station rings when that wants to be called next.
    #[inline(always)]
    fn set_station(&mut self, at: InterfaceId) {
        let (air, station) = self.airs.at(at);
        self.queue.set_station(at, air.deadline(station));
    }

    /// Hands the station, which takes one, its next packet if there is one, and sets its alarm then.
    #[inline(always)]
    fn offer(&mut self, at: InterfaceId) -> bool {
        !self.nodes.interface(at).is_empty() && self.hand_over(at)
    }

    /// Hands the station what goes in one frame with the packets that it has, of a category; `None`: of the one that has won.
    #[inline(never)]
    fn join(&mut self, at: InterfaceId, category: Option<Category>) {
        let (air, station) = self.airs.at_mut(at);
        let mut left = air.room(station, category);
        while let Some((to, room)) = left {
            let Some(handle) = self.dequeue_to(at, to, room) else { return };
            let offered = self.taken(at, handle);
            let (air, station) = self.airs.at_mut(at);
            left = air.join(station, offered, room);
        }
    }

    /// Apart from [`Network::offer`], which mostly finds that no packet waits.
    #[inline(never)]
    fn hand_over(&mut self, at: InterfaceId) -> bool {
        let Some(handle) = self.dequeue(at) else { return false };
        let offered = self.taken(at, handle);
        let now = self.now();
        let (air, station) = self.airs.at_mut(at);
        air.offer(now, station, offered);
        // Of another category, where there are several. Frames that are fixed ahead get what goes with them first.
        if air.takes(station) && !air.fixes_ahead() && self.offer(at) {
            return true;
        }
        self.set_station(at);
        true
    }

    /// The station of an interface takes a packet: as it sees it.
    #[inline(always)]
    fn taken(&mut self, at: InterfaceId, handle: Handle) -> MacPacket {
        self.note_taken(at, handle);
        let now = self.now();
        let packet = self.packets.get(handle);
        let (air, station) = self.airs.at(at);
        let mode = air.mode(air.node(station), packet.next_hop);
        let priority = self.priority(at, handle);
        let offered = MacPacket { handle, to: packet.next_hop, size: packet.size, mode, priority };
        if let Some(exchanges) = self.nodes.interface_mut(at).exchanges() {
            exchanges.offered(now, &offered);
        }
        offered
    }

    fn transmit(&mut self, at: InterfaceId, header: &Header, watch: &mut (impl Watch + ?Sized)) {
        let (now, on) = (self.now(), self.airs.id(at));
        let (air, station) = self.airs.at_mut(at);
        let frame = air.begins(station, header);
        if let Some(mpdu) = &header.packet {
            watch.frame(now, on, frame, &[self.packets.get(handle(mpdu))]);
            self.note_attempt(at, &mpdu.packet);
        } else if header.is_several() {
            self.show_several(at, watch);
        } else {
            watch.frame(now, on, frame, &[]);
        }
        if let Some(exchanges) = self.nodes.interface_mut(at).exchanges() {
            let (air, station) = self.airs.at(at);
            let in_hand = air.station(station).in_hand();
            if let Some(report) = exchanges.transmits(now, air.latest(station), in_hand) {
                self.report_to_relay(at, &report);
            }
        }
        let (air, station) = self.airs.at_mut(at);
        air.send(now, station, header, &mut Ends { queue: &mut self.queue, packets: &mut self.packets });
    }

    /// Apart from [`Network::transmit`]: a frame of several packets goes on the air.
    #[cold]
    #[inline(never)]
    fn show_several(&mut self, at: InterfaceId, watch: &mut (impl Watch + ?Sized)) {
        let (air, station) = self.airs.at(at);
        let frame = air.latest(station);
        if watch.wants_frames() {
            let packets: Vec<_> = frame.packets().iter().map(|mpdu| self.packets.get(handle(mpdu))).collect();
            watch.frame(self.now(), self.airs.id(at), frame, &packets);
        }
        let frame = frame.clone();
        for mpdu in frame.packets() {
            self.note_attempt(at, &mpdu.packet);
        }
    }

    /// The receiver gets a copy: the sender keeps its own until it is acknowledged.
    fn deliver(&mut self, at: InterfaceId, packet: &MacPacket, from: NodeId) {
        let carried = self.packets.get(packet.handle);
        if let Body::Arp(message) = carried.body {
            return self.arp_input(at, message);
        }
        if carried.is_probe() {
            return;
        }
        let packet = self.copy_arrived(packet.handle);
        self.hand_up(at, packet, from);
    }

    /// The receiver's copy of a packet that has just arrived.
    #[inline]
    pub(super) fn copy_arrived(&mut self, sent: Handle) -> Handle {
        let now = self.now();
        let packet = self.packets.copy(sent);
        let copy = self.packets.get_mut(packet);
        copy.travelled += 1;
        copy.arrived = now;
        packet
    }

    /// A packet that arrived goes up to the network layer.
    #[inline]
    pub(super) fn hand_up(&mut self, at: InterfaceId, packet: Handle, from: NodeId) {
        let (now, node) = (self.now(), self.airs.node(at));
        self.note_arrived(node, packet);
        let reaches = self.nodes.hand_on(node, now) + LINK_LAYER_DELAY;
        self.queue.schedule(reaches, Event::NetworkInput { at, packet, from });
    }

    fn packet_sent(&mut self, at: InterfaceId, packet: &MacPacket) {
        self.exchange_ended(at, packet.handle, true);
        match packet.to {
            Some(to) => {
                self.note_through(at, packet);
                self.nodes.interface_mut(at).toward(to).carried += 1;
                self.packets.remove(packet.handle);
                self.link_event(self.airs.node(at), to, LinkEvent::Acknowledged);
            }
            None => self.packets.sender_done(packet.handle),
        }
    }

    fn packet_given_up(&mut self, at: InterfaceId, packet: &MacPacket) {
        let to = packet.to.unwrap_or_else(|| panic!("a broadcast was given up: {packet:?}"));
        self.exchange_ended(at, packet.handle, false);
        self.note_through(at, packet);
        let class = self.packets.get(packet.handle).class;
        self.nodes.interface_mut(at).toward(to).given_up(class);
        match class {
            // ns-2's routing learns nothing of its own packets (ns2-behaviour 3.8, 5.5).
            Class::Control => {
                self.packets.remove(packet.handle);
                self.link_event(self.airs.node(at), to, LinkEvent::ControlGivenUp);
            }
            Class::Arp => self.packets.remove(packet.handle),
            // No report: a real host's kernel hears nothing from its radio, either.
            Class::Data | Class::Ack if self.is_frame(packet.handle) => {
                self.note_loss(self.airs.node(at), packet.handle, LossCause::GivenUp);
                self.packets.remove(packet.handle);
            }
            Class::Data | Class::Ack => self.link_failed(self.airs.node(at), to, packet.handle),
        }
    }
}

/// What the store knows a packet in a frame by.
const fn handle(mpdu: &Mpdu) -> Handle {
    mpdu.packet.handle
}
