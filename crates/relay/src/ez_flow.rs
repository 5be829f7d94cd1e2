//! EZ-flow: a node contends the more rarely the longer the queue of the next node is, which it overhears (schemes.md 15; Aziz et al.
//! 2009).
//!
//! Of the packets that a successor took, those sent since the one that it is heard to send on wait there: a FIFO queue. Nodes exchange
//! nothing for it, and no header is changed. A station has one contention window, so that what it draws after a packet is by that packet's
//! successor.

use crate::drop_tail::DropTail;
use crate::here::{Here, QueueSite};
use crate::packet::{Class, Handle, PacketId};
use crate::relay::{Asks, Relay, waits_in_queue};
use crate::report::{Heard, Report};
use crate::{QueueConfig, RelayPart};
use meshpace_keys::{Key, Values};
use meshpace_radio::FrameKind;
use meshpace_units::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "ez-flow",
    "Drop-tail whose node doubles its least contention window while the next node's queue, as overheard, is long, and halves it \
     while that is empty (EZ-flow). Drop-tail at wired links.",
    "schemes.md 15; Aziz et al. 2009",
    |values, queue| match queue.place {
        QueueSite::Radio { .. } => Box::new(EzFlow::new(values, queue)),
        QueueSite::Wired { .. } => Box::new(DropTail::new(queue)),
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 5] = [
    Key::number(
        "ez_long",
        (0.0, 1_000.0),
        20.0,
        "b_max: a next node's queue above which the window may grow (schemes.md 15).",
    ),
    Key::number("ez_short", (0.0, 1_000.0), 0.05, "b_min: one below which it may shrink (schemes.md 15)."),
    Key::count(
        "ez_samples",
        (1, 10_000),
        50,
        "Packets overheard for a mean of the next node's queue (schemes.md 15).",
    ),
    Key::count(
        "ez_least",
        (1, 15),
        4,
        "The least contention window is 2 to the power of so much at least (schemes.md 15).",
    ),
    Key::count("ez_most", (1, 15), 15, "And 2 to the power of so much at most (schemes.md 15)."),
];

/// Packets remembered for each successor.
const MEMORY: usize = 1_000;
/// The window falls after so many short means, less its own power of 2.
const PATIENCE: u8 = 15;

/// The constants.
#[derive(Clone, Copy, Debug)]
struct Law {
    long: f64,
    short: f64,
    samples: u32,
    /// Powers of 2.
    least: u8,
    most: u8,
}

/// A next node, as overheard.
#[derive(Clone, Debug)]
struct Successor {
    /// Packets that the next node took and was not yet heard to send on, the oldest first.
    sent: VecDeque<PacketId>,
    /// The power of 2 of the contention window.
    power: u8,
    sum: u64,
    samples: u32,
    up: u8,
    down: u8,
}

impl Successor {
    fn new(power: u8) -> Self {
        Self { sent: VecDeque::new(), power, sum: 0, samples: 0, up: 0, down: 0 }
    }

    fn took(&mut self, packet: PacketId) {
        self.sent.push_back(packet);
        if self.sent.len() > MEMORY {
            self.sent.pop_front();
        }
    }

    /// It is heard to send a packet on.
    fn sends(&mut self, packet: PacketId, law: &Law) {
        let Some(place) = self.sent.iter().position(|sent| *sent == packet) else { return };
        self.sent.drain(..=place);
        self.sum += self.sent.len() as u64;
        self.samples += 1;
        if self.samples == law.samples {
            let mean = self.sum as f64 / f64::from(self.samples);
            (self.sum, self.samples) = (0, 0);
            self.adapt(mean, law);
        }
    }

    /// The paper's channel access adaptation: the larger the window, the later it grows and the sooner it falls.
    fn adapt(&mut self, mean: f64, law: &Law) {
        (self.up, self.down) = if mean > law.long {
            (self.up + 1, 0)
        } else if mean < law.short {
            (0, self.down + 1)
        } else {
            (0, 0)
        };
        if self.up >= self.power.max(1) {
            (self.power, self.up) = ((self.power + 1).min(law.most), 0);
        } else if self.down >= PATIENCE.saturating_sub(self.power).max(1) {
            (self.power, self.down) = (self.power.saturating_sub(1).max(law.least), 0);
        }
    }
}

#[derive(Debug)]
struct EzFlow {
    queue: DropTail,
    law: Law,
    /// The standard's window, a power of 2; `None`: not asked for yet.
    standard: Option<u8>,
    successors: BTreeMap<NodeId, Successor>,
}

impl EzFlow {
    fn new(values: &Values, queue: &QueueConfig) -> Self {
        let power = |key| values.count(key) as u8;
        let least = power("ez_least");
        let law = Law {
            long: values.real("ez_long"),
            short: values.real("ez_short"),
            samples: values.count("ez_samples"),
            least,
            most: power("ez_most").max(least),
        };
        Self { queue: DropTail::new(queue), law, standard: None, successors: BTreeMap::new() }
    }

    /// A next node's state; at first its window is the standard's.
    fn successor(&mut self, here: &mut Here<'_>, to: NodeId) -> &mut Successor {
        let Law { least, most, .. } = self.law;
        let standard = || here.node().map_or(least, |node| node.ecw_min());
        let standard = *self.standard.get_or_insert_with(standard);
        self.successors.entry(to).or_insert_with(|| Successor::new(standard.clamp(least, most)))
    }
}

impl Relay for EzFlow {
    fn asks(&self) -> Asks {
        Asks { data_frames: true, reports: true, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let handle = self.queue.dequeue(here)?;
        let packet = here.packets.get(handle);
        let to = packet.next_hop.filter(|_| !matches!(packet.class, Class::Control | Class::Arp));
        if let Some(to) = to {
            let power = self.successor(here, to).power;
            if let Some(node) = here.node() {
                node.set_ecw_min(power);
            }
        }
        Some(handle)
    }

    waits_in_queue!();

    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        let Report::Sent(exchange) = report else { return };
        let packet = here.packets.get(exchange.packet);
        let id = packet.id;
        // What ends there is not sent on, and so not heard again.
        let passes =
            !matches!(packet.class, Class::Control | Class::Arp) && Some(packet.exit) != exchange.next_hop;
        if let Some(to) = exchange.next_hop.filter(|_| passes) {
            self.successor(here, to).took(id);
        }
    }

    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        if heard.mine || heard.frame.kind != FrameKind::Data {
            return;
        }
        let law = self.law;
        let Some(successor) = self.successors.get_mut(&heard.frame.from) else { return };
        here.carried(heard).for_each(|packet| successor.sends(packet.id, &law));
    }
}
