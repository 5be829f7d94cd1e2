//! rt-Winf at every node, and what packets collect of it on their way (schemes.md 9.2, 10.1).

use crate::RelayPart;
use crate::contention::RecentHops;
use crate::drop_tail::DropTail;
use crate::here::{Here, QueueSite};
use crate::measured::{answer, asked};
use crate::packet::{Handle, Packet};
use crate::probes::{self, Probes};
use crate::relay::{Asks, Listener, Relay};
use crate::sense::{KEYS, Sense};
use crate::sensed::Sensed;
use meshpace_explicit::winf::header::{Header, KIND};

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "winf",
    "Drop-tail that measures its links by rt-Winf and tells packets that ask.",
    "schemes.md 9.2; Res, Barreto, Sargento 2010",
    |values, queue| match queue.place {
        QueueSite::Radio { node, .. } => Box::new(Winf {
            queue: DropTail::new(queue),
            sense: Sense::new(values, node),
            probes: Probes::new(values),
        }),
        // A wire limits no wireless law.
        QueueSite::Wired { .. } => Box::new(DropTail::new(queue)),
    },
)
.keys(&[&KEYS, &probes::KEYS]);

#[derive(Debug)]
struct Winf {
    queue: DropTail,
    sense: Sense,
    probes: Probes,
}

impl Relay for Winf {
    fn asks(&self) -> Asks {
        Sensed::ASKS
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let probe = self.probes.before(here, self.sense.node(), self.queue.head(here)?);
        if probe.is_some() {
            return probe;
        }
        let packet = self.queue.dequeue(here)?;
        let it = here.packets.get(packet);
        let header = asked(it, KIND, Header::from_bytes).zip(it.next_hop);
        let now = here.now;
        if let Some((mut header, next_hop)) = header {
            let mut way = header.contention.map(|_| it.shim::<RecentHops>().unwrap_or_default());
            if let Some(node) = here.node() {
                header.pass(self.sense.pair(now, node, next_hop));
                if let Some(way) = &mut way {
                    way.push(self.sense.node());
                    // With the next one, which at the last hop is the destination.
                    let mut whole = way.clone();
                    whole.push(next_hop);
                    header.contention = u8::try_from(whole.contention(node)).ok();
                }
                let packet = here.packets.get_mut(packet);
                answer(packet, KIND, &header.to_bytes());
                if let Some(way) = &way {
                    packet.set_shim(way);
                }
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

    fn listener(&mut self) -> Option<&mut dyn Listener> {
        Some(&mut self.sense)
    }
}
