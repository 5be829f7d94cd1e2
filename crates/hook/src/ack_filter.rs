//! Acknowledgements thinned where they pass, for receivers that stay as they are (docs/law.md).
//!
//! Of a connection's pure acknowledgements that only say more has arrived, the newest stands for all before it. An acknowledgement goes
//! on when it brings a certain number of bytes, or half of its sender's window, or a while after the last one, or when it shows a
//! window that closes or opens. The newest acknowledgement waits, and goes on if no other comes after it. CAKE's filter
//! (Hoiland-Jorgensen et al. 2018) drops what waits in a queue anyway; this one makes it wait.

mod flow;

use super::{Direction, HookPart, Orders, PacketHook, Passing, Ticket, Verdict};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::net::IpAddr;
use flow::{Flow, Rules};
use meshpace_keys::Key;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Span};

pub(super) static PART: HookPart = HookPart::new(
    "ack-filter",
    "Of pure acknowledgements one passes for many segments, or a while after the last; repeated ones, and what reports losses or marks, pass.",
    "docs/law.md; after CAKE's ack-filter and TACK (Li et al., SIGCOMM 2020)",
    |values| {
        Some(Box::new(AckFilter {
            rules: Rules {
                bytes: values.bytes("filter_bytes"),
                share: values.count("filter_share"),
                wait: values.span("filter_wait"),
                tail: values.span("filter_tail"),
            },
            flows: BTreeMap::new(),
            held: BTreeMap::new(),
        }))
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 4] = [
    Key::size(
        "filter_bytes",
        (1, 1 << 32),
        Bytes(16 * 1460),
        "Hook ack-filter: an acknowledgement that brings so much since the last that passed, passes (docs/law.md).",
    ),
    Key::count(
        "filter_share",
        (1, 1_000),
        8,
        "Hook ack-filter: and one that brings so large a part, one in so many, of what has been acknowledged since the sender began (docs/law.md).",
    ),
    Key::time(
        "filter_wait",
        Span::from_secs(10),
        Span::from_millis(200),
        "Hook ack-filter: and one that comes so long after the last that passed (docs/law.md).",
    ),
    Key::time(
        "filter_tail",
        Span::from_secs(10),
        Span::from_millis(100),
        "Hook ack-filter: others wait so long for a newer one, and then pass (docs/law.md).",
    ),
];

/// Connections remembered. Acknowledgements of others pass as they come.
const FLOWS: usize = 65_536;
/// A connection that has been silent for so long may be forgotten.
const SILENCE: Span = Span::from_secs(60);

type Connection = (IpAddr, IpAddr, u16, u16);

#[derive(Debug)]
struct AckFilter {
    rules: Rules,
    flows: BTreeMap<Connection, Flow>,
    /// Whose is what waits.
    held: BTreeMap<Ticket, Connection>,
}

impl AckFilter {
    /// Whether there is room for one more; connections that have been silent are forgotten for that.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.flows.len() >= FLOWS {
            let silent = |flow: &Flow| flow.held.is_none() && now.saturating_since(flow.at) > SILENCE;
            self.flows.retain(|_, flow| !silent(flow));
        }
        self.flows.len() < FLOWS
    }

    /// A SYN: how window fields will be scaled.
    fn on_syn(&mut self, key: Connection, syn: &Segment, now: Instant) {
        if self.has_room(now) {
            self.flows.insert(key, Flow::beginning(syn, now));
        }
    }

    fn on_ack(
        &mut self,
        key: Connection,
        (segment, says_more): (&Segment, bool),
        ticket: Ticket,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict {
        let Some(flow) = self.flows.get_mut(&key) else {
            if self.has_room(now) {
                self.flows.insert(key, Flow::new(segment, None, now));
            }
            return Verdict::Pass;
        };
        if flow.begins {
            *flow = flow.begun(segment, now);
            return Verdict::Pass;
        }
        let before = flow.held.take();
        before.iter().for_each(|held| {
            self.held.remove(held);
        });
        flow.window = segment.window;
        if says_more || !is_plain(segment) || !segment.ack.after(flow.newest) {
            // Its sender has to see what was before it.
            before.into_iter().for_each(|held| orders.pass(held));
            flow.newest = flow.newest.later(segment.ack);
            flow.pass(now);
            return Verdict::Pass;
        }
        before.into_iter().for_each(|held| orders.drop(held));
        if flow.on_more(segment.ack, &self.rules, now) {
            return Verdict::Pass;
        }
        flow.held = Some(ticket);
        self.held.insert(ticket, key);
        Verdict::HoldUntil(now + self.rules.tail)
    }
}

/// True if nothing is lost with it once a newer one comes.
fn is_plain(segment: &Segment) -> bool {
    let Segment { flags, options, .. } = segment;
    segment.is_pure_ack() && !flags.ece && !flags.cwr && options.sack.iter().all(Option::is_none)
}

impl PacketHook for AckFilter {
    fn on_packet(
        &mut self,
        direction: Direction,
        ticket: Ticket,
        packet: &Passing<'_>,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict {
        // What goes to the Internet has the air behind it.
        let into_the_mesh = direction != Direction::Up;
        let segment = packet
            .segment
            .filter(|_| into_the_mesh)
            .filter(|Segment { flags, .. }| flags.ack || flags.rst || flags.syn);
        let Some(segment) = segment else { return Verdict::Pass };
        let key = (packet.source, packet.destination, segment.source_port, segment.destination_port);
        if segment.flags.rst || segment.flags.fin || segment.flags.syn {
            if let Some(held) = self.flows.remove(&key).and_then(|flow| flow.held) {
                self.held.remove(&held);
                orders.pass(held);
            }
            if !(segment.flags.rst || segment.flags.fin) {
                self.on_syn(key, segment, now);
            }
            return Verdict::Pass;
        }
        self.on_ack(key, (segment, packet.says_more), ticket, now, orders)
    }

    /// Its time is over, so the tail has passed since it came.
    fn on_gone(&mut self, held: Ticket) {
        let flow = self.held.remove(&held).and_then(|key| self.flows.get_mut(&key));
        if let Some(flow) = flow {
            flow.held = None;
            flow.waited(self.rules.tail);
        }
    }
}

#[cfg(test)]
mod tests;
