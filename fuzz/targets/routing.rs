//! The routing of one node among neighbours that tell it what they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_random::Stream;
use meshpace_routing::{
    Action, Control, DsdvConfig, DsdvRoute, DsdvUpdate, PacketInfo, Protocol, Rerr, Rrep, Rreq, ShortestPaths,
};
use meshpace_units::{Instant, NodeId, Span};

/// The node under test; the others have the numbers after it.
const ME: NodeId = NodeId(0);
const NODES: u8 = 6;
/// Packets that may wait for routes: AODV's send buffer, and more than DSDV's queues for so few nodes.
const WAITING: usize = 64;
/// Actions that one call may ask for: the whole send buffer and a message for each.
const ACTIONS: usize = 500;

#[derive(Arbitrary, Debug)]
struct Input {
    protocol: Kind,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Kind {
    AodvNs2,
    AodvRfc3561,
    Dsdv { use_mac: bool, converged: bool },
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
            Self::Rreq { id, ends, seqno, asked, hops, sent, gratuitous } => Control::Rreq(Rreq {
                id,
                originator: any_node(ends.0),
                originator_seqno: seqno,
                destination: any_node(ends.1),
                destination_seqno: asked,
                hops,
                sent: time(sent),
                gratuitous,
            }),
            Self::Rrep { ends, seqno, hops, lifetime, sent } => Control::Rrep(Rrep {
                originator: any_node(ends.0),
                destination: any_node(ends.1),
                destination_seqno: seqno,
                hops,
                lifetime: Span::from_millis(u64::from(lifetime)),
                request_sent: time(sent),
            }),
            Self::Rerr { ref unreachable, no_delete } => Control::Rerr(Rerr {
                unreachable: unreachable.iter().map(|&(node, seqno)| (any_node(node), seqno)).collect(),
                no_delete,
            }),
            Self::Dsdv { ref routes } => {
                let route = |&(node, hops, seqno): &_| DsdvRoute { destination: any_node(node), hops, seqno };
                Control::DsdvUpdate(DsdvUpdate { routes: routes.iter().map(route).collect() })
            }
        }
    }
}

fn protocol(kind: &Kind) -> Protocol<usize> {
    let jitter = Stream::new(1, "routing", u64::from(ME.0));
    match *kind {
        Kind::AodvNs2 => Protocol::aodv_ns2(ME, jitter),
        Kind::AodvRfc3561 => Protocol::aodv_rfc3561(ME, jitter),
        Kind::Dsdv { use_mac, converged } => {
            let config = DsdvConfig { use_mac, ..DsdvConfig::default() };
            // A chain.
            let next_to = |node: u32| [node.checked_sub(1), Some(node + 1).filter(|&n| n < u32::from(NODES))];
            let neighbours: Vec<Vec<_>> = (0..u32::from(NODES))
                .map(|node| next_to(node).into_iter().flatten().map(NodeId).collect())
                .collect();
            let paths = ShortestPaths::new(&neighbours);
            Protocol::dsdv(ME, config, converged.then_some(&paths), jitter)
        }
    }
}

/// Where a data packet is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Routing,
    Mac { next_hop: NodeId },
    Gone,
}

struct World {
    routing: Protocol<usize>,
    now: Instant,
    packets: Vec<(PacketInfo, Place)>,
    out: Vec<Action<usize>>,
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
                self.routing.route(self.now, self.packets.len() - 1, &info, &mut self.out);
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
                self.routing.on_link_failure(self.now, next_hop, at, &info, &mut self.out);
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
            let before = std::mem::replace(&mut self.packets[packet].1, place);
            assert_eq!(before, Place::Routing, "packet {packet} came out twice");
        }
        let waiting = self.packets.iter().filter(|(_, place)| *place == Place::Routing).count();
        assert!(waiting <= WAITING, "{waiting} packets wait");
    }
}

fuzz_target!(|input: Input| {
    let routing = protocol(&input.protocol);
    let mut world = World { routing, now: Instant::ZERO, packets: Vec::new(), out: Vec::new() };
    for step in &input.steps {
        world.step(step);
    }
});
