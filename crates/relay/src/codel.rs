//! CoDel, "controlled delay" (RFC 8289): a queue that drops, or marks, at its head while packets have been waiting too
//! long for too long.

use crate::here::Here;
use meshpace_packet::{Handle, Packet};
use meshpace_units::{Bytes, Instant, Span};
use std::collections::VecDeque;

/// CoDel's two parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// The standing delay that is acceptable (RFC 8289, section 4.4: 5 ms).
    pub target: Span,
    /// How long it may stand: about the longest round trip (RFC 8289, section 4.3: 100 ms).
    pub interval: Span,
    /// A backlog of no more than this is never dropped from: one packet (RFC 8289, section 4.4: the maximum packet).
    pub spared: Bytes,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Handle,
    since: Instant,
    size: Bytes,
}

/// A queue under CoDel. Names of the state are those of the RFC's pseudocode (section 5.3), where `None` is its 0.
#[derive(Clone, Debug, Default)]
pub struct Codel {
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Codel {
    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// A packet is to wait.
    pub fn push(&mut self, here: &Here<'_>, packet: Handle) {
        let size = here.packets.get(packet).size;
        self.bytes += size;
        self.waiting.push_back(Waiting { packet, since: here.now, size });
    }

    /// The first packet, whatever its wait.
    pub fn pop_head(&mut self) -> Option<Handle> {
        self.pop().map(|first| first.packet)
    }

    /// Drops the packets that are wanted.
    pub fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        let bytes = &mut self.bytes;
        self.waiting.retain(|waiting| {
            let keep = !wanted(here.packets.get(waiting.packet));
            if !keep {
                *bytes = *bytes - waiting.size;
                here.drop(waiting.packet);
            }
            keep
        });
    }

    /// The packet to send now, and its size. Drops or marks others before it.
    pub fn dequeue(&mut self, here: &mut Here<'_>, config: &CodelConfig) -> Option<(Handle, Bytes)> {
        let now = here.now;
        let (mut first, mut ok_to_drop) = self.judge(now, config);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                let Some(victim) = first else { break };
                if here.mark(victim.packet) {
                    self.drop_next = control_law(self.drop_next, self.count, config);
                    break;
                }
                here.drop(victim.packet);
                (first, ok_to_drop) = self.judge(now, config);
                if ok_to_drop {
                    self.drop_next = control_law(self.drop_next, self.count, config);
                } else {
                    self.dropping = false;
                }
            }
        } else if let (true, Some(victim)) = (ok_to_drop, first) {
            if !here.mark(victim.packet) {
                here.drop(victim.packet);
                (first, _) = self.judge(now, config);
            }
            self.dropping = true;
            // Where the last bout ended not long ago, its rate is taken up again.
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now.saturating_since(self.drop_next) < config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = control_law(now, self.count, config);
            self.last_count = self.count;
        }
        first.map(|waiting| (waiting.packet, waiting.size))
    }

    fn pop(&mut self) -> Option<Waiting> {
        let first = self.waiting.pop_front()?;
        self.bytes = self.bytes - first.size;
        Some(first)
    }

    /// Takes the first packet out, and says whether it has waited too long for too long (the RFC's `dodequeue`).
    fn judge(&mut self, now: Instant, config: &CodelConfig) -> (Option<Waiting>, bool) {
        let Some(first) = self.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        if now - first.since < config.target || self.bytes <= config.spared {
            self.first_above_time = None;
            return (Some(first), false);
        }
        let due = *self.first_above_time.get_or_insert(now + config.interval);
        (Some(first), now >= due)
    }
}

/// The next drop: the more there were, the sooner (RFC 8289, section 5.3: `t + interval / sqrt(count)`).
fn control_law(t: Instant, count: u32, config: &CodelConfig) -> Instant {
    t + Span::from_secs_f64(config.interval.as_secs_f64() / libm::sqrt(f64::from(count)))
}
