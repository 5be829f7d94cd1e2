//! Counters of one flow.

use super::Moments;
use meshpace_tcp::Connection;
use meshpace_tcp::control::PacingView;
use meshpace_units::{Instant, Quantiles, Span};
use std::collections::BTreeMap;

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
    /// When the flow's data first went out, by stream offset; removed at the first arrival.
    first_sent: BTreeMap<u64, Instant>,
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
        self.first_sent.entry(offset).or_insert(now);
    }

    /// Data at `offset` arrived after `hops` wireless hops; only the first arrival counts.
    pub fn arrived(&mut self, now: Instant, offset: u64, hops: u32) {
        if let Some(sent) = self.first_sent.remove(&offset) {
            self.counts(now.saturating_since(sent), hops);
        }
    }

    /// Everything below `offset` is known to have arrived: what is still noted there was sent in other segments.
    pub fn forget_below(&mut self, offset: u64) {
        while let Some(entry) = self.first_sent.first_entry().filter(|entry| *entry.key() < offset) {
            entry.remove();
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
