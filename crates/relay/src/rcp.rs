//! RCP's router (schemes.md 12), and RCP-Winf's, which goes by what rt-Winf measures.

use crate::here::{Here, QueueSite};
use crate::measured::{Measured, answer, asked, capacity};
use crate::packet::{Handle, Packet};
use crate::relay::{Asks, Listener, Relay};
use crate::sense::{self, Sense};
use crate::sensed::Sensed;
use crate::{QueueConfig, RelayPart};
use meshpace_explicit::rcp::{Config, Header, KIND, Router};
use meshpace_keys::{Key, Values};
use meshpace_units::{Instant, Span};

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "rcp",
    "Drop-tail that keeps one rate for all flows, and tells it to every packet (RCP).",
    "schemes.md 12; Dukkipati, McKeown",
    |values, queue| Box::new(Rcp::new(values, queue, None)),
)
.keys(&[&KEYS]);

/// RCP-Winf (schemes.md 12, last paragraph): RCP with rt-Winf in each wireless queue.
pub static WINF: RelayPart = RelayPart::new(
    "rcp-winf",
    "RCP's queue that goes by the bandwidth which rt-Winf finds available; its law is a reconstruction.",
    "schemes.md 12; Barreto, Sargento",
    |values, queue| {
        let sensed = match queue.place {
            QueueSite::Radio { node, .. } => Some(Sensed::new(Sense::new(values, node), false)),
            QueueSite::Wired { .. } => None,
        };
        Box::new(Rcp::new(values, queue, sensed))
    },
)
.keys(&[&KEYS, &sense::KEYS])
.reconstructed("the law (schemes.md 12)");

static KEYS: [Key; 4] = [
    Key::number(
        "rcp_alpha",
        (0.01, 10.0),
        Config::PUBLISHED.alpha,
        "How fast spare bandwidth is given out (schemes.md 12).",
    ),
    Key::number(
        "rcp_beta",
        (0.0, 10.0),
        Config::PUBLISHED.beta,
        "How fast the queue is drained (schemes.md 12).",
    ),
    Key::number(
        "rcp_gamma",
        (0.1, 1.0),
        Config::PUBLISHED.gamma,
        "Share of the capacity that is aimed at (schemes.md 12).",
    ),
    Key::time(
        "rcp_interval",
        Span::from_secs(10),
        Span::from_millis(10),
        "The longest time between two rates (schemes.md 12, T0).",
    ),
];

fn config(values: &Values) -> Config {
    Config {
        alpha: values.real("rcp_alpha"),
        beta: values.real("rcp_beta"),
        gamma: values.real("rcp_gamma"),
        interval: values.span("rcp_interval"),
        ..Config::PUBLISHED
    }
}

/// A queue with RCP's controller. At a mesh node it takes the data rate for the capacity, which the medium never gives.
#[derive(Debug)]
struct Rcp {
    queue: Measured,
    router: Router,
    /// byte/s
    capacity: f64,
    /// Share of it that is aimed at.
    gamma: f64,
    /// rt-Winf, in RCP-Winf.
    sensed: Option<Sensed>,
}

impl Rcp {
    fn new(values: &Values, queue: &QueueConfig, sensed: Option<Sensed>) -> Self {
        let config = config(values);
        let (router, capacity) = (Router::new(config), capacity(queue));
        Self { queue: Measured::new(queue), router, capacity, gamma: config.gamma, sensed }
    }
}

impl Relay for Rcp {
    fn asks(&self) -> Asks {
        if self.sensed.is_some() { Sensed::ASKS } else { Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let it = here.packets.get(packet);
        let (size, next_hop, header) = (it.size, it.next_hop, asked(it, KIND, Header::from_bytes));
        if let Some(sensed) = &mut self.sensed {
            sensed.on_arrival(next_hop, size);
        }
        self.queue.enqueue(here, packet);
        self.router.on_arrival(here.now, size, header.as_ref(), self.capacity);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let (packet, _) = self.queue.dequeue(here)?;
        let it = here.packets.get_mut(packet);
        if let Some(mut header) = asked(it, KIND, Header::from_bytes) {
            self.router.on_departure(&mut header);
            answer(it, KIND, &header.to_bytes());
        }
        Some(packet)
    }

    /// rt-Winf measures exchanges of one packet (schemes.md 9.2).
    fn head(&self, here: &Here<'_>) -> Option<Handle> {
        if self.sensed.is_some() { None } else { self.queue.head(here) }
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn listener(&mut self) -> Option<&mut dyn Listener> {
        Some(&mut self.sensed.as_mut()?.sense)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.router.poll_timeout()
    }

    fn handle_timeout(&mut self, here: &mut Here<'_>) {
        let Self { capacity, gamma, sensed, .. } = self;
        let (capacity, gamma, waiting) = (*capacity, *gamma, self.queue.bytes());
        let Some(sensed) = sensed else {
            self.router.handle_timeout(here.now, capacity, waiting, |input| gamma * capacity - input);
            return;
        };
        let measured = sensed.measured(here, capacity);
        let mut over = false;
        self.router.handle_timeout(here.now, measured.capacity, waiting, |input| {
            over = true;
            sensed.spare(measured, input)
        });
        if over {
            sensed.begin_interval();
        }
    }
}
