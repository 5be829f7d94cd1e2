//! Babel (RFC 8966), as babeld 1.14 acts where the RFC leaves a choice.
//!
//! Every node says Hello, and tells each neighbour how well it hears it; what a link costs comes of both. Updates tell of ways, with
//! a number from the destination itself. A way is taken if it is feasible, which no way through this node is; a node whose ways have all
//! become infeasible asks the destination for a new number. A node tells of one address, its own. Left out: authentication, source-specific routes,
//! costs by round trips, unicast Hellos, acknowledgement requests (urgent updates are repeated instead, as babeld does).

mod again;
mod asking;
mod link;
mod message;
mod table;
mod telling;

#[cfg(test)]
mod tests;

pub use message::{BabelPacket, BabelTlv};

use crate::action::refusal;
use crate::{
    Action, Control, DropReason, PacketInfo, Profile, ProtocolPart, Recipient, RoutingProtocol, Site,
};
use asking::Asking;
use link::{Hellos, Kind};
use meshpace_keys::{Key, Preset, real};
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span, quantity};
use message::INFINITE;
use std::collections::BTreeMap;
use table::{Route, Table};
use telling::Telling;

pub(super) static PART: ProtocolPart = ProtocolPart::new(
    "babel",
    "Babel: distance vectors by costs of links, free of loops by a feasibility condition. It begins without routes.",
    "RFC 8966, with babeld 1.14's costs and times",
    &[Profile::only("Babel", |site| Box::new(Babel::new(site)))],
)
.keys(&[&KEYS]);

/// An interval as packets carry it, in hundredths of a second and 16 bits (RFC 8966, sections 4.6.5 and 4.6.9), seconds.
const fn interval(name: &'static str, default: Span, doc: &'static str) -> Key {
    Key::new(name, real(&quantity::TIME, 0.01, 655.0), doc).preset(Preset::Time(default))
}

static KEYS: [Key; 3] = [
    Key::word(
        "babel_type",
        Kind::WORDS,
        Kind::Wireless.word(),
        "How Babel reckons what a link costs: wireless, 256 times the expected transmissions by the share of Hellos each way; wired, 96 as long as two \
         of the latest three came, so that it counts hops.",
    ),
    interval("babel_hello", Span::from_secs(4), "Babel's time from Hello to Hello, a quarter more or less."),
    interval(
        "babel_update",
        Span::from_secs(16),
        "Babel's time from one telling of all routes to the next, a quarter more or less.",
    ),
];

/// `a` is newer than `b`, modulo 2^16 (RFC 8966, section 3.2.1).
const fn newer(a: u16, b: u16) -> bool {
    (a.wrapping_sub(b) as i16) > 0
}

/// One that this node has heard of, or that has heard this node.
#[derive(Debug, Default)]
struct Neighbour {
    hellos: Option<Hellos>,
    /// The cost of receiving that the neighbour reported, and the time until which that holds.
    txcost: Option<(u16, Instant)>,
    /// It has been asked for all that it knows.
    met: bool,
}

impl Neighbour {
    fn cost(&self, kind: Kind) -> u16 {
        match (&self.hellos, self.txcost) {
            (Some(hellos), Some((txcost, _))) => kind.link(txcost, hellos.rxcost(kind)),
            _ => INFINITE,
        }
    }
}

/// Babel on one node.
#[derive(Debug)]
pub struct Babel {
    me: NodeId,
    kind: Kind,
    hello_interval: Span,
    update_interval: Span,
    /// That of its own updates.
    seqno: u16,
    hello_seqno: u16,
    hello_at: Instant,
    check_at: Instant,
    neighbours: BTreeMap<NodeId, Neighbour>,
    table: Table,
    telling: Telling,
    asking: Asking,
    jitter: Stream,
    route_failures: u64,
}

/// Information about a neighbour or a route holds for so many tenths of the interval in which it is to be
/// repeated (appendix B).
const HOLD: u64 = 35;

impl Babel {
    /// A node at time 0 that knows no neighbour.
    ///
    /// # Panics
    /// If an interval is zero, which the keys exclude.
    #[must_use]
    pub fn new(site: &Site<'_>) -> Self {
        let interval = |name| site.values.span(name);
        let (hello_interval, update_interval) = (interval("babel_hello"), interval("babel_update"));
        assert!(!hello_interval.is_zero() && !update_interval.is_zero(), "no pause between packets");
        let mut jitter = (site.stream)("babel");
        let mut within = |span: Span| Instant::ZERO + Span::from_secs_f64(span.as_secs_f64() * jitter.unit());
        let (hello_at, update_at) = (within(hello_interval), within(update_interval));
        Self {
            me: site.me,
            kind: site.values.word("babel_type"),
            hello_interval,
            update_interval,
            seqno: 0,
            hello_seqno: 0,
            hello_at,
            check_at: hello_at + hello_interval,
            neighbours: BTreeMap::new(),
            table: Table::default(),
            telling: Telling::new(update_at),
            asking: Asking::default(),
            jitter,
            route_failures: 0,
        }
    }

    fn send<P>(tlvs: Vec<BabelTlv>, to: Recipient, out: &mut Vec<Action<P>>) {
        out.extend(BabelPacket::of(tlvs).into_iter().map(|packet| Action::SendControl {
            message: packet.into(),
            to,
            ttl: 1,
            delay: Span::ZERO,
        }));
    }

    /// Says Hello, and to neighbours how well they are heard: to all with every third, to those that are not well heard with each
    /// (babeld, `send_hello`).
    fn hello<P>(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        const IHU_EVERY: u16 = 3;
        const MARGINAL: u16 = 384;
        self.hello_seqno = self.hello_seqno.wrapping_add(1);
        let all = self.hello_seqno.is_multiple_of(IHU_EVERY);
        let heard = self.neighbours.iter().filter_map(|(node, neighbour)| {
            let hellos = neighbour.hellos.as_ref()?;
            let badly = !hellos.steady() || neighbour.txcost.is_none_or(|(cost, _)| cost >= MARGINAL);
            (all || badly).then(|| BabelTlv::Ihu {
                neighbour: *node,
                rxcost: hellos.rxcost(self.kind),
                interval: self.hello_interval * u64::from(IHU_EVERY),
            })
        });
        let hello = BabelTlv::Hello { seqno: self.hello_seqno, interval: self.hello_interval };
        let tlvs = [hello].into_iter().chain(heard).collect();
        Self::send(tlvs, Recipient::Broadcast, out);
        self.hello_at = now + roughly(self.hello_interval, &mut self.jitter);
    }

    fn link_cost(&self, neighbour: NodeId) -> u16 {
        self.neighbours.get(&neighbour).map_or(INFINITE, |neighbour| neighbour.cost(self.kind))
    }

    /// Something of a neighbour's link has changed: so have all ways over it.
    fn link_changed<P>(&mut self, now: Instant, neighbour: NodeId, out: &mut Vec<Action<P>>) {
        let cost = self.link_cost(neighbour);
        let ways: Vec<_> = self.ways_over(neighbour);
        for destination in ways {
            let Some(route) = self.table.get(destination, neighbour).filter(|route| route.link != cost)
            else {
                continue;
            };
            let before = route.metric();
            route.smooth(now);
            route.link = cost;
            self.route_changed(now, destination, neighbour, before, out);
        }
        // A new neighbour knows routes that no other has told of (RFC 8966, section 3.8.1.1).
        if let Some(known) = self.neighbours.get_mut(&neighbour) {
            if cost < INFINITE && !known.met {
                known.met = true;
                Self::send(vec![BabelTlv::RouteRequest(None)], Recipient::Unicast(neighbour), out);
            }
        }
    }

    fn ways_over(&self, neighbour: NodeId) -> Vec<NodeId> {
        self.table
            .all()
            .filter(|(_, via, _)| *via == neighbour)
            .map(|(destination, ..)| destination)
            .collect()
    }

    fn on_update<P>(
        &mut self,
        now: Instant,
        from: NodeId,
        (destination, seqno, told, interval): (NodeId, u16, u16, Span),
        out: &mut Vec<Action<P>>,
    ) {
        if destination == self.me {
            return;
        }
        let (link, hold) = (self.link_cost(from), interval * HOLD / 10);
        let feasible = self.table.feasible(now, destination, seqno, told);
        match self.table.get(destination, from) {
            // A route that was not known cannot be lost.
            None if told == INFINITE => return,
            None => {
                self.table.put(destination, from, Route::new(now, (seqno, told, link), hold));
                self.consider(now, destination, from, out);
            }
            // This holds for the chosen route, too: the metric that a neighbour announced before keeps the
            // route free of loops, not the one that it announces now.
            Some(route) => {
                let before = route.metric();
                route.smooth(now);
                (route.seqno, route.told, route.link, route.hold) = (seqno, told, link, hold);
                if told < INFINITE {
                    route.told_at = now;
                }
                self.route_changed(now, destination, from, before, out);
            }
        }
        if !feasible {
            self.ask_for_feasible(now, destination, (from, seqno, told.saturating_add(link)), out);
        }
    }

    /// A way costs something else, or has another number.
    fn route_changed<P>(
        &mut self,
        now: Instant,
        destination: NodeId,
        via: NodeId,
        before: u16,
        out: &mut Vec<Action<P>>,
    ) {
        let taken = |this: &Self| this.table.chosen(destination).is_some_and(|(over, _)| over == via);
        if taken(self) {
            if let Some(better) = self.table.best(now, destination, true, None) {
                self.consider(now, destination, better, out);
            }
        }
        if taken(self) {
            self.news(now, destination, before, out);
        } else {
            self.consider(now, destination, via, out);
        }
    }

    /// Takes a way if it is better than the one taken (section 3.6), both now and of late, so that routes do not flap.
    fn consider<P>(&mut self, now: Instant, destination: NodeId, via: NodeId, out: &mut Vec<Action<P>>) {
        let Some(route) = self.table.get(destination, via) else { return };
        let (metric, smoothed, seqno, told) = (route.metric(), route.smooth(now), route.seqno, route.told);
        if metric == INFINITE || !self.table.feasible(now, destination, seqno, told) {
            return;
        }
        let taken = self.table.chosen(destination).map(|(over, _)| over);
        let Some(over) = taken else {
            self.table.choose(destination, via);
            self.telling.soon(now, destination, true, &mut self.jitter);
            return self.satisfied(destination, seqno);
        };
        let Some(present) = self.table.get(destination, over).filter(|_| over != via) else { return };
        let (before, of_late) = (present.metric(), present.smooth(now));
        if before == INFINITE || metric <= before && smoothed < of_late {
            self.table.choose(destination, via);
            self.news(now, destination, before, out);
        }
    }

    /// A way is forgotten, for it is not told of any more or its neighbour is gone.
    fn forget<P>(&mut self, now: Instant, destination: NodeId, via: NodeId, out: &mut Vec<Action<P>>) {
        let before = self.table.get(destination, via).map_or(INFINITE, |route| route.metric());
        if !self.table.remove(destination, via) {
            return;
        }
        match self.table.best(now, destination, true, None) {
            Some(other) => self.consider(now, destination, other, out),
            None if before < INFINITE => self.lost(now, destination, out),
            None => {}
        }
    }

    /// No route that may be taken is left: neighbours learn that at once, and the destination is asked for a new number.
    fn lost<P>(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) {
        self.route_failures += 1;
        self.telling.repeatedly(now, destination, &mut self.jitter);
        self.ask_everybody(now, destination, out);
    }

    /// Looks after what has not come in time.
    fn check<P>(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        let mut changed = Vec::new();
        for (node, neighbour) in &mut self.neighbours {
            let missed = neighbour.hellos.as_mut().is_some_and(|hellos| hellos.look(now));
            let unheard = neighbour.txcost.is_some_and(|(_, until)| until <= now);
            if unheard {
                neighbour.txcost = None;
            }
            if missed || unheard {
                changed.push(*node);
            }
        }
        for node in changed {
            self.link_changed(now, node, out);
            if self.neighbours[&node].hellos.as_ref().is_some_and(Hellos::silent) {
                self.neighbours.remove(&node);
                for destination in self.ways_over(node) {
                    self.forget(now, destination, node, out);
                }
            }
        }
        let old = self.table.all().filter(|(.., route)| now.saturating_since(route.told_at) >= route.hold);
        for (destination, via) in old.map(|(destination, via, _)| (destination, via)).collect::<Vec<_>>() {
            self.forget(now, destination, via, out);
        }
        self.check_at = now + roughly(self.hello_interval / 2, &mut self.jitter);
    }

    fn way(&self, destination: NodeId) -> Option<(NodeId, u16)> {
        let (via, route) = self.table.chosen(destination)?;
        Some((via, route.metric())).filter(|(_, metric)| *metric < INFINITE)
    }
}

impl<P> RoutingProtocol<P> for Babel {
    fn route(&mut self, _: Instant, packet: P, info: &PacketInfo, out: &mut Vec<Action<P>>) {
        let next_hop = match refusal(self.me, info) {
            Some(reason) => Err(reason),
            None => self.way(info.destination).ok_or(DropReason::NoRoute),
        };
        out.push(match next_hop {
            Ok((next_hop, _)) => Action::SendData { packet, next_hop, delay: Span::ZERO },
            Err(reason) => Action::Drop { packet, reason },
        });
    }

    fn on_control(&mut self, now: Instant, from: NodeId, _: u8, message: &Control, out: &mut Vec<Action<P>>) {
        let Some(BabelPacket { tlvs }) = message.get() else { return };
        for tlv in tlvs {
            match *tlv {
                BabelTlv::Hello { seqno, interval } => {
                    let hellos = &mut self.neighbours.entry(from).or_default().hellos;
                    match hellos {
                        Some(hellos) => hellos.next(now, seqno, interval),
                        None => *hellos = Some(Hellos::first(now, seqno, interval)),
                    }
                    self.link_changed(now, from, out);
                }
                BabelTlv::Ihu { neighbour, rxcost, interval } if neighbour == self.me => {
                    let until = now + interval * HOLD / 10;
                    self.neighbours.entry(from).or_default().txcost = Some((rxcost, until));
                    self.link_changed(now, from, out);
                }
                BabelTlv::Ihu { .. } => {}
                BabelTlv::Update { destination, seqno, metric, interval } => {
                    self.on_update(now, from, (destination, seqno, metric, interval), out);
                }
                BabelTlv::RouteRequest(destination) => self.on_route_request(now, destination),
                BabelTlv::SeqnoRequest { destination, seqno, hops } => {
                    self.on_seqno_request(now, from, (destination, seqno, hops), out);
                }
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let first = self.hello_at.min(self.check_at).min(self.telling.at());
        Some(self.asking.at().map_or(first, |at| at.min(first)))
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        if now >= self.hello_at {
            self.hello(now, out);
        }
        if now >= self.check_at {
            self.check(now, out);
        }
        self.ask_again(now, out);
        self.tell(now, out);
    }

    /// Babel counts no hops: what the way costs, in good links. Of type wired that is how many there are.
    fn hops_to(&self, _: Instant, destination: NodeId) -> Option<u32> {
        let good = u32::from(self.kind.cost());
        self.way(destination).map(|(_, metric)| ((u32::from(metric) + good / 2) / good).max(1))
    }

    fn next_hop(&self, _: Instant, destination: NodeId) -> Option<NodeId> {
        self.way(destination).map(|(via, _)| via)
    }

    fn route_failures(&self) -> u64 {
        self.route_failures
    }
}

/// A quarter more or less, so that nodes do not fall into step.
fn roughly(span: Span, jitter: &mut Stream) -> Span {
    Span::from_secs_f64(span.as_secs_f64() * jitter.uniform(0.75, 1.25))
}
