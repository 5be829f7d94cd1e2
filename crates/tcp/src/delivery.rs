//! Delivery rate: how fast what was sent arrives, one sample an acknowledgement (draft-cheng-iccrg-delivery-rate-estimation,
//! section 3; Linux's tcp_rate.c).
//!
//! A segment remembers how much had been delivered when it left. When it is acknowledged, the amount delivered since,
//! divided by the time, is a rate. The time is the longer of two times: that in which the data were sent, and that in which
//! they were acknowledged. A burst of departures or of acknowledgements is no faster than the path.

use crate::sacked::Sacked;
use alloc::collections::VecDeque;
use meshpace_units::{Bytes, Instant, Rate, Span};

/// One sample of the delivery rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// What was delivered within `interval`.
    pub delivered: Bytes,
    /// The longer of the time between the departures of what was delivered and the time between its acknowledgements.
    pub interval: Span,
    /// `delivered` over `interval`; `None` if nothing was delivered, or in less than the shortest round trip: such a rate
    /// is of a retransmission whose original arrived.
    pub rate: Option<Rate>,
    /// The sample contains a time without data to send: the path may be faster.
    pub app_limited: bool,
    /// The amount delivered since the connection began, at the time when the latest of the delivered segments left. A round
    /// trip has passed once this reaches the amount delivered at its beginning.
    pub prior_delivered: Bytes,
    /// What this acknowledgement delivered, selectively acknowledged bytes included.
    pub acked: Bytes,
    /// When the latest of the delivered segments left.
    pub sent: Instant,
    /// Round trip of the latest of the delivered segments, selectively acknowledged ones included; `None` if it was sent more
    /// than once (Karn).
    pub rtt: Option<Span>,
    /// What has been found lost since the last sample: by selective acknowledgements (RFC 6675, IsLost) or a timeout.
    pub losses: Bytes,
}

/// The draft's P: a segment in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: Instant,
    resent: bool,
    /// Selectively acknowledged, and counted.
    arrived: bool,
    first_sent: Instant,
    delivered: u64,
    delivered_at: Instant,
    app_limited: bool,
}

/// The draft's C and the segments in flight, oldest first, without gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    /// The application had nothing to send: samples count as limited by it until more than this is delivered.
    app_limited: Option<u64>,
    /// The shortest round trip of a segment that was sent once.
    min_rtt: Option<Span>,
    /// Where `segments` begin.
    start: u64,
    segments: VecDeque<Sent>,
    sacked: Sacked,
    /// Everything missing before this position has been counted as lost.
    lost_to: u64,
    losses: u64,
}

impl Delivery {
    /// Positions `[start, end)` leave at `now`.
    pub(crate) fn on_sent(&mut self, now: Instant, start: u64, end: u64) {
        if self.segments.is_empty() {
            // Nothing is in flight: time without anything to deliver does not count.
            (self.first_sent, self.delivered_at, self.start) = (now, now, start);
            self.sacked.update(start, [], |_, _| {});
        }
        let known_end = self.segments.back().map_or(start, |last| last.end);
        let leaves = Sent {
            end,
            at: now,
            resent: start < known_end,
            arrived: false,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.app_limited.is_some(),
        };
        if start < known_end {
            let first = self.segments.partition_point(|sent| sent.end <= start);
            let mut from = if first == 0 { self.start } else { self.segments[first - 1].end };
            for sent in self.segments.range_mut(first..) {
                if from >= end {
                    break;
                }
                from = sent.end;
                if !sent.arrived {
                    *sent = Sent { end: from, ..leaves };
                }
            }
        }
        if end > known_end {
            self.segments.push_back(leaves);
            self.sacked.on_sent(end);
        }
    }

    /// There is nothing to send while more might be in flight: until what is in flight is delivered, the samples are no
    /// measure of the path.
    pub(crate) fn on_app_limited(&mut self) {
        let in_flight = self.sacked.missing(self.sacked.una(), self.sacked.max());
        self.app_limited = Some(self.delivered + in_flight);
    }

    /// The retransmission timer expired: what is missing counts as lost, and what arrived may have been discarded (RFC 2018,
    /// section 8).
    pub(crate) fn on_timeout(&mut self) {
        let max = self.sacked.max();
        self.losses += self.sacked.missing(self.lost_to.max(self.sacked.una()), max);
        self.lost_to = max;
        self.sacked.clear();
    }

    /// Everything before `una` is acknowledged and the peer reports `blocks`; `None` if that is nothing new.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        una: u64,
        blocks: impl IntoIterator<Item = (u64, u64)>,
        mss: u32,
    ) -> Option<RateSample> {
        let before = self.delivered;
        let mut newest = None;
        while let Some(&sent) = self.segments.front().filter(|sent| sent.end <= una) {
            self.segments.pop_front();
            let length = sent.end - self.start;
            self.start = sent.end;
            if !sent.arrived {
                self.deliver(now, &sent, length, &mut newest);
            }
        }
        self.on_sacks(now, una, blocks, &mut newest);
        let edge = self.sacked.lost_edge(mss);
        self.losses += self.sacked.missing(self.lost_to.max(una), edge);
        self.lost_to = self.lost_to.max(edge);
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        self.sample(now, newest?, self.delivered - before)
    }

    fn on_sacks(
        &mut self,
        now: Instant,
        una: u64,
        blocks: impl IntoIterator<Item = (u64, u64)>,
        newest: &mut Option<Sent>,
    ) {
        let mut sacked = core::mem::take(&mut self.sacked);
        for (from, to) in sacked.news(una, blocks) {
            let first = self.segments.partition_point(|sent| sent.end <= from);
            let mut start = if first == 0 { self.start } else { self.segments[first - 1].end };
            for index in first..self.segments.len() {
                let sent = self.segments[index];
                if start >= to {
                    break;
                }
                if !sent.arrived && sacked.missing(start, sent.end) == 0 {
                    self.segments[index].arrived = true;
                    self.deliver(now, &sent, sent.end - start, newest);
                }
                start = sent.end;
            }
        }
        self.sacked = sacked;
    }

    /// UpdateRateSample of the draft.
    fn deliver(&mut self, now: Instant, sent: &Sent, length: u64, newest: &mut Option<Sent>) {
        self.delivered += length;
        self.delivered_at = now;
        if !sent.resent {
            let rtt = now.saturating_since(sent.at);
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |shortest| shortest.min(rtt)));
        }
        if newest.is_none_or(|newest| (sent.at, sent.end) > (newest.at, newest.end)) {
            *newest = Some(*sent);
        }
    }

    /// GenerateRateSample of the draft, from the segment that was sent last.
    fn sample(&mut self, now: Instant, newest: Sent, acked: u64) -> Option<RateSample> {
        self.first_sent = newest.at;
        let sending = newest.at.saturating_since(newest.first_sent);
        let acknowledging = self.delivered_at.saturating_since(newest.delivered_at);
        let interval = sending.max(acknowledging);
        let delivered = self.delivered - newest.delivered;
        let long_enough = self.min_rtt.is_none_or(|shortest| interval >= shortest);
        Some(RateSample {
            delivered: Bytes(delivered),
            interval,
            rate: rate(delivered, interval).filter(|_| long_enough),
            app_limited: newest.app_limited,
            prior_delivered: Bytes(newest.delivered),
            acked: Bytes(acked),
            sent: newest.at,
            rtt: (!newest.resent).then(|| now.saturating_since(newest.at)),
            losses: Bytes(core::mem::take(&mut self.losses)),
        })
    }
}

/// Rounded down; `None` of no time.
fn rate(delivered: u64, interval: Span) -> Option<Rate> {
    let bit_nanos = u128::from(delivered) * 8_000_000_000;
    let rate = bit_nanos.checked_div(u128::from(interval.as_nanos()))?;
    Some(Rate::bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Bytes of a segment; at 800 kbit/s it takes 10 ms.
    const MSS: u64 = 1000;
    const RATE: Rate = Rate::bits_per_sec(800_000);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Segment number `n` from 0 leaves.
    fn send(delivery: &mut Delivery, at: u64, n: u64) {
        delivery.on_sent(ms(at), 1 + n * MSS, 1 + (n + 1) * MSS);
    }

    /// Segments before number `n` are acknowledged, and those of `sacked` are reported.
    fn ack(delivery: &mut Delivery, at: u64, n: u64, sacked: &[(u64, u64)]) -> Option<RateSample> {
        let blocks = sacked.iter().map(|(from, to)| (1 + from * MSS, 1 + to * MSS));
        delivery.on_ack(ms(at), 1 + n * MSS, blocks, MSS as u32)
    }

    #[test]
    fn a_full_bottleneck_gives_its_rate_from_the_third_round_trip_on() {
        // 20 segments in flight over 40 ms and 10 ms a segment; each acknowledgement lets one out.
        let mut delivery = Delivery::default();
        (0..20).for_each(|n| send(&mut delivery, 0, n));
        for n in 0..100 {
            let at = 50 + 10 * n;
            let sample = ack(&mut delivery, at, n + 1, &[]).unwrap();
            send(&mut delivery, at, n + 20);
            assert_eq!((sample.acked, sample.losses, sample.app_limited), (Bytes(MSS), Bytes(0), false));
            if n < 20 {
                // The first window left at once: what is delivered since the beginning, the path's delay included.
                assert_eq!(
                    (sample.delivered, sample.interval),
                    (Bytes((n + 1) * MSS), Span::from_millis(at))
                );
                continue;
            }
            assert_eq!((sample.delivered, sample.prior_delivered), (Bytes(20 * MSS), Bytes((n - 19) * MSS)));
            // Those of the second window left up to 240 ms after the first window, which they follow.
            assert!(sample.rate.unwrap() <= RATE && (n < 40 || sample.rate == Some(RATE)), "{n}: {sample:?}");
        }
    }

    #[test]
    fn half_a_bottleneck_gives_the_sending_rate() {
        let mut delivery = Delivery::default();
        let mut rates = Vec::new();
        for n in 0..50 {
            if n >= 3 {
                rates.push(ack(&mut delivery, 20 * n, n - 2, &[]).unwrap().rate);
            }
            send(&mut delivery, 20 * n, n);
        }
        assert!(rates[3..].iter().all(|rate| *rate == Some(Rate::bits_per_sec(400_000))), "{rates:?}");
    }

    #[test]
    fn compressed_acknowledgements_do_not_raise_it() {
        // One segment each 10 ms; the acknowledgements of 60 ms come at once.
        let mut delivery = Delivery::default();
        for n in 0..60 {
            if n >= 6 && n % 6 == 0 {
                let sample = ack(&mut delivery, 10 * n, n - 5, &[]).unwrap();
                assert!(sample.rate.unwrap() <= RATE, "{sample:?}");
            }
            send(&mut delivery, 10 * n, n);
        }
    }

    #[test]
    fn a_pause_of_the_application_marks_the_samples_until_it_is_delivered() {
        let mut delivery = Delivery::default();
        (0..3).for_each(|n| send(&mut delivery, 0, n));
        delivery.on_app_limited();
        assert!(!ack(&mut delivery, 50, 1, &[]).unwrap().app_limited, "left before the pause");
        send(&mut delivery, 55, 3);
        assert!(!ack(&mut delivery, 70, 3, &[]).unwrap().app_limited);
        assert!(ack(&mut delivery, 105, 4, &[]).unwrap().app_limited, "left in the pause");
        send(&mut delivery, 110, 4);
        assert!(!ack(&mut delivery, 160, 5, &[]).unwrap().app_limited, "the pause is over");
    }

    #[test]
    fn an_idle_time_does_not_count() {
        let mut delivery = Delivery::default();
        send(&mut delivery, 0, 0);
        ack(&mut delivery, 50, 1, &[]);
        send(&mut delivery, 9_000, 1);
        assert_eq!(ack(&mut delivery, 9_050, 2, &[]).unwrap().interval, Span::from_millis(50));
    }

    #[test]
    fn selective_acknowledgements_count_once() {
        let mut delivery = Delivery::default();
        (0..6).for_each(|n| send(&mut delivery, 10 * n, n));
        let sample = ack(&mut delivery, 60, 0, &[(1, 2)]).unwrap();
        assert_eq!((sample.acked, sample.delivered, sample.losses), (Bytes(MSS), Bytes(MSS), Bytes(0)));
        assert_eq!(sample.rtt, Some(Span::from_millis(50)), "segment 1");
        assert_eq!(ack(&mut delivery, 61, 0, &[(1, 2)]), None, "nothing new");
        let sample = ack(&mut delivery, 80, 0, &[(1, 4)]).unwrap();
        assert_eq!((sample.acked, sample.losses), (Bytes(2 * MSS), Bytes(MSS)), "segment 0 is lost by now");
        send(&mut delivery, 81, 0);
        let sample = ack(&mut delivery, 90, 0, &[(1, 5)]).unwrap();
        assert_eq!((sample.acked, sample.losses), (Bytes(MSS), Bytes(0)), "segment 0 counts once");
        let sample = ack(&mut delivery, 131, 5, &[]).unwrap();
        assert_eq!((sample.acked, sample.losses), (Bytes(MSS), Bytes(0)), "segment 0");
        // Segment 0 was sent last: what was delivered since 81 ms.
        assert_eq!((sample.prior_delivered, sample.interval), (Bytes(3 * MSS), Span::from_millis(51)));
        assert_eq!(sample.rtt, None, "twice");
    }

    #[test]
    fn a_segment_counts_when_all_of_it_has_arrived() {
        let mut delivery = Delivery::default();
        (0..3).for_each(|n| send(&mut delivery, 0, n));
        assert_eq!(delivery.on_ack(ms(50), 1, [(MSS + 500, 2 * MSS + 1)], MSS as u32), None);
        let sample = delivery.on_ack(ms(51), 1, [(MSS + 1, MSS + 500)], MSS as u32).unwrap();
        assert_eq!(sample.acked, Bytes(MSS));
    }

    #[test]
    fn the_rate_of_a_needless_retransmission_is_unknown() {
        let mut delivery = Delivery::default();
        send(&mut delivery, 0, 0);
        ack(&mut delivery, 50, 1, &[]);
        send(&mut delivery, 100, 1);
        delivery.on_timeout();
        send(&mut delivery, 130, 1);
        let sample = ack(&mut delivery, 140, 2, &[]).unwrap(); // of the first transmission, which was lucky
        assert_eq!((sample.interval, sample.rate), (Span::from_millis(40), None));
        assert_eq!((sample.acked, sample.losses), (Bytes(MSS), Bytes(MSS)));
    }

    proptest! {
        /// Sent at a constant rate with something always in flight, nothing ever looks faster, however acknowledgements are
        /// delayed or merged.
        #[test]
        fn never_faster_than_what_was_sent(delays in proptest::collection::vec(0u64..300, 1..100), gap in 1u64..40) {
            let mut delivery = Delivery::default();
            let mut acks: Vec<(u64, u64)> = Vec::new();
            let mut latest = 0;
            for (n, delay) in delays.iter().enumerate() {
                latest = latest.max(gap * n as u64 + 40 + delay);
                acks.push((latest, n as u64 + 1));
            }
            let mut pending = acks.into_iter().peekable();
            let sent = Rate::bits_per_sec(MSS * 8_000 / gap);
            for n in 0..2 * delays.len() as u64 {
                while let Some((at, acked)) = pending.next_if(|(at, _)| *at <= gap * n) {
                    let rate = ack(&mut delivery, at, acked, &[]).unwrap().rate;
                    prop_assert!(rate.is_none_or(|rate| rate <= sent), "{:?} of {:?}", rate, sent);
                }
                if n < delays.len() as u64 {
                    send(&mut delivery, gap * n, n);
                }
            }
        }

        /// Whatever is sent, acknowledged and reported: every byte is delivered once, lost once a transmission.
        #[test]
        fn every_byte_counts_once(steps in proptest::collection::vec((0u8..5, 0u64..40, 0u64..8), 1..100)) {
            let mut delivery = Delivery::default();
            let (mut una, mut max, mut now, mut delivered) = (0u64, 0u64, 0u64, 0u64);
            for (kind, place, length) in steps {
                now += 1 + place;
                match kind {
                    0 | 1 => {
                        send(&mut delivery, now, max);
                        max += 1;
                    }
                    2 if una < max => send(&mut delivery, now, (una + place).min(max - 1)),
                    3 => delivery.on_timeout(),
                    _ => {
                        una = (una + length / 4).min(max);
                        let start = una + 1 + place % 8;
                        let sample = ack(&mut delivery, now, una, &[(start, start + length)]);
                        delivered += sample.map_or(0, |sample| sample.acked.0);
                        prop_assert_eq!(delivery.delivered, delivered);
                    }
                }
                prop_assert!(delivered >= una * MSS && delivered <= max * MSS);
            }
            ack(&mut delivery, now + 1, max, &[]);
            prop_assert_eq!(delivery.delivered, max * MSS);
        }
    }
}
