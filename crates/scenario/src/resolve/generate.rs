//! The generated mesh nodes: names and positions by the conventions of the scenario file.

use super::graph::Graph;
use crate::limits::PLACEMENTS;
use crate::read::{Generator, Topology};
use crate::{Position, ScenarioError};
use meshpace_units::random::Stream;

/// What a generator makes.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    /// Names and positions in file order.
    pub nodes: Vec<(String, Position)>,
    /// The node that the wired part hangs on.
    pub gateway: Option<usize>,
    /// The last nodes, from this index on, are meant to move.
    pub mobile_from: Option<usize>,
    /// Width and height of the area that the generator fills, from (0, 0).
    pub area: Option<(f64, f64)>,
}

/// Makes the nodes; random ones are redrawn until the graph at `range` is connected, unless it need not be.
pub(crate) fn generate(topology: &Topology, range: f64, seed: u64) -> Result<Generated, ScenarioError> {
    Ok(match topology.generator {
        Generator::Explicit => Generated::default(),
        Generator::Chain { hops, spacing } => chain(hops, spacing),
        Generator::Parallel { hops, spacing, gap } => parallel(hops, spacing, gap),
        Generator::Cross { hops, spacing } => cross(hops, spacing),
        Generator::Strip { rows, hops, spacing, gap } => strip([rows, hops], spacing, gap),
        Generator::Grid { rows, cols, spacing, mobile, margin } => {
            grid([rows, cols], spacing, mobile, margin, seed)
        }
        Generator::Random { nodes, width, height } => {
            let Some(positions) = place(nodes, (width, height), topology.connected.then_some(range), seed)
            else {
                let found = format!(
                    "no connected graph of {nodes} nodes in {PLACEMENTS} placements with seed {seed}"
                );
                let allowed = format!("more nodes, or a smaller area, for radio.tx_range = {range} m");
                return Err(topology.at.error(found, allowed));
            };
            Generated {
                gateway: nearest(&positions, at(width / 2.0, height / 2.0)),
                nodes: positions
                    .into_iter()
                    .enumerate()
                    .map(|(i, position)| (format!("n{i}"), position))
                    .collect(),
                mobile_from: None,
                area: Some((width, height)),
            }
        }
    })
}

fn at(x: f64, y: f64) -> Position {
    Position::flat(x, y)
}

/// n0 .. nH along the x axis; nH is the gateway if there is one.
fn chain(hops: u32, spacing: f64) -> Generated {
    let nodes: Vec<_> = (0..=hops).map(|i| (format!("n{i}"), at(f64::from(i) * spacing, 0.0))).collect();
    Generated { gateway: Some(nodes.len() - 1), nodes, ..Generated::default() }
}

/// Chains side by side, one above the other from y = 0: f1n0 .. f1nH, f2n0 .. f2nH, and so on.
fn strip([rows, hops]: [u32; 2], spacing: f64, gap: f64) -> Generated {
    let node = |k, i| (format!("f{}n{i}", k + 1), at(f64::from(i) * spacing, f64::from(k) * gap));
    let nodes = (0..rows).flat_map(|k| (0..=hops).map(move |i| node(k, i))).collect();
    Generated { nodes, ..Generated::default() }
}

/// A1, RL1 .. at y = gap; IG midway; A2, RLk .. at y = 0. Both chains end beside IG; a shorter one starts later.
fn parallel(hops: [u32; 2], spacing: f64, gap: f64) -> Generated {
    let last = hops[0].max(hops[1]) - 1;
    let mut nodes = Vec::new();
    let mut relays = 0;
    let mut arm = |nodes: &mut Vec<_>, end: &str, hops: u32, y: f64| {
        for i in 0..hops {
            let x = f64::from(last + 1 - hops + i) * spacing;
            nodes.push((relay_name(end, i, &mut relays), at(x, y)));
        }
    };
    arm(&mut nodes, "A1", hops[0], gap);
    let gateway = nodes.len();
    nodes.push(("IG".to_owned(), at(f64::from(last) * spacing, gap / 2.0)));
    arm(&mut nodes, "A2", hops[1], 0.0);
    Generated { nodes, gateway: Some(gateway), ..Generated::default() }
}

/// IG in the centre, then the arms E, N, W, S from their ends A1 .. A4 inwards. All coordinates are positive, as
/// ns-2 wants them.
fn cross(hops: u32, spacing: f64) -> Generated {
    let centre = f64::from(hops) * spacing;
    let mut nodes = vec![("IG".to_owned(), at(centre, centre))];
    let mut relays = 0;
    for (arm, (east, north)) in (1..).zip([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]) {
        for i in 0..hops {
            let out = f64::from(hops - i) * spacing;
            let position = at(centre + east * out, centre + north * out);
            nodes.push((relay_name(&format!("A{arm}"), i, &mut relays), position));
        }
    }
    Generated { nodes, gateway: Some(0), ..Generated::default() }
}

/// The end of a chain for its first node, the next RL for the others.
fn relay_name(end: &str, i: u32, relays: &mut u32) -> String {
    if i == 0 {
        return end.to_owned();
    }
    *relays += 1;
    format!("RL{relays}")
}

/// g<row>_<col>, row by row from (margin, margin), then m1, m2, ... anywhere in the grid and the margin around it.
fn grid([rows, cols]: [u32; 2], spacing: f64, mobile: u32, margin: f64, seed: u64) -> Generated {
    let side = |nodes: u32| 2.0 * margin + f64::from(nodes - 1) * spacing;
    let (width, height) = (side(cols), side(rows));
    let place = |number: u32| margin + f64::from(number) * spacing;
    let node = |row, col| (format!("g{row}_{col}"), at(place(col), place(row)));
    let mut nodes: Vec<_> = (0..rows).flat_map(|row| (0..cols).map(move |col| node(row, col))).collect();
    let positions: Vec<_> = nodes.iter().map(|(_, position)| *position).collect();
    let gateway = nearest(&positions, at(width / 2.0, height / 2.0));
    let mobile_from = (mobile > 0).then_some(nodes.len());
    let mut stream = placement_stream(seed);
    nodes.extend((1..=mobile).map(|i| (format!("m{i}"), draw(&mut stream, (width, height)))));
    Generated { nodes, gateway, mobile_from, area: Some((width, height)) }
}

fn placement_stream(seed: u64) -> Stream {
    Stream::new(seed, "placement", 0)
}

fn draw(stream: &mut Stream, (width, height): (f64, f64)) -> Position {
    let x = stream.uniform(0.0, width);
    at(x, stream.uniform(0.0, height))
}

/// Uniform positions, redrawn until connected at a range, if one is given; `None` after too many draws.
fn place(nodes: u32, area: (f64, f64), range: Option<f64>, seed: u64) -> Option<Vec<Position>> {
    let mut stream = placement_stream(seed);
    let mut placements =
        (0..PLACEMENTS).map(|_| (0..nodes).map(|_| draw(&mut stream, area)).collect::<Vec<_>>());
    placements
        .find(|positions| range.is_none_or(|range| Graph::of_places(positions.clone(), range).is_connected()))
}

/// The node nearest to `centre`, the first of several.
pub(crate) fn nearest(positions: &[Position], centre: Position) -> Option<usize> {
    let distance = |node: &usize| positions[*node].distance_squared(centre);
    (0..positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
