//! XCP's router (schemes.md 11.1).

use crate::here::{Here, Place};
use crate::measured::{Measured, answer, asked, capacity};
use crate::relay::Relay;
use crate::{QueueConfig, RelayPart};
use meshpace_explicit::xcp::{Config, Header, KIND, Router};
use meshpace_keys::{Key, Values};
use meshpace_packet::{Handle, Host, Packet};
use meshpace_units::Instant;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "xcp",
    "Drop-tail that tells every packet by how much its sender's throughput is to change (XCP).",
    "schemes.md 11.1; Katabi, Handley, Rohrs 2002",
    |values, queue| Box::new(Xcp::new(config(values), queue)),
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

fn config(values: &Values) -> Config {
    Config {
        alpha: values.real("xcp_alpha"),
        beta: values.real("xcp_beta"),
        gamma: values.real("xcp_gamma"),
        ..Config::PUBLISHED
    }
}

/// A queue with XCP's controllers. At a mesh node it takes the data rate for the capacity, which the medium never gives:
/// that is XCP as it is.
#[derive(Debug)]
struct Xcp {
    queue: Measured,
    router: Router,
    /// byte/s
    capacity: f64,
}

impl Xcp {
    fn new(config: Config, queue: &QueueConfig) -> Self {
        Self {
            queue: Measured::new(queue),
            router: Router::new(config, spread(queue)),
            capacity: capacity(queue),
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
        Place::Radio { node, .. } => u64::from(node.0),
        Place::Wired { from, to, .. } => (of(from) << 32) + of(to) + (1 << 31),
    };
    // The finisher of SplitMix64 (Steele, Lea, Flood 2014): seeds and places next to each other end far apart.
    let mut mixed = queue.seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    0.9 + 0.2 * ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Relay for Xcp {
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let it = here.packets.get(packet);
        let (size, header) = (it.size, asked(it, KIND, Header::from_bytes));
        self.queue.enqueue(here, packet);
        // What is dropped was input all the same.
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

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.router.poll_timeout()
    }

    fn handle_timeout(&mut self, here: &mut Here<'_>) {
        let capacity = self.capacity;
        self.router.handle_timeout(here.now, capacity, self.queue.bytes(), |over| capacity - over.input);
    }
}
