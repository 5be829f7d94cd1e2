//! XCP's router (schemes.md 11.1), and those that know no capacity: XCP-Winf goes by what rt-Winf measures, XCP-b by how its queue grows.

use crate::here::{Here, QueueSite};
use crate::measured::{Measured, answer, asked, capacity};
use crate::packet::{Handle, Host, Packet};
use crate::relay::{Asks, Listener, Relay};
use crate::sense::{self, Sense};
use crate::sensed::Sensed;
use crate::{QueueConfig, RelayPart};
use meshpace_explicit::xcp::{Aim, Config, Header, Interval, KIND, Router};
use meshpace_keys::{Key, Values, words};
use meshpace_units::{Instant, NodeId};
use std::collections::BTreeSet;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "xcp",
    "Drop-tail that tells every packet by how much its sender's throughput is to change (XCP).",
    "schemes.md 11.1; Katabi, Handley, Rohrs 2002",
    |values, queue| Box::new(Xcp::new(values, queue, Source::Capacity)),
)
.keys(&[&KEYS]);

static KEYS: [Key; 3] = [
    Key::number(
        "xcp_alpha",
        (0.01, 10.0),
        Config::PUBLISHED.alpha,
        "Share of the spare bandwidth that an interval gives out (schemes.md 11.1).",
    ),
    Key::number(
        "xcp_beta",
        (0.0, 10.0),
        Config::PUBLISHED.beta,
        "Share of the standing queue that an interval takes back (schemes.md 11.1).",
    ),
    Key::number(
        "xcp_gamma",
        (0.0, 1.0),
        Config::PUBLISHED.gamma,
        "Share of the traffic that is shuffled between the flows (schemes.md 11.1).",
    ),
];

/// XCP-Winf (schemes.md 11.3): XCP with rt-Winf in each wireless queue.
pub static WINF: RelayPart = RelayPart::new(
    "xcp-winf",
    "XCP's queue that goes by the bandwidth which rt-Winf finds available; its law is a reconstruction.",
    "schemes.md 11.3; Barreto, Sargento 2011",
    |values, queue| {
        let source = match queue.place {
            QueueSite::Radio { node, .. } => {
                let subtracts = matches!(values.word("xcpwinf_S"), Spare::CapacityMinusInput);
                Source::Sensed(Box::new(Sensed::new(Sense::new(values, node), subtracts)))
            }
            QueueSite::Wired { .. } => Source::Capacity,
        };
        Box::new(Xcp::new(values, queue, source))
    },
)
.keys(&[&KEYS, &WINF_KEYS, &sense::KEYS])
.reconstructed("the law (schemes.md 11.3)");

static WINF_KEYS: [Key; 1] = [Key::word(
    "xcpwinf_S",
    Spare::WORDS,
    Spare::Available.word(),
    "What is taken for the bandwidth that nobody uses; the law is a reconstruction (schemes.md 11.3).",
)];

words! {
    /// What XCP-Winf takes for the spare bandwidth (`xcpwinf_S`). Its law is not printed: a reconstruction.
    enum Spare {
        /// The available bandwidth: what the neighbours use is off it already.
        Available = "AB",
        /// The measured capacity without the node's own traffic.
        CapacityMinusInput = "C_minus_y",
    }
}

/// XCP-b (schemes.md 11.2): XCP where no capacity is known. From memory, reconstructed: its numbers are parameters. The
/// retransmissions of the link layer, which it is said to look at, are not in it.
pub static B: RelayPart = RelayPart::new(
    "xcp-b",
    "XCP's queue that knows no capacity and goes by how it grows; a reconstruction from memory.",
    "schemes.md 11.2; Abrantes, Ricardo 2006",
    |values, queue| {
        let source = match queue.place {
            QueueSite::Radio { .. } => {
                let (probe, room) = (values.real("xcpb_xi"), values.real("xcpb_kappa"));
                Source::Queue { probe, room, next_hops: BTreeSet::new(), packets: 0 }
            }
            QueueSite::Wired { .. } => Source::Capacity,
        };
        Box::new(Xcp::new(values, queue, source))
    },
)
.keys(&[&KEYS, &B_KEYS])
.reconstructed("the whole law, from memory (schemes.md 11.2)");

static B_KEYS: [Key; 2] = [
    Key::number(
        "xcpb_xi",
        (0.0, 1.0),
        0.1,
        "Share of the traffic that a queue which ran empty is thought to have room for; reconstructed (schemes.md 11.2).",
    ),
    Key::number(
        "xcpb_kappa",
        (0.0, 100.0),
        1.0,
        "Packets that are meant to wait for each active next hop; reconstructed (schemes.md 11.2).",
    ),
];

/// Where the spare bandwidth comes from.
#[derive(Debug)]
enum Source {
    /// The capacity without the traffic. At a mesh node the data rate is taken for the capacity, which the medium never
    /// gives: that is XCP as it is.
    Capacity,
    /// What rt-Winf measures (schemes.md 11.3).
    Sensed(Box<Sensed>),
    /// How the queue grows (11.6): `probe` is the share of the traffic that a queue which ran empty is thought to have room for.
    /// `room` packets for each next hop are meant to wait.
    Queue { probe: f64, room: f64, next_hops: BTreeSet<Option<NodeId>>, packets: u64 },
}

/// A queue with XCP's controllers.
#[derive(Debug)]
struct Xcp {
    queue: Measured,
    router: Router,
    /// byte/s
    capacity: f64,
    source: Source,
}

impl Xcp {
    fn new(values: &Values, queue: &QueueConfig, source: Source) -> Self {
        let config = Config {
            alpha: values.real("xcp_alpha"),
            beta: values.real("xcp_beta"),
            gamma: values.real("xcp_gamma"),
            ..Config::PUBLISHED
        };
        Self {
            queue: Measured::new(queue),
            router: Router::new(config, spread(queue)),
            capacity: capacity(queue),
            source,
        }
    }
}

/// Between 0.9 and 1.1: the timers of a network's queues begin apart, by 20 % (schemes.md 11.1). It hangs on seed and place.
fn spread(queue: &QueueConfig) -> f64 {
    let of = |host: Host| match host {
        Host::Mesh(node) => 2 * u64::from(node.0),
        Host::Wired(node) => 2 * u64::from(node) + 1,
    };
    let place = match queue.place {
        QueueSite::Radio { node, .. } => u64::from(node.0),
        QueueSite::Wired { from, to, .. } => (of(from) << 32) + of(to) + (1 << 31),
    };
    // The finisher of SplitMix64 (Steele, Lea, Flood 2014): seeds and places next to each other end far apart.
    let mut mixed = queue.seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    0.9 + 0.2 * ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Relay for Xcp {
    fn asks(&self) -> Asks {
        if matches!(self.source, Source::Sensed(_)) { Sensed::ASKS } else { Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let it = here.packets.get(packet);
        let (size, next_hop, header) = (it.size, it.next_hop, asked(it, KIND, Header::from_bytes));
        match &mut self.source {
            Source::Capacity => {}
            Source::Sensed(sensed) => sensed.on_arrival(next_hop, size),
            Source::Queue { next_hops, packets, .. } => {
                next_hops.insert(next_hop);
                *packets += 1;
            }
        }
        self.queue.enqueue(here, packet);
        // A dropped packet was input all the same.
        self.router.on_arrival(here.now, size, header.as_ref(), self.queue.bytes());
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let (packet, size) = self.queue.dequeue(here)?;
        let it = here.packets.get_mut(packet);
        let mut header = asked(it, KIND, Header::from_bytes);
        self.router.on_departure(size, header.as_mut(), self.queue.bytes());
        if let Some(header) = header {
            answer(it, KIND, &header.to_bytes());
        }
        Some(packet)
    }

    /// rt-Winf measures exchanges of one packet (schemes.md 9.2).
    fn head(&self, here: &Here<'_>) -> Option<Handle> {
        if matches!(self.source, Source::Sensed(_)) { None } else { self.queue.head(here) }
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn listener(&mut self) -> Option<&mut dyn Listener> {
        if let Source::Sensed(sensed) = &mut self.source { Some(&mut sensed.sense) } else { None }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.router.poll_timeout()
    }

    fn handle_timeout(&mut self, here: &mut Here<'_>) {
        let waiting = self.queue.bytes();
        let Self { router, capacity, source, .. } = self;
        match source {
            Source::Capacity => {
                let aim = |over: &Interval| Aim { spare: *capacity - over.input, queue: over.queue };
                router.handle_timeout(here.now, *capacity, waiting, aim);
            }
            Source::Sensed(sensed) => {
                let measured = sensed.measured(here, *capacity);
                let mut over = false;
                router.handle_timeout(here.now, measured.capacity, waiting, |interval| {
                    over = true;
                    Aim { spare: sensed.spare(measured, interval.input), queue: interval.queue }
                });
                if over {
                    sensed.begin_interval();
                }
            }
            Source::Queue { probe, room, next_hops, packets } => {
                router.handle_timeout(here.now, *capacity, waiting, |over| {
                    let [began, least, ended] = over.backlog;
                    // While the queue does not run empty it grows by what comes beyond what leaves.
                    let spare = if least > 0.0 { (began - ended) / over.length } else { *probe * over.input };
                    // Room for that many packets to each next hop is meant to be used.
                    let mean = over.input * over.length / (*packets).max(1) as f64;
                    let target = *room * mean * next_hops.len() as f64;
                    next_hops.clear();
                    *packets = 0;
                    Aim { spare, queue: over.queue - target }
                });
            }
        }
    }
}
