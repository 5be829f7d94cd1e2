//! The tables that ship with the program: critical loads and load correction factors (schemes.md 4, "Calibration procedure").
//! `meshpace calibrate throttle` makes them.

use super::bound::Counting;
use meshpace_units::{Bytes, Rate};
use std::sync::LazyLock;

/// The radio that the tables are for: data rate of the links.
pub const RATE: Rate = Rate::bits_per_sec(2_000_000);

/// IP and TCP headers without options: what a full packet has beside its segment.
const HEADERS: Bytes = Bytes(40);

/// The critical loads as they ship, with how they were made.
pub const CRITICAL_LOADS: &str = include_str!("critical.csv");
/// The load correction factors as they ship, with how they were made.
pub const LOAD_CORRECTIONS: &str = include_str!("alpha.csv");

static CRITICAL: LazyLock<Table> = LazyLock::new(|| Table::parse("critical.csv", CRITICAL_LOADS));
static ALPHA: LazyLock<Table> = LazyLock::new(|| Table::parse("alpha.csv", LOAD_CORRECTIONS));

/// L_TCP_crit in bit/s of a path length and a flow's full packets: between two segments of the table in proportion; beyond
/// its ends the nearest entry. Attempts are what the table counts.
pub(crate) fn critical(hops: u32, full: Bytes, counting: Counting) -> Option<f64> {
    if counting != Counting::Attempts {
        return None;
    }
    CRITICAL.at(&[("hops", f64::from(hops)), ("segment", segment(full))], "data_bps")
}

/// The load correction factor of so many flows of a path length side by side, between entries and beyond them alike. It is of
/// serial gates, of attempts counted, and of h(N - 1) competing nodes.
pub(crate) fn alpha(hops: u32, flows: u32, full: Bytes) -> Option<f64> {
    let place = [("hops", f64::from(hops)), ("flows", f64::from(flows)), ("segment", segment(full))];
    ALPHA.at(&place, "alpha")
}

fn segment(full: Bytes) -> f64 {
    full.0.saturating_sub(HEADERS.0) as f64
}

/// A table of numbers with names for its columns.
#[derive(Clone, Debug, PartialEq)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    /// Lines that begin with `#` say how it was made; the first of the others has the names.
    fn parse(name: &str, text: &str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let columns: Vec<String> = lines.next().unwrap_or_default().split(',').map(str::to_owned).collect();
        let rows = lines.map(|line| {
            let cells: Option<Vec<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            let cells = cells.filter(|cells| cells.len() == columns.len());
            cells.unwrap_or_else(|| panic!("{name}: {line:?} has not a number for each of {columns:?}"))
        });
        let rows = rows.collect();
        Self { columns, rows }
    }

    fn column(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|column| column == name);
        found.unwrap_or_else(|| panic!("no column {name} among {:?}", self.columns))
    }

    /// A column's value at a place: between the nearest rows below and above in proportion, one coordinate after the other;
    /// beyond the ends the nearest. `None` of an empty table.
    fn at(&self, place: &[(&str, f64)], column: &str) -> Option<f64> {
        let place: Vec<_> = place.iter().map(|(name, value)| (self.column(name), *value)).collect();
        interpolate(&self.rows.iter().collect::<Vec<_>>(), &place, self.column(column))
    }
}

fn interpolate(rows: &[&Vec<f64>], place: &[(usize, f64)], column: usize) -> Option<f64> {
    let Some(((coordinate, wanted), rest)) = place.split_first() else {
        return rows.first().map(|row| row[column]);
    };
    let values = || rows.iter().map(|row| row[*coordinate]);
    let below = values().filter(|value| value <= wanted).max_by(f64::total_cmp);
    let above = values().filter(|value| value >= wanted).min_by(f64::total_cmp);
    let along = |value: f64| {
        let there: Vec<_> = rows.iter().copied().filter(|row| row[*coordinate] == value).collect();
        interpolate(&there, rest, column)
    };
    match (below, above) {
        (Some(low), Some(high)) if low < high => {
            let (first, last) = (along(low)?, along(high)?);
            Some(first + (wanted - low) / (high - low) * (last - first))
        }
        (Some(nearest), _) | (None, Some(nearest)) => along(nearest),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_by_the_names_of_its_columns() {
        let table = Table::parse("a.csv", "# how\nhops,segment,x\n1,200,7\n1,600,1.5e3\n3,600,1700\n");
        assert_eq!(table.at(&[("hops", 1.0), ("segment", 400.0)], "x"), Some(753.5));
        assert_eq!(table.at(&[("hops", 2.0), ("segment", 600.0)], "x"), Some(1600.0));
        assert_eq!(table.at(&[("segment", 999.0), ("hops", 9.0)], "x"), Some(1700.0));
        assert_eq!(Table::parse("a.csv", "hops,x\n").at(&[("hops", 1.0)], "x"), None);
    }

    #[test]
    #[should_panic(expected = "has not a number for each of")]
    fn a_cell_that_is_missing_is_told() {
        Table::parse("a.csv", "hops,segment,x\n1,200\n");
    }

    /// Osipov and Tschudin 2005, sections 3.2, 3.4: 1 to 9 hops, segments of 200 to 1,000 bytes; ns-2.35's values are those of
    /// reference/osipov_crit.csv, 60 s and 3 seeds each.
    #[test]
    fn the_shipped_critical_loads_are_near_those_of_ns2() {
        assert_eq!(CRITICAL.rows.len(), 45);
        let ns2 = [1206.0, 1223.0, 1227.0, 1232.0, 1228.0, 1334.0, 1425.0, 1529.0, 1628.0];
        for (hops, expected) in (1..).zip(ns2) {
            let ours = critical(hops, Bytes(640), Counting::Attempts).expect("an entry") / 1000.0;
            assert!((ours / expected - 1.0).abs() < 0.02, "{hops} hops: {ours} against {expected} kbit/s");
        }
    }

    /// Entries of other segments are their own, between two of them in proportion, and paths without are as with 600 bytes.
    #[test]
    fn the_shipped_factors_are_by_segment() {
        let of = |hops: u32, segment: u64| alpha(hops, 9, Bytes(segment + 40)).expect("an entry");
        assert_eq!((of(3, 200), of(3, 1000), of(9, 200)), (1.0469, 1.0555, 0.9171));
        assert!((of(3, 400) - f64::midpoint(of(3, 200), of(3, 600))).abs() < 1e-12);
        assert_eq!(of(1, 200).to_bits(), of(1, 600).to_bits());
    }

    /// Osipov and Tschudin 2005, Fig. 8: of 3 hops alpha is above 1, and falls as flows are added.
    #[test]
    fn the_shipped_factors_fall_with_the_number_of_flows() {
        let factors: Vec<_> = (2..=9).map(|flows| alpha(3, flows, Bytes(640)).expect("an entry")).collect();
        assert!(factors.is_sorted_by(|more, less| more >= less), "{factors:?}");
        assert!((1.3..1.6).contains(&factors[0]) && (1.0..1.1).contains(&factors[7]), "{factors:?}");
        // Delta and the MAC's time add up: of about 5 ms, alpha is N D / (N D - 5 ms) with D = 13.2 ms (the catalogue, Fig. 8).
        for (flows, factor) in (2..).zip(&factors) {
            let expected = f64::from(flows) * 13.2 / (f64::from(flows) * 13.2 - 5.0);
            assert!((factor / expected - 1.0).abs() < 0.25, "{flows} flows: {factor} against {expected}");
        }
    }

    #[test]
    fn beyond_the_shipped_table_its_nearest_entry_acts() {
        let at = |hops, full| critical(hops, Bytes(full), Counting::Attempts).expect("an entry");
        assert!((at(3, 540) - (at(3, 440) + at(3, 640)) / 2.0).abs() < 1.0);
        assert_eq!(at(3, 1500).to_bits(), at(3, 1040).to_bits());
        assert_eq!(at(3, 40).to_bits(), at(3, 240).to_bits());
        assert_eq!(at(30, 640).to_bits(), at(9, 640).to_bits());
        let factor = |flows, full| alpha(3, flows, Bytes(full)).expect("an entry").to_bits();
        assert_eq!(factor(1, 640), factor(2, 640));
        assert_eq!((factor(50, 640), factor(9, 1500)), (factor(9, 640), factor(9, 1040)));
    }
}
