//! How fast one direction of a connection gets its data across.

use meshpace_units::{Bytes, Instant, Rate, Span};

/// Goodput is measured over at least this long, so that one burst of ACKs is not a rate.
const PERIOD: Span = Span::from_secs(1);
/// The natural logarithm of 20.
const LN_20: f64 = 2.995_732_273_553_991;

/// Bytes newly acknowledged, and how many a second lately. Source: schemes.md 3.5 ("Goodput G(i)").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodput {
    total: Bytes,
    /// The period that is running: since when, and the total then.
    since: Instant,
    before: Bytes,
    /// Rate over the latest period that is over.
    latest: Option<Rate>,
    /// Acknowledgements of something new in the period that is running, and in the latest that is over.
    acks: [u32; 2],
}

impl Goodput {
    /// A direction of which nothing was acknowledged before `now`.
    #[must_use]
    pub const fn new(now: Instant) -> Self {
        Self { total: Bytes::ZERO, since: now, before: Bytes::ZERO, latest: None, acks: [0; 2] }
    }

    /// `newly` more bytes were cumulatively acknowledged.
    pub fn on_acked(&mut self, now: Instant, newly: Bytes) {
        if now.saturating_since(self.since) >= PERIOD {
            self.latest = self.running(now);
            self.since = now;
            self.before = self.total;
            self.acks = [0, self.acks[0]];
        }
        self.total += newly;
        self.acks[0] = self.acks[0].saturating_add(u32::from(newly > Bytes::ZERO));
    }

    /// Bytes acknowledged since the connection is known.
    #[must_use]
    pub const fn total(&self) -> Bytes {
        self.total
    }

    /// Goodput at `now`: over the latest period of a second or more, or over the running one if that has lasted twice
    /// as long (the flow pauses). `None` until a first period is over.
    #[must_use]
    pub fn rate(&self, now: Instant) -> Option<Rate> {
        let over = now.saturating_since(self.since);
        if over >= PERIOD * 2 || (self.latest.is_none() && over >= PERIOD) {
            return self.running(now);
        }
        self.latest
    }

    /// The relative error of [`Goodput::rate`] that 19 of 20 values do not exceed, where only some acknowledgements are seen. The count
    /// is exact at each acknowledgement seen. A period begins and ends up to the time between two such acknowledgements beside its
    /// second. If acknowledgements are seen at random, those times are exponential, and the difference of two exceeds ln 20 times their
    /// mean once in twenty times.
    #[must_use]
    pub fn error(&self, now: Instant) -> Option<f64> {
        self.rate(now)?;
        let over = now.saturating_since(self.since);
        let running = over >= PERIOD * 2 || self.latest.is_none();
        let acks = if running { self.acks[0] } else { self.acks[1] };
        Some(LN_20 / f64::from(acks.max(1)))
    }

    fn running(&self, now: Instant) -> Option<Rate> {
        let nanos = u128::from(now.saturating_since(self.since).as_nanos());
        let bits = u128::from((self.total - self.before).bits()) * 1_000_000_000;
        bits.checked_div(nanos).and_then(|rate| u64::try_from(rate).ok()).map(Rate::bits_per_sec)
    }
}

/// What a cumulative acknowledgement tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Acked {
    /// Bytes newly acknowledged.
    pub bytes: Bytes,
    /// The round trip of a segment, if it could be timed.
    pub rtt: Option<Span>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_latest_second_and_falls_when_the_flow_pauses() {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        let mbit = |n: f64| Some(Rate::bits_per_sec((n * 1e6) as u64));
        let mut goodput = Goodput::new(at(0));
        for ms in 1..=1000 {
            goodput.on_acked(at(ms), Bytes(125)); // 1 Mbit/s
        }
        // The acknowledgement that ends a period opens the next: 999 of them lie in the first.
        assert_eq!(goodput.rate(at(1000)), mbit(0.999));
        for ms in 1001..=2000 {
            goodput.on_acked(at(ms), Bytes(250));
        }
        assert_eq!(goodput.rate(at(2000)), mbit(1.999));
        assert_eq!(goodput.rate(at(3900)), mbit(1.999), "still the latest");
        assert_eq!(goodput.rate(at(12_000)), Some(Rate::bits_per_sec(200)), "250 bytes in 10 s");
        assert_eq!(goodput.total(), Bytes(375_000));
    }

    #[test]
    fn nothing_is_told_of_less_than_a_second() {
        let mut goodput = Goodput::new(Instant::ZERO);
        goodput.on_acked(Instant::ZERO, Bytes(1000));
        assert_eq!(goodput.rate(Instant::ZERO + Span::from_millis(999)), None);
        assert_eq!(goodput.rate(Instant::ZERO + Span::from_secs(1)), Some(Rate::bits_per_sec(8000)));
    }
}
