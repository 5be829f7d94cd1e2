//! Counters of one flow.

use super::Moments;
use meshpace_tcp::Connection;
use meshpace_tcp::control::PacingView;
use meshpace_units::{Instant, Quantiles, Span};
use std::collections::VecDeque;

/// What both ends have counted at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Data segments (or UDP packets) sent, retransmissions included, SYN excluded.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Losses found before the retransmission timer expired.
    pub fast_retransmits: u64,
    /// Acknowledgements without payload that the receiver sent.
    pub acks: u64,
    /// Acknowledgements among these that left because the delayed-acknowledgement timer expired.
    pub timer_acks: u64,
}

impl Baseline {
    /// The counters of the two ends of a connection.
    pub fn of(sender: &Connection, receiver: &Connection) -> Self {
        let (counters, answers) = (sender.counters(), receiver.counters());
        Self {
            segments: counters.data_segments,
            retransmits: counters.retransmits,
            timeouts: counters.timeouts,
            fast_retransmits: counters.fast_retransmits,
            acks: answers.pure_acks,
            timer_acks: answers.timer_acks,
        }
    }

    /// Both together.
    pub fn and(self, other: &Self) -> Self {
        Self {
            segments: self.segments + other.segments,
            retransmits: self.retransmits + other.retransmits,
            timeouts: self.timeouts + other.timeouts,
            fast_retransmits: self.fast_retransmits + other.fast_retransmits,
            acks: self.acks + other.acks,
            timer_acks: self.timer_acks + other.timer_acks,
        }
    }
}

/// What is known of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    /// Bytes of payload delivered in order since time 0.
    pub delivered_bytes: u64,
    /// `delivered_bytes` when the measured interval began.
    pub delivered_before: u64,
    /// The ends' counters when the measured interval began.
    pub before: Baseline,
    /// Distinct data packets that reached the receiver in the measured interval.
    pub distinct_packets: u64,
    /// The delays of these packets, s.
    pub delay: Moments,
    /// The delays of these packets once more, for quantiles.
    pub delays: Quantiles,
    /// How long packets from the flow's source were on their way, each copy by itself.
    pub ways: Quantiles,
    /// How many of these packets took how many hops.
    hops: Vec<u64>,
    /// The latest RTT sample every 0.25 s, s.
    pub rtt: Moments,
    /// The pacing rate every 0.25 s, bit/s.
    pub pacing_rate: Moments,
    /// The pacing interval every 0.25 s, s.
    pub pacing_interval: Moments,
    /// The pacing interval after each acknowledgement that came, s.
    pub interval_at_acks: Moments,
    /// The k-hop delay after each acknowledgement that came, s.
    pub khd_at_acks: Moments,
    /// The congestion window every 0.25 s, segments.
    pub cwnd: Moments,
    /// Goodputs of the file transfers that ended in the measured interval, bit/s.
    pub transfers: Moments,
    /// When the flow's data first went out, by stream offset and in its order; removed at the first arrival.
    first_sent: VecDeque<(u64, Instant)>,
    /// Which datagrams have arrived, a bit each by number.
    datagrams: Vec<u64>,
    measuring: bool,
}

impl FlowMeter {
    /// The measured interval begins.
    pub fn begin(&mut self) {
        self.measuring = true;
        self.delivered_before = self.delivered_bytes;
    }

    /// Data at `offset` of the stream (or the packet with that number) is handed to the network for the first time.
    pub fn sent_first(&mut self, now: Instant, offset: u64) {
        if self.first_sent.back().is_none_or(|last| last.0 < offset) {
            self.first_sent.push_back((offset, now));
        } else if let Err(place) = self.place_of(offset) {
            self.first_sent.insert(place, (offset, now));
        }
    }

    /// Data at `offset` arrived after `hops` wireless hops; only the first arrival counts.
    pub fn arrived(&mut self, now: Instant, offset: u64, hops: u32) {
        let place = self.place_of(offset);
        if let Some((_, sent)) = place.ok().and_then(|place| self.first_sent.remove(place)) {
            self.counts(now.saturating_since(sent), hops);
        }
    }

    /// Where the departure of the data at `offset` is noted, or would be.
    fn place_of(&self, offset: u64) -> Result<usize, usize> {
        // Mostly they arrive in order.
        match self.first_sent.front() {
            Some(first) if first.0 == offset => Ok(0),
            _ => self.first_sent.binary_search_by_key(&offset, |sent| sent.0),
        }
    }

    /// Everything below `offset` is known to have arrived: what is still noted there was sent in other segments.
    pub fn forget_below(&mut self, offset: u64) {
        while self.first_sent.front().is_some_and(|first| first.0 < offset) {
            self.first_sent.pop_front();
        }
    }

    /// True if the datagram with that number has not arrived before: where only its acknowledgement was lost, AODV's
    /// local repair sends it again.
    pub fn is_first_copy(&mut self, number: u64) -> bool {
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.datagrams.len() <= word {
            self.datagrams.resize(word + 1, 0);
        }
        let first = self.datagrams[word] & bit == 0;
        self.datagrams[word] |= bit;
        first
    }

    /// A distinct packet arrived with this delay.
    pub fn counts(&mut self, delay: Span, hops: u32) {
        if !self.measuring {
            return;
        }
        self.distinct_packets += 1;
        self.delay.add(delay.as_secs_f64());
        self.delays.record(delay);
        let hops = hops as usize;
        if self.hops.len() <= hops {
            self.hops.resize(hops + 1, 0);
        }
        self.hops[hops] += 1;
    }

    /// A packet from the flow's source came so long after it had set out, whether it brings anything new or not.
    pub fn came(&mut self, way: Span) {
        if self.measuring {
            self.ways.record(way);
        }
    }

    /// The median of the hops; `None` if nothing was delivered. Between two middle values: the lower.
    pub fn median_hops(&self) -> Option<usize> {
        let total: u64 = self.hops.iter().sum();
        let mut seen = 0;
        self.hops.iter().position(|count| {
            seen += count;
            2 * seen >= total && total > 0
        })
    }

    /// Bytes delivered in the measured interval.
    pub fn measured_bytes(&self) -> u64 {
        if self.measuring { self.delivered_bytes - self.delivered_before } else { 0 }
    }

    /// An acknowledgement came, and this is the pace after it.
    pub fn acknowledged(&mut self, pace: PacingView) {
        if let Some(interval) = pace.interval.filter(|interval| !interval.is_zero()) {
            self.interval_at_acks.add(interval.as_secs_f64());
        }
        if let Some(delay) = pace.k_hop_delay {
            self.khd_at_acks.add(delay);
        }
    }

    /// True within the measured interval.
    pub fn is_measuring(&self) -> bool {
        self.measuring
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_arrival_counts() {
        let mut meter = FlowMeter::default();
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        meter.begin();
        meter.sent_first(at(0), 0);
        meter.sent_first(at(50), 0);
        meter.arrived(at(80), 0, 3);
        meter.arrived(at(90), 0, 3);
        assert_eq!((meter.distinct_packets, meter.delay.mean()), (1, Some(0.08)));
        assert_eq!(meter.median_hops(), Some(3));
    }

    #[test]
    fn arrivals_find_their_departures_in_whatever_order_both_come() {
        let mut meter = FlowMeter::default();
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        meter.begin();
        // The third was sent in other segments than before: it begins in the middle of one.
        for (ms, offset) in [(0, 0), (1, 1000), (2, 500), (3, 1500)] {
            meter.sent_first(at(ms), offset);
        }
        let delays = [(500, 62), (1500, 73), (0, 80), (500, 90), (1000, 91)].map(|(offset, ms)| {
            let before = meter.delay.mean().unwrap_or(0.0) * meter.delay.count() as f64;
            meter.arrived(at(ms), offset, 1);
            let sum = meter.delay.mean().unwrap_or(0.0) * meter.delay.count() as f64;
            ((sum - before) * 1e3).round()
        });
        assert_eq!(delays, [60.0, 70.0, 80.0, 0.0, 90.0], "ms");
        meter.sent_first(at(100), 2000);
        meter.sent_first(at(101), 3000);
        meter.forget_below(3000);
        meter.arrived(at(110), 2000, 1);
        meter.arrived(at(111), 3000, 1);
        assert_eq!(meter.distinct_packets, 5);
    }

    #[test]
    fn a_datagram_is_new_once_in_whatever_order_they_come() {
        let mut meter = FlowMeter::default();
        let new: Vec<bool> = [0, 200, 63, 64, 200, 1, 64].map(|number| meter.is_first_copy(number)).into();
        assert_eq!(new, [true, true, true, true, false, true, false]);
    }

    #[test]
    fn nothing_delivered_has_no_hops() {
        assert_eq!(FlowMeter::default().median_hops(), None);
    }
}
