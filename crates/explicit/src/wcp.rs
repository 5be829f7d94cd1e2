//! WCP (schemes.md 13; Rangwala et al. 2008): the header, when a link is congested, and the source's rate.
//!
//! Its constants are remembered, not printed in what we have, so all of them are parameters. Which links share congestion
//! is the relay's business.

use crate::{numbers, write};
use meshpace_units::{Instant, Span};

/// What headers of WCP are known by.
pub const KIND: u8 = 4;

/// The header of a SYN or data packet. An acknowledgement carries the same back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// The sender's smoothed round trip, seconds; `None`: not measured yet.
    pub rtt: Option<f64>,
    /// The largest round trip in the neighbourhoods of the links passed so far, seconds: the control interval.
    pub path: Option<f64>,
    /// A link that was passed is near a congested one.
    pub congested: bool,
}

impl Header {
    /// Bytes of its fields.
    pub const LENGTH: usize = 24;

    /// Its fields in network order; an unknown time is 0.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let congested = if self.congested { 1.0 } else { 0.0 };
        write(&[self.rtt.unwrap_or(0.0), self.path.unwrap_or(0.0), congested], &mut bytes);
        bytes
    }

    /// The header of these bytes; `None` if they are none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [rtt, path, congested] = numbers(bytes)?;
        let known = |time: f64| (time > 0.0).then_some(time);
        Some(Self { rtt: known(rtt), path: known(path), congested: congested > 0.0 })
    }

    /// The packet goes over a link: the largest round trip in its neighbourhood, and whether that is congested.
    pub fn pass(&mut self, rtt: Option<f64>, congested: bool) {
        self.path = self.path.into_iter().chain(rtt).reduce(f64::max);
        self.congested |= congested;
    }
}

/// How many packets wait at a link, smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Average(f64);

impl Average {
    /// A packet comes to wait; so many do then. `weight` is the new number's.
    pub fn on_arrival(&mut self, waiting: usize, weight: f64) {
        self.0 += weight * (waiting as f64 - self.0);
    }

    /// The mean.
    #[must_use]
    pub const fn packets(self) -> f64 {
        self.0
    }
}

/// The constants of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What the rate grows by in a control interval, packets/s (13.1).
    pub increase: f64,
    /// The rate before anything is known, packets/s.
    pub initial: f64,
    /// The lowest rate, packets/s.
    pub least: f64,
    /// Control intervals between two cuts, and of silence before one (13.2).
    pub hold: f64,
}

impl Config {
    /// What is remembered of the original, and schemes.md 13's decisions where nothing is.
    pub const REMEMBERED: Self = Self { increase: 0.1, initial: 1.0, least: 0.1, hold: 4.0 };
}

/// The rate of a flow: additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Source {
    config: Config,
    rate: f64,
    /// The control interval, seconds.
    interval: Option<f64>,
    /// Up to when the increase is in the rate.
    raised: Option<Instant>,
    cut: Option<Instant>,
    /// The first departure since the last acknowledgement.
    unanswered: Option<Instant>,
}

impl Source {
    /// Of a flow that has sent nothing yet.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self { config, rate: config.initial, interval: None, raised: None, cut: None, unanswered: None }
    }

    /// Packets a second.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// An acknowledgement comes, with what the way has written for the source.
    pub fn on_ack(&mut self, now: Instant, header: Option<&Header>) {
        self.unanswered = None;
        self.interval = header.and_then(|header| header.path).or(self.interval);
        let Some(interval) = self.interval else { return };
        self.raise(now, interval);
        if header.is_some_and(|header| header.congested) && self.may_cut(now, interval) {
            self.halve(now);
        }
    }

    /// A packet leaves.
    pub fn on_departure(&mut self, now: Instant) {
        self.on_silence(now);
        self.unanswered.get_or_insert(now);
    }

    /// Nothing was acknowledged lately, perhaps for too long.
    pub fn on_silence(&mut self, now: Instant) {
        let (Some(interval), Some(since)) = (self.interval, self.unanswered) else { return };
        if now.saturating_since(since).as_secs_f64() >= self.config.hold * interval {
            self.unanswered = Some(now);
            self.halve(now);
        }
    }

    /// (13.1), for the whole intervals that have gone by. Of a time in which the rate was not used no more counts than lies
    /// between two packets at that rate, a round trip, and the interval that was not whole before.
    fn raise(&mut self, now: Instant, interval: f64) {
        let raised = *self.raised.get_or_insert(now);
        let gone = now.saturating_since(raised).as_secs_f64();
        let counts = 1.0 / self.rate + 2.0 * interval;
        let whole = (gone.min(counts) / interval + 1e-9) as u64;
        if gone > counts {
            self.raised = Some(now);
        } else if whole > 0 {
            self.raised = Span::try_from_secs_f64(whole as f64 * interval).map(|span| raised + span);
        }
        self.rate += whole as f64 * self.config.increase;
    }

    /// (13.2)
    fn may_cut(&self, now: Instant, interval: f64) -> bool {
        self.cut.is_none_or(|cut| now.saturating_since(cut).as_secs_f64() >= self.config.hold * interval)
    }

    fn halve(&mut self, now: Instant) {
        self.rate = (self.rate / 2.0).max(self.config.least);
        self.cut = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    fn header(congested: bool) -> Header {
        Header { rtt: Some(0.1), path: Some(0.1), congested }
    }

    #[test]
    fn a_header_survives_the_wire_and_takes_the_largest_interval_along() {
        for header in [Header::default(), header(true)] {
            assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        }
        assert_eq!(Header::from_bytes(&[0; 8]), None);
        let mut header = Header::default();
        header.pass(None, false);
        assert_eq!(header, Header::default());
        header.pass(Some(0.3), true);
        header.pass(Some(0.2), false);
        assert_eq!((header.path, header.congested), (Some(0.3), true));
    }

    /// schemes.md 13: with a tenth of a packet/s a round trip of 100 ms the slope is one packet/s a second.
    #[test]
    fn the_rate_grows_by_a_each_interval_however_often_acknowledgements_come() {
        for step in [10, 70, 100] {
            let mut source = Source::new(Config::REMEMBERED);
            for ms in (0..=21_000).step_by(step) {
                source.on_ack(at(ms), Some(&header(false)));
            }
            assert!((source.rate() - 22.0).abs() <= 0.11, "{step} ms: {}", source.rate());
        }
    }

    #[test]
    fn unused_time_hardly_counts() {
        let mut source = Source::new(Config { initial: 10.0, ..Config::REMEMBERED });
        source.on_ack(at(0), Some(&header(false)));
        source.on_ack(at(60_000), Some(&header(false)));
        assert!((source.rate() - 10.3).abs() < 1e-9, "{}", source.rate());
    }

    #[test]
    fn a_mark_halves_the_rate_and_the_next_one_does_four_intervals_later() {
        let mut source = Source::new(Config { initial: 80.0, increase: 0.0, ..Config::REMEMBERED });
        let mut after = |ms: u64, congested| {
            source.on_ack(at(ms), Some(&header(congested)));
            source.rate()
        };
        assert_eq!([after(0, false), after(10, true)], [80.0, 40.0]);
        assert_eq!([after(20, true), after(409, true)], [40.0, 40.0], "one cut in four intervals");
        assert_eq!(after(410, true), 20.0);
        for ms in 1..100 {
            after(410 * (ms + 1), true);
        }
        assert_eq!(after(50_000, false), 0.1, "a floor");
    }

    #[test]
    fn four_intervals_without_an_acknowledgement_halve_the_rate() {
        let mut source = Source::new(Config { initial: 80.0, increase: 0.0, ..Config::REMEMBERED });
        source.on_silence(at(9_000));
        source.on_departure(at(9_000));
        source.on_departure(at(9_900));
        assert_eq!(source.rate(), 80.0, "no interval is known");
        source.on_ack(at(10_000), Some(&header(false)));
        source.on_departure(at(20_000));
        source.on_departure(at(20_399));
        assert_eq!(source.rate(), 80.0, "silence begins with the first packet that is not answered");
        source.on_departure(at(20_400));
        source.on_departure(at(20_500));
        assert_eq!(source.rate(), 40.0);
        source.on_silence(at(20_800));
        assert_eq!(source.rate(), 20.0);
    }

    /// Closed form of the sawtooth (13.1, 13.2): a bottleneck that marks above `C` and nothing below it makes the rate go
    /// between C/2 and C, with a mean of 3/4 of C.
    #[test]
    fn on_one_bottleneck_the_rate_is_a_sawtooth_between_half_of_it_and_all() {
        const C: f64 = 100.0;
        let mut source = Source::new(Config { increase: 0.5, ..Config::REMEMBERED });
        let (mut least, mut most, mut sum, mut number) = (f64::INFINITY, 0.0_f64, 0.0, 0.0);
        for ms in (0..300_000).step_by(10) {
            source.on_ack(at(ms), Some(&header(source.rate() > C)));
            if ms > 100_000 {
                (least, most) = (least.min(source.rate()), most.max(source.rate()));
                (sum, number) = (sum + source.rate(), number + 1.0);
            }
        }
        assert!((least / (C / 2.0) - 1.0).abs() < 0.02 && (most / C - 1.0).abs() < 0.02, "{least} {most}");
        assert!((sum / number / (0.75 * C) - 1.0).abs() < 0.02, "{}", sum / number);
    }

    #[test]
    fn the_average_follows_the_queue_by_its_weight() {
        let mut average = Average::default();
        // After n arrivals at a constant queue: q (1 - (1 - w)^n).
        for _ in 0..50 {
            average.on_arrival(10, 0.02);
        }
        assert!((average.packets() - 10.0 * (1.0 - 0.98_f64.powi(50))).abs() < 1e-9);
    }
}
