//! `[topology]`.

use super::node_radio::{NodeRadioSpec, read_channels};
use super::{Named, RadioSpec, Settings};
use crate::limits::NODES;
use crate::{Location, ScenarioError};
use meshpace_units::{Rate, Span};

/// What generates nodes, and the wired part.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Where the table stands.
    pub at: Location,
    pub generator: Generator,
    /// A radio on the channel of each hop of a chain, in turn; none: as `[radio]` says.
    pub channels: Vec<NodeRadioSpec>,
    /// The node that the wired part hangs on, if the file chooses it: an id, or how to find it.
    pub gateway: Option<Named>,
    /// Flows must reach their ends, and random nodes each other.
    pub connected: bool,
    /// A drawn end of a flow is at least so many hops from the nearest gateway.
    pub min_hops: u32,
    /// A node may be drawn as an end more than once.
    pub repeat_ends: bool,
    /// The seed of everything that is drawn about places; the run's seed does not change it.
    pub placement_seed: Option<u64>,
    pub wired: WiredPart,
}

/// A generator and its dimensions; lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Generator {
    Explicit,
    Chain { hops: u32, spacing: f64 },
    Parallel { hops: [u32; 2], spacing: f64, gap: f64 },
    Cross { hops: u32, spacing: f64 },
    Grid { rows: u32, cols: u32, spacing: f64, mobile: u32, margin: f64 },
    Random { nodes: u32, width: f64, height: f64 },
    Strip { rows: u32, hops: u32, spacing: f64, gap: f64 },
}

/// The papers' wired part: gateway - RT1 - RT2 - B.
#[derive(Clone, Debug)]
pub(crate) struct WiredPart {
    /// `None`: if a flow names one of its hosts.
    pub wanted: Option<bool>,
    pub hops: u32,
    pub hosts: u32,
    pub rate: Rate,
    pub delay: Span,
    pub queue: u32,
}

pub(crate) fn read_topology(root: &Settings<'_>, radio: &RadioSpec) -> Result<Topology, ScenarioError> {
    let settings = root.section("topology")?;
    // Without the table every node is explicit; with it, its kind is required.
    let kind = if root.gives("topology") { settings.value("kind")?.text() } else { "explicit".to_owned() };
    let spacing = || Ok::<_, ScenarioError>(settings.value("spacing")?.real());
    let gap = |default| Ok::<_, ScenarioError>(settings.given("gap")?.map_or(default, |gap| gap.real()));
    let hops = |default| Ok::<_, ScenarioError>(settings.given("hops")?.map_or(default, |hops| hops.count()));
    let generator = match kind.as_str() {
        "chain" => Generator::Chain { hops: settings.value("hops")?.count(), spacing: spacing()? },
        "parallel-chains" => {
            Generator::Parallel { hops: [hops(5)?; 2], spacing: spacing()?, gap: gap(400.0)? }
        }
        "asymmetric-chains" => {
            let hops = [hops(4)?, settings.value("hops_short")?.count()];
            Generator::Parallel { hops, spacing: spacing()?, gap: gap(400.0)? }
        }
        "cross" => Generator::Cross { hops: hops(4)?, spacing: spacing()? },
        "grid" => {
            let (rows, cols) = (settings.value("rows")?.count(), settings.value("cols")?.count());
            if u64::from(rows) * u64::from(cols) > NODES {
                return Err(settings
                    .at("cols")
                    .error(format!("{rows} x {cols} nodes"), format!("at most {NODES}")));
            }
            Generator::Grid { rows, cols, spacing: spacing()?, mobile: 0, margin: 0.0 }
        }
        // The worst case of Osipov and Tschudin 2005, Fig. 4: as many of other chains within range as can be.
        "strip" => {
            let (rows, hops) = (settings.value("rows")?.count(), settings.value("hops")?.count());
            if u64::from(rows) * (u64::from(hops) + 1) > NODES {
                let found = format!("{rows} chains of {hops} hops");
                return Err(settings.at("rows").error(found, format!("at most {NODES} nodes")));
            }
            Generator::Strip { rows, hops, spacing: spacing()?, gap: gap(25.0)? }
        }
        // The 16-node grid of schemes.md 10.2.
        "mesh-16" => Generator::Grid {
            rows: 4,
            cols: 4,
            spacing: spacing()?,
            mobile: settings.value("mobile")?.count(),
            margin: settings.value("margin")?.real(),
        },
        "random" => Generator::Random {
            nodes: settings.value("nodes")?.count(),
            width: settings.value("width")?.real(),
            height: settings.value("height")?.real(),
        },
        _ => Generator::Explicit,
    };
    let hosts = if matches!(generator, Generator::Cross { .. }) { 4 } else { 1 };
    Ok(Topology {
        at: root.at("topology"),
        generator,
        channels: read_channels(&settings, radio)?,
        gateway: if settings.gives("gateway") { Some(settings.named("gateway")?) } else { None },
        connected: settings.value("connected")?.flag(),
        min_hops: settings.value("min_hops")?.count(),
        repeat_ends: settings.value("repeat_ends")?.flag(),
        placement_seed: settings.given("placement_seed")?.map(|seed| seed.whole()),
        wired: WiredPart {
            wanted: settings.given("wired")?.map(|wanted| wanted.flag()),
            hops: settings.value("wired_hops")?.count(),
            hosts: settings.given("wired_hosts")?.map_or(hosts, |hosts| hosts.count()),
            rate: settings.value("wired_rate")?.rate(),
            delay: settings.value("wired_delay")?.span(),
            queue: settings.value("wired_queue")?.count(),
        },
    })
}
