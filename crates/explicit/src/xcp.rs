//! XCP (schemes.md 11.1): an efficiency controller that fills the link and drains the queue, and a fairness controller that
//! shares what it gives and takes.

use crate::{numbers, write};
use meshpace_units::{Bytes, Instant, Span};

/// What headers of XCP are known by.
pub const KIND: u8 = 1;

/// The congestion header of a data packet. An acknowledgement carries the same back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The sender's smoothed round trip, seconds; `None`: not measured yet, and the packet gets no feedback.
    pub rtt: Option<f64>,
    /// Time per byte at the sender's throughput, `rtt / cwnd`, s/byte.
    pub inverse: f64,
    /// By how much the throughput is to change, byte/s: what the sender asks for, and each queue makes smaller.
    pub feedback: f64,
}

impl Header {
    /// Bytes of its fields.
    pub const LENGTH: usize = 24;

    /// Its fields in network order; an unknown round trip is 0, as in the paper.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        write(&[self.rtt.unwrap_or(0.0), self.inverse, self.feedback], &mut bytes);
        bytes
    }

    /// The header of these bytes; `None` if they are none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [rtt, inverse, feedback] = numbers(bytes)?;
        Some(Self { rtt: (rtt > 0.0).then_some(rtt), inverse, feedback })
    }
}

/// The constants of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Share of the spare bandwidth that is given out in an interval.
    pub alpha: f64,
    /// Share of the standing queue that is taken back in an interval.
    pub beta: f64,
    /// Share of the traffic that is shuffled between the flows.
    pub gamma: f64,
    /// The longest round trip that counts.
    pub max_rtt: Span,
    /// The shortest control interval.
    pub min_interval: Span,
    /// The control interval while no round trip is known.
    pub initial_interval: Span,
    /// The shortest time over which the least of the queue is sought.
    pub min_queue_interval: Span,
}

impl Config {
    /// The published ones (schemes.md 11.1).
    pub const PUBLISHED: Self = Self {
        alpha: 0.4,
        beta: 0.226,
        gamma: 0.1,
        max_rtt: Span::from_secs(1),
        min_interval: Span::from_millis(1),
        initial_interval: Span::from_millis(50),
        min_queue_interval: Span::from_millis(2),
    };

    /// What an interval gives out and takes back: `[positive, negative]`, byte/s (11.1, 11.2). `spare` is the bandwidth that
    /// nobody uses, `input` the traffic, byte/s; `queue` stands, bytes; `rtt` is the mean round trip, seconds.
    #[must_use]
    pub fn budgets(&self, spare: f64, input: f64, queue: f64, rtt: f64) -> [f64; 2] {
        let phi = self.alpha * spare - self.beta * queue / rtt;
        let shuffled = (self.gamma * input - phi.abs()).max(0.0);
        [phi.max(0.0) + shuffled, (-phi).max(0.0) + shuffled]
    }
}

/// What a router knows of an interval when it has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// What came, byte/s.
    pub input: f64,
    /// How long it was, seconds.
    pub length: f64,
    /// Mean round trip of what came, seconds.
    pub rtt: f64,
    /// Bytes that stood in the queue all the time.
    pub queue: f64,
    /// Bytes in the queue when it began, the least while it lasted, and at its end.
    pub backlog: [f64; 3],
}

/// What the efficiency controller goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Spare bandwidth, byte/s.
    pub spare: f64,
    /// The queue that is to be drained, bytes.
    pub queue: f64,
}

/// The controllers of one queue. No state of any flow is in them.
#[derive(Clone, Debug)]
pub struct Router {
    config: Config,
    /// How much longer than the mean the first intervals are, so that the queues of a network do not act in step.
    spread: f64,
    /// End of the control interval; `None` while nothing comes.
    ends: Option<Instant>,
    length: f64,
    rtt: f64,
    input: f64,
    /// Sums over the packets of the interval: `x`, and `rtt x`.
    inverses: f64,
    weighted_rtts: f64,
    /// Feedback per `x`, and per byte (11.3).
    per_inverse: f64,
    per_byte: f64,
    /// What is left of the budgets.
    positive: f64,
    negative: f64,
    floor: Floor,
    /// Bytes in the queue when the control interval began, and the least since.
    began_with: f64,
    least: f64,
}

impl Router {
    /// Of a queue that is empty; `spread` makes its first interval so many times as long, about 1.
    #[must_use]
    pub fn new(config: Config, spread: f64) -> Self {
        Self {
            config,
            spread,
            ends: None,
            length: config.initial_interval.as_secs_f64() * spread,
            rtt: config.initial_interval.as_secs_f64(),
            input: 0.0,
            inverses: 0.0,
            weighted_rtts: 0.0,
            per_inverse: 0.0,
            per_byte: 0.0,
            positive: 0.0,
            negative: 0.0,
            floor: Floor::default(),
            began_with: 0.0,
            least: 0.0,
        }
    }

    /// A packet comes; `waiting` bytes are in the queue with it. All traffic counts, with and without header.
    pub fn on_arrival(&mut self, now: Instant, size: Bytes, header: Option<&Header>, waiting: Bytes) {
        if self.ends.is_none() {
            self.ends = after(now, self.length);
            (self.began_with, self.least) = (0.0, 0.0);
            self.floor.restart(
                now,
                self.config.min_queue_interval.as_secs_f64() * self.spread,
                waiting.0 as f64,
            );
        }
        self.input += size.0 as f64;
        if let Some(Header { rtt: Some(rtt), inverse, .. }) = header {
            self.inverses += inverse;
            self.weighted_rtts += rtt.min(self.config.max_rtt.as_secs_f64()) * inverse;
        }
        self.floor.on_queue(waiting.0 as f64);
    }

    /// A packet leaves, `waiting` bytes behind: its feedback is made no larger than its share (11.4).
    pub fn on_departure(&mut self, size: Bytes, header: Option<&mut Header>, waiting: Bytes) {
        self.floor.on_queue(waiting.0 as f64);
        self.least = self.least.min(waiting.0 as f64);
        let Some(header) = header else { return };
        if header.rtt.is_none() {
            header.feedback = 0.0;
            return;
        }
        let mut positive = self.positive.min(self.per_inverse * header.inverse);
        let mut negative = self.negative.min(self.per_byte * size.0 as f64);
        let share = positive - negative;
        if header.feedback >= share {
            header.feedback = share;
        } else {
            // A flow that asks for less, or was given less before, leaves the rest to others.
            negative = self.negative.min(negative + (share - header.feedback));
            positive = header.feedback + negative;
        }
        self.positive = (self.positive - positive).max(0.0);
        self.negative = (self.negative - negative).max(0.0);
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        Some(self.ends?.min(self.floor.ends?))
    }

    /// A deadline has come, or may have. `capacity` is the link's, byte/s; `waiting` bytes are in the queue; `aim` says
    /// after an interval what to go by.
    pub fn handle_timeout(
        &mut self,
        now: Instant,
        capacity: f64,
        waiting: Bytes,
        aim: impl FnOnce(&Interval) -> Aim,
    ) {
        if self.floor.ends.is_some_and(|ends| ends <= now) {
            let length = (self.rtt - waiting.0 as f64 / capacity) / 2.0;
            self.floor.restart(
                now,
                length.max(self.config.min_queue_interval.as_secs_f64()),
                waiting.0 as f64,
            );
        }
        if self.ends.is_none_or(|ends| ends > now) {
            return;
        }
        if self.input == 0.0 && waiting.0 == 0 {
            (self.per_inverse, self.per_byte, self.positive, self.negative) = (0.0, 0.0, 0.0, 0.0);
            (self.ends, self.floor) = (None, Floor::default());
            return;
        }
        if self.inverses > 0.0 {
            self.rtt = self.weighted_rtts / self.inverses;
        }
        let input = self.input / self.length;
        let waiting = waiting.0 as f64;
        let backlog = [self.began_with, self.least, waiting];
        let over =
            Interval { input, length: self.length, rtt: self.rtt, queue: self.floor.standing, backlog };
        (self.began_with, self.least) = (waiting, waiting);
        let Aim { spare, queue } = aim(&over);
        let [positive, negative] = self.config.budgets(spare, input, queue, over.rtt);
        self.per_inverse = if self.inverses > 0.0 { positive / self.inverses } else { 0.0 };
        self.per_byte = if self.input > 0.0 { negative / self.input } else { 0.0 };
        (self.positive, self.negative) = (positive, negative);
        self.length = self.rtt.max(self.config.min_interval.as_secs_f64());
        self.ends = after(now, self.length);
        (self.input, self.inverses, self.weighted_rtts) = (0.0, 0.0, 0.0);
    }
}

/// The least that was in the queue over some time: what stands there.
#[derive(Clone, Debug, Default)]
struct Floor {
    ends: Option<Instant>,
    standing: f64,
    least: f64,
}

impl Floor {
    fn restart(&mut self, now: Instant, length: f64, waiting: f64) {
        self.standing = if self.ends.is_some() { self.least } else { 0.0 };
        self.least = waiting;
        self.ends = after(now, length);
    }

    fn on_queue(&mut self, waiting: f64) {
        self.least = self.least.min(waiting);
    }
}

/// So many seconds later, and a nanosecond at least.
pub(crate) fn after(now: Instant, seconds: f64) -> Option<Instant> {
    now.checked_add(Span::try_from_secs_f64(seconds)?.max(Span::from_nanos(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Instant = |ms| Instant::from_nanos(ms * 1_000_000);

    #[test]
    fn the_vector_of_schemes_md_11_1() {
        let [positive, negative] = Config::PUBLISHED.budgets(0.25e6, 1.0e6, 10_000.0, 0.1);
        assert!(
            (positive - 100_000.0).abs() < 1e-6 && (negative - 22_600.0).abs() < 1e-6,
            "{positive} {negative}"
        );
        // A queue and too much traffic: nothing is given but what is shuffled.
        let [positive, negative] = Config::PUBLISHED.budgets(-0.1e6, 1.0e6, 10_000.0, 0.1);
        assert!(
            (positive - 37_400.0).abs() < 1e-6 && (negative - 100_000.0).abs() < 1e-6,
            "{positive} {negative}"
        );
    }

    #[test]
    fn a_header_survives_the_wire_and_nonsense_does_not() {
        let header = Header { rtt: Some(0.1), inverse: 1e-6, feedback: -3.0 };
        assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        let unknown = Header { rtt: None, ..header };
        assert_eq!(Header::from_bytes(&unknown.to_bytes()), Some(unknown));
        assert_eq!(Header::from_bytes(&header.to_bytes()[1..]), None);
        assert_eq!(Header::from_bytes(&[0xff; 24]), None, "not a number");
    }

    /// Two flows, one at twice the throughput of the other, both with round trips of 100 ms, in one interval.
    #[test]
    fn gains_are_equal_for_flows_and_losses_go_by_throughput() {
        let mut router =
            Router::new(Config { initial_interval: Span::from_millis(100), ..Config::PUBLISHED }, 1.0);
        let flow = |rate: f64| Header { rtt: Some(0.1), inverse: 1.0 / rate, feedback: f64::INFINITY };
        let (fast, slow) = (flow(400_000.0), flow(200_000.0));
        for _ in 0..2 {
            // 40 and 20 packets of 1,000 bytes in 100 ms.
            for packet in 0..60 {
                let header = if packet % 3 == 0 { &slow } else { &fast };
                router.on_arrival(MS(0), Bytes(1000), Some(header), Bytes(0));
            }
            router.handle_timeout(router.ends.unwrap(), 1.0e6, Bytes(0), |over| {
                assert!((over.input - 600_000.0).abs() < 1e-3 && (over.rtt - 0.1).abs() < 1e-12, "{over:?}");
                Aim { spare: 1.0e6 - over.input, queue: over.queue }
            });
            let (mut gained, mut total) = ([0.0; 2], 0.0);
            for packet in 0..60 {
                let of = usize::from(packet % 3 == 0);
                let mut header = if of == 1 { slow } else { fast };
                router.on_departure(Bytes(1000), Some(&mut header), Bytes(0));
                gained[of] += header.feedback;
                total += header.feedback;
            }
            // phi = 0.4 * 400,000; nothing is shuffled, since that is more than a tenth of the traffic.
            assert!((total - 160_000.0).abs() < 1.0 && (gained[0] - gained[1]).abs() < 1.0, "{gained:?}");
        }
    }

    #[test]
    fn who_was_given_less_upstream_leaves_the_rest() {
        let mut router =
            Router::new(Config { initial_interval: Span::from_millis(100), ..Config::PUBLISHED }, 1.0);
        let header = Header { rtt: Some(0.1), inverse: 1e-5, feedback: f64::INFINITY };
        for _ in 0..10 {
            router.on_arrival(MS(0), Bytes(1000), Some(&header), Bytes(0));
        }
        router.handle_timeout(MS(100), 1.0e6, Bytes(0), |over| Aim {
            spare: 1.0e6 - over.input,
            queue: over.queue,
        });
        let mut modest = Header { feedback: 7.0, ..header };
        let before = router.positive;
        router.on_departure(Bytes(1000), Some(&mut modest), Bytes(0));
        assert_eq!(modest.feedback, 7.0);
        assert!(before - router.positive < 8.0, "{before} {}", router.positive);
        let mut unknown = Header { rtt: None, ..header };
        router.on_departure(Bytes(1000), Some(&mut unknown), Bytes(0));
        assert_eq!(unknown.feedback, 0.0);
    }

    #[test]
    fn an_idle_router_has_no_deadline_and_gives_nothing() {
        let mut router = Router::new(Config::PUBLISHED, 1.0);
        assert_eq!(router.poll_timeout(), None);
        router.on_arrival(MS(0), Bytes(1000), None, Bytes(1000));
        let header = Header { rtt: Some(0.1), inverse: 1e-5, feedback: 5.0 };
        let mut calls = 0;
        while let Some(at) = router.poll_timeout() {
            router.handle_timeout(at, 1.0e6, Bytes(0), |over| Aim {
                spare: 1.0e6 - over.input,
                queue: over.queue,
            });
            calls += 1;
            assert!(calls < 200, "never idle");
        }
        let mut late = header;
        router.on_departure(Bytes(1000), Some(&mut late), Bytes(0));
        assert_eq!(late.feedback, 0.0);
    }
}
