//! LLAP, link layer adaptive pacing (Franklin and Murthy 2008; schemes.md 8): every node takes as long for a packet as the
//! bottleneck ahead does, and so the ingress reads the bottleneck's time off its own next hop.
//!
//! | module | idea |
//! |---|---|
//! | `options` | what the paper leaves open |
//! | `egress` | all that is known of one egress |
//! | `input_queue`, `free_timer` | what is held back, and until when |
//! | `estimates` | HT, NHT and PD, (8.1) to (8.3) |
//! | `overhearing` | listening for a packet that the next hop is to send on |
//! | `identity` | bytes that the ingress may add to know packets again |

mod egress;
mod estimates;
mod free_timer;
mod identity;
mod input_queue;
mod options;
mod overhearing;
#[cfg(test)]
mod tests;

use crate::here::Here;
use crate::packet::{Class, Handle, Packet};
use crate::relay::{Asks, Relay};
use crate::report::{Exchange, Heard, Report};
use crate::{DropTail, QueueConfig, QueueSite, RelayPart};
use egress::{Egress, EgressPath};
use input_queue::Passenger;
use meshpace_radio::FrameKind;
use meshpace_units::{Instant, NodeId, Span};
use options::{Acks, Clock, CopyHeard, KEYS, Options};
use overhearing::Watched;
use std::collections::VecDeque;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "llap",
    "Link layer adaptive pacing: nodes delay packets until they take as long as at the next hop, which they overhear; \
     the ingress sends one every four times that. Drop-tail at wired links.",
    "schemes.md 8; Franklin, Siva Ram Murthy 2008",
    |values, queue| match queue.place {
        QueueSite::Radio { .. } => Box::new(Llap::new(Options::new(values), queue)),
        QueueSite::Wired { .. } => Box::new(DropTail::new(queue)),
    },
)
.keys(&[&KEYS]);

/// LLAP at one node.
#[derive(Debug)]
struct Llap {
    options: Options,
    /// Packets at the most, over all queues, the one in the MAC included.
    limit: usize,
    /// The Transmission Queue.
    transmission: VecDeque<Transmitted>,
    /// By their way, sorted.
    egresses: Vec<Egress>,
    /// Packets in all Input Queues.
    held: usize,
    /// Packets that have come.
    arrivals: u64,
    /// What the MAC has.
    in_mac: Option<Transmitted>,
    counts: Counts,
}

/// How listening went.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Packets listened for.
    listened: u64,
    /// Of these those that were overheard.
    overheard: u64,
    /// And those whose timer ran out.
    missed: u64,
}

impl Counts {
    fn ended(&mut self, heard: overhearing::Heard) {
        match heard {
            overhearing::Heard::Sample(_) => self.overheard += 1,
            overhearing::Heard::Missed => self.missed += 1,
        }
    }
}

/// A packet in the Transmission Queue or in the MAC.
#[derive(Clone, Copy, Debug)]
struct Transmitted {
    passenger: Passenger,
    /// Whose it is; `None`: routing's, a broadcast, or one that passes.
    paced: Option<EgressPath>,
    /// Its time here is a sample of HT for this egress.
    timed: Option<EgressPath>,
}

impl Llap {
    fn new(options: Options, queue: &QueueConfig) -> Self {
        Self {
            limit: options.queue.min(queue.limit.max(1)),
            options,
            transmission: VecDeque::new(),
            egresses: Vec::new(),
            held: 0,
            arrivals: 0,
            in_mac: None,
            counts: Counts::default(),
        }
    }

    /// The state of a way, made if there is none.
    fn egress(&mut self, way: EgressPath) -> usize {
        match self.find(way) {
            Ok(index) => index,
            Err(index) => {
                self.egresses.insert(index, Egress::new(way));
                index
            }
        }
    }

    fn find(&self, way: EgressPath) -> Result<usize, usize> {
        self.egresses.binary_search_by_key(&way, |egress| egress.way)
    }

    /// Does all that was due up to now.
    fn advance(&mut self, now: Instant) {
        for index in 0..self.egresses.len() {
            let egress = &mut self.egresses[index];
            if let Some(watched) = egress.watched.as_ref().filter(|watched| watched.expires() <= now) {
                let heard = watched.expire();
                self.counts.ended(heard);
                egress.listened(now, heard, &self.options);
            }
            self.release(now, index);
        }
    }

    /// Moves what may leave an Input Queue.
    fn release(&mut self, now: Instant, index: usize) {
        let egress = &mut self.egresses[index];
        while let Some(passenger) = egress.queue.pop_due(now, &egress.estimates, &self.options) {
            self.held -= 1;
            let way = Some(egress.way);
            let timed = way.filter(|_| !passenger.own);
            self.transmission.push_back(Transmitted { passenger, paced: way, timed });
        }
    }

    /// Routing's, address resolution's and broadcasts go first, and push out what came last if the node is full.
    fn enqueue_urgent(&mut self, here: &mut Here<'_>, passenger: Passenger) {
        if self.len() + 1 + usize::from(!here.is_free()) > self.limit.max(1) && !self.push_out(here) {
            return here.drop(passenger.packet);
        }
        self.transmission.push_front(Transmitted { passenger, paced: None, timed: None });
    }

    /// Drops the packet that came last; false if none waits.
    fn push_out(&mut self, here: &mut Here<'_>) -> bool {
        let sent = self.transmission.iter().enumerate().map(|(index, sent)| (sent.passenger.number, index));
        let transmitted = sent.max();
        let newest = |(index, egress): (usize, &Egress)| Some((egress.queue.newest()?.number, index));
        let held = self.egresses.iter().enumerate().filter_map(newest).max();
        match (transmitted, held) {
            (sent, Some((number, index))) if sent.is_none_or(|(other, _)| other < number) => {
                let egress = &mut self.egresses[index];
                if let Some(passenger) = egress.queue.pop_newest(here.now, &egress.estimates, &self.options) {
                    self.held -= 1;
                    here.drop(passenger.packet);
                }
                true
            }
            (Some((_, index)), _) => {
                if let Some(sent) = self.transmission.remove(index) {
                    here.drop(sent.passenger.packet);
                }
                true
            }
            (None, _) => false,
        }
    }

    /// Hops that a packet has before it; `None`: unknown.
    fn hops(here: &mut Here<'_>, packet: Handle) -> Option<u32> {
        let packet = here.packets.get(packet);
        let (exit, path) = (packet.exit, packet.path);
        let node = here.node()?;
        match path {
            Some(path) => node.hops_on(path),
            None => node.hops_to(exit),
        }
    }

    /// The MAC has delivered a packet.
    fn sent(&mut self, here: &Here<'_>, sent: &Transmitted, exchange: &Exchange) {
        let (now, options) = (here.now, self.options);
        let Transmitted { passenger, .. } = sent;
        let data_ended = exchange.data_ended.unwrap_or(now);
        // Where our time ends and the next hop's begins.
        let departed = if options.clock == Clock::DataEnd { data_ended } else { now };
        let on_air = match options.clock {
            Clock::Algorithm2 => exchange.data_airtime,
            Clock::DataEnd | Clock::AckEnd => Span::ZERO,
        };
        if let Some(way) = sent.timed {
            let index = self.egress(way);
            let since = |then: Instant| departed.saturating_since(then).saturating_sub(on_air);
            let (time_here, unheld) = (since(passenger.arrived), since(passenger.moved));
            self.egresses[index].passed(now, time_here, unheld, &options);
        }
        if let (Some(way), Some(next_hop)) = (sent.paced, exchange.next_hop) {
            let index = self.egress(way);
            let egress = &mut self.egresses[index];
            if egress.watched.is_none() {
                let id = here.packets.get(exchange.packet).id;
                let nht = egress.estimates.next;
                self.counts.listened += 1;
                egress.watched = Some(Watched::new(now, id, next_hop, departed, nht, &options));
            }
        }
    }

    /// Routing has changed: what is known of next hops that are none any more is forgotten.
    fn check_next_hops(&mut self, here: &mut Here<'_>) {
        let (now, options) = (here.now, self.options);
        for egress in self.egresses.iter_mut().filter(|egress| egress.way.is_routed()) {
            let Some(node) = here.node() else { return };
            if egress.next_hop.is_some() && node.next_hop_to(egress.way.exit) != egress.next_hop {
                egress.set_next_hop(now, None, &options);
            }
        }
    }

    /// A neighbour's data frame carried a packet.
    fn overheard(&mut self, now: Instant, from: NodeId, packet: &Packet) {
        let (id, options) = (packet.id, self.options);
        // The first copy concerns the packet's own egress alone; that something else goes out, all of them.
        let concerned = match options.copy {
            CopyHeard::First => self.find(EgressPath::of(packet)).map_or(0..0, |index| index..index + 1),
            CopyHeard::Last => 0..self.egresses.len(),
        };
        for index in concerned {
            let egress = &mut self.egresses[index];
            let ended = egress.watched.as_mut().and_then(|watched| watched.hear(now, from, id, &options));
            if let Some(ended) = ended {
                self.counts.ended(ended);
                egress.listened(now, ended, &options);
                self.release(now, index);
            }
        }
    }
}

impl Relay for Llap {
    fn asks(&self) -> Asks {
        Asks { data_frames: true, reports: true, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, handle: Handle) {
        self.advance(here.now);
        self.arrivals += 1;
        let hops = Self::hops(here, handle);
        let packet = here.packets.get(handle);
        let own = packet.travelled == 0;
        let (class, next_hop, way) = (packet.class, packet.next_hop, EgressPath::of(packet));
        let passenger = Passenger {
            packet: handle,
            number: self.arrivals,
            arrived: if own { here.now } else { packet.arrived },
            own,
            hops: hops.unwrap_or(0),
            moved: here.now,
        };
        if next_hop.is_none() || matches!(class, Class::Control | Class::Arp) {
            return self.enqueue_urgent(here, passenger);
        }
        let reserve = if own { self.options.reserve } else { 0 };
        let occupied = self.len() + usize::from(!here.is_free());
        if occupied > 0 && occupied + reserve >= self.limit {
            return here.drop(handle);
        }
        let let_pass = self.options.acks == Acks::Pass && class == Class::Ack;
        if passenger.hops < 2 || let_pass {
            // The last relay measures, and is silent about it; nothing is known where the route is not.
            let timed = (!own && !let_pass && hops.is_some()).then_some(way);
            return self.transmission.push_back(Transmitted { passenger, paced: None, timed });
        }
        if own {
            identity::add(here.packets.get_mut(handle), self.options.id_bytes);
        }
        let index = self.egress(way);
        let egress = &mut self.egresses[index];
        egress.set_next_hop(here.now, next_hop, &self.options);
        egress.k = self.options.k.min(passenger.hops);
        egress.queue.push(here.now, passenger, &mut egress.estimates, &self.options);
        self.held += 1;
        self.release(here.now, index);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.advance(here.now);
        self.in_mac = self.transmission.pop_front();
        self.in_mac.as_ref().map(|sent| sent.passenger.packet)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.advance(here.now);
        let mut named = |here: &mut Here<'_>, passenger: &Passenger| {
            let named = wanted(here.packets.get(passenger.packet));
            if named {
                here.drop(passenger.packet);
            }
            named
        };
        self.transmission.retain(|sent| !named(here, &sent.passenger));
        let now = here.now;
        for index in 0..self.egresses.len() {
            let egress = &mut self.egresses[index];
            let before = egress.queue.len();
            egress
                .queue
                .purge(now, &egress.estimates, &self.options, &mut |passenger| named(here, passenger));
            self.held -= before - egress.queue.len();
            self.release(now, index);
        }
        self.check_next_hops(here);
    }

    fn len(&self) -> usize {
        self.held + self.transmission.len()
    }

    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        self.advance(here.now);
        match report {
            Report::Sent(exchange) => {
                if let Some(sent) = self.in_mac.take() {
                    self.sent(here, &sent, exchange);
                }
            }
            Report::GivenUp(_) => self.in_mac = None,
            Report::Granted(_) | Report::Retry(_) => {}
        }
    }

    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        if heard.mine || heard.frame.kind != FrameKind::Data {
            return;
        }
        self.advance(here.now);
        for packet in here.carried(heard) {
            self.overheard(here.now, heard.frame.from, packet);
        }
    }

    /// k * NHT, (8.4).
    fn k_hop_delay(&self, packet: &Packet) -> Option<Span> {
        let egress = &self.egresses[self.find(EgressPath::of(packet)).ok()?];
        Some(egress.estimates.next? * u64::from(egress.k))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Counts { listened, overheard, missed } = self.counts;
        vec![("llap_listened", listened), ("llap_overheard", overheard), ("llap_missed", missed)]
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.egresses.iter().filter_map(Egress::deadline).min()
    }

    fn handle_timeout(&mut self, here: &mut Here<'_>) {
        self.advance(here.now);
    }
}
