//! CoDel, "controlled delay" (RFC 8289): a queue that drops, or marks, at its head while packets have been waiting too
//! long for too long.
//!
//! This is the law alone. Where packets wait, and what dropping and marking them means, is the [`Queue`]'s business: the
//! simulator's queue disciplines have handles of packets, the gateway's pacing queues have what it was handed in.
//!
//! | module | idea |
//! |---|---|
//! | `fifo` | one queue of packets of whatever kind under the law |
//! | `fair` | a queue a flow, served in turn: FQ-CoDel's (RFC 8290) |
//! | `turns` | whose turn it is, among flows, hosts or others that share |
//! | `hash` | which flow a packet is of |
#![no_std]

extern crate alloc;

mod fair;
mod fifo;
mod hash;
mod turns;

pub use fair::FairQueues;
pub use fifo::{Fate, Fifo};
pub use hash::{FlowHash, salt};
pub use turns::{Turn, Turns};

use meshpace_units::{Bytes, Instant, Span};

/// CoDel's two parameters, and what it spares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The standing delay that is acceptable (RFC 8289, section 4.4: 5 ms).
    pub target: Span,
    /// How long it may stand: about the longest round trip (RFC 8289, section 4.3: 100 ms).
    pub interval: Span,
    /// A backlog of no more than this is never dropped from: one packet (RFC 8289, section 4.4: the maximum packet).
    pub spared: Bytes,
}

/// Packets that wait, first in, first out.
pub trait Queue {
    /// One of them, taken out.
    type Packet;

    /// Takes the first packet out; `None` if none waits.
    fn pop(&mut self) -> Option<Self::Packet>;

    /// Since when a packet has waited.
    fn since(packet: &Self::Packet) -> Instant;

    /// Bytes that still wait.
    fn backlog(&self) -> Bytes;

    /// Marks a packet that goes on, in place of dropping it; false if its transport does not react to marks (RFC 3168,
    /// section 5).
    fn mark(&mut self, packet: &mut Self::Packet) -> bool;

    /// Drops a packet that was taken out.
    fn drop(&mut self, packet: Self::Packet);
}

/// The state of one queue. Names are those of the RFC's pseudocode (section 5.3), where `None` is its 0.
#[derive(Clone, Debug, Default)]
pub struct Codel {
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Codel {
    /// The packet to send `now`. Drops or marks others before it.
    pub fn dequeue<Q: Queue>(&mut self, now: Instant, config: &Config, queue: &mut Q) -> Option<Q::Packet> {
        let (mut first, mut ok_to_drop) = self.judge(now, config, queue);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                let Some(mut victim) = first.take() else { break };
                if queue.mark(&mut victim) {
                    first = Some(victim);
                    self.drop_next = control_law(self.drop_next, self.count, config);
                    break;
                }
                queue.drop(victim);
                (first, ok_to_drop) = self.judge(now, config, queue);
                if ok_to_drop {
                    self.drop_next = control_law(self.drop_next, self.count, config);
                } else {
                    self.dropping = false;
                }
            }
        } else if let Some(mut victim) = first.take_if(|_| ok_to_drop) {
            if queue.mark(&mut victim) {
                first = Some(victim);
            } else {
                queue.drop(victim);
                (first, _) = self.judge(now, config, queue);
            }
            self.dropping = true;
            // Where the last bout ended not long ago, its rate is taken up again.
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now.saturating_since(self.drop_next) < config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = control_law(now, self.count, config);
            self.last_count = self.count;
        }
        first
    }

    /// Takes the first packet out, and says whether it has waited too long for too long (the RFC's `dodequeue`).
    fn judge<Q: Queue>(&mut self, now: Instant, config: &Config, queue: &mut Q) -> (Option<Q::Packet>, bool) {
        let Some(first) = queue.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        if now - Q::since(&first) < config.target || queue.backlog() <= config.spared {
            self.first_above_time = None;
            return (Some(first), false);
        }
        let due = *self.first_above_time.get_or_insert(now + config.interval);
        (Some(first), now >= due)
    }
}

/// The next drop: the more there were, the sooner (RFC 8289, section 5.3: `t + interval / sqrt(count)`).
fn control_law(t: Instant, count: u32, config: &Config) -> Instant {
    t + Span::from_secs_f64(config.interval.as_secs_f64() / libm::sqrt(f64::from(count)))
}

#[cfg(test)]
mod tests;
