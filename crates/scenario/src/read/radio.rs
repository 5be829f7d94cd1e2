//! `[radio]`.

use super::{Named, Settings};
use crate::{BackoffRange, Preamble, Propagation, Radio, Reception, RtsThreshold, ScenarioError, Standard};
use meshpace_units::Rate;

/// An exception from the common rate, its nodes still names.
#[derive(Clone, Debug)]
pub(crate) struct LinkRateSpec {
    pub from: Named,
    pub to: Option<Named>,
    pub rate: Rate,
}

/// The radio, its `link_rates` still empty, and those as names.
pub(crate) fn read_radio(settings: &Settings<'_>) -> Result<(Radio, Vec<LinkRateSpec>), ScenarioError> {
    let standard = settings.choice(
        "standard",
        &[
            ("802.11b", Standard::B),
            ("802.11a", Standard::A),
            ("802.11g", Standard::G),
            ("802.11g-ns2", Standard::GNs2),
        ],
    )?;
    let rate =
        rate_of(settings, "rate", standard, &standard.data_rates())?.unwrap_or(standard.default_rate());
    let basic_rate = rate_of(settings, "basic_rate", standard, standard.basic_rates())?;
    let (tx_range, cs_range) = read_ranges(settings)?;
    let radio = Radio {
        standard,
        rate,
        basic_rate: basic_rate.unwrap_or(standard.default_basic_rate(rate)),
        preamble: settings.choice("preamble", &[("long", Preamble::Long), ("short", Preamble::Short)])?,
        rts: read_rts(settings)?,
        retry_short: settings.value("retry_short")?.count(),
        retry_long: settings.value("retry_long")?.count(),
        queue: settings.value("queue")?.count(),
        mac_overhead: settings.given("mac_overhead")?.map_or(standard.mac_overhead(), |given| given.bytes()),
        reception: read_reception(settings)?,
        propagation: read_propagation(settings)?,
        tx_range,
        cs_range,
        backoff_range: settings
            .choice("backoff_range", &[("ns2", BackoffRange::Ns2), ("standard", BackoffRange::Standard)])?,
        link_rates: Vec::new(),
    };
    Ok((radio, read_link_rates(settings, standard)?))
}

fn read_link_rates(settings: &Settings<'_>, standard: Standard) -> Result<Vec<LinkRateSpec>, ScenarioError> {
    let read = |entry: Settings<'_>| {
        let rate = rate_of(&entry, "rate", standard, &standard.data_rates())?;
        Ok(LinkRateSpec {
            from: entry.named("from")?,
            to: if entry.gives("to") { Some(entry.named("to")?) } else { None },
            rate: rate.map_or_else(|| entry.value("rate").map(|missing| missing.rate()), Ok)?,
        })
    };
    settings.sections("link_rates")?.into_iter().map(read).collect()
}

/// The rate under a key, if given: one of those that the standard has.
fn rate_of(
    settings: &Settings<'_>,
    key: &str,
    standard: Standard,
    rates: &[u64],
) -> Result<Option<Rate>, ScenarioError> {
    let Some(rate) = settings.given(key)?.map(|given| given.rate()) else { return Ok(None) };
    if rates.contains(&rate.as_bits_per_sec()) {
        return Ok(Some(rate));
    }
    let names: Vec<_> = rates.iter().map(|rate| format!("{}Mbps", *rate as f64 / 1e6)).collect();
    Err(settings.at(key).error(settings.found(key), format!("{} for {}", names.join(", "), standard.name())))
}

fn read_ranges(settings: &Settings<'_>) -> Result<(f64, f64), ScenarioError> {
    let (tx, cs) = (settings.value("tx_range")?.real(), settings.value("cs_range")?.real());
    if tx <= cs {
        return Ok((tx, cs));
    }
    // Blame the key that the file gives; if it gives both, either would do.
    let (key, allowed) = if settings.gives("cs_range") {
        ("cs_range", format!("at least radio.tx_range = {tx} m"))
    } else {
        ("tx_range", format!("at most radio.cs_range = {cs} m"))
    };
    Err(settings.at(key).error(settings.found(key), allowed))
}

fn read_rts(settings: &Settings<'_>) -> Result<RtsThreshold, ScenarioError> {
    use meshpace_settings::Setting;
    Ok(match settings.value("rts")? {
        Setting::Text(word) if word == "always" => RtsThreshold::Always,
        Setting::Text(_) => RtsThreshold::Never,
        bytes => RtsThreshold::From(bytes.bytes()),
    })
}

fn read_reception(settings: &Settings<'_>) -> Result<Reception, ScenarioError> {
    let capture_threshold_db = settings.value("capture_threshold_db")?.real();
    let sinr_threshold_db = settings.value("sinr_threshold_db")?.real();
    settings.choice(
        "reception",
        &[
            ("ns2-capture", Reception::Ns2Capture { capture_threshold_db }),
            ("sinr", Reception::Sinr { sinr_threshold_db }),
        ],
    )
}

fn read_propagation(settings: &Settings<'_>) -> Result<Propagation, ScenarioError> {
    let exponent = settings.value("path_loss_exponent")?.real();
    let shadowing_db = settings.value("shadowing_db")?.real();
    settings.choice(
        "propagation",
        &[
            ("two-ray", Propagation::TwoRay),
            ("log-distance", Propagation::LogDistance { exponent, shadowing_db }),
            ("ranges", Propagation::Ranges),
        ],
    )
}
