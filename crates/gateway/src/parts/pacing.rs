//! TCP-GAP's gateway, without goodput control and with it.

use super::{Behaviour, GatewayPart};
use crate::{Announced, CodelConfig, Config, Discipline, DupAck, Kept, Queues, Retransmissions};
use meshpace_keys::{Key, Preset, Values, real};
use meshpace_pacing::{AdaptiveConfig, Departures, GOODPUT_CONTROL_KEYS, GoodputControlConfig};
use meshpace_units::Span;
use meshpace_units::quantity::TIME;

pub(super) static PART: GatewayPart = GatewayPart::new(
    "pacing",
    "The gateway tells the wireless from the wired part of each round trip and paces what goes into the mesh.",
    "schemes.md 3.1 to 3.4; ElRakabawy, Klemm, Lindemann 2007",
    |values, law| Behaviour::paced(config(values), law, values),
)
.keys(&[&LAW, &REPAIR, &KEYS]);

pub(super) static WITH_GOODPUT_CONTROL: GatewayPart = GatewayPart::new(
    "pacing+goodput-control",
    "As pacing, and downward flows that take more than their share are capped while that helps the slow ones.",
    "schemes.md 3.1 to 3.5; ElRakabawy, Klemm, Lindemann 2007",
    |values, law| {
        let goodput_control = Some(GoodputControlConfig::from_values(values));
        Behaviour::paced(Config { goodput_control, ..config(values) }, law, values)
    },
)
.keys(&[&LAW, &GOODPUT_CONTROL_KEYS, &REPAIR, &KEYS]);

const PAPER: Config = Config::PAPER;

/// In place of a time: each flow's own round trip tells it.
const BY_ROUND_TRIP: &str = "round-trip";
/// In place of a time: nothing is held back.
const UNPACED: &str = "unpaced";

/// The keys of the rate law: the sender's and the gateway's are one, as in the paper.
pub(super) static LAW: [Key; AdaptiveConfig::KEYS] = AdaptiveConfig::PAPER.keys();

/// What becomes of duplicate ACKs. A part without this key repairs nothing.
pub(super) static REPAIR: [Key; 1] = [Key::word(
    "gap_dupack",
    DupAck::WORDS,
    PAPER.dupack.word(),
    "Duplicate ACKs from the mesh: repair from the cache, the paper to the letter, or forward (schemes.md 3.3).",
)];

/// The keys of the gateway itself.
pub(super) static KEYS: [Key; 20] = [
    Departures::KEY,
    Key::time_or(
        "gap_initial_interval",
        &[UNPACED],
        Span::from_secs(60),
        "The gateway's interval before a flow's first sample (schemes.md 1.5, last row).",
    ),
    Key::word(
        "gap_queues",
        Queues::WORDS,
        PAPER.queues.word(),
        "A pacing queue a flow, or one of all flows, which leaves in the order of arrival, each packet at its own flow's pace.",
    ),
    Key::word(
        "gap_state",
        Kept::WORDS,
        PAPER.kept.word(),
        "Whether the gateway keeps round trips and pace for a connection, or for a mesh host from one connection to the next \
         (schemes.md 3.1).",
    ),
    Key::count(
        "gap_option_length",
        (0, 40),
        PAPER.option_length as u64,
        "Bytes that the RTT option makes an acknowledgement longer (schemes.md 3.2).",
    ),
    Key::word(
        "gap_queue",
        Discipline::WORDS,
        Discipline::Fifo.word(),
        "Pacing queues: first in, first out as in the paper, or kept short by CoDel (RFC 8289; marks where ECN was negotiated).",
    ),
    Key::time_or(
        "gap_queue_target",
        &[BY_ROUND_TRIP],
        Span::from_secs(10),
        "With gap_queue = \"codel\": the standing wait that is acceptable, or half of each flow's round trip without it; at least two \
         spacings of the pace (RFC 8289, section 4.4).",
    ),
    Key::time_or(
        "gap_queue_interval",
        &[BY_ROUND_TRIP],
        Span::from_secs(100),
        "With gap_queue = \"codel\": how long it may stand, or until the answer to a signal reaches the head of the queue: a round trip, \
         a target and three spacings; at least two targets (RFC 8289, section 4.3).",
    ),
    Key::word(
        "gap_window",
        Announced::WORDS,
        PAPER.announced.word(),
        "Window that acknowledgements from the mesh announce to a wired sender: the receiver's, or no more than its flow's pace can use \
         (ours, not the paper's).",
    ),
    Key::word(
        "gap_retransmissions",
        Retransmissions::WORDS,
        PAPER.retransmissions.word(),
        "Data sent again by the wired sender: in turn as in the paper, or before new data, without copies of what waits or has \
         arrived (schemes.md 3.3).",
    ),
    Key::count(
        "gap_buffer_windows",
        (1, 1_000),
        PAPER.buffer_windows as u64,
        "Buffer of a flow in receiver windows, queue and cache together (schemes.md 3.1).",
    ),
    Key::size(
        "gap_buffer_total",
        (0, 1 << 50),
        PAPER.buffer_total,
        "Bytes in all queues and caches (schemes.md 3.1).",
    ),
    Key::count("gap_held_max", (0, 1 << 32), PAPER.held_max as u64, "Packets in all queues."),
    Key::count("gap_flows_max", (0, 1 << 31), PAPER.flows_max as u64, "Connections known."),
    Key::count(
        "gap_segments_max",
        (0, 1 << 31),
        PAPER.segments_max as u64,
        "Segments remembered of one flow.",
    ),
    Key::count(
        "gap_segments_total",
        (0, 1 << 40),
        PAPER.segments_total as u64,
        "Segments remembered of all flows.",
    ),
    Key::time(
        "gap_idle",
        Span::from_secs(1_000_000),
        PAPER.idle,
        "Silence after which a flow is forgotten (schemes.md 3.1).",
    ),
    Key::new(
        "gap_late_tolerance",
        real(&TIME, 0.0, 1.0),
        "Lateness of a departure that the next one makes up for (schemes.md 3.6).",
    )
    .preset(Preset::Time(PAPER.late_tolerance)),
    Key::new(
        "gap_burst_time",
        real(&TIME, 0.0, 0.1),
        "Of a flow whose interval is shorter, what is due within this time may leave at once, and lateness up to it is made up for.",
    )
    .preset(Preset::Time(PAPER.burst_time)),
    Key::count(
        "gap_trains",
        (1, 64),
        PAPER.trains as u64,
        "Packets of a flow that leave together at the most, where radios carry many an access (802.11n and later): how many is learned from \
         acknowledgements that come back at once, and the law's interval is then of so many. 1: they go one by one, as in the papers. Not \
         on eBPF.",
    ),
];

/// The gateway that the values of these keys describe, without goodput control.
pub(super) fn config(values: &Values) -> Config {
    Config {
        // Unlimited until the first sample (schemes.md 1.5, last row), unless told otherwise.
        initial_interval: values.span_given("gap_initial_interval"),
        departures: values.word("gap_pacer"),
        queues: values.word("gap_queues"),
        kept: values.word("gap_state"),
        option_length: values.count("gap_option_length"),
        goodput_control: None,
        dupack: if values.get("gap_dupack").is_some() { values.word("gap_dupack") } else { DupAck::Off },
        codel: match values.word("gap_queue") {
            Discipline::Fifo => None,
            Discipline::Codel => Some(CodelConfig {
                target: values.span_given("gap_queue_target"),
                interval: values.span_given("gap_queue_interval"),
            }),
        },
        announced: values.word("gap_window"),
        retransmissions: values.word("gap_retransmissions"),
        buffer_windows: values.count("gap_buffer_windows"),
        buffer_total: values.bytes("gap_buffer_total"),
        held_max: values.size("gap_held_max"),
        flows_max: values.size("gap_flows_max"),
        segments_max: values.size("gap_segments_max"),
        segments_total: values.size("gap_segments_total"),
        idle: values.span("gap_idle"),
        late_tolerance: values.span("gap_late_tolerance"),
        burst_time: values.span("gap_burst_time"),
        trains: values.count("gap_trains"),
        sampled: false,
    }
}
