//! The routing of one node among neighbours that tell it what they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_keys::{Key, Kind, Setting, Values};
use meshpace_routing::{
    Action, BabelPacket, BabelTlv, Control, Cost, DsdvRoute, DsdvUpdate, Handle, LinkEvent, METRICS,
    PROTOCOLS, PacketInfo, Rerr, RoutingProtocol, Rrep, Rreq, ShortestPaths, Site,
};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};
use std::sync::Arc;

/// The node under test; the others have the numbers after it.
const ME: NodeId = NodeId(0);
const NODES: u8 = 6;
/// Packets that may wait for routes: AODV's send buffer, and more than DSDV's queues for so few nodes.
const WAITING: usize = 64;
/// Actions that one call may ask for: the whole send buffer and a message for each.
const ACTIONS: usize = 500;

#[derive(Arbitrary, Debug)]
struct Input {
    /// Of the table.
    protocol: u8,
    profile: u8,
    /// A value of each of its keys that is not the default, where there is one.
    unusual: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Control {
        from: u8,
        ttl: u8,
        message: Message,
    },
    Packet {
        own: bool,
        source: u8,
        destination: u8,
        travelled: u8,
        ttl: u8,
    },
    /// The MAC gives up one of the packets handed to it.
    Failure(u8),
    /// The MAC found out something of a link.
    Link {
        to: u8,
        acknowledged: bool,
    },
    /// Microseconds, then whatever is due by the end of them.
    Wait(u32),
    /// Until the next timer.
    Sleep,
}

/// A routing packet with numbers as wide as on the wire; times in milliseconds.
#[derive(Arbitrary, Debug)]
enum Message {
    Rreq { id: u32, ends: (u8, u8), seqno: u32, asked: Option<u32>, hops: u8, sent: u32, gratuitous: bool },
    Rrep { ends: (u8, u8), seqno: u32, hops: u8, lifetime: u32, sent: u32 },
    Rerr { unreachable: Vec<(u8, u32)>, no_delete: bool },
    Dsdv { routes: Vec<(u8, Option<u8>, u32)> },
    Babel { tlvs: Vec<(u8, u8, u16, u16, u16)> },
}

fn any_node(number: u8) -> NodeId {
    NodeId(u32::from(number % NODES))
}

fn other_node(number: u8) -> NodeId {
    NodeId(1 + u32::from(number % (NODES - 1)))
}

impl Message {
    fn control(&self) -> Control {
        let time = |ms: u32| Instant::ZERO + Span::from_millis(u64::from(ms));
        match *self {
            Self::Rreq { id, ends, seqno, asked, hops, sent, gratuitous } => Control::from(Rreq {
                id,
                originator: any_node(ends.0),
                originator_seqno: seqno,
                destination: any_node(ends.1),
                destination_seqno: asked,
                hops,
                sent: time(sent),
                gratuitous,
            }),
            Self::Rrep { ends, seqno, hops, lifetime, sent } => Control::from(Rrep {
                originator: any_node(ends.0),
                destination: any_node(ends.1),
                destination_seqno: seqno,
                hops,
                lifetime: Span::from_millis(u64::from(lifetime)),
                request_sent: time(sent),
            }),
            Self::Rerr { ref unreachable, no_delete } => Control::from(Rerr {
                unreachable: unreachable.iter().map(|&(node, seqno)| (any_node(node), seqno)).collect(),
                no_delete,
            }),
            Self::Dsdv { ref routes } => {
                let route = |&(node, hops, seqno): &_| DsdvRoute { destination: any_node(node), hops, seqno };
                Control::from(DsdvUpdate { routes: routes.iter().map(route).collect() })
            }
            Self::Babel { ref tlvs } => {
                let tlv = |&(kind, node, seqno, metric, hundredths): &(u8, u8, u16, u16, u16)| {
                    let (destination, interval) =
                        (any_node(node), Span::from_millis(10 * u64::from(hundredths)));
                    match kind % 6 {
                        0 => BabelTlv::Hello { seqno, interval },
                        1 => BabelTlv::Ihu { neighbour: destination, rxcost: metric, interval },
                        2 => BabelTlv::Update { destination, seqno, metric, interval },
                        3 => BabelTlv::RouteRequest(Some(destination)),
                        4 => BabelTlv::RouteRequest(None),
                        _ => BabelTlv::SeqnoRequest { destination, seqno, hops: metric as u8 },
                    }
                };
                Control::from(BabelPacket { tlvs: tlvs.iter().map(tlv).collect() })
            }
        }
    }
}

fn protocol(input: &Input) -> Box<dyn RoutingProtocol<Handle>> {
    let part = PROTOCOLS[usize::from(input.protocol) % PROTOCOLS.len()];
    let profile = &part.build[usize::from(input.profile) % part.build.len()];
    let value = |key: &Key| {
        let default = key.default.and_then(|preset| preset.setting()).expect("parameters have defaults");
        let other = match key.kind {
            Kind::Choice(words) => words.last().map(|word| Setting::Text((*word).to_owned())),
            Kind::Flag => Some(Setting::Flag(true)),
            _ => None,
        };
        other.filter(|_| input.unusual).unwrap_or(default)
    };
    let values = Values::new(part.about.keys().map(|key| (key.name, value(key))));
    // A chain.
    let next_to = |node: u32| [node.checked_sub(1), Some(node + 1).filter(|&n| n < u32::from(NODES))];
    let neighbours: Vec<Vec<_>> =
        (0..u32::from(NODES)).map(|node| next_to(node).into_iter().flatten().map(NodeId).collect()).collect();
    let paths = Arc::new(ShortestPaths::new(&neighbours, |_, _| Cost::ONE));
    let stream = |name| Stream::new(1, name, u64::from(ME.0));
    let metric = METRICS[0].build;
    (profile.build)(&Site { me: ME, values: &values, paths: &paths, metric, stream: &stream })
}

/// Where a data packet is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Routing,
    Mac { next_hop: NodeId },
    Gone,
}

struct World {
    routing: Box<dyn RoutingProtocol<Handle>>,
    now: Instant,
    packets: Vec<(PacketInfo, Place)>,
    out: Vec<Action<Handle>>,
}

impl World {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Control { from, ttl, ref message } => {
                // A packet that was sent with no time to live is dropped by IP.
                let (from, ttl) = (other_node(from), ttl.max(1));
                self.routing.on_control(self.now, from, ttl, &message.control(), &mut self.out);
            }
            Step::Packet { own, source, destination, travelled, ttl } => {
                let (source, travelled, ttl) = if own {
                    (ME, 0, self.routing.data_ttl())
                } else {
                    (any_node(source), 1 + u32::from(travelled), ttl)
                };
                let info = PacketInfo { source, destination: other_node(destination), travelled, ttl };
                self.packets.push((info, Place::Routing));
                let packet = (self.packets.len() - 1) as Handle;
                self.routing.route(self.now, packet, &info, &mut self.out);
            }
            Step::Failure(which) => {
                let in_mac = self.packets.iter().enumerate().filter_map(|(at, &(info, place))| match place {
                    Place::Mac { next_hop } => Some((at, info, next_hop)),
                    Place::Routing | Place::Gone => None,
                });
                let in_mac: Vec<_> = in_mac.collect();
                let Some(nth) = usize::from(which).checked_rem(in_mac.len()) else { return };
                let (at, info, next_hop) = in_mac[nth];
                self.packets[at].1 = Place::Routing;
                self.routing.on_link_failure(self.now, next_hop, at as Handle, &info, &mut self.out);
            }
            Step::Link { to, acknowledged } => {
                let event = if acknowledged { LinkEvent::Acknowledged } else { LinkEvent::ControlGivenUp };
                self.routing.on_link_event(self.now, other_node(to), event, &mut self.out);
            }
            Step::Wait(us) => self.wait_until(self.now + Span::from_micros(u64::from(us))),
            Step::Sleep => self.wait_until(self.routing.poll_timeout().unwrap_or(self.now).max(self.now)),
        }
        self.act();
    }

    fn wait_until(&mut self, end: Instant) {
        while let Some(at) = self.routing.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.routing.handle_timeout(self.now, &mut self.out);
            self.act();
            let next = self.routing.poll_timeout();
            assert!(next.is_none_or(|next| next > self.now), "{next:?} is due at {:?}", self.now);
        }
        self.now = end;
    }

    fn act(&mut self) {
        assert!(self.out.len() <= ACTIONS, "{} actions", self.out.len());
        for action in self.out.drain(..) {
            let (packet, place) = match action {
                Action::SendData { packet, next_hop, .. } => (packet, Place::Mac { next_hop }),
                Action::Drop { packet, .. } => (packet, Place::Gone),
                Action::SendControl { message, ttl, .. } => {
                    assert!(ttl > 0, "{message:?} with no time to live");
                    continue;
                }
                Action::PurgeQueue { .. } => continue,
            };
            let before = std::mem::replace(&mut self.packets[packet as usize].1, place);
            assert_eq!(before, Place::Routing, "packet {packet} came out twice");
        }
        let waiting = self.packets.iter().filter(|(_, place)| *place == Place::Routing).count();
        assert!(waiting <= WAITING, "{waiting} packets wait");
    }
}

fuzz_target!(|input: Input| {
    let routing = protocol(&input);
    let mut world = World { routing, now: Instant::ZERO, packets: Vec::new(), out: Vec::new() };
    for step in &input.steps {
        world.step(step);
    }
});
