//! WCPCap by air time (schemes.md 13): the share of its flow, which a controller that knows the whole mesh works out anew each epoch, is
//! written into every packet that asks, where it sets out.

use crate::RelayPart;
use crate::drop_tail::DropTail;
use crate::here::{Here, QueueSite};
use crate::measured::{answer, asked};
use crate::packet::Handle;
use crate::relay::{Asks, Relay, waits_in_queue};
use meshpace_explicit::wcpcap::{Header, KIND};
use meshpace_keys::Key;
use meshpace_units::Span;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "wcpcap",
    "Drop-tail that tells packets their flow's max-min share of the air, worked out centrally each epoch (wcpcap-airtime, a \
     surrogate for WCPCap).",
    "schemes.md 13; after Rangwala et al. 2008",
    |values, queue| match queue.place {
        QueueSite::Radio { .. } => Box::new(Wcpcap {
            queue: DropTail::new(queue),
            epoch: values.span("wcpcap_epoch"),
            limit: values.real("wcpcap_use"),
            initial: values.real("wcpcap_initial"),
        }),
        // Shares are of the air.
        QueueSite::Wired { .. } => Box::new(DropTail::new(queue)),
    },
)
.keys(&[&KEYS])
.reconstructed("the model: wcpcap-airtime, max-min shares of the air (schemes.md 13)");

static KEYS: [Key; 3] = [
    Key::time(
        "wcpcap_epoch",
        Span::from_secs(1000),
        Span::from_secs(10),
        "How often shares are worked out anew (schemes.md 13, decided).",
    ),
    Key::number(
        "wcpcap_use",
        (0.01, 1.0),
        0.8,
        "Part of the time that a neighbourhood may be used for (schemes.md 13, decided).",
    ),
    Key::number(
        "wcpcap_initial",
        (0.01, 10_000.0),
        1.0,
        "Packets/s of a flow that nothing is known of yet: WCP's first rate (schemes.md 13).",
    ),
];

#[derive(Debug)]
struct Wcpcap {
    queue: DropTail,
    epoch: Span,
    limit: f64,
    initial: f64,
}

impl Relay for Wcpcap {
    fn asks(&self) -> Asks {
        Asks { shares: Some(self.epoch), ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let packet = self.queue.dequeue(here)?;
        let it = here.packets.get(packet);
        // An earlier writer had the same share for it.
        if let Some(Header { rate: None }) = asked(it, KIND, Header::from_bytes) {
            let account = it.account;
            let share = here.node().zip(account).and_then(|(node, account)| node.share(account, self.limit));
            let header = Header { rate: Some(share.unwrap_or(self.initial)) };
            answer(here.packets.get_mut(packet), KIND, &header.to_bytes());
        }
        Some(packet)
    }

    waits_in_queue!();
}
