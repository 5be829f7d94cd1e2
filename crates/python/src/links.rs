//! The links of a capture, as JSON.

use meshpace_monitor::dot11::shown;
use meshpace_monitor::{LinkReport, Options, Report, Row, measure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;

/// Measures a capture. A file that cannot be read is Python's `OSError`, one of which nothing can be made a `ValueError`.
pub fn of_capture(path: &Path, options: &Options) -> PyResult<String> {
    let file = File::open(path)?;
    let report = measure(file, options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(to_json(&report).to_string())
}

fn to_json(report: &Report) -> Value {
    let counts = &report.counts;
    json!({
        "links": report.links.iter().map(link).collect::<Vec<_>>(),
        "series": report.series.iter().map(row).collect::<Vec<_>>(),
        "duration_s": report.duration.as_secs_f64(),
        "busy_share": report.busy,
        "frames": counts.frames,
        "bad_frames": counts.bad,
        "unreadable_frames": counts.unreadable,
        "frames_without_rate": counts.without_rate,
        "aggregated_frames": counts.aggregated,
        "foreign_frames": counts.foreign,
        "channels_mhz": report.channels,
        "clock": if counts.radio_clock { "radio" } else { "file" },
        "partial": report.partial,
    })
}

fn link(link: &LinkReport) -> Value {
    json!({
        "from": shown(link.link.from),
        "to": shown(link.link.to),
        "capacity_bps": link.capacity,
        "available_bps": link.available,
        "samples": link.samples,
    })
}

fn row(row: &Row) -> Value {
    json!({
        "time_s": row.at.as_secs_f64(),
        "from": shown(row.link.from),
        "to": shown(row.link.to),
        "capacity_bps": row.capacity,
        "available_bps": row.available,
        "samples": row.samples,
    })
}
