//! What goes into the mesh at a gateway that shares it among hosts.

use super::Network;
use meshpace_gateway::{
    Coming, Echo, Endpoint, FlowHash, FlowKey, Parcel, Passage, Shaped, Side, Sign, Terms,
};
use meshpace_pacing::{LinkRates, Route};
use meshpace_relay::packet::{Body, Class, Host, Packet};
use meshpace_units::{NodeId, Rate};
use std::fmt::Debug;
use std::net::SocketAddr;

impl<T: Copy + Debug> Network<T> {
    /// A packet is between the machine and the mesh.
    pub(super) fn meet_shaper(&mut self, gateway: NodeId, mut packet: Packet) {
        let (now, index) = (self.now(), self.gateways.index(gateway));
        let into_mesh = matches!(packet.to, Host::Mesh(_));
        let Some(mut shaper) = self.gateways.at(index).shaper.take_if(|_| into_mesh) else {
            return self.pass_on(Side::Wired, gateway, packet);
        };
        let (to, path) = (packet.to, packet.path);
        let key = key(packet.destination_end(), packet.source_end());
        if let Body::Tcp(segment) = &mut packet.body {
            let window = shaper.announces(now, packet.destination, (&key, segment), true);
            segment.window = window.unwrap_or(segment.window);
        }
        let parcel = Parcel {
            host: packet.destination,
            flow: FlowHash::new(0, packet.source_end(), packet.destination_end(), packet.body.protocol()),
            size: packet.size,
            ecn: packet.ecn,
            sign: sign(&packet),
            packet,
        };
        shaper.handle(now, parcel, || terms(&self.route_from(gateway, to, path)));
        let this = self.gateways.at(index);
        this.queue_max = this.queue_max.max(shaper.len());
        this.shaper = Some(shaper);
        self.run_shaper(index);
    }

    /// A packet comes from the mesh: the shaper may learn from it how long what went there was under way.
    ///
    /// What becomes of it.
    pub(super) fn tell_shaper(&mut self, index: usize, packet: &Packet) -> Passage {
        let now = self.now();
        let Some(shaper) = &mut self.gateways.at(index).shaper else { return Passage::Passes };
        let key = key(packet.source_end(), packet.destination_end());
        let segment = match &packet.body {
            Body::Tcp(segment) => Some((&key, segment)),
            _ => None,
        };
        let coming = Coming { host: packet.source, size: packet.size, ecn: packet.ecn, segment };
        let passage = shaper.comes(now, &coming);
        if let Some(echo) = echo(packet) {
            shaper.hears(now, echo);
            self.set_gateway_alarm(index);
        }
        passage
    }

    /// A packet leaves the shaper for the mesh: its round trip there begins now.
    fn tell_departure(&mut self, index: usize, packet: &Packet) {
        let now = self.now();
        let Some(machine) = &mut self.gateways.at(index).machine else { return };
        let Body::Tcp(segment) = &packet.body else { return };
        if segment.payload > 0 {
            machine.leaves(
                now,
                &key(packet.destination_end(), packet.source_end()),
                segment.seq,
                segment.end(),
            );
        }
    }

    /// Takes out what a gateway's shaper lets go.
    pub(super) fn run_shaper(&mut self, index: usize) {
        let now = self.now();
        let node = self.gateways.at(index).node;
        if self.gateways.at(index).shaper.is_none() {
            return;
        }
        while let Some(leaves) = self.gateways.at(index).shaper.as_mut().and_then(|shaper| shaper.poll(now)) {
            match leaves {
                Shaped::Passes { mut packet, mark, since, .. } => {
                    self.tell_departure(index, &packet);
                    if packet.class == Class::Data {
                        self.gateways.at(index).waits.record(now - since);
                    }
                    if mark {
                        packet.ecn = packet.ecn.marked().unwrap_or(packet.ecn);
                    }
                    self.pass_on(Side::Wired, node, packet);
                }
                Shaped::Dropped(packet) => self.lose_at_gateway(node, &packet),
            }
        }
        self.set_gateway_alarm(index);
    }
}

fn key(wireless: SocketAddr, wired: SocketAddr) -> FlowKey {
    let end = |end: SocketAddr| Endpoint { address: end.ip(), port: end.port() };
    FlowKey { wireless: end(wireless), wired: end(wired) }
}

/// The round trip that a packet into the mesh begins.
fn sign(packet: &Packet) -> Option<Sign> {
    let Body::Tcp(segment) = &packet.body else { return None };
    let key = key(packet.destination_end(), packet.source_end());
    (segment.payload > 0 && !segment.flags.syn).then(|| Sign::Segment(key, segment.seq, segment.end()))
}

/// What a packet out of the mesh says of one.
fn echo(packet: &Packet) -> Option<Echo> {
    let Body::Tcp(segment) = &packet.body else { return None };
    segment.flags.ack.then(|| Echo::Ack(key(packet.source_end(), packet.destination_end()), segment.ack))
}

/// What a host's packets cost by the way to it: of links of several rates what they take together.
fn terms(route: &Route) -> Terms {
    let (hops, link) = match &route.rates {
        LinkRates::Uniform(rate) => (route.hops.unwrap_or(1), *rate),
        LinkRates::PerLink(rates) => {
            // Picoseconds a bit, which whole numbers hold at any rate.
            let each = |rate: &Rate| 1_000_000_000_000 / rate.as_bits_per_sec().max(1);
            let together: u64 = rates.iter().map(each).sum();
            let mean = (rates.len() as u64 * 1_000_000_000_000) / together.max(1);
            (rates.len() as u32, Rate::bits_per_sec(mean))
        }
    };
    Terms { weight: 1, cap: None, hops: hops.max(1), link }
}
