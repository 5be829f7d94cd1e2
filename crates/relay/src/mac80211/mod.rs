//! Linux's queues above a wireless driver: for each neighbour and priority the packets of each flow, under FQ-CoDel; neighbours share
//! the air, not packets; and no more lies below than a few milliseconds of it.
//!
//! As Linux 6.1 has it. `net/mac80211/tx.c` keeps queues for each station and traffic identifier (`struct txq_info`), which a
//! category's turns go round (`active_txqs`); `include/net/fq_impl.h` serves the flows in one, and drops where a node has too many packets,
//! of whatever category; [`airtime`] is `ieee80211_next_txq` and the queue limits of air time. The design: Hoiland-Jorgensen et al., "Ending the
//! Anomaly", USENIX ATC 2017.
//!
//! Three points differ. Flows of different neighbours or priorities never share a queue by their hash. A node's receptions are not charged
//! to the sender. Routing packets wait apart and go first, because routing daemons send them in the highest category. A wired link has no
//! such driver, and stays drop-tail.

mod airtime;

use crate::flow_queues::FlowQueues;
use crate::here::Here;
use crate::packet::{Class, Handle, Packet};
use crate::relay::{Asks, Relay};
use crate::report::Report;
use crate::{DropTail, QueueConfig, QueueSite, RelayPart};
use airtime::{Airtime, Limits, Txq};
use meshpace_codel::Config as CodelConfig;
use meshpace_keys::{Key, Values};
use meshpace_radio::{Category, Peer, Priority};
use meshpace_units::{Bytes, Span};
use std::collections::VecDeque;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "mac80211",
    "Linux's queues above a wireless driver: a queue a flow and neighbour under FQ-CoDel, neighbours served by air time.",
    "Linux 6.1, net/mac80211 and include/net/fq_impl.h; Hoiland-Jorgensen et al. 2017",
    |values, queue| match queue.place {
        QueueSite::Radio { .. } => Box::new(Mac80211::new(values, queue)),
        QueueSite::Wired { .. } => Box::new(DropTail::new(queue)),
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 6] = [
    Key::time(
        "txq_target",
        Span::from_secs(10),
        Span::from_millis(20),
        "Standing delay of a flow's queue that is acceptable (mac80211: 20 ms).",
    ),
    Key::time(
        "txq_interval",
        Span::from_secs(100),
        Span::from_millis(100),
        "How long it may stand (mac80211: 100 ms).",
    ),
    Key::count(
        "txq_quantum",
        (64, 65_535),
        300,
        "Bytes a flow's queue may send in its turn (fq_impl.h: 300).",
    ),
    Key::time(
        "aql_low",
        Span::from_secs(10),
        Span::from_millis(5),
        "Air time of packets of a category for a neighbour that may always lie below (mac80211: 5 ms).",
    ),
    Key::time(
        "aql_high",
        Span::from_secs(10),
        Span::from_millis(12),
        "Air time of packets of a category for a neighbour that may lie below while aql_total is not reached (mac80211: 12 ms).",
    ),
    Key::time(
        "aql_total",
        Span::from_secs(10),
        Span::from_millis(24),
        "Air time below, of all neighbours and categories, from which on aql_low holds (mac80211: 24 ms).",
    ),
];

/// Queues that flows are hashed into (mac80211: 4,096).
const HASHES: u32 = 4096;
/// Of a queue that is too long at most so many packets are dropped at once, and half of it (fq_impl.h).
const DROPPED_AT_ONCE: usize = 32;

/// A neighbour's flows of one priority.
#[derive(Debug)]
struct Neighbour {
    to: Txq,
    flows: FlowQueues,
    /// A packet whose turn it was, and that did not fit into the frame that there was then.
    next: Option<Handle>,
}

impl Neighbour {
    fn len(&self) -> usize {
        self.flows.len() + usize::from(self.next.is_some())
    }

    fn pop(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.next.take().or_else(|| self.flows.pop(here))
    }
}

/// The queues of a node.
#[derive(Debug)]
struct Mac80211 {
    limit: usize,
    quantum: u32,
    codel: CodelConfig,
    queue: QueueConfig,
    /// The transmitter has categories.
    categories: bool,
    /// Sorted.
    neighbours: Vec<Neighbour>,
    routing: VecDeque<Handle>,
    airtime: Airtime,
}

impl Mac80211 {
    fn new(values: &Values, queue: &QueueConfig) -> Self {
        let limits = Limits {
            low: values.span("aql_low"),
            high: values.span("aql_high"),
            total: values.span("aql_total"),
        };
        Self {
            limit: queue.limit.max(1),
            quantum: values.count("txq_quantum"),
            // mac80211 sets no `mtu`: the last packet of a queue is not spared.
            codel: CodelConfig {
                target: values.span("txq_target"),
                interval: values.span("txq_interval"),
                spared: Bytes::ZERO,
            },
            queue: *queue,
            categories: queue.categories,
            neighbours: Vec::new(),
            routing: VecDeque::new(),
            airtime: Airtime::new(limits),
        }
    }

    /// The queues that a packet waits in.
    fn txq(&self, packet: &Packet) -> Txq {
        let priority = if self.categories { Priority::of(packet.dscp) } else { Priority::BEST_EFFORT };
        Txq { to: packet.next_hop, priority }
    }

    fn neighbour(&mut self, to: Txq) -> &mut Neighbour {
        let place = self.neighbours.binary_search_by_key(&to, |known| known.to);
        let place = place.unwrap_or_else(|place| {
            let flows = FlowQueues::new(HASHES, self.quantum, self.codel, &self.queue);
            self.neighbours.insert(place, Neighbour { to, flows, next: None });
            place
        });
        &mut self.neighbours[place]
    }

    /// The packet of a category whose turn it is.
    fn dequeue_of(&mut self, here: &mut Here<'_>, category: Category) -> Option<Handle> {
        while let Some(to) = self.airtime.next(category) {
            match self.neighbour(to).pop(here) {
                Some(packet) => {
                    self.airtime.given(here, packet, to);
                    return Some(packet);
                }
                None => self.airtime.has_none(to),
            }
        }
        None
    }

    /// Makes room where too many wait: in the longest queue of all, or among routing's where there are no others.
    fn drop_some(&mut self, here: &mut Here<'_>) {
        let waiting = self.neighbours.iter_mut().rev().filter(|known| known.flows.len() > 0);
        let longest = waiting.max_by_key(|known| known.flows.most_bytes());
        let cut: Vec<Handle> = match longest {
            Some(known) => known.flows.cut_longest(|waiting| (waiting / 2).clamp(1, DROPPED_AT_ONCE)),
            // A packet whose turn it was goes before routing's.
            None => {
                let held = self.neighbours.iter_mut().find_map(|known| known.next.take());
                held.or_else(|| self.routing.pop_back()).into_iter().collect()
            }
        };
        cut.into_iter().for_each(|packet| here.drop(packet));
    }
}

impl Relay for Mac80211 {
    fn asks(&self) -> Asks {
        Asks { reports: true, categories: self.categories, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let waiting = here.packets.get(packet);
        let mut category = Category::BestEffort;
        if waiting.class == Class::Control {
            self.routing.push_front(packet);
        } else {
            let to = self.txq(waiting);
            category = to.priority.category();
            self.neighbour(to).flows.push(here, packet);
            self.airtime.has_packets(to);
        }
        let limit = if here.takes().has(category) { self.limit.max(2) } else { self.limit };
        if self.len() >= limit {
            self.drop_some(here);
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        if here.is_free() {
            if let Some(packet) = self.routing.pop_front() {
                return Some(packet);
            }
        }
        here.takes().iter().find_map(|category| self.dequeue_of(here, category))
    }

    fn dequeue_to(&mut self, here: &mut Here<'_>, to: Peer, room: Bytes) -> Option<Handle> {
        let to = Txq { to: Some(to.node), priority: to.priority };
        if !self.airtime.allows(to) {
            return None;
        }
        let place = self.neighbours.binary_search_by_key(&to, |known| known.to).ok()?;
        let neighbour = &mut self.neighbours[place];
        let packet = neighbour.pop(here)?;
        if here.packets.get(packet).size > room {
            neighbour.next = Some(packet);
            return None;
        }
        self.airtime.given(here, packet, to);
        Some(packet)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        let mut keep = |here: &mut Here<'_>, packet: Handle| {
            let keep = !wanted(here.packets.get(packet));
            if !keep {
                here.drop(packet);
            }
            keep
        };
        self.routing.retain(|packet| keep(here, *packet));
        for neighbour in &mut self.neighbours {
            neighbour.next = neighbour.next.filter(|packet| keep(here, *packet));
        }
        for neighbour in &mut self.neighbours {
            neighbour.flows.purge(here, wanted);
        }
    }

    fn len(&self) -> usize {
        self.routing.len() + self.neighbours.iter().map(Neighbour::len).sum::<usize>()
    }

    fn reported(&mut self, _here: &mut Here<'_>, report: &Report) {
        if let Report::Sent(exchange) | Report::GivenUp(exchange) = report {
            self.airtime.through(exchange);
        }
    }
}
