//! Frozen random streams.
//!
//! Every component that draws (a node's backoff, a flow's traffic, routing jitter) owns a [`Stream`] derived from
//! the run's seed and the component's name, so that a draw added in one place does not move the others. The
//! generator (PCG XSL RR 128/64) and every distribution are fixed here: a new release of a library cannot change
//! a stored result. Transcendental functions come from `libm`, not the platform, so they round alike everywhere.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;

/// One component's random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    pcg: Pcg64,
}

impl Stream {
    /// The stream of component `name`, instance `index`, in the run with this `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str, index: u64) -> Self {
        // FNV-1a over the name, then SplitMix64 steps to spread seed, name and index over the 256 bits of state.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut mix =
            SplitMix64(seed ^ SplitMix64(hash).next() ^ SplitMix64(index ^ 0xa076_1d64_78bd_642f).next());
        let mut state = [0u8; 32];
        for chunk in state.chunks_exact_mut(8) {
            chunk.copy_from_slice(&mix.next().to_le_bytes());
        }
        Self { pcg: Pcg64::from_seed(state) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.pcg.next_u64()
    }

    /// Uniform on `0..n` (multiply-shift of 64 bits; the bias is below `n / 2^64`).
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "a draw from nothing");
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u32
    }

    /// Uniform on `[0, 1)`, a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform on `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Exponential with the given mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.unit())
    }

    /// Pareto with `scale` (the smallest value) and `shape`, by inversion; mean `scale * shape / (shape - 1)`.
    pub fn pareto(&mut self, scale: f64, shape: f64) -> f64 {
        scale / libm::pow(1.0 - self.unit(), 1.0 / shape)
    }

    /// Normal with the given mean and standard deviation (Box-Muller, one of the pair is used).
    pub fn normal(&mut self, mean: f64, std_dev: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log1p(-self.unit()));
        mean + std_dev * radius * libm::cos(2.0 * core::f64::consts::PI * self.unit())
    }
}

/// Vigna's SplitMix64, used only to derive states.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_frozen() {
        // A change of these values breaks every stored result: it needs a new engine version.
        let mut stream = Stream::new(1, "backoff", 0);
        let drawn =
            [stream.bits(), stream.bits(), u64::from(stream.below(31)), u64::from(stream.below(1000))];
        assert_eq!(drawn, [4_155_763_181_719_125_427, 6_481_385_233_294_687_298, 8, 711]);
    }

    #[test]
    fn streams_differ_by_seed_name_and_index() {
        let first = |seed, name, index| Stream::new(seed, name, index).bits();
        let base = first(1, "backoff", 0);
        for other in [first(2, "backoff", 0), first(1, "jitter", 0), first(1, "backoff", 1)] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn means_are_right() {
        let mut stream = Stream::new(7, "means", 0);
        let n = 200_000;
        let mut mean =
            |draw: fn(&mut Stream) -> f64| (0..n).map(|_| draw(&mut stream)).sum::<f64>() / f64::from(n);
        assert!((mean(Stream::unit) - 0.5).abs() < 0.003);
        assert!((mean(|s| s.exponential(3.0)) - 3.0).abs() < 0.03);
        assert!((mean(|s| f64::from(s.below(31))) - 15.0).abs() < 0.1);
        assert!((mean(|s| s.pareto(1.0, 3.0)) - 1.5).abs() < 0.02);
        assert!(mean(|s| s.normal(0.0, 1.0)).abs() < 0.01);
    }
}
