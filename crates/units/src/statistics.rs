//! Small statistics.

use libm::sqrt;

/// Running count, mean and sum of squared deviations (Welford 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        values.into_iter().for_each(|value| moments.add(value));
        moments
    }
}

impl Moments {
    /// Takes a value in.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
    }

    /// The mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The sample standard deviation (divisor n - 1); `None` with fewer than two values.
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| sqrt(self.squares / (self.count - 1) as f64))
    }

    /// Values taken in.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Jain's fairness index, `(sum x)^2 / (n sum x^2)`; `None` if there is nothing or all are zero.
pub fn jain(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0u32, 0.0, 0.0);
    for x in values {
        n += 1;
        sum += x;
        squares += x * x;
    }
    (squares > 0.0).then(|| sum * sum / (f64::from(n) * squares))
}

/// Half the width of the 95 % confidence interval of the mean, from Student's t; `None` with fewer than two values.
#[must_use]
pub fn half_width_95(values: &Moments) -> Option<f64> {
    let deviation = values.standard_deviation()?;
    let n = values.count();
    Some(student_t_975(n - 1) * deviation / sqrt(n as f64))
}

/// The 97.5 % quantile of Student's t.
///
/// Exact to the printed digits for up to 30 degrees of freedom; beyond that the Cornish-Fisher expansion of the
/// normal quantile (Abramowitz and Stegun 26.7.5), good to 1e-4 there.
fn student_t_975(degrees: u64) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788,
        2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
        2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    match TABLE.get(degrees as usize - 1) {
        Some(t) => *t,
        None => {
            let (z, v) = (1.959_963_985, degrees as f64);
            let z3 = z * z * z;
            z + (z3 + z) / (4.0 * v) + (5.0 * z3 * z * z + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let mut m = Moments::default();
        assert_eq!((m.mean(), m.standard_deviation()), (None, None));
        for x in [10.0, 12.0, 14.0] {
            m.add(x);
        }
        assert_eq!((m.mean(), m.standard_deviation()), (Some(12.0), Some(2.0)));
        // t(2) = 4.3027.
        assert!((half_width_95(&m).unwrap() - 4.3027 * 2.0 / sqrt(3.0)).abs() < 1e-12);
    }

    #[test]
    fn jains_index() {
        assert_eq!(jain([3.0, 3.0]), Some(1.0));
        assert_eq!(jain([1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain([0.0, 0.0]), None);
        assert_eq!(jain([]), None);
    }

    #[test]
    fn students_quantiles_are_the_tables() {
        for (degrees, quantile) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (143, 1.977)]
        {
            assert!((student_t_975(degrees) / quantile - 1.0).abs() < 1e-3, "{degrees}");
        }
    }

    #[test]
    fn the_expansion_continues_the_table() {
        assert!((student_t_975(31) - 2.0395).abs() < 1e-3);
        assert!((student_t_975(120) - 1.9799).abs() < 1e-3);
    }
}
