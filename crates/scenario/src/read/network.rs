//! `[[node]]`, `[[link]]`, `[routing]`, `[mobility]`.

use super::node_radio::{NodeRadioSpec, read_node_radios};
use super::{Named, RadioSpec, Settings};
use crate::keys::{PROFILE, PROTOCOL};
use crate::{Location, Position, Rectangle, Routing, ScenarioError};
use meshpace_keys::Values;
use meshpace_routing::{PROTOCOLS, Profile};
use meshpace_settings::{Key, Setting};
use meshpace_units::{Rate, Span};
use std::net::Ipv4Addr;

/// An explicit node.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    pub id: Named,
    pub role: Role,
    /// Where its role is said, for the error that the role does not fit its links.
    pub role_at: Location,
    pub place: Placement,
    /// Where its place is said, or would be.
    pub place_at: Location,
    pub address: Option<(Ipv4Addr, Location)>,
    /// Its radios, if it describes them.
    pub radios: Vec<NodeRadioSpec>,
}

/// Where the file says a node stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Placement {
    /// It does not say.
    Nowhere,
    /// In metres.
    Flat(Position),
    /// At random in a rectangle, metres above the ground.
    Within { rectangle: Rectangle, height: f64 },
    /// On the globe, in degrees, and metres above the ground.
    Globe { lat: f64, lon: f64, height: f64 },
}

/// What the file says a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Mesh,
    Gateway,
    Wired,
}

/// An explicit link, its ends still names.
#[derive(Clone, Debug)]
pub(crate) struct LinkSpec {
    pub a: Named,
    pub b: Named,
    pub rate: Rate,
    pub delay: Span,
    pub queue: u32,
    pub loss: f64,
}

/// Mobility, its nodes still names.
#[derive(Clone, Debug)]
pub(crate) struct MobilitySpec {
    pub at: Location,
    pub speed_min: f64,
    pub speed_max: f64,
    /// The first leg's speed has a density of 1/speed.
    pub inverse_first: bool,
    pub pause: Span,
    pub area: Option<(f64, f64)>,
    pub nodes: Option<Vec<Named>>,
}

pub(crate) fn read_nodes(root: &Settings<'_>, radio: &RadioSpec) -> Result<Vec<NodeSpec>, ScenarioError> {
    root.sections("node")?.iter().map(|node| read_node(node, radio)).collect()
}

fn read_node(settings: &Settings<'_>, radio: &RadioSpec) -> Result<NodeSpec, ScenarioError> {
    let role = settings
        .choice("role", &[("mesh", Role::Mesh), ("gateway", Role::Gateway), ("wired", Role::Wired)])?;
    let address = settings.given("address")?.map(|text| {
        let (text, at) = (text.text(), settings.at("address"));
        match text.parse::<Ipv4Addr>() {
            Ok(address) => Ok((address, at)),
            Err(_) => Err(at.error(settings.found("address"), "an IPv4 address such as \"10.77.0.2\"")),
        }
    });
    let place_key = ["within", "lat"].into_iter().find(|key| settings.gives(key)).unwrap_or("x");
    Ok(NodeSpec {
        id: settings.named("id")?,
        role,
        role_at: settings.at("role"),
        place: read_place(settings)?,
        place_at: settings.at(place_key),
        address: address.transpose()?,
        radios: read_node_radios(settings, radio)?,
    })
}

/// A place is x and y, lat and lon, or somewhere within a rectangle; a wired node has none, since none of the keys applies to it.
fn read_place(settings: &Settings<'_>) -> Result<Placement, ScenarioError> {
    const BOTH: &str = "x and y, or lat and lon, or within";
    let given = |names: [&'static str; 2]| names.into_iter().find(|name| settings.gives(name));
    let height = settings.given("height")?.map(|height| height.real());
    if let Some(sides) = settings.given("within")? {
        if let Some(other) = given(["x", "y"]).or(given(["lat", "lon"])) {
            return Err(settings.at(other).error(format!("{other} together with within"), BOTH));
        }
        let sides: Vec<f64> = sides.list().into_iter().map(|side| side.real()).collect();
        let rectangle = Rectangle { west: sides[0], south: sides[1], east: sides[2], north: sides[3] };
        if rectangle.west > rectangle.east || rectangle.south > rectangle.north {
            let allowed = "[west, south, east, north], west up to east and south up to north";
            return Err(settings.at("within").error(settings.found("within"), allowed));
        }
        return Ok(Placement::Within { rectangle, height: height.unwrap_or(0.0) });
    }
    match (given(["x", "y"]), given(["lat", "lon"])) {
        (Some(flat), Some(globe)) => {
            Err(settings.at(globe).error(format!("{globe} together with {flat}"), BOTH))
        }
        (Some(_), None) => {
            let (x, y) = (settings.value("x")?.real(), settings.value("y")?.real());
            Ok(Placement::Flat(Position { x, y, z: height.unwrap_or(0.0) }))
        }
        (None, Some(_)) => {
            let (lat, lon) = (settings.value("lat")?.real(), settings.value("lon")?.real());
            Ok(Placement::Globe { lat, lon, height: height.unwrap_or(0.0) })
        }
        (None, None) if height.is_some() => {
            Err(settings.at("height").error("a height without a place", format!("{BOTH}, beside it")))
        }
        (None, None) => Ok(Placement::Nowhere),
    }
}

pub(crate) fn read_links(root: &Settings<'_>) -> Result<Vec<LinkSpec>, ScenarioError> {
    let read = |settings: &Settings<'_>| {
        Ok(LinkSpec {
            a: settings.named("a")?,
            b: settings.named("b")?,
            rate: settings.value("rate")?.rate(),
            delay: settings.value("delay")?.span(),
            queue: settings.value("queue")?.count(),
            loss: settings.value("loss")?.real(),
        })
    };
    root.sections("link")?.iter().map(read).collect()
}

pub(crate) fn read_routing(settings: &Settings<'_>) -> Result<Routing, ScenarioError> {
    let protocols: Vec<_> = PROTOCOLS.iter().map(|part| (part.about.word, *part)).collect();
    let protocol = settings.choice(PROTOCOL, &protocols)?;
    let profile = read_profile(settings, protocol.build)?;
    let value = |key: &Key| Ok((key.name, settings.value(key.name)?));
    let values = protocol.about.keys().map(value).collect::<Result<Vec<_>, ScenarioError>>()?;
    Ok(Routing { protocol, profile, values: Values::new(values) })
}

/// A protocol that has but one profile has it whatever the file says: what else is compared may have several.
fn read_profile(
    settings: &Settings<'_>,
    profiles: &'static [Profile],
) -> Result<&'static Profile, ScenarioError> {
    let given = settings.given(PROFILE)?.map(Setting::text);
    let words: Vec<_> = profiles.iter().filter_map(|profile| profile.word).collect();
    match given {
        Some(given) if !words.is_empty() => {
            let found = profiles.iter().find(|profile| profile.word == Some(given.as_str()));
            found.ok_or_else(|| settings.at(PROFILE).error(settings.found(PROFILE), words.join(", ")))
        }
        _ => Ok(&profiles[0]),
    }
}

/// `None`: no node moves.
pub(crate) fn read_mobility(settings: &Settings<'_>) -> Result<Option<MobilitySpec>, ScenarioError> {
    if !settings.choice("model", &[("static", false), ("random-waypoint", true)])? {
        return Ok(None);
    }
    let (speed_min, speed_max) = (settings.value("speed_min")?.real(), settings.value("speed_max")?.real());
    if speed_min > speed_max {
        let key = if settings.gives("speed_min") { "speed_min" } else { "speed_max" };
        let allowed = format!("speed_min up to speed_max; they are {speed_min} and {speed_max} m/s");
        return Err(settings.at(key).error(settings.found(key), allowed));
    }
    let area = settings.given("area")?.map(|sides| {
        let sides: Vec<f64> = sides.list().into_iter().map(|side| side.real()).collect();
        (sides[0], sides[1])
    });
    let named = |name: String| Named { name, at: settings.at("nodes") };
    let nodes = settings
        .given("nodes")?
        .map(|names| names.list().into_iter().map(|name| named(name.text())).collect());
    Ok(Some(MobilitySpec {
        at: settings.at("model"),
        speed_min,
        speed_max,
        inverse_first: settings.choice("first_speed", &[("uniform", false), ("inverse", true)])?,
        pause: settings.value("pause")?.span(),
        area,
        nodes,
    }))
}
