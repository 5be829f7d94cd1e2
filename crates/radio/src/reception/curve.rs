//! Gradual loss: a frame survives with the product of its bits' probabilities, each at the ratio of signal to noise and
//! interference while it arrives ("chunks" of constant interference: Lacage and Henderson, "Yet another network simulator",
//! WNS2 2006).
//!
//! Preamble and header go at the lowest rate of their kind; after them come payload bits up to the last one, padding to
//! whole symbols included. One draw a frame, at its end, from the receiver's own stream.

use crate::coding::Coding;
use meshpace_random::Stream;
use meshpace_units::{Instant, Span};

/// What a receiver knows of the frame in progress.
#[derive(Clone, Debug)]
pub struct Curve {
    stream: Stream,
    /// Time of preamble and header, and their coding.
    header: (Span, Coding),
    /// Of the frame in progress.
    coding: Coding,
    header_ends: Instant,
    /// Logarithm of its survival up to `since`.
    ln_survival: f64,
    since: Instant,
    /// From `since` on.
    ratio: f64,
}

impl Curve {
    /// A receiver that draws from `stream`; preamble and header of every frame take `header` long.
    #[must_use]
    pub fn new(stream: Stream, header: Span, header_coding: Coding) -> Self {
        Self {
            stream,
            header: (header, header_coding),
            coding: header_coding,
            header_ends: Instant::ZERO,
            ln_survival: 0.0,
            since: Instant::ZERO,
            ratio: 0.0,
        }
    }

    /// A frame begins; its ratio is to be told at once.
    pub(super) fn begins(&mut self, now: Instant, coding: Coding) {
        self.coding = coding;
        self.header_ends = now + self.header.0;
        self.ln_survival = 0.0;
        self.since = now;
    }

    /// From now on the ratio is this.
    pub(super) fn ratio_is(&mut self, now: Instant, ratio: f64) {
        self.catch_up(now);
        self.ratio = ratio;
    }

    /// Whether the frame that ends now survived: draws.
    pub(super) fn survives(&mut self, now: Instant) -> bool {
        self.catch_up(now);
        self.stream.unit() < libm::exp(self.ln_survival)
    }

    fn catch_up(&mut self, now: Instant) {
        let border = self.header_ends.clamp(self.since, now.max(self.since));
        for (from, to, coding) in [(self.since, border, self.header.1), (border, now, self.coding)] {
            let time = to.saturating_since(from);
            if !time.is_zero() {
                let bits = time.as_secs_f64() * coding.bits_per_sec() as f64;
                self.ln_survival += bits * coding.ln_success(self.ratio);
            }
        }
        self.since = now.max(self.since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(ratios: &[(u64, f64)], end_us: u64) -> f64 {
        let at = |us| Instant::ZERO + Span::from_micros(us);
        let mut curve = Curve::new(Stream::new(1, "reception", 0), Span::from_micros(20), Coding::Ofdm6);
        let survived = |_: &u32| {
            curve.begins(at(0), Coding::Ofdm24);
            for (us, ratio) in ratios {
                curve.ratio_is(at(*us), *ratio);
            }
            curve.survives(at(end_us))
        };
        (0..20_000).filter(survived).count() as f64 / 20_000.0
    }

    #[test]
    fn the_share_is_that_of_the_bits() {
        let decibel = |x: f64| libm::pow(10.0, x / 10.0);
        let per_bit = |x: f64| Coding::Ofdm24.ln_success(decibel(x));
        // 536 us: 516 us of payload at 24 bits a microsecond; the header is far above its needs.
        let whole = libm::exp(516.0 * 24.0 * per_bit(13.0));
        assert!((share(&[(0, decibel(13.0))], 536) - whole).abs() < 0.01, "{whole}");
        // An interferer for a quarter of it.
        let parts = libm::exp(129.0 * 24.0 * per_bit(12.5) + 387.0 * 24.0 * per_bit(14.0));
        let ratios = [(0, decibel(14.0)), (100, decibel(12.5)), (229, decibel(14.0))];
        assert!((share(&ratios, 536) - parts).abs() < 0.01, "{parts}");
        // In the header the same interferer does nothing: it is for BPSK to survive.
        let alone = libm::exp(516.0 * 24.0 * per_bit(14.0));
        assert!((share(&[(0, decibel(8.0)), (20, decibel(14.0))], 536) - alone).abs() < 0.01, "{alone}");
    }
}
