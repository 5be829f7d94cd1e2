//! WCP at every queue (schemes.md 13): a link is congested while its queue is long on average; packets that go over a link near
//! a congested one are marked, and take the largest round trip of the neighbourhood along.

mod neighbourhood;

use crate::drop_tail::DropTail;
use crate::here::{Here, QueueSite};
use crate::measured::{answer, asked};
use crate::packet::{Handle, Packet};
use crate::relay::{Asks, Relay, waits_in_queue};
use crate::report::Heard;
use crate::{QueueConfig, RelayPart};
use meshpace_explicit::wcp::{Average, Header, KIND};
use meshpace_keys::{Key, Values};
use meshpace_units::{Instant, NodeId, Span};
use neighbourhood::{LinkState, Neighbourhood, Own, Share, kept};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "wcp",
    "Drop-tail that marks what goes over links near a congested one, which neighbours overhear (WCP). Its constants are from memory.",
    "schemes.md 13; Rangwala et al. 2008",
    |values, queue| Box::new(Wcp::new(values, queue)),
)
.keys(&[&KEYS])
.reconstructed("the constants, from memory (schemes.md 13)");

static KEYS: [Key; 2] = [
    Key::number(
        "wcp_weight",
        (0.0001, 1.0),
        0.02,
        "Weight of the packets that wait in their mean, at each that comes; from memory (schemes.md 13).",
    ),
    Key::number(
        "wcp_congested",
        (0.0, 10_000.0),
        4.0,
        "A link with more packets waiting than this, on average, is congested; from memory (schemes.md 13).",
    ),
];

/// A flow counts as going over a link for so long at least, whatever the control interval: slow ones have packets this rarely.
const FLOW: Span = Span::from_secs(1);

/// A link that packets waited for.
#[derive(Clone, Debug, Default)]
struct Link {
    waiting: Average,
    latest: Instant,
    /// The round trip that each flow's latest packet told, seconds, and when it came.
    flows: BTreeMap<(SocketAddr, SocketAddr), (f64, Instant)>,
}

impl Link {
    /// Mean round trip of its flows in whole microseconds, as frames tell it.
    fn rtt(&self) -> Option<Span> {
        let sum: f64 = self.flows.values().map(|(rtt, _)| rtt).sum();
        let micros = (sum / self.flows.len().max(1) as f64 * 1e6).min(4e9) as u64;
        (micros > 0).then(|| Span::from_micros(micros))
    }
}

/// What packets of a queue go over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Over {
    /// The wire that the queue is of.
    Wire,
    /// The air, to this neighbour.
    Air(NodeId),
}

impl Over {
    const fn neighbour(self) -> Option<NodeId> {
        match self {
            Self::Wire => None,
            Self::Air(to) => Some(to),
        }
    }
}

#[derive(Debug)]
struct Wcp {
    queue: DropTail,
    /// The queue of a wire, which is one link.
    wired: bool,
    weight: f64,
    congested: f64,
    links: BTreeMap<Over, Link>,
    around: Neighbourhood,
}

impl Wcp {
    fn new(values: &Values, queue: &QueueConfig) -> Self {
        Self {
            queue: DropTail::new(queue),
            wired: matches!(queue.place, QueueSite::Wired { .. }),
            weight: values.real("wcp_weight"),
            congested: values.real("wcp_congested"),
            links: BTreeMap::new(),
            around: Neighbourhood::default(),
        }
    }

    /// What a packet goes over; `None`: it is broadcast.
    fn over(&self, packet: &Packet) -> Option<Over> {
        if self.wired { Some(Over::Wire) } else { packet.next_hop.map(Over::Air) }
    }

    /// Forgets links and flows that nothing came for lately.
    fn forget(&mut self, now: Instant) {
        let interval = self.links.values().filter_map(Link::rtt).max();
        let kept = kept(interval).max(FLOW);
        let lately = |at: Instant| now.saturating_since(at) <= kept;
        for link in self.links.values_mut() {
            link.flows.retain(|_, (_, at)| lately(*at));
        }
        self.links.retain(|_, link| lately(link.latest));
        let own = self.own(now);
        self.around.forget(now, own);
    }

    /// A link whose mean nothing has corrected for two control intervals is no longer congested.
    fn is_congested(&self, now: Instant, link: &Link) -> bool {
        link.waiting.packets() > self.congested && now.saturating_since(link.latest) <= kept(link.rtt())
    }

    fn own(&self, now: Instant) -> Own {
        Own {
            congested: self.links.values().any(|link| self.is_congested(now, link)),
            rtt: self.links.values().filter_map(Link::rtt).max(),
        }
    }
}

impl Relay for Wcp {
    fn asks(&self) -> Asks {
        Asks { frames: !self.wired, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let now = here.now;
        self.forget(now);
        let it = here.packets.get(packet);
        let header = asked(it, KIND, Header::from_bytes);
        let (over, flow) = (self.over(it), (it.source_end(), it.destination_end()));
        self.queue.enqueue(here, packet);
        let Some(over) = over else { return };
        let beside = |handle: &Handle| self.over(here.packets.get(*handle)) == Some(over);
        let waiting = self.queue.waiting().filter(beside).count();
        let link = self.links.entry(over).or_default();
        link.waiting.on_arrival(waiting, self.weight);
        link.latest = now;
        if let Some(rtt) = header.and_then(|header| header.rtt) {
            link.flows.insert(flow, (rtt, now));
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let packet = self.queue.dequeue(here)?;
        let now = here.now;
        let own = self.own(now);
        let it = here.packets.get_mut(packet);
        let over = self.over(it);
        if let (Some(over), Some(mut header)) = (over, asked(it, KIND, Header::from_bytes)) {
            let LinkState { congested, rtt } = self.around.of_link(now, own, over.neighbour());
            header.pass(rtt.map(|rtt| rtt.as_micros() as f64 / 1e6), congested);
            answer(it, KIND, &header.to_bytes());
        }
        if !self.wired {
            let link = over
                .and_then(|over| self.links.get(&over))
                .map(|link| LinkState { congested: self.is_congested(now, link), rtt: link.rtt() });
            let link = link.unwrap_or_default();
            it.set_shim(&self.around.share(now, own, link));
        }
        Some(packet)
    }

    waits_in_queue!();

    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        let share = here.carried(heard).find_map(Packet::shim::<Share>);
        if let Some(share) = share {
            let mine = heard.mine && heard.frame.to.is_some();
            self.around.heard(here.now, heard.frame.from, share, mine);
        }
    }
}
