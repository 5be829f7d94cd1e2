//! RCP (schemes.md 12): a queue keeps one rate for all flows, and every packet takes the least on its way to the receiver.

use crate::xcp::after;
use crate::{numbers, write};
use meshpace_units::{Bytes, Instant, Span};

/// What headers of RCP are known by.
pub const KIND: u8 = 2;

/// The congestion header of a SYN or data packet. An acknowledgement carries the same back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The sender's smoothed round trip, seconds; `None`: not measured yet.
    pub rtt: Option<f64>,
    /// The rate that the flow may have, byte/s: without end at the source, made smaller by each queue.
    pub rate: f64,
}

impl Header {
    /// Bytes of its fields.
    pub const LENGTH: usize = 16;

    /// Its fields in network order; an unknown round trip is 0.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        write(&[self.rtt.unwrap_or(0.0), self.rate], &mut bytes);
        bytes
    }

    /// The header of these bytes; `None` if they are none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [rtt, rate] = numbers(bytes)?;
        Some(Self { rtt: (rtt > 0.0).then_some(rtt), rate })
    }
}

/// The constants of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How fast spare bandwidth is given out.
    pub alpha: f64,
    /// How fast the queue is drained.
    pub beta: f64,
    /// Share of the capacity that is aimed at.
    pub gamma: f64,
    /// The longest time between two rates.
    pub interval: Span,
    /// The mean round trip before one is known.
    pub initial_rtt: Span,
    /// The first rate, as a share of the capacity.
    pub initial_share: f64,
    /// The lowest rate, bytes a mean round trip.
    pub least: f64,
}

impl Config {
    /// The paper's constants, and those of the public code where it gives none (schemes.md 12).
    pub const PUBLISHED: Self = Self {
        alpha: 0.4,
        beta: 0.226,
        gamma: 1.0,
        interval: Span::from_millis(10),
        initial_rtt: Span::from_millis(200),
        initial_share: 0.05,
        least: 10.0,
    };

    /// By what the rate is multiplied after `time` seconds (12.1): `spare` is `gamma` of the capacity without the traffic, and
    /// `capacity` the link's, byte/s; `queue` waits, bytes; `rtt` is the mean round trip, seconds.
    #[must_use]
    pub fn factor(&self, spare: f64, capacity: f64, queue: f64, rtt: f64, time: f64) -> f64 {
        let change = self.alpha * spare - self.beta * queue / rtt;
        1.0 + time / rtt * change / (self.gamma * capacity)
    }
}

/// The controller of one queue.
#[derive(Clone, Debug)]
pub struct Router {
    config: Config,
    /// The rate of each flow, byte/s; `None` before the capacity was known.
    rate: Option<f64>,
    /// Mean round trip, seconds.
    rtt: f64,
    /// When the next rate is due; `None` while nothing comes and no more can be offered.
    ends: Option<Instant>,
    length: f64,
    input: f64,
    rtts: f64,
    with_rtt: f64,
}

impl Router {
    /// Of a queue that is empty.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (rtt, length) = (config.initial_rtt.as_secs_f64(), config.interval.as_secs_f64());
        Self { config, rate: None, rtt, ends: None, length, input: 0.0, rtts: 0.0, with_rtt: 0.0 }
    }

    /// A packet comes. All traffic counts, with and without header. `capacity` is the link's, byte/s.
    pub fn on_arrival(&mut self, now: Instant, size: Bytes, header: Option<&Header>, capacity: f64) {
        self.rate.get_or_insert(self.config.initial_share * capacity);
        if self.ends.is_none() {
            self.length = self.config.interval.as_secs_f64().min(self.rtt);
            self.ends = after(now, self.length);
        }
        self.input += size.0 as f64;
        if let Some(rtt) = header.and_then(|header| header.rtt) {
            self.rtts += rtt;
            self.with_rtt += 1.0;
        }
    }

    /// A packet leaves: it may have the rate of this queue, at the most.
    pub fn on_departure(&self, header: &mut Header) {
        header.rate = self.rate.map_or(header.rate, |rate| header.rate.min(rate));
    }

    /// The rate of each flow, byte/s.
    #[must_use]
    pub const fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.ends
    }

    /// A deadline has come, or may have. `capacity` is the link's, byte/s; `waiting` bytes are in the queue; `spare` says
    /// how much of the bandwidth that is aimed at, byte/s, the traffic leaves, which it is told.
    pub fn handle_timeout(
        &mut self,
        now: Instant,
        capacity: f64,
        waiting: Bytes,
        spare: impl FnOnce(f64) -> f64,
    ) {
        let (Some(rate), true) = (self.rate, self.ends.is_some_and(|ends| ends <= now)) else { return };
        if self.with_rtt > 0.0 {
            self.rtt += (self.length / self.rtt).min(1.0) * (self.rtts / self.with_rtt - self.rtt);
        }
        let queue = waiting.0 as f64;
        let factor =
            self.config.factor(spare(self.input / self.length), capacity, queue, self.rtt, self.length);
        let most = self.config.gamma * capacity;
        let next = (rate * factor).max(self.config.least / self.rtt).min(most);
        self.rate = Some(next);
        let idle = self.input == 0.0 && queue == 0.0 && next >= most;
        self.length = self.config.interval.as_secs_f64().min(self.rtt);
        self.ends = if idle { None } else { after(now, self.length) };
        (self.input, self.rtts, self.with_rtt) = (0.0, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_schemes_md_12() {
        let factor = Config::PUBLISHED.factor(0.25e6, 1.25e6, 10_000.0, 0.1, 0.01);
        assert!((factor - 1.006_192).abs() < 1e-9, "{factor}");
    }

    #[test]
    fn a_header_survives_the_wire() {
        for header in [Header { rtt: None, rate: f64::INFINITY }, Header { rtt: Some(0.25), rate: 1e5 }] {
            assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        }
        assert_eq!(Header::from_bytes(&[]), None);
    }

    /// If N flows send at the rate that they are given, that rate becomes C/N, whatever it began with.
    #[test]
    fn the_fixed_point_is_an_equal_share_of_the_capacity() {
        const C: f64 = 1.25e6;
        for flows in [1.0, 3.0, 10.0] {
            let mut router = Router::new(Config::PUBLISHED);
            let mut now = Instant::ZERO;
            let header = Header { rtt: Some(0.1), rate: f64::INFINITY };
            router.on_arrival(now, Bytes(0), Some(&header), C);
            let mut queue = 0.0_f64;
            for _ in 0..5000 {
                let rate = router.rate().unwrap();
                let (bytes, length) = (flows * rate * router.length, router.length);
                router.on_arrival(now, Bytes(bytes as u64), Some(&header), C);
                queue = (queue + bytes - C * length).max(0.0);
                now = router.poll_timeout().unwrap();
                router.handle_timeout(now, C, Bytes(queue as u64), |input| C - input);
            }
            let rate = router.rate().unwrap();
            assert!((rate * flows / C - 1.0).abs() < 0.001, "{flows} flows: {rate}");
        }
    }

    #[test]
    fn an_idle_router_offers_everything_and_then_rests() {
        let mut router = Router::new(Config::PUBLISHED);
        router.on_arrival(Instant::ZERO, Bytes(1500), None, 1e6);
        let mut calls = 0;
        while let Some(at) = router.poll_timeout() {
            router.handle_timeout(at, 1e6, Bytes(0), |input| 1e6 - input);
            calls += 1;
            assert!(calls < 1000);
        }
        assert_eq!(router.rate(), Some(1e6));
        let mut header = Header { rtt: None, rate: f64::INFINITY };
        router.on_departure(&mut header);
        assert_eq!(header.rate, 1e6);
    }
}
