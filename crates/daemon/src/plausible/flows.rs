//! What flows say of rates and hops, and whether both of their directions pass here.

use super::Facts;
use super::doubt::{Evidence, Name};
use crate::config::{HopSource, RateSource};
use crate::flow_name::flow_name;
use crate::state::{FlowReport, Snapshot};
use crate::text::{bit_rate, counted, time};
use meshpace_gateway::FlowKey;
use meshpace_units::{Instant, Rate, Span};
use std::cmp::Ordering;
use std::net::IpAddr;

/// More wireless hops than TCP is carried over: what tells them does not tell hops.
const HOPS_MOST: u32 = 16;
/// Packets to the mesh after which the mean of their sizes and their round trip mean something.
const PACKETS: u64 = 50;
/// Bytes of a pure acknowledgement, IPv4 and TCP without options.
const ACK: u64 = 40;
/// Packets in one direction after which some must have come back: a TCP receiver acknowledges at least every second segment
/// (RFC 5681, section 4.2), and a sender gives a handshake up after about six SYNs.
const TELLING: u64 = 8;
/// And in how long: an edge that thins acknowledgements keeps one for a tenth of a second, a delayed one comes within half a second
/// (RFC 9293, section 3.8.6.3).
const ANSWERS: Span = Span::from_secs(2);
/// After this silence of one direction, with data on their way, the connection tracker may have lost the windows.
const SILENT: Span = Span::from_secs(1);
/// Such flows told of at a look.
const STRAYED: usize = 100;
/// Looks at which a flow has to have a goodput, for that to be its path's ([`Name::confirmed`]).
const STEADY: usize = 5;
const NOTHING: Rate = Rate::bits_per_sec(0);
/// A flow is counted if a packet of it came within this time.
const LATELY: Span = Span::from_secs(5);

/// Rates and hops that cannot be.
pub(super) fn contradictions(facts: &Facts<'_>) -> Vec<Evidence> {
    let Facts { config, snapshot, .. } = facts;
    // A driver tells of the moment, and without its word what gets across is learned: only what a file says can be held to.
    let written = config.mesh.rate_source == RateSource::Configured;
    let stands = |flow: &FlowReport| written || config.policy(flow.stats.key.wireless.address).rate.is_some();
    let worst = |of: fn(&FlowReport, Instant) -> Option<(f64, Evidence)>, all: bool| {
        let flows = snapshot.flows.iter().filter(|flow| all || stands(flow));
        let found = flows.filter_map(|flow| of(flow, snapshot.at));
        found.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, evidence)| evidence)
    };
    let rate = worst(too_fast, false).or_else(|| all_too_fast(facts));
    [rate, worst(too_soon, false), worst(too_far, true)].into_iter().flatten().collect()
}

/// How much too fast a flow gets its data over its links.
fn too_fast(flow: &FlowReport, at: Instant) -> Option<(f64, Evidence)> {
    let goodput = goodput(flow, at)?;
    let found = || {
        let (goodput, link) = (shown(goodput), shown(flow.link_rate));
        format!("{} gets {goodput} over links of {link}", flow_name(&flow.stats.key))
    };
    exceeds(goodput, flow.link_rate, found)
}

/// The faster of its directions.
fn goodput(flow: &FlowReport, at: Instant) -> Option<Rate> {
    let directions = [flow.stats.goodput_down, flow.stats.goodput_up];
    directions.into_iter().flatten().filter_map(|goodput| goodput.rate(at)).max()
}

/// All flows together, over as many radios as there are.
fn all_too_fast(facts: &Facts<'_>) -> Option<Evidence> {
    let Facts { snapshot, config, .. } = facts;
    // Addresses alone may stand behind any number of radios.
    let radios = config.mesh.interfaces.len() as u64;
    if radios == 0 || config.mesh.rate_source != RateSource::Configured {
        return None;
    }
    let active = || snapshot.flows.iter().filter(|flow| lately(flow, snapshot.at));
    let link = active().map(|flow| flow.link_rate).max()?;
    let goodputs = active().filter_map(|flow| flow.stats.goodput(snapshot.at));
    let sum = goodputs.map(Rate::as_bits_per_sec).fold(0, u64::saturating_add);
    let (sum, all) =
        (Rate::bits_per_sec(sum), Rate::bits_per_sec(link.as_bits_per_sec().saturating_mul(radios)));
    let found = || format!("all flows together get {} over links of {}", shown(sum), shown(link));
    exceeds(sum, all, found).map(|(_, evidence)| evidence)
}

fn exceeds(goodput: Rate, link: Rate, found: impl FnOnce() -> String) -> Option<(f64, Evidence)> {
    let over = goodput.as_bits_per_sec() as f64 / link.as_bits_per_sec() as f64;
    let remedy = || {
        format!(
            "the link rate is wrong: set mesh.rate (or the rate of its [[subnet]]) to what the links have, more than {}, or \"nl80211\" where \
             the driver tells",
            shown(goodput)
        )
    };
    (over > 1.0).then(|| (over, Evidence { name: Name::Rate, found: found(), remedy: remedy() }))
}

/// How much sooner than its packets can cross the mesh a flow's round trip is over: on each hop at least the bits of a packet and
/// of its acknowledgement are sent, at the rate of its links.
fn too_soon(flow: &FlowReport, at: Instant) -> Option<(f64, Evidence)> {
    let (rtt, hops) = (flow.stats.wireless_rtt?, flow.hops?);
    if flow.down.packets < PACKETS || !lately(flow, at) {
        return None;
    }
    let packet = flow.down.bytes.0 / flow.down.packets;
    let bits = (packet + ACK) * 8 * u64::from(hops);
    let air = bits as f64 / flow.link_rate.as_bits_per_sec() as f64;
    let sooner = air / rtt.as_secs_f64().max(1e-9);
    (sooner > 1.0).then(|| {
        let found = format!(
            "{} has a wireless round trip of {}, and its packets of {packet} bytes take {} on the air over {} ({}) at {}",
            flow_name(&flow.stats.key),
            time(rtt.as_secs_f64()),
            time(air),
            counted(hops.into(), "hop"),
            source(flow.hop_source),
            shown(flow.link_rate),
        );
        let remedy = "its hops or the link rate are wrong: see [hops] (`meshpaced flows` shows them) and mesh.rate".to_owned();
        (sooner, Evidence { name: Name::RoundTrip, found, remedy })
    })
}

/// How many hops a flow is said to have, if no path has so many.
fn too_far(flow: &FlowReport, at: Instant) -> Option<(f64, Evidence)> {
    let hops = flow.hops.filter(|&hops| hops > HOPS_MOST && lately(flow, at))?;
    let found = format!(
        "{} is said to be {hops} hops away ({})",
        flow.stats.key.wireless.address,
        source(flow.hop_source)
    );
    let remedy = match flow.hop_source {
        HopSource::Ttl => {
            "its packets begin with a TTL of their own: write its hops into [hops.static] or its [[subnet]]"
        }
        _ => "correct [hops], or what its source counts",
    };
    Some((f64::from(hops), Evidence { name: Name::Hops, found, remedy: remedy.to_owned() }))
}

const fn source(source: HopSource) -> &'static str {
    match source {
        HopSource::Default => "hops.default",
        other => other.name(),
    }
}

fn shown(rate: Rate) -> String {
    bit_rate(rate.as_bits_per_sec() as f64)
}

fn lately(flow: &FlowReport, at: Instant) -> bool {
    at.saturating_since(flow.last_activity) < LATELY
}

/// Packets of a flow that came since the latest one of the other direction.
#[derive(Clone, Copy, Debug)]
struct Run {
    key: FlowKey,
    opened: Instant,
    packets: [u64; 2],
    run: [u64; 2],
    /// Since when each direction is silent.
    silent: [Instant; 2],
    /// True if a doubt named the flow as one that may have strayed.
    strayed: bool,
    /// Its goodput at the latest looks.
    goodputs: [Rate; STEADY],
}

/// How the packets of each flow go.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// Flows that may have strayed, told of once each.
    pub strayed: Vec<FlowKey>,
    /// See [`Plausibility::steady`](super::Plausibility::steady).
    pub steady: Vec<(IpAddr, Rate, u32)>,
}

impl Runs {
    /// Looks whether connections pass here in one direction only. Flows come in the order of their keys, and so are kept: looking at
    /// them takes a comparison each.
    pub fn look(&mut self, snapshot: &Snapshot) -> Option<Evidence> {
        let at = snapshot.at;
        let mut before = std::mem::take(&mut self.runs).into_iter().peekable();
        let (mut one_sided, mut active, mut example) = (0_usize, 0_usize, None);
        // Of a sample a direction may be silent that is not.
        let sampled = snapshot.is_of_a_sample();
        self.strayed.clear();
        self.steady.clear();
        self.runs.reserve(snapshot.flows.len());
        for flow in &snapshot.flows {
            while before.next_if(|run| run.key.cmp(&flow.stats.key) == Ordering::Less).is_some() {}
            let known =
                before.next_if(|run| run.key == flow.stats.key).filter(|run| run.opened == flow.opened);
            let mut run = advanced(known, flow, at);
            let strays = !sampled
                && flow.stats.outstanding
                && run.packets.iter().all(|&packets| packets > 0)
                && run.silent.iter().any(|&since| at.saturating_since(since) >= SILENT);
            if strays && !run.strayed && self.strayed.len() < STRAYED {
                run.strayed = true;
                self.strayed.push(run.key);
            }
            let ran =
                |way: usize| run.run[way] >= TELLING && at.saturating_since(run.silent[1 - way]) >= ANSWERS;
            if lately(flow, at) {
                active += 1;
                run.goodputs.rotate_left(1);
                run.goodputs[STEADY - 1] = goodput(flow, at).unwrap_or(NOTHING);
                let least = run.goodputs.into_iter().min().unwrap_or(NOTHING);
                let known = flow.hops.filter(|_| least > NOTHING);
                self.steady.extend(known.map(|hops| (run.key.wireless.address, least, hops)));
                if !sampled && (ran(0) || ran(1)) {
                    one_sided += 1;
                    let way = if ran(0) { "to the mesh" } else { "from the mesh" };
                    example.get_or_insert_with(|| (flow_name(&run.key), way));
                }
            }
            self.runs.push(run);
        }
        let (name, way) = example?;
        let found = format!(
            "{one_sided} of {active} active flows pass here in one direction only, such as {name}, of which packets {way} are seen: their \
             round trips cannot be split, they are not paced"
        );
        let remedy =
            "lead both directions through this gateway: one gateway a mesh host, the same route out and back"
                .to_owned();
        Some(Evidence { name: Name::OneSided, found, remedy })
    }
}

fn advanced(known: Option<Run>, flow: &FlowReport, at: Instant) -> Run {
    let packets = [flow.down.packets, flow.up.packets];
    let new = Run {
        key: flow.stats.key,
        opened: flow.opened,
        packets,
        run: packets,
        silent: [flow.opened; 2],
        strayed: false,
        goodputs: [NOTHING; STEADY],
    };
    let Some(mut run) = known else {
        // What came before the first look is no run: both may have come in turns.
        let run = if packets[0].min(packets[1]) > 0 { [0; 2] } else { packets };
        let silent = [0, 1].map(|way: usize| if packets[way] > 0 { at } else { flow.opened });
        return Run { run, silent, ..new };
    };
    let mut came = [0, 1].map(|way: usize| packets[way].saturating_sub(run.packets[way]));
    // Of what waits here acknowledgements will come, whether its sender is silent or not.
    came[0] += u64::from(flow.stats.queued > 0);
    for way in [0, 1] {
        if came[way] > 0 {
            run.silent[way] = at;
        }
        run.run[way] = if came[1 - way] > 0 { 0 } else { run.run[way] + came[way] };
    }
    run.packets = packets;
    run
}
