//! Acknowledgements thinned where they pass, for receivers that nobody changes (docs/law.md).
//!
//! Of a connection's pure acknowledgements that only say more has arrived, the newest stands for all before it. One goes on when it
//! brings a certain number of bytes, or a while after the last, or shows a window that closes or opens; what is newest waits, and goes on if nothing comes after it. CAKE's
//! filter (Hoiland-Jorgensen et al. 2018) drops what waits in a queue anyway; this one makes it wait.

use super::{Direction, HookPart, Orders, PacketHook, Passing, Ticket, Verdict};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::net::IpAddr;
use meshpace_keys::Key;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq, Span};

pub(super) static PART: HookPart = HookPart::new(
    "ack-filter",
    "Of pure acknowledgements one passes for many segments, or a while after the last; repeated ones, and what reports losses or marks, pass.",
    "docs/law.md; after CAKE's ack-filter and TACK (Li et al., SIGCOMM 2020)",
    |values| {
        Some(Box::new(AckFilter {
            bytes: values.bytes("filter_bytes"),
            share: values.count("filter_share"),
            wait: values.span("filter_wait"),
            tail: values.span("filter_tail"),
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
/// A connection that acknowledged nothing for so many waits for the tail begins anew: its sender's window may be small.
const ANEW: u64 = 4;
/// Who has been silent for so long may be forgotten.
const SILENCE: Span = Span::from_secs(60);

type Connection = (IpAddr, IpAddr, u16, u16);

#[derive(Debug)]
struct AckFilter {
    bytes: Bytes,
    share: u32,
    wait: Span,
    tail: Span,
    flows: BTreeMap<Connection, Flow>,
    /// Whose is what waits.
    held: BTreeMap<Ticket, Connection>,
}

/// One way of a connection.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// The newest acknowledgement.
    newest: Seq,
    at: Instant,
    /// The newest that passed.
    passed: Seq,
    passed_at: Instant,
    /// Bytes acknowledged since the sender began.
    since: u64,
    /// The newest window field, and that of the newest that passed. How it is scaled stays the same.
    window: u16,
    passed_window: u16,
    held: Option<Ticket>,
}

impl Flow {
    const fn new(ack: Seq, window: u16, now: Instant) -> Self {
        Self {
            newest: ack,
            at: now,
            passed: ack,
            passed_at: now,
            since: 0,
            window,
            passed_window: window,
            held: None,
        }
    }

    /// Everything up to here has passed.
    const fn pass(&mut self, now: Instant) {
        (self.passed, self.passed_at, self.passed_window) = (self.newest, now, self.window);
    }
}

impl AckFilter {
    /// Whether there is room for one more; who has been silent is forgotten for that.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.flows.len() >= FLOWS {
            let silent = |flow: &Flow| flow.held.is_none() && now.saturating_since(flow.at) > SILENCE;
            self.flows.retain(|_, flow| !silent(flow));
        }
        self.flows.len() < FLOWS
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
                self.flows.insert(key, Flow::new(segment.ack, segment.window, now));
            }
            return Verdict::Pass;
        };
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
        let silence = now.saturating_since(flow.at);
        if silence > self.tail * ANEW {
            flow.since = 0;
        }
        flow.since += u64::from(segment.ack.since(flow.newest));
        (flow.newest, flow.at) = (segment.ack, now);
        let enough = self.bytes.0.min(flow.since / u64::from(self.share));
        let brings = u64::from(segment.ack.since(flow.passed));
        // What comes so seldom is thin already, by a filter that it passed before.
        let turned = closes_or_opens(flow.passed_window, flow.window);
        let long = now.saturating_since(flow.passed_at) >= self.wait || silence >= self.tail;
        if brings >= enough || turned || long {
            flow.pass(now);
            return Verdict::Pass;
        }
        flow.held = Some(ticket);
        self.held.insert(ticket, key);
        Verdict::HoldUntil(now + self.tail)
    }
}

/// True if nothing is lost with it once a newer one comes.
fn is_plain(segment: &Segment) -> bool {
    let Segment { flags, options, .. } = segment;
    segment.is_pure_ack() && !flags.ece && !flags.cwr && options.sack.iter().all(Option::is_none)
}

/// Whether a window field has more than halved or doubled since the last that its sender saw: it may have to stop, or be able to go
/// on, now. A window of nothing is the extreme.
const fn closes_or_opens(before: u16, now: u16) -> bool {
    let (before, now) = (before as u32, now as u32);
    2 * now < before || 2 * before < now
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
            return Verdict::Pass;
        }
        self.on_ack(key, (segment, packet.says_more), ticket, now, orders)
    }

    /// Its time is over, so the tail has passed since it came.
    fn on_gone(&mut self, held: Ticket) {
        let flow = self.held.remove(&held).and_then(|key| self.flows.get_mut(&key));
        if let Some(flow) = flow {
            flow.held = None;
            flow.pass(flow.at + self.tail);
        }
    }
}

#[cfg(test)]
mod tests;
