//! rt-Winf at every node, and what packets collect of it on their way (schemes.md 9.2, 10.1).

use crate::drop_tail::DropTail;
use crate::here::{Here, Place};
use crate::measured::{answer, asked};
use crate::relay::{Asks, Heard, Relay};
use crate::report::Report;
use crate::sense::{KEYS, Sense};
use crate::sensed::Sensed;
use crate::{QueueConfig, RelayPart};
use meshpace_packet::{Handle, Packet};
use meshpace_units::{Instant, NodeId};
use meshpace_winf::Pair;
use meshpace_winf::header::{Header, KIND};

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "winf",
    "Drop-tail that measures its links by rt-Winf and tells packets that ask.",
    "schemes.md 9.2; Res, Barreto, Sargento 2010",
    |values, queue| match queue.place {
        Place::Radio { node, .. } => Box::new(Winf::new(Sense::new(values, node), queue)),
        // A wire limits no wireless law.
        Place::Wired { .. } => Box::new(DropTail::new(queue)),
    },
)
.keys(&[&KEYS]);

#[derive(Debug)]
struct Winf {
    queue: DropTail,
    sense: Sense,
}

impl Winf {
    fn new(sense: Sense, queue: &QueueConfig) -> Self {
        Self { queue: DropTail::new(queue), sense }
    }
}

impl Relay for Winf {
    fn asks(&self) -> Asks {
        Sensed::ASKS
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let packet = self.queue.dequeue(here)?;
        let it = here.packets.get(packet);
        let header = asked(it, KIND, Header::from_bytes).zip(it.next_hop);
        let now = here.now;
        if let Some((mut header, next_hop)) = header {
            if let Some(pair) = here.node().map(|node| self.sense.pair(now, node, next_hop)) {
                header.pass(pair);
                answer(here.packets.get_mut(packet), KIND, &header.to_bytes());
            }
        }
        Some(packet)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        self.sense.reported(here, report);
    }

    fn tells(&self, now: Instant, to: NodeId) -> Option<Pair> {
        self.sense.tells(now, to)
    }

    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        self.sense.heard(here, heard);
    }
}
