//! What a link costs by the Hellos that came over it, as babeld 1.14 reckons (neighbour.c; RFC 8966, appendix A).

use super::message::INFINITE;
use meshpace_keys::words;
use meshpace_units::{Instant, Span};

words! {
    /// What links are taken for: babeld's `type`.
    pub(super) enum Kind {
        Wireless = "wireless",
        Wired = "wired",
    }
}

impl Kind {
    /// What a link without loss costs (babeld, interface.c).
    pub(super) const fn cost(self) -> u16 {
        match self {
            Self::Wireless => 256,
            Self::Wired => 96,
        }
    }

    /// What a link costs by what either end receives (appendix A.2). Wireless: ETX in 256ths, `max(txcost, 256) rxcost / 256`;
    /// wired: what the neighbour says, as long as it is heard.
    pub(super) fn link(self, txcost: u16, rxcost: u16) -> u16 {
        if txcost == INFINITE || rxcost == INFINITE {
            return INFINITE;
        }
        match self {
            Self::Wired => txcost,
            Self::Wireless => {
                let product = u32::from(txcost.max(256)) * u32::from(rxcost.max(256));
                u16::try_from((product + 128) >> 8).unwrap_or(INFINITE)
            }
        }
    }
}

/// Which of the latest sixteen Hellos of a neighbour came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hellos {
    latest: u16,
    /// The latest at the top.
    came: u16,
    /// When the latest came, or should have.
    at: Instant,
    interval: Span,
}

/// A neighbour that is so far behind has begun anew (babeld, update_neighbour).
const REBOOTED: i16 = -8;

impl Hellos {
    /// The first has come.
    pub(super) const fn first(now: Instant, seqno: u16, interval: Span) -> Self {
        Self { latest: seqno, came: 0x8000, at: now, interval }
    }

    /// One more has come.
    pub(super) fn next(&mut self, now: Instant, seqno: u16, interval: Span) {
        let missed = seqno.wrapping_sub(self.latest).wrapping_sub(1) as i16;
        if missed < REBOOTED {
            self.came = 0;
        } else if missed < 0 {
            // It was taken for missed.
            self.came = self.came.checked_shl(u32::from(missed.unsigned_abs())).unwrap_or(0);
        } else {
            self.miss(missed.unsigned_abs());
        }
        self.latest = seqno;
        self.came = self.came >> 1 | 0x8000;
        (self.at, self.interval) = (now, interval);
    }

    fn miss(&mut self, count: u16) {
        self.came = self.came.checked_shr(u32::from(count)).unwrap_or(0);
        self.latest = self.latest.wrapping_add(count);
    }

    /// Notes those that have not come in time: true if there are such. The clock grants one of them 0.7 of an interval.
    pub(super) fn look(&mut self, now: Instant) -> bool {
        let late = now.saturating_since(self.at).saturating_sub(self.interval * 7 / 10);
        let missed = (late.as_nanos() / self.interval.as_nanos().max(1)).min(u64::from(u16::BITS)) as u16;
        if missed > 0 {
            self.miss(missed);
            self.at += self.interval * u64::from(missed);
        }
        missed > 0
    }

    /// None of the sixteen came.
    pub(super) const fn silent(&self) -> bool {
        self.came == 0
    }

    /// All of the latest four came.
    pub(super) const fn steady(&self) -> bool {
        self.came & 0xF000 == 0xF000
    }

    /// What receiving costs: wired, that of a good link if two of the latest three came ("to lose one hello is a misfortune, to lose two
    /// is carelessness"); wireless, that over the share that comes, where the latest count most.
    pub(super) fn rxcost(&self, kind: Kind) -> u16 {
        if self.came & 0xFFF0 == 0 {
            return INFINITE;
        }
        match kind {
            Kind::Wired if (self.came >> 13).count_ones() >= 2 => kind.cost(),
            Kind::Wired => INFINITE,
            Kind::Wireless => {
                let came = u32::from(self.came);
                let weighed = ((came & 0x8000) >> 2) + ((came & 0x4000) >> 1) + (came & 0x3FFF);
                let cost = 0x8000 * u32::from(kind.cost()) / (weighed + 1);
                u16::try_from(cost).unwrap_or(INFINITE)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::from_secs(1);

    fn at(tenths: u64) -> Instant {
        Instant::ZERO + Span::from_millis(100 * tenths)
    }

    /// One Hello a second; a dot is one that does not come.
    fn after(pattern: &str) -> Hellos {
        let mut hellos = Hellos::first(at(0), 65_530, SECOND);
        for (index, seen) in (1u16..).zip(pattern.chars()) {
            if seen == 'x' {
                hellos.next(at(10 * u64::from(index)), 65_530_u16.wrapping_add(index), SECOND);
            }
        }
        hellos
    }

    #[test]
    fn wireless_costs_are_babelds() {
        // By hand: 2^15 * 256 over one more than the weighed bits.
        for (pattern, cost) in [
            ("", 1_023),
            ("x", 511),
            ("xxxxxxxxxxxxxxx", 256),
            ("xxxxxxxxxxxxxx.x", 341),
            ("x.x.x.x.x.x.x.x", 438),
        ] {
            let hellos = after(pattern);
            assert_eq!(hellos.rxcost(Kind::Wireless), cost, "{pattern}: {hellos:x?}");
        }
        assert_eq!(Kind::Wireless.link(512, 384), 768);
        assert_eq!(Kind::Wireless.link(200, 256), 256, "no link is better than a good one");
        assert_eq!(Kind::Wireless.link(60_000, 60_000), INFINITE);
    }

    #[test]
    fn wired_links_live_by_two_of_three() {
        for (pattern, cost) in [("", INFINITE), ("x", 96), ("x.x", 96), ("xx..x", INFINITE), ("xx..xx", 96)] {
            assert_eq!(after(pattern).rxcost(Kind::Wired), cost, "{pattern}");
        }
        assert_eq!((Kind::Wired.link(96, 96), Kind::Wired.link(INFINITE, 96)), (96, INFINITE));
        assert_eq!(Kind::Wired.link(96, INFINITE), INFINITE);
    }

    #[test]
    fn what_does_not_come_is_missed_in_its_time() {
        let mut hellos = after("xx");
        assert!(!hellos.look(at(36)) && hellos.rxcost(Kind::Wired) == 96, "1.6 intervals are a late one");
        assert!(hellos.look(at(38)) && hellos.rxcost(Kind::Wired) == 96);
        assert!(hellos.look(at(48)) && hellos.rxcost(Kind::Wired) == INFINITE);
        // The one taken for missed was late.
        let mut late = after("xx");
        assert!(late.look(at(38)));
        late.next(at(39), 65_533, SECOND);
        assert_eq!(late.rxcost(Kind::Wireless), after("xxx").rxcost(Kind::Wireless));
        hellos.look(at(1000));
        assert!(hellos.silent());
    }

    #[test]
    fn a_neighbour_that_begins_anew_has_no_past() {
        let mut hellos = after("xxxxxxx");
        hellos.next(at(90), 1_000, SECOND);
        hellos.next(at(100), 7, SECOND);
        assert_eq!(hellos.rxcost(Kind::Wireless), after("").rxcost(Kind::Wireless));
    }
}
