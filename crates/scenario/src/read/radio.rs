//! `[radio]` and `[[radio_link]]`.

use super::{Named, Settings};
use crate::{
    BackoffRange, Location, Preamble, Propagation, Radio, Reception, RtsThreshold, ScenarioError, Standard,
};
use meshpace_units::Rate;

/// An exception from the common rate, its nodes still names.
#[derive(Clone, Debug)]
pub(crate) struct LinkRateSpec {
    pub from: Named,
    pub to: Option<Named>,
    pub rate: Rate,
}

/// A `[[radio_link]]`, its nodes still names.
#[derive(Clone, Debug)]
pub(crate) struct RadioLinkSpec {
    pub from: Named,
    pub to: Named,
    pub loss: f64,
    pub rate: Option<Rate>,
    pub symmetric: bool,
    pub burst: Option<f64>,
}

/// The `[radio]` table.
#[derive(Clone, Debug)]
pub(crate) struct RadioSpec {
    /// Its values; `link_rates` still empty.
    pub radio: Radio,
    pub link_rates: Vec<LinkRateSpec>,
    /// Where the ranges and their model are given, if they are: nodes without places have no use for them.
    pub by_distance: Option<Location>,
    /// The error that the time-outs are too short for a hop of a flow.
    pub ack_timeout: Named,
}

pub(crate) fn read_radio(settings: &Settings<'_>) -> Result<RadioSpec, ScenarioError> {
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
    let reception = read_reception(settings)?;
    let by_default = matches!(reception, Reception::Ns2Capture { .. });
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
        reception,
        propagation: read_propagation(settings)?,
        tx_range,
        cs_range,
        backoff_range: BackoffRange::Ns2, // `extra::backoff_range` may say otherwise
        arp: settings.given("arp")?.map_or(by_default, |given| given.flag()),
        ack_timeout: settings.value("ack_timeout")?.span(),
        link_rates: Vec::new(),
    };
    let by_distance = ["propagation", "path_loss_exponent", "shadowing_db", "tx_range", "cs_range"];
    Ok(RadioSpec {
        radio,
        link_rates: read_link_rates(settings, standard)?,
        by_distance: by_distance.into_iter().find(|key| settings.gives(key)).map(|key| settings.at(key)),
        ack_timeout: Named { name: settings.found("ack_timeout"), at: settings.at("ack_timeout") },
    })
}

pub(crate) fn read_radio_links(
    root: &Settings<'_>,
    standard: Standard,
) -> Result<Vec<RadioLinkSpec>, ScenarioError> {
    let read = |entry: &Settings<'_>| {
        let loss = entry.value("loss")?.real();
        let burst = entry.given("burst")?.map(|burst| burst.real());
        if burst.is_some() && loss == 0.0 {
            return Err(entry.at("burst").error("bursts of no loss", "only with loss above 0"));
        }
        Ok(RadioLinkSpec {
            from: entry.named("from")?,
            to: entry.named("to")?,
            loss,
            rate: rate_of(entry, "rate", standard, &standard.data_rates())?,
            symmetric: entry.value("symmetric")?.flag(),
            burst,
        })
    };
    root.sections("radio_link")?.iter().map(read).collect()
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
