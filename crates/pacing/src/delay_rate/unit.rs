//! How many segments one access to the medium carries, learned from how acknowledgements bunch (docs/law.md).
//!
//! A radio that aggregates carries many packets an access, and a packet alone wastes nearly all of it. Segments that arrive in one access
//! are answered in one instant, and their acknowledgements come back in one. On a radio that carries one packet an access two
//! acknowledgements are at least an exchange apart. So acknowledgements of a few segments that left together tell the two apart.

use meshpace_units::{Instant, Span};

/// Acknowledgements this close came in one access: clocks tell no less apart, and no exchange of any 802.11 is as short. The shortest
/// is 34 us of AIFS, 20 us of preamble, and an answer 16 us later with a preamble of its own (IEEE 802.11-2020, 17.4.4, 19.4.4). Over a wire
/// of 1 Gbit/s two segments are 24 us apart.
const AT_ONCE: Span = Span::from_micros(10);
/// No exchange of a radio is as short as this many seconds. Trains that are no farther apart come over a wire, where acknowledgements that
/// come at once tell nothing of what an access carries.
const ACCESS: f64 = 5e-5;
/// Acknowledgements of one train are together if they are no farther apart than this share of the time between two trains. Where packets
/// go one by one, half a train takes more than that from half of capacity on.
const TOGETHER: f64 = 0.25;
/// Trains by which it grows, and how many of them have to come together.
const JUDGED: u32 = 8;
const MOST: u32 = 6;
/// So many trains in a row that come apart were on no radio that aggregates.
const GIVEN_UP: u32 = 32;
/// Segments between two trains that ask, at first and at last; it doubles from one to the next.
const ASKS: (u32, u32) = (4, 1024);
/// Of trains that cannot grow any more one in so many asks.
const SELDOM: u32 = 8;

/// The unit, and what tells of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Segments of a train at the most; 1: nothing is learned.
    most: u32,
    size: u32,
    /// The latest acknowledgement of something new, and those that came with it.
    latest: Option<Instant>,
    acknowledgements: u32,
    segments: f64,
    /// Answers to trains that ask since this was judged last, two to each, and trains whose two came together.
    answers: u32,
    together: u32,
    /// Segments until the next train asks, and between those then.
    until: u32,
    every: u32,
    /// Trains that have left since one asked, and whether the latest asks.
    since: u32,
    asks: bool,
}

impl Unit {
    /// The smallest train: it asks for two acknowledgements, each of two segments at least.
    pub const SMALLEST: u32 = 4;
    /// Less than this of a segment is what rounding leaves.
    pub const ROUNDING: f64 = 0.01;

    /// A packet, until acknowledgements say otherwise; `most` segments at the most.
    #[must_use]
    pub const fn new(most: u32) -> Self {
        Self {
            most,
            size: 1,
            latest: None,
            acknowledgements: 0,
            segments: 0.0,
            answers: 0,
            together: 0,
            until: ASKS.0,
            every: ASKS.0,
            since: 0,
            asks: true,
        }
    }

    /// Segments that one access carries, as far as is known.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// A segment leaves for the first time. While the unit is a packet, now and then the next few leave together: how many, if it is time.
    pub fn on_departure(&mut self) -> Option<u32> {
        if self.size > 1 || self.most < Self::SMALLEST {
            return None;
        }
        self.until -= 1;
        if self.until > 0 {
            return None;
        }
        self.every = (self.every * 2).min(ASKS.1);
        self.until = self.every;
        Some(Self::SMALLEST)
    }

    /// Nothing came back for long: what carries packets now may be something else, so it asks again soon.
    pub const fn on_timeout(&mut self) {
        (self.until, self.every) = (ASKS.0, ASKS.0);
    }

    /// A train of the unit begins to leave.
    pub const fn on_train(&mut self) {
        self.since += 1;
        self.asks = self.size < self.most || self.since >= SELDOM;
        if self.asks {
            self.since = 0;
        }
    }

    /// Whether what was acknowledged last is a whole unit that came at once.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.size == 1 || self.segments + Self::ROUNDING >= f64::from(self.size)
    }

    /// Whether the latest train asks for an acknowledgement of its first half.
    #[must_use]
    pub const fn asks(&self) -> bool {
        self.asks
    }

    /// An acknowledgement of so many new segments came, trains being `apart` seconds apart. True if the unit is another now.
    pub fn on_ack(&mut self, now: Instant, segments: f64, apart: f64) -> bool {
        if self.most < Self::SMALLEST {
            return false;
        }
        let before = self.size;
        let train = f64::from(self.size.max(Self::SMALLEST)) / f64::from(self.size);
        if train * apart <= ACCESS {
            if before > 1 {
                self.become_of(1);
            }
            (self.until, self.every) = (ASKS.1, ASKS.1);
            (self.latest, self.acknowledgements) = (None, 0);
            return self.size != before;
        }
        let gap = self.latest.map(|latest| now.saturating_since(latest));
        self.latest = Some(now);
        let near = |gap: Span| gap <= AT_ONCE || self.size > 1 && gap.as_secs_f64() < TOGETHER * apart;
        if gap.is_some_and(near) {
            self.acknowledgements += 1;
            self.segments += segments;
            return false;
        }
        self.judge();
        (self.acknowledgements, self.segments) = (1, segments);
        self.size != before
    }

    /// By a bunch of acknowledgements that is complete.
    fn judge(&mut self) {
        let together = self.acknowledgements >= 2;
        if self.size == 1 {
            if together && self.segments >= f64::from(Self::SMALLEST) {
                self.become_of((self.segments as u32).clamp(Self::SMALLEST, self.most));
            }
            return;
        }
        // One acknowledgement for the whole train tells nothing.
        if !together && self.segments > 0.75 * f64::from(self.size) {
            return;
        }
        self.answers += if together { 2 } else { 1 };
        self.together += u32::from(together);
        if self.together == 0 && self.answers >= 2 * GIVEN_UP {
            self.become_of(1);
        } else if self.together >= MOST {
            self.become_of((self.size * 2).min(self.most));
        } else if self.together > 0 && self.answers >= 2 * JUDGED {
            (self.answers, self.together) = (0, 0);
        }
    }

    fn become_of(&mut self, size: u32) {
        (self.size, self.answers, self.together) = (size, 0, 0);
        (self.until, self.every) = (ASKS.0, ASKS.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains, 20 ms apart, each answered by two acknowledgements of its halves, so many us apart; the unit after each.
    fn trains(unit: &mut Unit, begin: u64, gaps: &[u64]) -> alloc::vec::Vec<u32> {
        let mut sizes = alloc::vec::Vec::new();
        for (n, gap) in gaps.iter().enumerate() {
            let at = Instant::ZERO + Span::from_millis(begin + 20 * n as u64);
            let half = f64::from(unit.size().max(Unit::SMALLEST)) / 2.0;
            unit.on_ack(at, half, 0.02);
            unit.on_ack(at + Span::from_micros(*gap), half, 0.02);
            sizes.push(unit.size());
        }
        sizes
    }

    #[test]
    fn acknowledgements_that_come_at_once_tell_of_a_radio_that_aggregates() {
        let mut unit = Unit::new(16);
        assert_eq!(trains(&mut unit, 0, &[0, 0]), [1, 4], "known when the next one begins");
        assert_eq!(trains(&mut unit, 100, &[0; 8]).last(), Some(&8));
        assert_eq!(trains(&mut unit, 300, &[0; 24]).last(), Some(&16), "no more than it may be");
    }

    #[test]
    fn an_exchange_between_them_tells_of_none() {
        // 802.11b at 11 Mbit/s: an acknowledgement of 40 bytes takes 0.9 ms with RTS/CTS, 0.5 without.
        assert_eq!(trains(&mut Unit::new(16), 0, &[60, 500, 900, 51, 5_000, 100]), [1; 6]);
        assert_eq!(trains(&mut Unit::new(16), 0, &[24; 40]), [1; 40], "a wire of 1 Gbit/s");
        assert_eq!(trains(&mut Unit::new(1), 0, &[0; 6]), [1; 6], "told not to");
    }

    #[test]
    fn trains_that_follow_each_other_within_an_access_are_on_a_wire() {
        let mut unit = Unit::new(16);
        assert_eq!(trains(&mut unit, 0, &[0, 0]), [1, 4]);
        // At 80,000 segments a second.
        assert!(unit.on_ack(Instant::ZERO + Span::from_millis(100), 2.0, 5e-5) && unit.size() == 1);
        let apart = 5e-5 / 4.0;
        assert!((0..40).all(|n| !unit.on_ack(Instant::ZERO + Span::from_millis(101 + n / 4), 2.0, apart)));
        assert_eq!(trains(&mut unit, 200, &[0, 0]), [1, 4], "until the rate is a radio's");
    }

    #[test]
    fn it_grows_if_six_of_eight_come_together_and_is_a_packet_again_if_none_does() {
        let mut unit = Unit::new(16);
        trains(&mut unit, 0, &[0, 0]);
        let apart = 8_000;
        // The last of them is known when the next one begins.
        let five = [0, apart, 0, apart, 0, apart, 0, 0, apart];
        assert_eq!(trains(&mut unit, 100, &five).last(), Some(&4));
        let mut unit = Unit::new(16);
        trains(&mut unit, 0, &[0, 0]);
        assert_eq!(trains(&mut unit, 100, &[0, apart, 0, 0, 0, 0, 0]).last(), Some(&8));
        let apart = [apart; 40];
        assert_eq!(trains(&mut unit, 1_000, &apart[..31]).last(), Some(&8));
        assert_eq!(trains(&mut unit, 1_620, &apart[31..]).last(), Some(&1));
    }

    #[test]
    fn it_asks_ever_more_seldom_while_the_unit_is_a_packet() {
        let mut unit = Unit::new(16);
        let asked: alloc::vec::Vec<u32> = (1..5_000).filter(|_| unit.on_departure().is_some()).collect();
        assert_eq!(asked, [4, 12, 28, 60, 124, 252, 508, 1_020, 2_044, 3_068, 4_092]);
        trains(&mut unit, 0, &[0, 0]);
        assert!((1..5_000).all(|_| unit.on_departure().is_none()), "every train tells by itself then");
        assert!((1..5_000).all(|_| Unit::new(1).on_departure().is_none()));
    }

    #[test]
    fn a_train_is_whole_if_all_of_it_came_at_once() {
        let mut unit = Unit::new(4);
        trains(&mut unit, 0, &[0, 0]);
        assert!(unit.is_whole());
        unit.on_ack(Instant::ZERO + Span::from_millis(100), 2.0, 0.02);
        assert!(!unit.is_whole(), "a half of it");
        unit.on_ack(Instant::ZERO + Span::from_millis(140), 4.0, 0.02);
        assert!(unit.is_whole());
    }
}
