//! Numbers for people: units, tables.

use crate::Failure;
use meshpace_gateway::Treatment;
use std::io::{self, Write};

/// What stands where nothing is known.
pub const UNKNOWN: &str = "-";

/// A treatment as the configuration and the reports write it; `shaped`: everything that goes into the mesh waits for its host's turn.
#[must_use]
pub const fn treatment_name(treatment: Treatment, shaped: bool) -> &'static str {
    match treatment {
        Treatment::Pace => "pace",
        Treatment::Observe if shaped => "shape",
        Treatment::Observe => "observe",
    }
}

/// A bit rate with three digits: `950 bit/s`, `1.25 Mbit/s`.
#[must_use]
pub fn bit_rate(bps: f64) -> String {
    scaled(bps, 1000.0, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"])
}

/// A size with three digits: `120 B`, `1.25 MB`; kilo is 1000.
#[must_use]
pub fn size(bytes: f64) -> String {
    scaled(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

/// A time with three digits: `35 us`, `12.4 ms`, `1.25 s`, `3 min 20 s`, `2 d 3 h`.
#[must_use]
pub fn time(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..60 if seconds < 0.000_999_5 => format!("{} us", digits(seconds * 1e6)),
        0..60 if seconds < 0.999_5 => format!("{} ms", digits(seconds * 1e3)),
        0..60 => format!("{} s", digits(seconds)),
        60..3_600 => format!("{} min {} s", whole / 60, whole % 60),
        3_600..86_400 => format!("{} h {} min", whole / 3_600, whole % 3_600 / 60),
        _ => format!("{} d {} h", whole / 86_400, whole % 86_400 / 3_600),
    }
}

/// [`time`], [`bit_rate`] or another form of a value that may be unknown.
#[must_use]
pub fn or_unknown<T>(value: Option<T>, form: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), form)
}

/// A whole number in groups of three digits: `12,345`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with the noun that it counts: `1 hop`, `2 hops`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut units = units.iter();
    let mut unit = units.next().expect("there is a unit");
    for larger in units {
        if value < step * 0.999_5 {
            break;
        }
        value /= step;
        unit = larger;
    }
    format!("{} {unit}", digits(value))
}

/// Three digits, without a fraction's trailing zeros.
pub(crate) fn digits(value: f64) -> String {
    let places = match value.abs() {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.places$}");
    if places == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Prints a command's answer on standard output. A reader that has seen enough (`| head`) is no failure.
///
/// # Errors
/// [`Failure::Operational`] if it cannot be written otherwise, as to a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::operational("standard output", why))
        }
        _ => Ok(()),
    }
}

/// Prints a value as indented JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("answers have a JSON form");
    print(&format!("{text}\n"))
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// Numbers stand at the right, names at the left.
    pub right: bool,
}

/// Rows under heads, columns as wide as their widest cell, two blanks between them.
#[must_use]
pub fn table(columns: &[Column], rows: &[Vec<String>]) -> String {
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([heads[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(&heads).chain(rows) {
        let cells = columns.iter().zip(&widths).zip(row).map(|((column, &width), cell)| {
            if column.right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_sizes_have_three_digits() {
        let cases = [
            (0.0, "0 bit/s"),
            (950.0, "950 bit/s"),
            (999.6, "1 kbit/s"),
            (1_250_000.0, "1.25 Mbit/s"),
            (11e6, "11 Mbit/s"),
            (123.4e9, "123 Gbit/s"),
            (5e12, "5000 Gbit/s"),
        ];
        for (value, text) in cases {
            assert_eq!(bit_rate(value), text);
        }
        assert_eq!(size(1_500.0), "1.5 kB");
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        let cases = [
            (0.0, "0 us"),
            (35e-6, "35 us"),
            (0.000_999_6, "1 ms"),
            (0.031_68, "31.7 ms"),
            (0.999_6, "1 s"),
            (59.9, "59.9 s"),
            (200.0, "3 min 20 s"),
            (7_260.0, "2 h 1 min"),
            (183_600.0, "2 d 3 h"),
        ];
        for (value, text) in cases {
            assert_eq!(time(value), text);
        }
        assert_eq!(or_unknown(None, time), "-");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!((counted(1, "hop"), counted(1_234, "hop")), ("1 hop".into(), "1,234 hops".into()));
        let grouped = [0, 999, 1_000, 1_234_567].map(count);
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn columns_line_up() {
        let columns = [Column { head: "flow", right: false }, Column { head: "ms", right: true }];
        let rows = [vec!["a".into(), "12".into()], vec!["longer".into(), "3".into()]];
        assert_eq!(table(&columns, &rows), "flow    ms\na       12\nlonger   3\n");
    }
}
