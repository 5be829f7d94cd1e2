//! Gradual loss: a frame survives with the product of its bits' probabilities, each at the ratio of signal to noise and
//! interference while it arrives ("chunks" of constant interference: Lacage and Henderson, "Yet another network simulator",
//! WNS2 2006).
//!
//! Preamble and header go in the standard's lowest mode; after them come payload bits up to the last one, padding to
//! whole symbols included. One draw a frame, at its end, from the receiver's own stream; of a frame of several packets one for each,
//! then one for the header.

use super::sinr::met;
use crate::phy::Phy;
use crate::standard::{Mode, Preamble, Standard};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant};

/// What a receiver knows of the frame in progress.
#[derive(Clone, Debug)]
pub struct Curve {
    stream: Stream,
    modes: &'static [Mode],
    /// That of preambles and headers.
    lowest: &'static Mode,
    preamble: Preamble,
    /// Of the frame in progress.
    mode: &'static Mode,
    header_ends: Instant,
    /// It carries several packets: each is drawn for by itself, and the survival kept is the header's.
    several: bool,
    /// Logarithm of its survival up to `since`.
    ln_survival: f64,
    since: Instant,
    /// From `since` on.
    ratio: f64,
    known: Known,
}

/// What curves have said of late. A receiver meets the same few ratios again and again (its neighbours, with this or that other on the
/// air), and a curve takes its time.
#[derive(Clone, Copy, Debug)]
struct Known([(u64, u16, f64); Known::PLACES]);

impl Known {
    const PLACES: usize = 64;
    /// No mode has this number.
    const NOTHING: Self = Self([(0, u16::MAX, 0.0); Self::PLACES]);

    /// The logarithm of the probability that a bit in this mode survives at this ratio.
    #[inline]
    fn ln_success(&mut self, mode: &Mode, ratio: f64) -> f64 {
        let (bits, number) = (ratio.to_bits(), mode.number());
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): the upper bits of the product.
        let place = (bits ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            >> (u64::BITS - Self::PLACES.ilog2());
        let known = &mut self.0[place as usize % Self::PLACES];
        if (known.0, known.1) != (bits, number) {
            *known = (bits, number, mode.coding.ln_success(ratio));
        }
        known.2
    }
}

impl Curve {
    /// A receiver of a standard's frames that draws from `stream`.
    #[must_use]
    pub const fn new(stream: Stream, standard: &Standard, preamble: Preamble) -> Self {
        Self {
            stream,
            modes: standard.modes,
            lowest: standard.lowest(),
            preamble,
            mode: standard.lowest(),
            header_ends: Instant::ZERO,
            several: false,
            ln_survival: 0.0,
            since: Instant::ZERO,
            ratio: 0.0,
            known: Known::NOTHING,
        }
    }

    /// A frame in the standard's mode of this number begins; its ratio is to be told at once.
    pub(super) fn begins(&mut self, now: Instant, mode: usize, several: bool) {
        self.several = several;
        self.mode = &self.modes[mode];
        self.header_ends = now + self.mode.preamble(self.preamble);
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
        for (from, to, mode) in [(self.since, border, self.lowest), (border, now, self.mode)] {
            let behind_header = self.several && from == border;
            if !behind_header && !to.saturating_since(from).is_zero() {
                self.ln_survival += bits(mode, from, to) * self.known.ln_success(mode, self.ratio);
            }
        }
        self.since = now.max(self.since);
    }

    /// Whether a packet of the frame in progress, on the air between these times, survived: draws.
    pub(super) fn packet_survives(&mut self, course: &[(Instant, f64)], from: Instant, to: Instant) -> bool {
        let mut ln_survival =
            |from, to, ratio| bits(self.mode, from, to) * self.known.ln_success(self.mode, ratio);
        let sum = match course {
            // Nothing changed while the frame was on the air.
            [(begin, ratio)] if *begin <= from => ln_survival(from, to, *ratio),
            _ => met(course, from, to).map(|(from, to, ratio)| ln_survival(from, to, ratio)).sum(),
        };
        self.stream.unit() < libm::exp(sum)
    }
}

/// How probably an MPDU of `size` that is sent in `mode`, alone in its frame, survives at one ratio from begin to end.
#[must_use]
pub fn survival(phy: &Phy, mode: &Mode, size: Bytes, ratio: f64) -> f64 {
    let at = |span| Instant::ZERO + span;
    let (header, whole) = (at(mode.preamble(phy.preamble)), at(phy.airtime(size, mode)));
    let lowest = phy.standard.lowest();
    let ln_survival = bits(lowest, Instant::ZERO, header) * lowest.coding.ln_success(ratio)
        + bits(mode, header, whole) * mode.coding.ln_success(ratio);
    libm::exp(ln_survival)
}

/// Bits between two times.
fn bits(mode: &Mode, from: Instant, to: Instant) -> f64 {
    to.saturating_since(from).as_secs_f64() * mode.rate.as_bits_per_sec() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::{OFDM6, OFDM24};
    use meshpace_units::{Rate, Span};

    fn data_mode(mbps: u64) -> &'static Mode {
        let standard = Standard::named("802.11a").expect("a row");
        standard.data_mode(Rate::bits_per_sec(mbps * 1_000_000)).expect("a rate of 802.11a")
    }

    fn phy() -> Phy {
        let standard = Standard::named("802.11a").expect("a row");
        Phy {
            standard,
            preamble: Preamble::Long,
            basic: standard.lowest(),
            mac_overhead: standard.mac_overhead,
            rts_threshold: None,
            retry_short: 7,
            retry_long: 4,
            backoff_range: standard.backoff_range,
            propagation_allowance: Phy::NS2_PROPAGATION_ALLOWANCE,
        }
    }

    fn share(ratios: &[(u64, f64)], end_us: u64) -> f64 {
        share_at(24, ratios, end_us)
    }

    fn share_at(mbps: u64, ratios: &[(u64, f64)], end_us: u64) -> f64 {
        let at = |us| Instant::ZERO + Span::from_micros(us);
        let standard = Standard::named("802.11a").expect("a row");
        let mode = data_mode(mbps);
        let mut curve = Curve::new(Stream::new(1, "reception", 0), &standard, Preamble::Long);
        let survived = |_: &u32| {
            curve.begins(at(0), usize::from(mode.number()), false);
            for (us, ratio) in ratios {
                curve.ratio_is(at(*us), *ratio);
            }
            curve.survives(at(end_us))
        };
        (0..20_000).filter(survived).count() as f64 / 20_000.0
    }

    /// The survival foretold for a frame is the share of frames that survive.
    #[test]
    fn survival_is_the_share_that_survives() {
        for (rate, decibel) in [(24, 13.0), (24, 13.5), (6, 3.6), (54, 22.3)] {
            let (phy, mode) = (phy(), data_mode(rate));
            let ratio = libm::pow(10.0, decibel / 10.0);
            let end = phy.airtime(Bytes(1058), mode).as_nanos() / 1_000;
            let (said, met) = (survival(&phy, mode, Bytes(1058), ratio), share_at(rate, &[(0, ratio)], end));
            assert!((0.05..0.95).contains(&said) && (said - met).abs() < 0.01, "{rate}: {said}, {met}");
        }
    }

    #[test]
    fn the_share_is_that_of_the_bits() {
        let decibel = |x: f64| libm::pow(10.0, x / 10.0);
        let per_bit = |x: f64| OFDM24.ln_success(decibel(x));
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

    /// Whatever was asked before, and more ratios than are kept.
    #[test]
    fn what_is_known_is_what_the_curve_says() {
        let standard = Standard::named("802.11a").expect("a row");
        let mut known = Known::NOTHING;
        for round in 0..3 {
            for step in 0..100 {
                let ratio = f64::from(step) * 0.7;
                for mode in standard.modes {
                    let asked = known.ln_success(mode, ratio);
                    assert_eq!(asked.to_bits(), mode.coding.ln_success(ratio).to_bits(), "{round}: {ratio}");
                }
            }
        }
    }

    /// Two packets of 258 us after the header, each by the ratio that it meets; the header by its own.
    #[test]
    fn packets_of_a_frame_are_drawn_for_by_themselves() {
        let standard = Standard::named("802.11a").expect("a row");
        let mode = standard.data_mode(Rate::bits_per_sec(24_000_000)).expect("24 Mbit/s");
        let at = |us| Instant::ZERO + Span::from_micros(us);
        let decibel = |x: f64| libm::pow(10.0, x / 10.0);
        let course = [(at(0), decibel(3.8)), (at(20), decibel(12.7)), (at(278), decibel(13.2))];
        let mut curve = Curve::new(Stream::new(1, "reception", 0), &standard, Preamble::Long);
        let mut survived = [0_u32; 3];
        for _ in 0..20_000 {
            curve.begins(at(0), usize::from(mode.number()), true);
            course.iter().for_each(|(at, ratio)| curve.ratio_is(*at, *ratio));
            let first = curve.packet_survives(&course, at(20), at(278));
            let second = curve.packet_survives(&course, at(278), at(536));
            let header = curve.survives(at(536));
            for (count, survives) in survived.iter_mut().zip([first, second, header]) {
                *count += u32::from(survives);
            }
        }
        let packet = |x: f64| libm::exp(258.0 * 24.0 * OFDM24.ln_success(decibel(x)));
        let header = libm::exp(20.0 * 6.0 * OFDM6.ln_success(decibel(3.8)));
        for (count, expected) in survived.into_iter().zip([packet(12.7), packet(13.2), header]) {
            let share = f64::from(count) / 20_000.0;
            assert!(
                (0.2..0.999).contains(&expected) && (share - expected).abs() < 0.01,
                "{share} {expected}"
            );
        }
    }
}
