//! The keys of the scenario file (design of the scenario file, section 5): the network; what is sent over it and the real
//! hosts on it have files of their own. Defaults reproduce ns-2.35's 802.11.

mod hosts;
mod radios;
mod routing;
mod traffic;

pub(crate) use routing::{PROFILE, PROTOCOL};

use crate::extra;
use crate::limits::{HOPS, MAX_RATE, MAX_SECONDS, METRES, MIN_RATE, MSDU, NODES, TIME_FROM_0};
use meshpace_radio::{rate_control, standard};
use meshpace_settings::{Key, Kind, Section, Whole, above, bytes, real_number as real, whole};
use meshpace_units::quantity::{ANGLE, DECIBEL, LENGTH, POWER, RATE, RATIO, SIZE, SPEED, TIME};
use std::sync::LazyLock;

/// Not zero; a millimetre is finer than any mesh needs.
const LENGTH_ABOVE_0: Kind = real(&LENGTH, 1e-3, METRES);
const LENGTH_FROM_0: Kind = real(&LENGTH, 0.0, METRES);
/// Not zero; a nanosecond is the resolution of time.
const TIME_ABOVE_0: Kind = real(&TIME, 1e-9, MAX_SECONDS);
const ANY_RATE: Kind = real(&RATE, MIN_RATE, MAX_RATE);
const COORDINATE: Kind = real(&LENGTH, -METRES, METRES);

static ONE_LENGTH: Kind = LENGTH_ABOVE_0;
static ONE_COORDINATE: Kind = COORDINATE;
/// A fairness window: a shorter one would only cost events.
static ONE_TIME: Kind = real(&TIME, 1e-3, MAX_SECONDS);
static ONE_NAME: Kind = Kind::Text;

pub(crate) static ROOT: LazyLock<Section> = LazyLock::new(|| Section {
    doc: "A meshpace scenario: what is simulated. Plain numbers are in seconds, bit/s, metres and bytes.",
    more: &[],
    keys: vec![
        Key::new("scenario", Kind::Table(&SCENARIO), "What this file is."),
        Key::new("measure", Kind::Table(&MEASURE), "How long to run and what counts."),
        Key::new("radio", Kind::Table(&RADIO), "802.11 at every mesh node."),
        Key::new("topology", Kind::Table(&TOPOLOGY), "A generator of nodes, and of the wired part."),
        Key::new("node", Kind::Tables(&NODE), "Explicit nodes, instead of or added to the generator's."),
        Key::new("link", Kind::Tables(&LINK), "Wired full-duplex links between wired nodes and gateways."),
        Key::new(
            "radio_link",
            Kind::Tables(&RADIO_LINK),
            "Radio links: who hears whom, how well; instead of positions, or on top of them.",
        ),
        Key::new("routing", Kind::Table(&routing::ROUTING), "The mesh's routing protocol."),
        Key::new("mesh", Kind::Table(&MESH), "What all nodes of the mesh have in common."),
        Key::new("mobility", Kind::Table(&MOBILITY), "Which mesh nodes move, and how."),
        Key::new("defaults", Kind::Table(&traffic::DEFAULTS), "What flows take unless they say otherwise."),
        Key::new("flow", Kind::Tables(&traffic::FLOW), "The flows."),
        Key::new(
            "emulate",
            Kind::Table(&hosts::EMULATE),
            "Real hosts, for `meshpace emulate`; no simulated run looks at it.",
        ),
        Key::new(
            "scheme",
            Kind::Free("tables [scheme.NAME]"),
            "[scheme.NAME]: a scheme's parameters, or a new composition.",
        ),
    ]
    .leak(),
});

static SCENARIO: Section = Section {
    doc: "What this file is.",
    more: &[],
    keys: &[
        Key::new("name", Kind::Text, "Its name in results; by default the file's stem."),
        Key::new("description", Kind::Prose, "What it shows."),
        Key::new("source", Kind::Prose, "The paper and figure that it reproduces."),
    ],
};

static MEASURE: Section = Section {
    doc: "Either duration and warmup, or packets and batches. Time 0 is the nominal start of traffic.",
    more: extra::MEASURE,
    keys: &[
        Key::new("duration", TIME_ABOVE_0, "End of the run, from time 0.").default("\"200s\""),
        Key::new("warmup", TIME_FROM_0, "End of the discarded part, from time 0.").default("\"20s\""),
        Key::new(
            "packets",
            whole(2, 1_000_000_000),
            "In-order deliveries until the end, over all flows together.",
        ),
        Key::new("batches", whole(2, 10_000), "Batches of consecutive deliveries; the first is discarded.")
            .default("11"),
        Key::new("limit", TIME_ABOVE_0, "With packets: the end of a run that delivers too little to finish.")
            .default("\"10000s\""),
        Key::new("windows", Kind::List(&ONE_TIME, 1, 20), "Windows over which fairness is averaged.")
            .default("[1, 10, 100]"),
    ],
};

/// Keys of `[radio]` in files of their own, those that standards have of their own, and those of rate controls.
static RADIO_MORE: [&Key; extra::RADIO.len() + standard::KEYS.len() + rate_control::KEYS.len()] = {
    let mut keys = [extra::RADIO[0]; extra::RADIO.len() + standard::KEYS.len() + rate_control::KEYS.len()];
    let tables = [extra::RADIO, standard::KEYS, rate_control::KEYS];
    let (mut filled, mut table) = (0, 0);
    while table < tables.len() {
        let mut at = 0;
        while at < tables[table].len() {
            keys[filled] = tables[table][at];
            (filled, at) = (filled + 1, at + 1);
        }
        table += 1;
    }
    keys
};

static RADIO: Section = Section {
    doc: "802.11 at every mesh node. The defaults are ns-2.35's.",
    more: &RADIO_MORE,
    keys: &[
        Key::new("standard", Kind::Choice(standard::WORDS), "Frame timing and rates.")
            .default("\"802.11b\""),
        Key::new("rate", ANY_RATE, "Rate of unicast data; by default the standard's, its highest: 11Mbps for 802.11b, 54Mbps for 802.11a and g; with 802.11n, 802.11ac and 802.11ax that of mcs."),
        Key::new(
            "basic_rate",
            ANY_RATE,
            "Rate of RTS, CTS, ACK and broadcasts; by default 1Mbps, with OFDM the highest of 6, 12, 24 Mbps not above rate.",
        ),
        Key::new("preamble", Kind::Choice(&["long", "short"]), "The DSSS preamble; OFDM has but one.").default("\"long\""),
        Key::new(
            "rts",
            Kind::ChoiceOrWhole(&["always", "never"], Whole { min: 0, max: 65_535, unit: Some(&SIZE) }),
            "Which unicast data frames an RTS precedes: all, none, or those whose MPDU has at least so many bytes.",
        )
        .default("\"always\""),
        Key::new("retry_short", whole(0, 255), "Transmissions of an RTS, or of data sent without one; 0 acts as 1.").default("7"),
        Key::new("retry_long", whole(0, 255), "Transmissions of data sent after an RTS; 0 acts as 1.").default("4"),
        Key::new(
            "queue",
            whole(1, 1_000_000),
            "Packets of the interface queue, the one in the MAC included; by default 50, with 802.11n, 802.11ac and 802.11ax 8192 (mac80211's).",
        ),
        Key::new(
            "mac_overhead",
            bytes(24, 256),
            "MAC bytes a data frame; by default 34 (ns-2.35) for 802.11b and 802.11g-ns2, 38 for 802.11n, 802.11ac and 802.11ax (QoS control, LLC/SNAP), else 28.",
        ),
        Key::new("reception", Kind::Choice(&["ns2-capture", "sinr"]), "How overlapping frames fare.")
            .default("\"ns2-capture\""),
        Key::new("capture_threshold_db", real(&DECIBEL, 0.0, 100.0), "How much stronger the first frame must be.")
            .default("10")
            .only("reception", &["ns2-capture"]),
        Key::new("sinr_threshold_db", real(&DECIBEL, -20.0, 100.0), "How far a frame must stand above all others.")
            .default("10")
            .only("reception", &["sinr"]),
        Key::new(
            "error_model",
            Kind::Choice(&["threshold", "curve"]),
            "What becomes of a frame under noise and interference: all or nothing, or each bit by its rate's error curve.",
        )
        .default("\"threshold\"")
        .only("reception", &["sinr"]),
        Key::new("propagation", Kind::Choice(&["two-ray", "log-distance", "ranges"]), "How power falls with distance.")
            .default("\"two-ray\""),
        Key::new("path_loss_exponent", real(&RATIO, 1.0, 10.0), "The power of the distance.")
            .default("3")
            .only("propagation", &["log-distance"]),
        Key::new("shadowing_db", real(&DECIBEL, 0.0, 50.0), "Standard deviation of log-normal shadowing a link.")
            .default("0")
            .only("propagation", &["log-distance"]),
        Key::new("asymmetry_db", SPREAD, "Standard deviation of the difference between a link's two directions.")
            .default("0")
            .only("propagation", WITH_POWER),
        Key::new("gain_spread_db", SPREAD, "Standard deviation of a node's gain, sending and receiving.")
            .default("0")
            .only("propagation", WITH_POWER),
        Key::new("ceiling_db", SPREAD, "What each ceiling between two nodes takes away; floors are storey apart.")
            .default("0")
            .only("propagation", WITH_POWER),
        Key::new("storey", LENGTH_ABOVE_0, "From one floor to the next; the first is at height 0.")
            .default("\"3m\"")
            .only("propagation", WITH_POWER),
        Key::new(
            "link_margin_db",
            SPREAD,
            "Links of flows' paths are drawn again until both directions are this far above the threshold of decoding; by default they are not.",
        )
        .only("propagation", WITH_POWER),
        Key::new("fading_db", SPREAD, "Standard deviation of a pair's strength over time.")
            .default("0")
            .only("propagation", WITH_POWER),
        Key::new(
            "fading_time",
            real(&TIME, 1e-3, MAX_SECONDS),
            "After so long a pair's strength still resembles itself by 1/e; it is looked at ten times as often.",
        )
        .default("\"10s\"")
        .only("propagation", WITH_POWER),
        Key::new(
            "tx_power",
            real(&POWER, -50.0, 60.0),
            "Transmitted power; by default what ns-2's card delivers 1 m away. With sensitivity and cs_sensitivity, instead of tx_range and cs_range, it says the ranges.",
        )
        .only("propagation", &["log-distance"]),
        Key::new("sensitivity", real(&POWER, -150.0, 20.0), "Received power from which on a frame can be decoded.")
            .only("propagation", &["log-distance"]),
        Key::new("cs_sensitivity", real(&POWER, -150.0, 20.0), "Received power from which on a frame is sensed.")
            .only("propagation", &["log-distance"]),
        Key::new("tx_range", LENGTH_ABOVE_0, "How far a frame can be decoded.").default("\"250m\""),
        Key::new("cs_range", LENGTH_ABOVE_0, "How far a frame is sensed; at least tx_range.").default("\"550m\""),
        Key::new(
            "arp",
            Kind::Flag,
            "A node asks for a neighbour's address before it first sends to it, as in ns-2; true by default with reception = \"ns2-capture\".",
        ),
        Key::new(
            "ack_timeout",
            TIME_FROM_0,
            "What a sender grants the way there and back when it waits for a CTS or an ACK; 4us, as ns-2 has it, reach 600 m.",
        )
        .default("\"4us\""),
        radios::OF_RADIO,
        Key::new("link_rates", Kind::Tables(&LINK_RATE), "Exceptions from rate, per sender or per link."),
        Key::word(
            rate_control::KEY,
            rate_control::WORDS,
            rate_control::WORDS[0],
            "What chooses the mode of each unicast data frame: nothing (fixed), the strength of the link (ideal), what arrives (minstrel-ht). The last two choose among all modes with as many streams as the mode of mcs, streams or rate at the most; that mode is what routing and senders reckon with before anything has gone.",
        ),
    ],
};

static LINK_RATE: Section = Section {
    doc: "An exception from radio.rate; one with `to` goes before one without.",
    more: &[],
    keys: &[
        Key::new("from", Kind::Text, "The sender's id.").required(),
        Key::new("to", Kind::Text, "The receiver's id; every receiver by default."),
        Key::new("rate", ANY_RATE, "Rate of unicast data frames.").required(),
    ],
};

/// Of something in dB that a building does.
const SPREAD: Kind = real(&DECIBEL, 0.0, 50.0);
/// Models in which a frame has a power; discs have none.
const WITH_POWER: &[&str] = &["two-ray", "log-distance"];

const CHAIN: &str = "chain";
const PARALLEL: &str = "parallel-chains";
const ASYMMETRIC: &str = "asymmetric-chains";
const CROSS: &str = "cross";
const GRID: &str = "grid";
const RANDOM: &str = "random";
const MESH_16: &str = "mesh-16";
const STRIP: &str = "strip";

static TOPOLOGY: Section = Section {
    doc: "A generator of nodes, and of the papers' wired part IG - RT1 - RT2 - B.",
    more: extra::TOPOLOGY,
    keys: &[
        Key::new("kind", Kind::Choice(&[CHAIN, PARALLEL, ASYMMETRIC, CROSS, GRID, RANDOM, MESH_16, STRIP, "explicit"]), "The generator.")
            .required(),
        Key::new(
            "hops",
            whole(1, HOPS),
            "Wireless hops: of the chain or of each chain of a strip (no default), of each or the longer parallel chain (5, 4), of each arm (4).",
        )
        .only("kind", &[CHAIN, PARALLEL, ASYMMETRIC, CROSS, STRIP]),
        radios::OF_CHAIN.only("kind", &[CHAIN]),
        Key::new("hops_short", whole(1, HOPS), "Wireless hops of the shorter chain.").default("2").only("kind", &[ASYMMETRIC]),
        Key::new("spacing", LENGTH_ABOVE_0, "Between neighbours.")
            .default("\"200m\"")
            .only("kind", &[CHAIN, PARALLEL, ASYMMETRIC, CROSS, GRID, MESH_16, STRIP]),
        Key::new("gap", LENGTH_ABOVE_0, "Between the two chains (400 m), or the chains of a strip (25 m).")
            .only("kind", &[PARALLEL, ASYMMETRIC, STRIP]),
        Key::new("rows", whole(1, NODES), "Rows of the grid, chains of the strip (no default).").only("kind", &[GRID, STRIP]),
        Key::new("cols", whole(1, NODES), "Columns of the grid (no default).").only("kind", &[GRID]),
        Key::new("nodes", whole(1, NODES), "Number of random nodes (no default).").only("kind", &[RANDOM]),
        Key::new("width", LENGTH_ABOVE_0, "East-west side of the area (no default).").only("kind", &[RANDOM]),
        Key::new("height", LENGTH_ABOVE_0, "North-south side of the area (no default).").only("kind", &[RANDOM]),
        Key::new("mobile", whole(0, NODES), "Nodes m1, m2, ... placed at random in the grid; [mobility] moves these alone.")
            .default("0")
            .only("kind", &[MESH_16]),
        Key::new("margin", LENGTH_FROM_0, "Free ground around the grid, where mobile nodes are placed and move too.")
            .default("0")
            .only("kind", &[MESH_16]),
        Key::new(
            "gateway",
            Kind::Text,
            "The node that the wired part hangs on: its id, \"centre\" for the mesh node nearest the centre, \"random\" for one drawn; \
             by default the last of a chain, IG, else the node nearest the centre.",
        ),
        Key::new(
            "connected",
            Kind::Flag,
            "Every flow must be able to reach its end, and random nodes are redrawn until all reach each other; false allows both to fail.",
        )
        .default("true"),
        Key::new("min_hops", whole(1, HOPS), "A flow's drawn end is at least so many hops from the nearest gateway.").default("2"),
        Key::new(
            "repeat_ends",
            Kind::Flag,
            "A node may be drawn as a flow's end more than once, though not as both ends of a flow; by default all drawn ends differ.",
        )
        .default("false"),
        Key::new(
            "placement_seed",
            whole(0, i64::MAX as u64),
            "Seed of what is drawn about places: random nodes, a random gateway, flows' ends; by default that of the run.",
        ),
        Key::new("wired", Kind::Flag, "Add the wired part; by default, if a flow or [[emulate.host]] names a host of it that no [[node]] defines."),
        Key::new("wired_hops", whole(1, 100), "Links from the gateway to a host.").default("3"),
        Key::new("wired_hosts", whole(1, NODES), "Hosts: 1 is called B, several B1, B2, ...; by default 4 for a cross, else 1."),
        Key::new("wired_rate", ANY_RATE, "Rate of each wired link.").default("\"10Mbps\""),
        Key::new("wired_delay", TIME_FROM_0, "Delay of each wired link.").default("\"40ms\""),
        Key::new("wired_queue", whole(1, 1_000_000), "Packets of each wired queue, the one being sent included.").default("50"),
    ],
};

static NODE: Section = Section {
    doc: "One node.",
    more: &[],
    keys: &[
        Key::new("id", Kind::Text, "Its name.").required(),
        Key::new(
            "role",
            Kind::Choice(&["mesh", "gateway", "wired"]),
            "A node with a link to a wired node is a gateway anyway.",
        )
        .default("\"mesh\""),
        Key::new("x", COORDINATE, "Metres east of the origin.").only("role", WITH_RADIO),
        Key::new("y", COORDINATE, "Metres north of the origin.").only("role", WITH_RADIO),
        Key::new("lat", real(&ANGLE, -85.0, 85.0), "Latitude, north positive; with lon, instead of x and y.")
            .only("role", WITH_RADIO),
        Key::new("lon", real(&ANGLE, -180.0, 180.0), "Longitude, east positive.").only("role", WITH_RADIO),
        Key::new(
            "within",
            Kind::List(&ONE_COORDINATE, 4, 4),
            "[west, south, east, north] of a rectangle, in metres: the node is placed in it at random, and if it moves it keeps to it; \
             instead of x and y.",
        )
        .only("role", WITH_RADIO),
        Key::new("height", COORDINATE, "Metres above the other nodes' ground; 0 by default.")
            .only("role", WITH_RADIO),
        Key::new(
            "address",
            Kind::Text,
            "IPv4 address in captures and emulation; by default 10.77.(i div 250).(i mod 250 + 1).",
        ),
        Key::new("radio", Kind::Tables(&radios::NODE_RADIO), radios::NODE_RADIO_DOC).only("role", WITH_RADIO),
    ],
};

/// Roles of nodes that have a place.
const WITH_RADIO: &[&str] = &["mesh", "gateway"];

static RADIO_LINK: Section = Section {
    doc: "A radio link between two mesh nodes. Where no node has a place these are all the links there are; where nodes have one, the two \
          hear each other whatever their distance.",
    more: &[],
    keys: &[
        Key::new("from", Kind::Text, "The transmitter's id.").required(),
        Key::new("to", Kind::Text, "The receiver's id.").required(),
        radios::OF_LINK[0],
        radios::OF_LINK[1],
        Key::new("loss", real(&RATIO, 0.0, 1.0), "Probability that a frame is lost that could be decoded.")
            .default("0"),
        Key::new(
            "loss_length",
            bytes(1, MSDU + 256),
            "MPDU that loss is said of, B: one of b bytes is lost with 1 - (1 - loss)^(b / B); by default loss holds for every frame.",
        ),
        Key::new("rate", ANY_RATE, "Rate of unicast data frames; by default that of [radio]."),
        Key::new("symmetric", Kind::Flag, "The same holds the other way.").default("true"),
        Key::new(
            "burst",
            real(&RATIO, 1.0, 1e6),
            "Mean number of full data frames that a period of loss lasts; by default frames are lost independently.",
        ),
        Key::new(
            "decoded",
            Kind::Flag,
            "False: the receiver senses what the transmitter sends and cannot decode it, as nodes do that are too far apart; only where no node has a place.",
        )
        .default("true"),
    ],
};

static LINK: Section = Section {
    doc: "A wired full-duplex link, one queue a direction.",
    more: &[],
    keys: &[
        Key::new("a", Kind::Text, "One end's id.").required(),
        Key::new("b", Kind::Text, "The other end's id.").required(),
        Key::new("rate", ANY_RATE, "Bit rate of each direction.").default("\"10Mbps\""),
        Key::new("delay", TIME_FROM_0, "Propagation delay.").default("\"40ms\""),
        Key::new("queue", whole(1, 1_000_000), "Packets of each queue, the one being sent included.")
            .default("50"),
        Key::new(
            "loss",
            real(&RATIO, 0.0, 1.0),
            "Probability that a packet is lost on the link, in each direction, whatever its size.",
        )
        .default("0"),
    ],
};

static MESH: Section = Section {
    doc: "What all nodes of the mesh have in common.",
    more: &[],
    keys: &[Key::new(
        "scheme",
        Kind::Text,
        "The scheme whose relay and gateway parts the mesh has; needed where flows' schemes differ in them.",
    )],
};

const WAYPOINT: &[&str] = &["random-waypoint"];

static MOBILITY: Section = Section {
    doc: "Which mesh nodes move, and how.",
    more: &[],
    keys: &[
        Key::new("model", Kind::Choice(&["static", "random-waypoint"]), "The model.").default("\"static\""),
        Key::new("speed_min", above(&SPEED, 0.0, 1000.0), "Lowest speed.").default("1").only("model", WAYPOINT),
        Key::new("speed_max", above(&SPEED, 0.0, 1000.0), "Highest speed.").default("10").only("model", WAYPOINT),
        Key::new(
            "first_speed",
            Kind::Choice(&["uniform", "inverse"]),
            "How the speed of the first leg is drawn: as all others, or with a density of 1/speed, as a walk that has lasted for long \
             has it and setdest 2 draws it.",
        )
        .default("\"uniform\"")
        .only("model", WAYPOINT),
        Key::new("pause", TIME_FROM_0, "Rest at each target.").default("0").only("model", WAYPOINT),
        Key::new(
            "area",
            Kind::List(&ONE_LENGTH, 2, 2),
            "Width and height, from (0, 0); by default those of the random topology, else what the nodes span.",
        )
        .only("model", WAYPOINT),
        Key::new("nodes", Kind::List(&ONE_NAME, 1, NODES as usize), "Who moves; by default mesh-16's mobile nodes, else all but gateways.")
            .only("model", WAYPOINT),
    ],
};
