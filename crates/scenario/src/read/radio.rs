//! `[radio]` and `[[radio_link]]`.

use super::building::{read_building, read_fading, read_powers, read_propagation};
use super::node_radio::{check_band, read_channel};
use super::{Named, Settings};
use crate::{Location, Preamble, Radio, RateControl, Reception, RtsThreshold, ScenarioError, Standard};
use meshpace_radio::Mode;
use meshpace_radio::rate_control::{self, RATE_CONTROLS, Surroundings};
use meshpace_radio::standard::{Refused, STANDARDS, StandardPart};
use meshpace_settings::{Key, Setting, Values, quoted};
use meshpace_units::{Bytes, Rate};

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
    /// Centre of its channel in MHz, and where the file says that.
    pub channel: Option<(u16, Location)>,
    pub loss: f64,
    pub loss_length: Option<Bytes>,
    /// With a channel one of any width: which the channel has is known later.
    pub rate: Option<(Rate, Location)>,
    pub symmetric: bool,
    pub burst: Option<f64>,
    /// `None`: it is decoded; else where the file says that it is only sensed.
    pub sensed: Option<Location>,
}

/// The `[radio]` table.
#[derive(Clone, Debug)]
pub(crate) struct RadioSpec {
    /// Its values; `link_rates` still empty.
    pub radio: Radio,
    /// True if the file says the channel: every node has a radio on it then.
    pub says_channel: bool,
    /// The rate, and the basic rate, if the file gives them.
    pub given_rate: Option<Rate>,
    pub given_basic: Option<Rate>,
    pub link_rates: Vec<LinkRateSpec>,
    /// Where the ranges and their model are given, if they are: nodes without places have no use for them.
    pub by_distance: Option<Location>,
    /// The margin in dB that links of flows' paths are to have, and where it is given.
    pub link_margin: Option<(f64, Location)>,
    /// Where fading is given, if there is any.
    pub fading_at: Option<Location>,
    /// The error that the time-outs are too short for a hop of a flow.
    pub ack_timeout: Named,
}

/// Keys that mean something where nodes have places only.
const BY_DISTANCE: [&str; 15] = [
    "propagation",
    "path_loss_exponent",
    "shadowing_db",
    "asymmetry_db",
    "gain_spread_db",
    "ceiling_db",
    "storey",
    "link_margin_db",
    "fading_db",
    "fading_time",
    "tx_power",
    "sensitivity",
    "cs_sensitivity",
    "tx_range",
    "cs_range",
];

pub(crate) fn read_radio(settings: &Settings<'_>) -> Result<RadioSpec, ScenarioError> {
    let channel = read_channel(settings)?;
    let (standard, own) = read_standard(settings, channel)?;
    let given_rate = rate_of(settings, "rate", &standard, standard.data)?;
    let rate = given_rate.unwrap_or(standard.default_mode.rate);
    let mode = standard.data_mode(rate).unwrap_or(standard.default_mode);
    let basic_rate = rate_of(settings, "basic_rate", &standard, standard.basic)?;
    let powers = read_powers(settings, &standard)?;
    let propagation = read_propagation(settings, powers.as_ref())?;
    let (tx_range, cs_range) = match powers.and_then(|powers| powers.ranges(propagation)) {
        Some(ranges) => ranges,
        None => read_ranges(settings)?,
    };
    let (building, link_margin) = read_building(settings)?;
    let reception = read_reception(settings)?;
    let by_default = matches!(reception, Reception::Ns2Capture { .. });
    let radio = Radio {
        standard,
        own,
        rate,
        basic_rate: basic_rate.unwrap_or(standard.default_basic(mode).rate),
        preamble: settings.choice("preamble", &[("long", Preamble::Long), ("short", Preamble::Short)])?,
        rts: read_rts(settings)?,
        retry_short: settings.value("retry_short")?.count(),
        retry_long: settings.value("retry_long")?.count(),
        queue: settings.given("queue")?.map_or(standard.queue, |given| given.count()),
        mac_overhead: settings.given("mac_overhead")?.map_or(standard.mac_overhead, |given| given.bytes()),
        reception,
        propagation,
        building,
        fading: read_fading(settings)?,
        tx_range,
        cs_range,
        backoff_range: standard.backoff_range, // `extra::backoff_range` may say otherwise
        arp: settings.given("arp")?.map_or(by_default, |given| given.flag()),
        ack_timeout: settings.value("ack_timeout")?.span(),
        link_rates: Vec::new(),
        rate_control: read_rate_control(settings, &standard, &reception)?,
    };
    let fading = radio.fading.is_some();
    Ok(RadioSpec {
        radio,
        says_channel: channel.is_some(),
        given_rate,
        given_basic: basic_rate,
        link_rates: read_link_rates(settings, &standard)?,
        by_distance: BY_DISTANCE.into_iter().find(|key| settings.gives(key)).map(|key| settings.at(key)),
        link_margin,
        fading_at: fading.then(|| settings.at("fading_db")),
        ack_timeout: Named { name: settings.found("ack_timeout"), at: settings.at("ack_timeout") },
    })
}

/// The standard, made of the values of its own keys.
fn read_standard(
    settings: &Settings<'_>,
    channel: Option<(&'static str, u16)>,
) -> Result<(Standard, Values), ScenarioError> {
    let rows: Vec<_> = STANDARDS.iter().map(|part| (part.about.word, *part)).collect();
    let part = settings.choice("standard", &rows)?;
    let value = |key: &'static Key| {
        let preset = || part.about.preset(key).and_then(|preset| preset.setting());
        Ok(settings.given(key.name)?.or_else(preset).map(|value| (key.name, value)))
    };
    let own: Result<Vec<_>, ScenarioError> = part.about.keys().map(value).collect();
    let own = Values::new(own?.into_iter().flatten());
    let rate = settings.given("rate")?.map(Setting::rate);
    let mhz = channel.filter(|(key, _)| *key == "channel").map(|(_, mhz)| mhz);
    standard_of(part, own, rate, mhz).map_err(|Refused { key, allowed }| {
        let key = if key == "frequency" && mhz.is_some() { "channel" } else { key };
        settings.at(key).error(settings.found(key), allowed)
    })
}

/// A standard with these values of its own keys and this rate of data; `mhz`: the centre of its channel, if a number says it.
pub(super) fn standard_of(
    part: &StandardPart,
    own: Values,
    rate: Option<Rate>,
    mhz: Option<u16>,
) -> Result<(Standard, Values), Refused> {
    let has_frequency = part.about.keys().any(|key| key.name == "frequency");
    let hertz = mhz.filter(|_| has_frequency).map(|mhz| Setting::Real(f64::from(mhz) * 1e6));
    let own = match hertz {
        None => own,
        Some(hertz) => Values::new(own.iter().map(|(key, value)| match key {
            "frequency" => (key, hertz.clone()),
            _ => (key, value.clone()),
        })),
    };
    let rate = rate.map(|rate| ("rate", Setting::Whole(rate.as_bits_per_sec())));
    let all = Values::new(own.iter().map(|(key, value)| (key, value.clone())).chain(rate));
    let mut standard = (part.build)(&all)?;
    if let Some(mhz) = mhz.filter(|_| !has_frequency) {
        check_band(&standard, mhz).map_err(|allowed| Refused::new("frequency", allowed))?;
        standard.channel.mhz = mhz;
    }
    Ok((standard, own))
}

/// Which rate control, which has to suit the rest.
fn read_rate_control(
    settings: &Settings<'_>,
    standard: &Standard,
    reception: &Reception,
) -> Result<RateControl, ScenarioError> {
    let rows: Vec<_> = RATE_CONTROLS.iter().map(|part| (part.about.word, *part)).collect();
    let part = settings.choice(rate_control::KEY, &rows)?;
    let surroundings = Surroundings { standard, curve: *reception == Reception::SinrCurve };
    let refused = |Refused { key, allowed }| settings.at(key).error(settings.found(key), allowed);
    (part.build.suits)(&surroundings).map_err(refused)?;
    let own = part.about.keys().map(|key| Ok((key.name, settings.value(key.name)?)));
    let own = Values::new(own.collect::<Result<Vec<_>, ScenarioError>>()?);
    let control = RateControl { word: part.about.word, own };
    if settings.gives("link_rates") {
        given_rates(&control, &settings.at("link_rates"))?;
    }
    Ok(control)
}

/// Refuses rates of links where they are chosen.
fn given_rates(control: &RateControl, at: &Location) -> Result<(), ScenarioError> {
    if !control.chooses() {
        return Ok(());
    }
    let fixed = rate_control::WORDS[0];
    let found = format!("the rate of a link beside {} = {}", rate_control::KEY, quoted(control.word));
    Err(at.error(found, format!("only with {} = {}", rate_control::KEY, quoted(fixed))))
}

pub(crate) fn read_radio_links(
    root: &Settings<'_>,
    radio: &Radio,
) -> Result<Vec<RadioLinkSpec>, ScenarioError> {
    let read = |entry: &Settings<'_>| {
        let loss = entry.value("loss")?.real();
        let loss_length = entry.given("loss_length")?.map(|length| length.bytes());
        let burst = entry.given("burst")?.map(|burst| burst.real());
        if burst.is_some() && loss == 0.0 {
            return Err(entry.at("burst").error("bursts of no loss", "only with loss above 0"));
        }
        if loss_length.is_some() && loss == 0.0 {
            return Err(entry.at("loss_length").error("a length of no loss", "only with loss above 0"));
        }
        if loss_length.is_some() && burst.is_some() {
            let allowed = "without burst: who sends in a bad period loses the frame, however short";
            return Err(entry.at("loss_length").error("loss by length in bursts", allowed));
        }
        if entry.gives("rate") {
            given_rates(&radio.rate_control, &entry.at("rate"))?;
        }
        let sensed = (!entry.value("decoded")?.flag()).then(|| entry.at("decoded"));
        if let Some(key) = ["loss", "rate"].into_iter().find(|key| sensed.is_some() && entry.gives(key)) {
            return Err(entry
                .at(key)
                .error("the key of a link that is not decoded", "only with decoded = true"));
        }
        let channel = read_channel(entry)?.map(|(key, mhz)| (mhz, entry.at(key)));
        let rate = match channel {
            None => rate_of(entry, "rate", &radio.standard, radio.standard.data)?,
            Some(_) => entry.given("rate")?.map(Setting::rate),
        };
        Ok(RadioLinkSpec {
            sensed,
            from: entry.named("from")?,
            to: entry.named("to")?,
            channel,
            loss,
            loss_length,
            rate: rate.map(|rate| (rate, entry.at("rate"))),
            symmetric: entry.value("symmetric")?.flag(),
            burst,
        })
    };
    root.sections("radio_link")?.iter().map(read).collect()
}

fn read_link_rates(settings: &Settings<'_>, standard: &Standard) -> Result<Vec<LinkRateSpec>, ScenarioError> {
    let read = |entry: Settings<'_>| {
        let rate = rate_of(&entry, "rate", standard, standard.data)?;
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
    standard: &Standard,
    modes: &[Mode],
) -> Result<Option<Rate>, ScenarioError> {
    let Some(rate) = settings.given(key)?.map(|given| given.rate()) else { return Ok(None) };
    if modes.iter().any(|mode| mode.rate == rate) {
        return Ok(Some(rate));
    }
    Err(settings.at(key).error(settings.found(key), rates_of(standard, modes)))
}

/// The rates of modes, for messages.
pub(crate) fn rates_of(standard: &Standard, modes: &[Mode]) -> String {
    let mut names: Vec<String> = Vec::new();
    for mode in modes {
        let name = format!("{}Mbps", mode.rate.as_bits_per_sec() as f64 / 1e6);
        // Two modes of one rate, by more streams or a denser modulation.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    format!("{} for {}", names.join(", "), standard.word)
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
    Ok(match settings.value("rts")? {
        Setting::Text(word) if word == "always" => RtsThreshold::Always,
        Setting::Text(_) => RtsThreshold::Never,
        bytes => RtsThreshold::From(bytes.bytes()),
    })
}

fn read_reception(settings: &Settings<'_>) -> Result<Reception, ScenarioError> {
    let capture_threshold_db = settings.value("capture_threshold_db")?.real();
    let sinr_threshold_db = settings.value("sinr_threshold_db")?.real();
    let curve = settings.value("error_model")?.text() == "curve";
    if curve && settings.gives("sinr_threshold_db") {
        let found = format!("{} beside error_model = \"curve\"", settings.found("sinr_threshold_db"));
        return Err(settings.at("sinr_threshold_db").error(found, "only with error_model = \"threshold\""));
    }
    let sinr = if curve { Reception::SinrCurve } else { Reception::Sinr { sinr_threshold_db } };
    settings.choice(
        "reception",
        &[("ns2-capture", Reception::Ns2Capture { capture_threshold_db }), ("sinr", sinr)],
    )
}
