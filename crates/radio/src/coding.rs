//! How the bits of a frame are sent, and how probably one survives noise: error curves over the signal to noise ratio.
//!
//! OFDM (IEEE 802.11-2020, clause 17) sends bits of a convolutional code of constraint length 7, generators 133 and 171,
//! punctured to 2/3, 3/4 and, with high throughput (IEEE 802.11-2020, clause 19), 5/6. After hard decisions with raw bit error
//! rate `p`, the Chernoff bound `D = sqrt(4 p (1 - p))` holds for the choice between two paths, and the union bound over all
//! wrong paths is `P_b = 1 / (2 k) sum_d c_d D^d`, `k` the information bits of a puncturing period, `c_d` the bit errors on
//! paths of distance `d` (Haccoun and Begin 1989; Frenger, Orten, Ottosson and Svensson 1998). Streams side by side are as
//! good as one at the same ratio: as many antennas receive as send. That is the NIST model of Pei and Henderson,
//! "Validation of OFDM error rate model in ns-3" (2010). `p` is that of Gray-coded BPSK, QPSK, 16-QAM, 64-QAM, 256-QAM and 1024-QAM
//! in white noise (Proakis, Digital Communications), a symbol's energy over the noise being the ratio itself. Codes of low-density
//! parity checks, which 802.11ac allows and 802.11ax mostly asks for, count as this one: they need 1 to 2 dB less.
//!
//! DSSS and CCK (clauses 15 and 16) spread 1 or 1.375 million symbols a second over 22 MHz, so that a symbol gathers
//! 22 or 16 times the ratio. DBPSK: `exp(-E_b/N_0) / 2`; DQPSK: the asymptote of its Marcum function; CCK: the
//! biorthogonal words that it sends, 16 of 8 chips at 5.5 Mbit/s and two times 16 at 11 Mbit/s (Pei and Henderson,
//! "Validation of ns-3 802.11b PHY model", 2009; Proakis, 5.2).
//!
//! Both are curves of a perfect receiver in white noise: real ones need 1 to 5 dB more.

use core::f64::consts::{PI, SQRT_2};
use core::fmt;

/// A modulation and its code: an error curve.
pub struct Coding {
    /// Its name; no two have the same.
    pub name: &'static str,
    /// [`Coding::ln_success`].
    curve: fn(f64) -> f64,
}

/// 1 Mbit/s.
pub static DBPSK: Coding = Coding::new("DBPSK", |ratio| bit(0.5 * libm::exp(-22.0 * ratio)));
/// 2 Mbit/s.
pub static DQPSK: Coding = Coding::new("DQPSK", |ratio| bit(dqpsk(11.0 * ratio)));
/// 5.5 Mbit/s: 16 words a symbol of 4 bits.
pub static CCK5_5: Coding = Coding::new("CCK 5.5", |ratio| cck(8.0 * ratio));
/// 11 Mbit/s: 256 words a symbol of 8 bits, as two times 16 in quadrature.
pub static CCK11: Coding = Coding::new("CCK 11", |ratio| cck(4.0 * ratio));
/// 6 Mbit/s.
pub static OFDM6: Coding = Coding::new("BPSK 1/2", |ratio| bit(coded(psk(ratio), 1.0, 10, 2, &HALF)));
/// 9 Mbit/s.
pub static OFDM9: Coding =
    Coding::new("BPSK 3/4", |ratio| bit(coded(psk(ratio), 3.0, 5, 1, &THREE_QUARTERS)));
/// 12 Mbit/s.
pub static OFDM12: Coding = Coding::new("QPSK 1/2", |ratio| bit(coded(psk(ratio / 2.0), 1.0, 10, 2, &HALF)));
/// 18 Mbit/s.
pub static OFDM18: Coding =
    Coding::new("QPSK 3/4", |ratio| bit(coded(psk(ratio / 2.0), 3.0, 5, 1, &THREE_QUARTERS)));
/// 24 Mbit/s.
pub static OFDM24: Coding = Coding::new("16-QAM 1/2", |ratio| bit(coded(qam16(ratio), 1.0, 10, 2, &HALF)));
/// 36 Mbit/s.
pub static OFDM36: Coding =
    Coding::new("16-QAM 3/4", |ratio| bit(coded(qam16(ratio), 3.0, 5, 1, &THREE_QUARTERS)));
/// 48 Mbit/s.
pub static OFDM48: Coding =
    Coding::new("64-QAM 2/3", |ratio| bit(coded(qam64(ratio), 2.0, 6, 1, &TWO_THIRDS)));
/// 54 Mbit/s.
pub static OFDM54: Coding =
    Coding::new("64-QAM 3/4", |ratio| bit(coded(qam64(ratio), 3.0, 5, 1, &THREE_QUARTERS)));

/// MCS 7 of the high-throughput PHY, and 15, 23 and 31 (IEEE 802.11-2020, 19.5).
pub static HT5_6: Coding =
    Coding::new("64-QAM 5/6", |ratio| bit(coded(qam64(ratio), 5.0, 4, 1, &FIVE_SIXTHS)));

/// MCS 8 of the very-high-throughput PHY (21.5) and of the high-efficiency one.
pub static VHT3_4: Coding =
    Coding::new("256-QAM 3/4", |ratio| bit(coded(qam256(ratio), 3.0, 5, 1, &THREE_QUARTERS)));
/// MCS 9 of both.
pub static VHT5_6: Coding =
    Coding::new("256-QAM 5/6", |ratio| bit(coded(qam256(ratio), 5.0, 4, 1, &FIVE_SIXTHS)));
/// MCS 10 of the high-efficiency PHY (IEEE 802.11ax-2021, 27.5).
pub static HE3_4: Coding =
    Coding::new("1024-QAM 3/4", |ratio| bit(coded(qam1024(ratio), 3.0, 5, 1, &THREE_QUARTERS)));
/// MCS 11.
pub static HE5_6: Coding =
    Coding::new("1024-QAM 5/6", |ratio| bit(coded(qam1024(ratio), 5.0, 4, 1, &FIVE_SIXTHS)));

/// Bit errors on the wrong paths of distance 10, 12, 14, ... of the code of rate 1/2.
const HALF: [f64; 9] =
    [36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
/// Of distance 6, 7, ... with rate 2/3.
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
/// Of distance 5, 6, ... with rate 3/4.
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1_492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];

/// Of distance 4, 5, ... with rate 5/6 (Haccoun and Begin 1989).
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];

/// No bit is wrong more often than a guess.
const GUESS: f64 = 0.5;

impl Coding {
    /// A coding by what [`Coding::ln_success`] is to say at each ratio.
    #[must_use]
    pub const fn new(name: &'static str, curve: fn(f64) -> f64) -> Self {
        Self { name, curve }
    }

    /// The logarithm of the probability that one information bit arrives right, at this ratio of signal to noise and
    /// interference. Errors of bits count as independent, so that it adds up over a frame's bits.
    #[must_use]
    pub fn ln_success(&self, ratio: f64) -> f64 {
        (self.curve)(ratio)
    }
}

impl PartialEq for Coding {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Coding {}

impl fmt::Debug for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The logarithm of the probability that a bit with this error rate arrives right.
fn bit(error: f64) -> f64 {
    libm::log1p(-error.clamp(0.0, GUESS))
}

/// The logarithm of the probability that a bit of a CCK word of 4 bits arrives right, `energy` being the word's over the
/// noise's density.
fn cck(energy: f64) -> f64 {
    libm::log1p(-biorthogonal_16(energy).min(1.0 - 1.0 / 16.0)) / 4.0
}

/// How often the sign of a coordinate at distance `sqrt(2 ratio)` standard deviations of the noise is taken wrongly.
fn psk(ratio: f64) -> f64 {
    0.5 * libm::erfc(libm::sqrt(ratio))
}

/// The raw bit error rate of 16-QAM.
fn qam16(ratio: f64) -> f64 {
    0.75 * psk(ratio / 10.0)
}

/// The raw bit error rate of 64-QAM.
fn qam64(ratio: f64) -> f64 {
    7.0 / 12.0 * psk(ratio / 42.0)
}

/// The raw bit error rate of 256-QAM.
fn qam256(ratio: f64) -> f64 {
    15.0 / 32.0 * psk(ratio / 170.0)
}

/// The raw bit error rate of 1024-QAM.
fn qam1024(ratio: f64) -> f64 {
    31.0 / 80.0 * psk(ratio / 682.0)
}

/// The union bound: `k` bits a period, the first distance and the step to the next.
fn coded(raw: f64, k: f64, first: i32, step: i32, errors: &[f64]) -> f64 {
    let d = libm::sqrt(4.0 * raw * (1.0 - raw));
    let ratio = libm::pow(d, f64::from(step));
    // Horner's rule from the greatest distance on.
    let sum = errors.iter().rev().fold(0.0, |sum, errors| sum * ratio + errors);
    sum * libm::pow(d, f64::from(first)) / (2.0 * k)
}

fn dqpsk(bit_ratio: f64) -> f64 {
    if bit_ratio <= 0.0 {
        return GUESS;
    }
    (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2 * bit_ratio) * libm::exp(-(2.0 - SQRT_2) * bit_ratio)
}

/// How often one of 16 biorthogonal words is taken for another, `energy` being a word's over the noise's density: the
/// right one of 8 correlators must be the greatest in amount and have the right sign.
fn biorthogonal_16(energy: f64) -> f64 {
    const OTHERS: f64 = 7.0;
    const STEPS: u32 = 400;
    /// Beyond so many standard deviations nothing happens.
    const TAIL: f64 = 9.0;
    let mean = libm::sqrt(2.0 * energy);
    // One less the integral of what goes wrong, so that small errors keep their digits. Simpson's rule.
    let wrong = |v: f64| {
        let amount = v + mean;
        let below = libm::erfc(amount / SQRT_2);
        let density = libm::exp(-v * v / 2.0) / libm::sqrt(2.0 * PI);
        -libm::expm1(OTHERS * libm::log1p(-below)) * density
    };
    let low = (-mean).max(-TAIL);
    let step = (TAIL - low) / f64::from(STEPS);
    let inner: f64 =
        (1..STEPS).map(|i| (if i % 2 == 1 { 4.0 } else { 2.0 }) * wrong(low + f64::from(i) * step)).sum();
    let first = if mean <= TAIL { libm::exp(-low * low / 2.0) / libm::sqrt(2.0 * PI) } else { wrong(low) };
    // Left of -mean the sign is wrong.
    0.5 * libm::erfc(mean / SQRT_2) + (first + inner + wrong(TAIL)) * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::{STANDARDS, Standard};

    fn success(coding: &Coding, ratio: f64, bytes: u32) -> f64 {
        libm::exp(coding.ln_success(ratio) * f64::from(bytes) * 8.0)
    }

    /// Values of the NIST model for 2,000 bytes, by ratio in dB (ns-3's wifi-error-rate-models-test, whose source is Pei and
    /// Henderson's ofdm-validation).
    #[test]
    fn ofdm_is_the_nist_model() {
        for (coding, points) in [
            (&OFDM6, [(3.0, 0.020), (4.0, 0.885), (5.0, 0.997)]),
            (&OFDM9, [(6.0, 0.097), (7.0, 0.918), (8.0, 0.998)]),
            (&OFDM12, [(6.0, 0.0174), (7.0, 0.881), (8.0, 0.997)]),
            (&OFDM18, [(9.5, 0.623), (10.5, 0.985), (11.5, 0.999)]),
            (&OFDM24, [(13.0, 0.495), (14.0, 0.974), (15.0, 0.999)]),
            (&OFDM36, [(15.5, 0.012), (16.5, 0.818), (17.5, 0.993)]),
        ] {
            for (decibel, printed) in points {
                let ours = success(coding, libm::pow(10.0, decibel / 10.0), 2000);
                assert!(
                    (ours - printed).abs() < 1.001e-3,
                    "{coding:?} at {decibel} dB: {ours}, printed {printed}"
                );
            }
        }
        for (coding, decibel, printed) in [
            (&OFDM6, 2.5, 2.04e-10),
            (&OFDM18, 8.5, 2.85e-6),
            (&OFDM24, 12.0, 2.22e-7),
            (&OFDM48, 20.0, 1.3e-4),
        ] {
            let ours = success(coding, libm::pow(10.0, decibel / 10.0), 2000);
            assert!(
                (ours / printed - 1.0).abs() < 0.05,
                "{coding:?} at {decibel} dB: {ours}, printed {printed}"
            );
        }
    }

    /// What ns-3.37's `NistErrorRateModel` says of 2,000 bytes at MCS 6 and 7 of the high-throughput PHY.
    #[test]
    fn high_throughput_is_the_nist_model_too() {
        for (coding, points) in [
            (&OFDM54, [(21.5, 0.022_301_8), (22.0, 0.410_46), (23.0, 0.958_164)]),
            (&HT5_6, [(22.5, 0.002_055_23), (23.0, 0.238_785), (24.0, 0.930_305)]),
        ] {
            for (decibel, printed) in points {
                let ours = success(coding, libm::pow(10.0, decibel / 10.0), 2000);
                assert!((ours / printed - 1.0).abs() < 1e-4, "{coding:?} at {decibel} dB: {ours}, {printed}");
            }
        }
    }

    /// The same of MCS 8 and 9 (very high throughput), 10 and 11 (high efficiency).
    #[test]
    fn denser_modulations_are_the_nist_model_too() {
        for (coding, points) in [
            (&VHT3_4, [(27.5, 0.102_949_41), (28.0, 0.565_753_26), (29.0, 0.970_594_35)]),
            (&VHT5_6, [(28.5, 0.015_021_845), (29.0, 0.353_693_24), (30.0, 0.944_785_06)]),
            (&HE3_4, [(33.5, 0.255_804_12), (34.0, 0.698_686_55), (35.0, 0.980_269_34)]),
            (&HE5_6, [(34.5, 0.061_072_62), (35.0, 0.482_697_96), (36.0, 0.958_809_02)]),
        ] {
            for (decibel, printed) in points {
                let ours = success(coding, libm::pow(10.0, decibel / 10.0), 2000);
                assert!((ours / printed - 1.0).abs() < 1e-4, "{coding:?} at {decibel} dB: {ours}, {printed}");
            }
        }
    }

    /// Values for 1,078 bytes, by received power in dBm with noise of -93.55 dBm (the same test; Pei and Henderson 2009).
    #[test]
    fn dsss_and_cck_are_pei_and_hendersons() {
        for (coding, points) in [
            (&DBPSK, [(-98.0, 0.202), (-97.0, 0.813), (-96.0, 0.984)]),
            (&DQPSK, [(-94.0, 0.036), (-93.0, 0.519), (-92.0, 0.915)]),
            (&CCK5_5, [(-91.0, 0.132), (-90.0, 0.744), (-89.0, 0.974)]),
            (&CCK11, [(-88.0, 0.128), (-87.0, 0.739), (-86.0, 0.973)]),
        ] {
            for (power, printed) in points {
                let ours = success(coding, libm::pow(10.0, (power + 93.552_278_6) / 10.0), 1078);
                assert!(
                    (ours - printed).abs() < 5e-3,
                    "{coding:?} at {power} dBm: {ours}, printed {printed}"
                );
            }
        }
    }

    #[test]
    fn curves_rise_and_longer_frames_fall() {
        for mode in STANDARDS.iter().flat_map(|part| Standard::named(part.about.word).expect("a row").modes) {
            let coding = mode.coding;
            let at = |i: i32| coding.ln_success(libm::pow(10.0, f64::from(i) / 20.0));
            assert!((-60..100).all(|i| at(i) <= at(i + 1) + 1e-15 && at(i).is_finite()), "{coding:?}");
            assert!(coding.ln_success(0.0) < -0.05, "{coding:?}: nothing gets through without a signal");
            assert!(at(100) > -1e-12, "{coding:?}: 50 dB are enough");
        }
        let ratio = libm::pow(10.0, 1.35);
        let (short, long) = (success(&OFDM24, ratio, 100), success(&OFDM24, ratio, 1500));
        assert!(long < short && (libm::pow(short, 15.0) / long - 1.0).abs() < 1e-9);
    }
}
