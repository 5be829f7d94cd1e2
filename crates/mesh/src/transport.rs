//! The ends of the flows: what arrives there, and what the connections send.

use crate::ends::{FlowEnds, Role};
use crate::flow::{RunningFlow, TcpFlow, Transport};
use crate::simulation::{Simulation, Timer};
use meshpace_pacing::{LinkRates, Route};
use meshpace_relay::packet::{Body, Class, Host, Packet, Report, Request, ReturnedFeedback, Ticket};
use meshpace_tcp::{Arrival, Connection, Segment, Transmit};
use std::num::NonZeroU16;

impl Simulation<'_> {
    /// A packet has come to its host.
    pub(crate) fn arrive(&mut self, packet: &Packet) {
        let travelled = u32::from(packet.travelled);
        // A packet for a port without a listener ends here.
        let Some((flow, role)) = self.directory.receiver_of(packet) else { return };
        if role == Role::Receiver {
            let way = self.now().saturating_since(packet.set_out);
            self.meter.flows[flow as usize].came(way);
        }
        match (&packet.body, role) {
            (Body::Udp(datagram), role) => self.datagram_arrives(flow, role, datagram, travelled),
            (Body::Tcp(segment), Role::Receiver) => self.receiver_input(flow, segment, packet),
            (Body::Tcp(segment), Role::Sender) => self.sender_input(flow, segment, packet),
            (Body::Control(_) | Body::Arp(_) | Body::Opaque(_) | Body::Ethernet(_), _) => {
                unreachable!("no end of a flow takes {packet:?}")
            }
        }
    }

    fn receiver_input(&mut self, flow: u32, segment: &Segment, packet: &Packet) {
        let (now, travelled) = (self.now(), u32::from(packet.travelled));
        let index = flow as usize;
        let tcp = self.tcp(flow);
        let received = tcp.receiver.handle_segment(now, segment, &arrival(packet, None));
        tcp.received += received.delivered;
        let segment_size = self.flows[index].spec.segment.0.max(1);
        if let Some(placement) = received.payload {
            let offset = placement.offset - u64::from(placement.skip);
            self.meter.flows[index].arrived(now, offset, travelled);
        }
        self.pump(flow, false);
        if received.delivered > 0 {
            let total = self.tcp(flow).received;
            self.meter.flows[index].forget_below(total);
            self.count_delivery(flow, received.delivered, received.delivered.div_ceil(segment_size));
            self.check_file(flow, total);
        }
        self.after_file(flow);
    }

    fn sender_input(&mut self, flow: u32, segment: &Segment, packet: &Packet) {
        let (now, travelled) = (self.now(), u32::from(packet.travelled));
        let asks = self.tcp(flow).sender.asks();
        let route = asks.route.then(|| self.route_of_flow(flow, travelled));
        let sender = &mut self.tcp(flow).sender;
        sender.handle_segment(now, segment, &arrival(packet, route));
        if self.meter.flows[flow as usize].is_measuring() && segment.flags.ack {
            let pace = self.tcp(flow).sender.pacing();
            self.meter.flows[flow as usize].acknowledged(pace);
        }
        self.pump(flow, true);
        self.after_file(flow);
    }

    /// The wireless way as the sender of a flow that asks for it has it, of an acknowledgement that came over so many links.
    fn route_of_flow(&mut self, flow: u32, travelled: u32) -> Route {
        let RunningFlow { from, paths, .. } = &self.flows[flow as usize];
        let (from, path) = (*from, paths.map(|[_, back]| back));
        if self.tcp(flow).sender.asks().gateway_route {
            return self.network.route_at_gateway(from, path);
        }
        let rates = self.rates_of_flow(flow);
        let tcp = self.tcp(flow);
        if let Some(rates) = rates {
            tcp.rates = rates;
        }
        Route { hops: Some(travelled), rates: tcp.rates.clone() }
    }

    /// The rates of the wireless links ahead of a sender in the mesh, where links differ in rate.
    fn rates_of_flow(&self, flow: u32) -> Option<LinkRates> {
        let RunningFlow { from, ends, paths, .. } = &self.flows[flow as usize];
        if let (Host::Mesh(_), Some([there, _])) = (from, paths) {
            return self.network.rates_on(*there);
        }
        self.network.rates_toward(*from, ends.receiver.ip())
    }

    pub(crate) fn connection_alarm(&mut self, index: u32) {
        let now = self.now();
        if !self.connection_alarms[index as usize].rings(now) {
            return;
        }
        let (flow, sender) = (index / 2, index % 2 == 0);
        self.flows[flow as usize].connection(sender).handle_timeout(now);
        self.pump(flow, sender);
        self.after_file(flow);
    }

    /// A segment with data of a connection has left its host.
    pub(crate) fn left_host(&mut self, ticket: Ticket) {
        let index = u32::from(ticket.0.get()) - 1;
        let (flow, sender) = (index / 2, index % 2 == 0);
        let now = self.now();
        self.flows[flow as usize].connection(sender).handle_departure(now);
        self.pump(flow, sender);
        self.after_file(flow);
    }

    fn tcp(&mut self, flow: u32) -> &mut TcpFlow {
        self.flows[flow as usize].tcp()
    }

    /// Sends what a connection has to send, and sets its alarm.
    pub(crate) fn pump(&mut self, flow: u32, sender: bool) {
        let now = self.now();
        let Self { network, flows, meter, connection_alarms, .. } = self;
        let (this, meter) = (&mut flows[flow as usize], &mut meter.flows[flow as usize]);
        let (here, number) = (if sender { this.from } else { this.to }, end_of(flow, sender));
        while let Some(transmit) = this.connection(sender).poll_transmit(now) {
            if sender && transmit.first_transmission {
                meter.sent_first(now, transmit.offset);
                this.application.first_packet.get_or_insert(now);
            }
            let counts = transmit.segment.payload > 0 && this.connection(sender).asks_departures();
            network.send_told(here, this.packet(sender, &transmit), counts.then(|| ticket(number)));
        }
        let connection = this.connection(sender);
        while connection.poll_event().is_some() {}
        let deadline = connection.poll_timeout();
        network.arm(&mut connection_alarms[number as usize], deadline, Timer::Connection(number));
    }

    /// `bytes` of payload arrived in order; `packets` of them for the batches.
    pub(crate) fn count_delivery(&mut self, flow: u32, bytes: u64, packets: u64) {
        if self.meter.delivered(self.now(), flow as usize, bytes, packets) {
            self.measurement_begins();
        }
    }

    /// True if the flow's pacing happens at the gateway: its data come from the wired part.
    pub(crate) fn is_downward(&self, flow: usize) -> bool {
        matches!((self.flows[flow].from, self.flows[flow].to), (Host::Wired(_), Host::Mesh(_)))
    }
}

impl RunningFlow<'_> {
    /// Its TCP.
    fn tcp(&mut self) -> &mut TcpFlow {
        match &mut self.transport {
            Transport::Tcp(tcp) => tcp,
            Transport::Udp(_) => unreachable!("{} runs over TCP", self.spec.id),
        }
    }

    /// One of its two connections.
    fn connection(&mut self, sender: bool) -> &mut Connection {
        let tcp = self.tcp();
        if sender { &mut tcp.sender } else { &mut tcp.receiver }
    }

    /// The packet with a segment of one of its two connections.
    #[inline(always)]
    fn packet(&mut self, sender: bool, transmit: &Transmit) -> Packet {
        let size = self.connection(sender).wire_length(&transmit.segment);
        let FlowEnds { sender: first, receiver: second } = &self.ends;
        let (source, destination) = if sender { (first, second) } else { (second, first) };
        let class = if sender || transmit.segment.payload > 0 { Class::Data } else { Class::Ack };
        let body = Body::Tcp(transmit.segment);
        let mut packet = Packet::new(source.ip(), destination.ip(), size, class, body);
        (packet.ecn, packet.dscp) = (transmit.ecn, self.spec.dscp);
        packet.path = self.paths.map(|[there, back]| if sender { there } else { back });
        packet.account = self.account;
        if transmit.request.is_some() || transmit.answer.is_some() || transmit.report.is_some() {
            self.add_headers(sender, transmit, &mut packet);
        }
        packet
    }

    /// The sender's request to relays, or the request as the receiver returns it with its report, beside
    /// TCP's header.
    #[cold]
    fn add_headers(&mut self, sender: bool, transmit: &Transmit, packet: &mut Packet) {
        let length = self.tcp().sender.asks().relays.unwrap_or(0);
        if let Some(said) = transmit.request {
            packet.set_shim(&Request { said, length });
        }
        if let Some(said) = transmit.answer {
            packet.set_shim(&ReturnedFeedback { said, length });
        }
        if let Some(said) = transmit.report {
            let length = self.connection(sender).report_length().unwrap_or(0);
            packet.set_shim(&Report { said, length });
        }
    }
}

/// The number of one of a flow's two connections.
fn end_of(flow: u32, sender: bool) -> u32 {
    2 * flow + u32::from(!sender)
}

/// The ticket of a connection's packets, by which the connection learns that they have left. The scenario
/// bounds the number of flows (10,000).
fn ticket(end: u32) -> Ticket {
    let number = u16::try_from(1 + end).ok().and_then(NonZeroU16::new);
    Ticket(number.unwrap_or_else(|| panic!("no ticket is left for end {end}")))
}

/// What an end point learns of the packet that brings a segment.
#[inline(always)]
fn arrival(packet: &Packet, route: Option<Route>) -> Arrival {
    Arrival {
        route,
        request: packet.shim().map(|request: Request| request.said),
        feedback: packet.shim().map(|answer: ReturnedFeedback| answer.said),
        report: packet.shim().map(|report: Report| report.said),
        ecn: packet.ecn,
    }
}
