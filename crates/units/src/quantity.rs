//! Numbers with units, as text: `"200s"`, `"11Mbps"`, `"250m"`. What files and command lines accept is one table here.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A physical quantity: its base unit and the suffixes that text may carry.
#[derive(Debug)]
pub struct Unit {
    /// With its article, for messages: "a time".
    pub noun: &'static str,
    /// The base unit, in which plain numbers are read: "s".
    pub base: &'static str,
    /// A well-formed value, for messages.
    pub example: &'static str,
    /// The suffixes, each with a factor and a divisor that lead to the base unit. One of the two is 1, so that the value is the
    /// double nearest to the written number. Kilo is 1000, kibi 1024.
    pub suffixes: &'static [(&'static str, f64, f64)],
}

/// Time in seconds.
pub static TIME: Unit = Unit {
    noun: "a time",
    base: "s",
    example: "\"200s\"",
    suffixes: &[
        ("ns", 1.0, 1e9),
        ("us", 1.0, 1e6),
        ("ms", 1.0, 1e3),
        ("s", 1.0, 1.0),
        ("min", 60.0, 1.0),
        ("h", 3600.0, 1.0),
    ],
};

/// Bit rate in bit/s.
pub static RATE: Unit = Unit {
    noun: "a rate",
    base: "bit/s",
    example: "\"11Mbps\"",
    suffixes: &[
        ("bps", 1.0, 1.0),
        ("kbps", 1e3, 1.0),
        ("Mbps", 1e6, 1.0),
        ("Gbps", 1e9, 1.0),
        ("bit/s", 1.0, 1.0),
        ("kbit/s", 1e3, 1.0),
        ("Mbit/s", 1e6, 1.0),
        ("Gbit/s", 1e9, 1.0),
        ("b/s", 1.0, 1.0),
        ("kb/s", 1e3, 1.0),
        ("Mb/s", 1e6, 1.0),
        ("Gb/s", 1e9, 1.0),
    ],
};

/// Length in metres.
pub static LENGTH: Unit =
    Unit { noun: "a length", base: "m", example: "\"200m\"", suffixes: &[("m", 1.0, 1.0), ("km", 1e3, 1.0)] };

/// Speed in m/s.
pub static SPEED: Unit = Unit {
    noun: "a speed",
    base: "m/s",
    example: "\"10m/s\"",
    suffixes: &[("m/s", 1.0, 1.0), ("km/h", 1.0, 3.6)],
};

/// A ratio of powers in dB.
pub static DECIBEL: Unit =
    Unit { noun: "a ratio in dB", base: "dB", example: "\"10dB\"", suffixes: &[("dB", 1.0, 1.0)] };

/// A power over 1 mW, in dB.
pub static POWER: Unit =
    Unit { noun: "a power", base: "dBm", example: "\"10dBm\"", suffixes: &[("dBm", 1.0, 1.0)] };

/// A frequency in Hz.
pub static FREQUENCY: Unit = Unit {
    noun: "a frequency",
    base: "Hz",
    example: "\"5.18GHz\"",
    suffixes: &[("Hz", 1.0, 1.0), ("kHz", 1e3, 1.0), ("MHz", 1e6, 1.0), ("GHz", 1e9, 1.0)],
};

/// An angle in degrees.
pub static ANGLE: Unit = Unit {
    noun: "an angle",
    base: "degrees",
    example: "52.52",
    suffixes: &[("deg", 1.0, 1.0), ("°", 1.0, 1.0)],
};

/// A number without unit.
pub static RATIO: Unit = Unit { noun: "a number", base: "", example: "1.5", suffixes: &[] };

/// A size in bytes.
pub static SIZE: Unit = Unit {
    noun: "a size",
    base: "bytes",
    example: "\"30kB\"",
    suffixes: &[
        ("B", 1.0, 1.0),
        ("kB", 1e3, 1.0),
        ("MB", 1e6, 1.0),
        ("GB", 1e9, 1.0),
        ("KiB", 1024.0, 1.0),
        ("MiB", 1_048_576.0, 1.0),
        ("GiB", 1_073_741_824.0, 1.0),
    ],
};

impl Unit {
    /// The value of `text` in the base unit; `None` unless it is a decimal number followed by a suffix of this unit.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<f64> {
        let text = text.trim();
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+'))?;
        let (number, suffix) = text.split_at(end);
        let (_, times, per) = self.suffixes.iter().find(|(known, _, _)| *known == suffix.trim())?;
        let number: f64 = number.parse().ok()?;
        Some(number * times / per)
    }

    /// A hint for `text` that is a number with an unknown suffix: ` (did you mean "11Mbps"?)` where only the case of letters is
    /// wrong, else the suffixes that there are. Empty for other text.
    #[must_use]
    pub fn hint(&self, text: &str) -> String {
        let text = text.trim();
        let Some(end) = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')) else {
            return String::new();
        };
        let (number, suffix) = text.split_at(end);
        let suffix = suffix.trim();
        let known = || self.suffixes.iter().map(|(known, _, _)| *known);
        if number.parse::<f64>().is_err() || self.suffixes.is_empty() || known().any(|known| known == suffix)
        {
            return String::new();
        }
        match known().find(|known| known.eq_ignore_ascii_case(suffix)) {
            Some(known) => format!(" (did you mean \"{number}{known}\"?)"),
            None => format!(" (units: {})", known().collect::<Vec<_>>().join(", ")),
        }
    }

    /// A bound of this unit as text: "0 s".
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        if self.base.is_empty() { format!("{value}") } else { format!("{value} {}", self.base) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_suffix_is_named() {
        assert_eq!(RATE.hint("11mbps"), " (did you mean \"11Mbps\"?)");
        assert_eq!(RATE.hint("5.5 MBPS"), " (did you mean \"5.5Mbps\"?)");
        assert_eq!(TIME.hint("4sec"), " (units: ns, us, ms, s, min, h)");
        for silent in ["11Mbps", "fast", "", "11", "1.2.3s"] {
            assert_eq!(RATE.hint(silent), "", "{silent}");
        }
    }

    #[test]
    fn text_is_a_number_and_a_known_suffix() {
        assert_eq!(TIME.parse("200s"), Some(200.0));
        assert_eq!(TIME.parse("25 us"), Some(25e-6));
        assert_eq!(RATE.parse("5.5Mbps"), Some(5_500_000.0));
        assert_eq!(RATE.parse("10 Mb/s"), Some(1e7));
        assert_eq!(LENGTH.parse("-1m"), Some(-1.0));
        assert_eq!(SIZE.parse("30kB"), Some(30_000.0));
        assert_eq!((ANGLE.parse("-13.4°"), ANGLE.parse("52deg")), (Some(-13.4), Some(52.0)));
        for wrong in ["", "s", "200", "200S", "2e3s", "1.2.3s", "nans", "infs", "1 m s", "--1s", "1s2"] {
            assert_eq!(TIME.parse(wrong), None, "{wrong}");
        }
    }
}
