//! Received power against distance, and the thresholds that make ranges of it.

use meshpace_units::Span;
use meshpace_units::random::Stream;

/// Transmitted power, W: ns-2's default for the 914 MHz Lucent WaveLAN card (reference measurements).
const TRANSMIT_POWER: f64 = 0.281_838_15;
/// Wavelength at 914 MHz, m.
const WAVELENGTH: f64 = SPEED_OF_LIGHT / 914e6;
/// Antenna height, m.
const ANTENNA_HEIGHT: f64 = 1.5;
/// Speed of light as ns-2 has it, m/s.
pub(crate) const SPEED_OF_LIGHT: f64 = 3e8;
/// Power that ns-2's card delivers at 1 m, W: what a log-distance model begins with where only ranges are given.
pub const AT_1M: f64 = TRANSMIT_POWER * SPREAD_AT_1M * SPREAD_AT_1M;
const SPREAD_AT_1M: f64 = WAVELENGTH / (4.0 * core::f64::consts::PI);

/// A power in dBm as W.
#[must_use]
pub fn watts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0) * 1e-3
}

/// Power received at 1 m, W, of a transmitter of so many dBm at a frequency in Hz, antennas without gain (Friis).
#[must_use]
pub fn transmitted(dbm: f64, frequency: f64) -> f64 {
    let x = SPEED_OF_LIGHT / frequency / (4.0 * core::f64::consts::PI);
    watts(dbm) * x * x
}

/// How long a frame travels over a distance in metres; at least 1 ns, so that what follows is later.
#[must_use]
pub fn delay(distance: f64) -> Span {
    Span::from_secs_f64(distance / SPEED_OF_LIGHT).max(Span::NANOSECOND)
}

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Propagation {
    /// Friis up to the crossover distance `4 pi ht hr / lambda`, then `d^-4` (schemes.md 17.1).
    TwoRay,
    /// `d^-exponent` from 1 m on (Friis there), plus a normally distributed loss in dB, drawn once a pair of nodes
    /// and equal in both directions.
    LogDistance {
        /// Path loss exponent.
        exponent: f64,
        /// Standard deviation of the shadowing, dB; 0: none.
        shadowing_db: f64,
        /// Power received at 1 m, W: [`AT_1M`], or that of a [transmitter](transmitted).
        at_1m: f64,
    },
    /// Plain discs: every frame within range is equally strong, so that none is captured over another.
    Ranges,
}

/// The powers at which a frame can be decoded and sensed, W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// At least this: decodable.
    pub receive: f64,
    /// At least this: the medium is busy.
    pub sense: f64,
    /// Frames this weak still count as interference under `sinr`.
    pub interfere: f64,
}

/// Under `sinr` frames down to this share of the carrier sense threshold are summed.
const INTERFERENCE_SHARE: f64 = 0.1;
/// Slack for distances that are exactly the range: 250 m decodes although the arithmetic may be an ulp off.
const RANGE_SLACK: f64 = 1.0 - 1e-9;

impl Propagation {
    /// Received power at `distance` metres without shadowing, W.
    #[must_use]
    pub fn power(&self, distance: f64) -> f64 {
        let friis = |d: f64| {
            let x = WAVELENGTH / (4.0 * core::f64::consts::PI * d);
            TRANSMIT_POWER * x * x
        };
        match *self {
            Self::TwoRay => {
                let crossover = 4.0 * core::f64::consts::PI * ANTENNA_HEIGHT * ANTENNA_HEIGHT / WAVELENGTH;
                if distance <= crossover {
                    friis(distance.max(1e-3))
                } else {
                    let h2 = ANTENNA_HEIGHT * ANTENNA_HEIGHT;
                    let d2 = distance * distance;
                    TRANSMIT_POWER * h2 * h2 / (d2 * d2)
                }
            }
            Self::LogDistance { exponent, at_1m, .. } => at_1m / libm::pow(distance.max(1.0), exponent),
            Self::Ranges => unreachable!("discs have no power"),
        }
    }

    /// The thresholds that give these ranges, in metres.
    #[must_use]
    pub fn thresholds(&self, receive_range: f64, sense_range: f64) -> Thresholds {
        match self {
            Self::Ranges => Thresholds { receive: 1.0, sense: 0.5, interfere: 0.5 },
            _ => {
                let sense = self.power(sense_range) * RANGE_SLACK;
                Thresholds {
                    receive: self.power(receive_range) * RANGE_SLACK,
                    sense,
                    interfere: sense * INTERFERENCE_SHARE,
                }
            }
        }
    }

    /// Power between two nodes, shadowing included.
    ///
    /// The shadowing of a pair comes from a stream of its own, so that it depends on the pair and the seed only.
    #[must_use]
    pub fn power_between(&self, distance: f64, ranges: (f64, f64), pair: (u32, u32), seed: u64) -> f64 {
        match *self {
            Self::Ranges if distance <= ranges.0 => 1.0,
            Self::Ranges if distance <= ranges.1 => 0.5,
            Self::Ranges => 0.0,
            Self::LogDistance { shadowing_db, .. } if shadowing_db > 0.0 => {
                let (low, high) = (pair.0.min(pair.1), pair.0.max(pair.1));
                let index = u64::from(low) << 32 | u64::from(high);
                let loss_db = Stream::new(seed, "shadowing", index).normal(0.0, shadowing_db);
                self.power(distance) * libm::pow(10.0, -loss_db / 10.0)
            }
            _ => self.power(distance),
        }
    }

    /// The distance at which this power is received without shadowing, m; not less than 1 m.
    #[must_use]
    pub fn reach(&self, power: f64) -> f64 {
        match *self {
            Self::LogDistance { exponent, at_1m, .. } => libm::pow((at_1m / power).max(1.0), 1.0 / exponent),
            Self::TwoRay | Self::Ranges => {
                unreachable!("only a log-distance model has a transmitter's power")
            }
        }
    }

    /// The distance beyond which nothing is heard, m; with shadowing up to three standard deviations of luck, and so many
    /// dB of other luck.
    #[must_use]
    pub fn farthest(&self, ranges: (f64, f64), summed_interference: bool, luck_db: f64) -> f64 {
        let margin_db = if summed_interference { 10.0 } else { 0.0 };
        match *self {
            Self::Ranges => ranges.1,
            // Power falls with d^2 near by: luck may reach farther there.
            Self::TwoRay => ranges.1 * libm::pow(10.0, margin_db / 40.0 + luck_db / 20.0) * 1.001,
            Self::LogDistance { exponent, shadowing_db, .. } => {
                let luck_db = margin_db + 3.0 * shadowing_db + luck_db;
                ranges.1 * libm::pow(10.0, luck_db / (10.0 * exponent)) * 1.001
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ns2_powers() {
        // schemes.md 17.1.
        let power = |d| Propagation::TwoRay.power(d);
        assert!((power(250.0) / 3.6526e-10 - 1.0).abs() < 1e-4);
        assert!((power(550.0) / 1.5592e-11 - 1.0).abs() < 1e-4);
        // Continuous at the crossover, 86 m.
        assert!((power(86.13) / power(86.15) - 1.0).abs() < 2e-3);
    }

    /// experiments/thesis.md, section 2, "Power to range": 46.7 dB at 1 m; 6 dBm decode 17 m at -84 dBm and sense 29 m at
    /// -92 dBm with exponent 3.5, 54 and 112 m with 2.5.
    #[test]
    fn power_makes_ranges() {
        let at_1m = transmitted(6.0, 5.18e9);
        assert!((10.0 * libm::log10(at_1m * 1e3) - (6.0 - 46.7)).abs() < 0.05);
        for (exponent, decode, sense) in [(2.5, 54.0, 112.0), (3.5, 17.0, 29.0)] {
            let model = Propagation::LogDistance { exponent, shadowing_db: 0.0, at_1m };
            let reach = [-84.0, -92.0].map(|dbm| model.reach(watts(dbm)));
            assert!((reach[0] - decode).abs() < 0.5 && (reach[1] - sense).abs() < 0.7, "{reach:?}");
            let limits = model.thresholds(reach[0], reach[1]);
            assert!((limits.receive / watts(-84.0) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn ranges_are_met_exactly() {
        // Section 21 item 11: 250 m decodes, 251 m senses only, 551 m nothing.
        for model in [
            Propagation::TwoRay,
            Propagation::LogDistance { exponent: 3.0, shadowing_db: 0.0, at_1m: AT_1M },
            Propagation::Ranges,
        ] {
            let limits = model.thresholds(250.0, 550.0);
            let at = |d| model.power_between(d, (250.0, 550.0), (0, 1), 1);
            assert!(at(250.0) >= limits.receive, "{model:?}");
            assert!(at(251.0) < limits.receive && at(251.0) >= limits.sense, "{model:?}");
            assert!(at(550.0) >= limits.sense && at(551.0) < limits.sense, "{model:?}");
        }
    }

    #[test]
    fn shadowing_is_symmetric_and_has_the_right_spread() {
        let model = Propagation::LogDistance { exponent: 3.0, shadowing_db: 6.0, at_1m: AT_1M };
        let loss = |a, b| {
            10.0 * libm::log10(model.power(100.0) / model.power_between(100.0, (250.0, 550.0), (a, b), 5))
        };
        assert_eq!(loss(3, 9).to_bits(), loss(9, 3).to_bits());
        let n = 4000;
        let square = (0..n).map(|i| loss(i, i + 1)).map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!((libm::sqrt(square) - 6.0).abs() < 0.3, "{square}");
    }
}
