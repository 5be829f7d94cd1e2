//! `[[node.radio]]`, and the channel of `[radio]`.

use super::Settings;
use super::radio::{RadioSpec, rates_of, standard_of};
use crate::model::centre_of;
use crate::{Location, ScenarioError, Standard};
use meshpace_keys::Values;
use meshpace_radio::Mode;
use meshpace_radio::standard::{Channel, STANDARDS, StandardPart};
use meshpace_settings::Setting;
use meshpace_units::Rate;

/// A radio that a node's table describes.
#[derive(Clone, Debug)]
pub(crate) struct NodeRadioSpec {
    /// Where its channel is said.
    pub at: Location,
    /// Where its width is said, or would be.
    pub width_at: Location,
    /// Centre of its channel.
    pub mhz: u16,
    pub standard: Standard,
    pub own: Values,
    pub basic_rate: Rate,
    /// How its unicast data go.
    pub mode: &'static Mode,
}

/// Keys that say together how data go: a table that has one leaves aside what `[radio]` says of the others.
const OF_DATA: [&str; 3] = ["rate", "mcs", "streams"];
/// Keys of a table that some standards have of their own.
const OF_STANDARDS: [&str; 3] = ["mcs", "streams", "width"];

pub(crate) fn read_node_radios(
    node: &Settings<'_>,
    common: &RadioSpec,
) -> Result<Vec<NodeRadioSpec>, ScenarioError> {
    node.sections("radio")?.iter().map(|table| read_node_radio(table, common)).collect()
}

fn read_node_radio(table: &Settings<'_>, common: &RadioSpec) -> Result<NodeRadioSpec, ScenarioError> {
    let standard = &common.radio.standard;
    let part = part_of(common);
    let Some((key, mhz)) = read_channel(table)? else {
        return Err(table.at("channel").error("nothing", "channel or frequency"));
    };
    let says_mode = OF_DATA.iter().any(|key| table.gives(key));
    let kept = common.radio.own.iter().filter(|(name, _)| !says_mode || !OF_DATA.contains(name));
    let mut all: Vec<(&'static str, Setting)> = kept.map(|(name, value)| (name, value.clone())).collect();
    for name in OF_STANDARDS.into_iter().filter(|name| table.gives(name)) {
        let own = part.about.keys().find(|own| own.name == name);
        let Some(own) = own else {
            let words = STANDARDS.iter().filter(|part| part.about.keys().any(|own| own.name == name));
            let words: Vec<_> = words.map(|part| part.about.word).collect();
            let found = format!("the key with radio.standard = \"{}\"", standard.word);
            return Err(table.at(name).error(found, format!("only with {}", words.join(", "))));
        };
        let raw = table.item(name).and_then(|item| item.value.raw());
        let Some(value) = raw.and_then(|raw| own.kind.accept(&raw)) else {
            return Err(table.at(name).error(table.found(name), own.kind.allowed()));
        };
        put(&mut all, name, value);
    }
    let given = match table.given("rate")? {
        Some(rate) => Some(rate.rate()),
        None => common.given_rate.filter(|_| !says_mode),
    };
    let own = Values::new(all);
    // What the table does not say itself is wrong because of its channel.
    let refuse = |name: &str, allowed: String| {
        let name = if table.gives(name) { name } else { key };
        table.at(name).error(table.found(name), allowed)
    };
    let (standard, own) =
        standard_of(part, own, given, Some(mhz)).map_err(|refused| refuse(refused.key, refused.allowed))?;
    let mode = match given {
        None => standard.default_mode,
        Some(rate) => standard.data_mode(rate).ok_or_else(|| {
            let key = if table.gives("rate") { "rate" } else { "width" };
            refuse(key, rates_of(&standard, standard.data))
        })?,
    };
    let basic_rate = match common.given_basic {
        None => standard.default_basic(mode).rate,
        Some(rate) if standard.basic_mode(rate).is_some() => rate,
        Some(rate) => {
            return Err(refuse("width", format!("a width at which radio.basic_rate = {rate:?} exists")));
        }
    };
    let (at, width_at) = (table.at(key), table.at("width"));
    Ok(NodeRadioSpec { at, width_at, mhz, standard, own, basic_rate, mode })
}

fn put(values: &mut Vec<(&'static str, Setting)>, name: &'static str, value: Setting) {
    values.retain(|(known, _)| *known != name);
    values.push((name, value));
}

/// Radios on the channels that a chain's hops have in turn, each as `[radio]` says.
pub(super) fn read_channels(
    topology: &Settings<'_>,
    common: &RadioSpec,
) -> Result<Vec<NodeRadioSpec>, ScenarioError> {
    let Some(numbers) = topology.given("channels")? else { return Ok(Vec::new()) };
    let at = topology.at("channels");
    let radio = |number: Setting| {
        let mhz = centre_of(number.count() as u16);
        let refused = |allowed: String| at.error(topology.found("channels"), allowed);
        let own = common.radio.own.clone();
        let (standard, own) = standard_of(part_of(common), own, common.given_rate, Some(mhz))
            .map_err(|refused_key| refused(refused_key.allowed))?;
        let mode = standard.data_mode(common.radio.rate).unwrap_or(standard.default_mode);
        let (basic_rate, width_at) = (common.radio.basic_rate, at.clone());
        Ok(NodeRadioSpec { at: at.clone(), width_at, mhz, standard, own, basic_rate, mode })
    };
    numbers.list().into_iter().map(radio).collect()
}

fn part_of(common: &RadioSpec) -> &'static StandardPart {
    let part = STANDARDS.iter().find(|part| part.about.word == common.radio.standard.word);
    part.unwrap_or_else(|| panic!("no standard {}", common.radio.standard.word))
}

/// The key that says a table's channel, and the centre of that in MHz; `None`: it says none.
pub(super) fn read_channel(table: &Settings<'_>) -> Result<Option<(&'static str, u16)>, ScenarioError> {
    let number = table.given("channel")?.map(|number| number.count());
    let frequency = table.given("frequency")?.map(|frequency| frequency.real());
    match (number, frequency) {
        (Some(_), Some(_)) => {
            Err(table.at("frequency").error("frequency beside channel", "channel or frequency"))
        }
        (Some(15..=31), None) => {
            let allowed = "1 to 14 in the band of 2.4 GHz, 32 to 177 in that of 5 GHz";
            Err(table.at("channel").error(table.found("channel"), allowed))
        }
        (Some(number), None) => Ok(Some(("channel", centre_of(number as u16)))),
        (None, Some(hertz)) => Ok(Some(("frequency", (hertz / 1e6).round() as u16))),
        (None, None) => Ok(None),
    }
}

/// The bands that a standard which has no frequency of its own is in, MHz, and what messages call it.
pub(super) fn check_band(standard: &Standard, mhz: u16) -> Result<(), String> {
    let low = standard.channel.flags & Channel::BAND_2_GHZ != 0;
    let band = if low { 2400..=2500 } else { 4900..=5900 };
    if band.contains(&mhz) {
        return Ok(());
    }
    let name = if low { "2.4 GHz" } else { "5 GHz" };
    Err(format!("a channel in the band of {name} for {}", standard.word))
}
