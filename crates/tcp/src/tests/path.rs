//! A sender and a receiver with a bottleneck between them: what a control makes of a path that is worked out by hand.

use crate::control::recovery::{Rack, With};
use crate::control::{Congestion, Recovered, Rules};
use crate::{Arrival, Config, Connection, Every, Ports, Transmit};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use meshpace_units::{Bytes, Instant, Rate, Seq, Span};

/// The link in the middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) rate: Rate,
    /// One way, besides the time that a packet takes on the link.
    pub(crate) delay: Span,
    /// Packets that wait at most.
    pub(crate) buffer: usize,
}

impl Link {
    /// 1.2 Mbit/s with a round trip of 100 ms and a segment's time, 10 ms: 11 segments fill it.
    pub(crate) fn narrow(buffer: usize) -> Self {
        Self { rate: Rate::bits_per_sec(1_200_000), delay: Span::from_millis(50), buffer }
    }
}

/// Payload over the [narrow](Link::narrow) link, bit/s: 1,460 of each 1,500 bytes.
pub(crate) const GOODPUT: f64 = 1_200_000.0 * 1460.0 / 1500.0;

/// Linux's sender with this window, losses found by time, and a receiver that acknowledges each segment of 1,460 bytes.
pub(crate) fn linux(window: impl Congestion + 'static) -> Config {
    let rack = Rack::new(&Rules::LINUX, With::ALL);
    Config {
        timestamps: false,
        nagle: false,
        mss: 1460,
        acknowledgements: Box::new(Every),
        ..Config::linux()
    }
    .controlled_by(Recovered::new(Box::new(window), Box::new(rack)))
}

/// So many seconds after the beginning.
pub(crate) fn at(seconds: f64) -> Instant {
    Instant::ZERO + Span::from_secs_f64(seconds)
}

/// What there is to see each millisecond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) cwnd: f64,
    /// Between two departures.
    pub(crate) interval: Option<Span>,
    /// Packets that wait at the link, the one on it included.
    pub(crate) queue: usize,
    pub(crate) delivered: u64,
}

/// Drops what comes quicker than its rate for longer than its bucket lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    most: f64,
    /// Bytes that may pass now.
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn new(rate: Rate, bytes: u32) -> Self {
        let most = f64::from(bytes);
        Self { rate, most, tokens: most, filled: Instant::ZERO }
    }

    fn drops(&mut self, now: Instant, packet: Bytes) -> bool {
        let came = self.rate.as_bits_per_sec() as f64 / 8.0 * now.saturating_since(self.filled).as_secs_f64();
        (self.tokens, self.filled) = ((self.tokens + came).min(self.most), now);
        let drops = self.tokens < packet.0 as f64;
        self.tokens -= if drops { 0.0 } else { packet.0 as f64 };
        drops
    }
}

/// Both ends and what is between them.
pub(crate) struct Path {
    pub(crate) sender: Connection,
    pub(crate) receiver: Connection,
    pub(crate) link: Link,
    now: Instant,
    free: Instant,
    /// When those at the link will have left.
    leaving: VecDeque<Instant>,
    /// By arrival and order: to the receiver or the sender.
    air: BTreeMap<(Instant, u64), (bool, Transmit)>,
    order: u64,
    /// Departures of data, counted, that are lost on their way.
    lost: fn(u64) -> bool,
    pub(crate) policer: Option<Bucket>,
    departures: u64,
    pub(crate) drops: u64,
    pub(crate) seen: Vec<Seen>,
}

impl Path {
    /// A connection with more than enough to send.
    pub(crate) fn new(config: &Config, link: Link) -> Self {
        let config = Config { receive_buffer: 10_000_000, ..config.clone() };
        let mut sender =
            Connection::connect(config.clone(), Ports { local: 1, remote: 2 }, Seq(0), Instant::ZERO);
        sender.write_endless().expect("open");
        let receiver = Connection::listen(Config { reading: crate::Reading::AtOnce, ..config }, 2, Seq(0));
        Self {
            sender,
            receiver,
            link,
            now: Instant::ZERO,
            free: Instant::ZERO,
            leaving: VecDeque::new(),
            air: BTreeMap::new(),
            order: 0,
            lost: |_| false,
            policer: None,
            departures: 0,
            drops: 0,
            seen: Vec::new(),
        }
    }

    /// The same, where these departures of data are lost.
    pub(crate) fn losing(self, lost: fn(u64) -> bool) -> Self {
        Self { lost, ..self }
    }

    /// One of a property test's: with `every` below 40, each 40th departure of data is lost.
    pub(crate) fn drawn(config: &Config, kbps: u64, delay_ms: u64, buffer: usize, every: u64) -> Self {
        let link =
            Link { rate: Rate::bits_per_sec(1_000 * kbps), delay: Span::from_millis(delay_ms), buffer };
        let path = Self::new(config, link);
        if every < 40 { path.losing(|n| n % 40 == 7) } else { path }
    }

    fn drain(&mut self) {
        while let Some(transmit) = self.sender.poll_transmit(self.now) {
            let data = transmit.segment.payload > 0;
            self.departures += u64::from(data);
            while self.leaving.front().is_some_and(|left| *left <= self.now) {
                self.leaving.pop_front();
            }
            let bytes: Bytes = self.sender.wire_length(&transmit.segment);
            let policed = self.policer.as_mut().is_some_and(|bucket| bucket.drops(self.now, bytes));
            let full = self.leaving.len() >= self.link.buffer;
            if policed || full || data && (self.lost)(self.departures) {
                self.drops += 1;
                continue;
            }
            self.free = self.free.max(self.now) + self.link.rate.time_to_send(bytes).expect("a rate");
            self.leaving.push_back(self.free);
            self.order += 1;
            self.air.insert((self.free + self.link.delay, self.order), (true, transmit));
        }
        while let Some(transmit) = self.receiver.poll_transmit(self.now) {
            self.order += 1;
            self.air.insert((self.now + self.link.delay, self.order), (false, transmit));
        }
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, until: Instant) {
        self.drain();
        loop {
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let arrival = self.air.first_key_value().map(|(key, _)| key.0);
            let next =
                timers.into_iter().chain([arrival]).flatten().min().map_or(until, |next| next.min(until));
            while self.seen.last().is_none_or(|seen| seen.at + Span::from_millis(1) <= next) {
                let at = self.seen.last().map_or(Instant::ZERO, |seen| seen.at + Span::from_millis(1));
                let queue = self.leaving.iter().filter(|left| **left > at).count();
                let (cwnd, interval) = (self.sender.cwnd().unwrap_or(0.0), self.sender.pacing().interval);
                let delivered = self.receiver.delivered();
                self.seen.push(Seen { at, cwnd, interval, queue, delivered });
            }
            if next >= until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            self.sender.handle_timeout(self.now);
            self.receiver.handle_timeout(self.now);
            while let Some(entry) = self.air.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (to_receiver, transmit) = entry.remove();
                let end = if to_receiver { &mut self.receiver } else { &mut self.sender };
                let _ = end.handle_segment(self.now, &transmit.segment, &Arrival::default());
            }
            self.drain();
        }
    }

    /// What was seen from `from` to `to`, seconds.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Seen> + Clone {
        self.seen.iter().filter(move |seen| (from..to).contains(&seen.at.as_secs_f64()))
    }

    /// Bit/s that the receiver got from `from` to `to`, seconds.
    pub(crate) fn goodput(&self, from: f64, to: f64) -> f64 {
        let mut seen = self.between(from, to);
        let (first, last) = (seen.next().expect("seen"), seen.last().expect("seen"));
        let seconds = last.at.saturating_since(first.at).as_secs_f64();
        (last.delivered - first.delivered) as f64 * 8.0 / seconds
    }
}
