//! Traffic: the keys of flows, and the keys that flows share.

use super::{ANY_RATE, ONE_NAME, TIME_ABOVE_0, TIME_FROM_0};
use crate::limits::{HOPS, MSDU};
use meshpace_settings::{Key, Kind, Section, Whole, above, bytes, whole};
use meshpace_units::Dscp;
use meshpace_units::quantity::RATIO;

static ONE_MOMENT: Kind = TIME_FROM_0;
static ONE_PERIOD: Kind = Kind::List(&ONE_MOMENT, 2, 2);

pub(super) static DEFAULTS: Section = Section {
    doc: "What flows take unless they say otherwise.",
    more: &[],
    keys: &[
        Key::new("scheme", Kind::Text, "Scheme.").default("\"tcp-gap\""),
        Key::new("segment", SEGMENT, "TCP payload bytes a segment.").default("1460"),
        Key::new("window", WINDOW, "Receiver's window in segments.").default("64"),
        Key::new("start_jitter", TIME_FROM_0, "Each flow starts at start + U(0, start_jitter).")
            .default("\"1s\""),
    ],
};

/// With 40 bytes of TCP and IP headers the packet must fit an MSDU.
const SEGMENT: Kind = bytes(1, MSDU - 40);
const WINDOW: Kind = whole(1, 1_000_000);
const UDP: &[&str] = &["cbr", "echo", "self-similar"];
const AT_A_RATE: &[&str] = &["cbr", "self-similar"];
const TCP: &[&str] = &["ftp", "http", "transfer"];
const FILES: &[&str] = &["http", "self-similar"];
const ENDLESS: &[&str] = &["ftp", "cbr", "echo", "self-similar"];

pub(super) static FLOW: Section = Section {
    doc: "One flow, or `count` like it.",
    more: &[],
    keys: &[
        Key::new("id", Kind::Text, "Its name in results; by default its number, from 1."),
        Key::new("from", Kind::Text, "The sender's id, or \"random\"; {} in it stands for the flow's number among count.")
            .required(),
        Key::new("to", Kind::Text, "The receiver's id likewise.").required(),
        Key::new("app", Kind::Choice(&["ftp", "cbr", "http", "self-similar", "transfer", "echo"]), "What is sent.")
            .default("\"ftp\""),
        Key::new("scheme", Kind::Text, "Scheme; by default that of [defaults]."),
        Key::new("segment", SEGMENT, "TCP payload bytes a segment; by default that of [defaults].")
            .only("app", TCP),
        Key::new("window", WINDOW, "Receiver's window in segments; by default that of [defaults].")
            .only("app", TCP),
        Key::new("start", TIME_FROM_0, "Nominal start.").default("0"),
        Key::new(
            "stop",
            TIME_ABOVE_0,
            "When the application stops sending; by default at the end of the run.",
        ),
        Key::new(
            "on",
            Kind::List(&ONE_PERIOD, 1, 10_000),
            "Periods [from, to] in which the application sends, instead of start and stop; a TCP connection stays open between them.",
        )
        .only("app", ENDLESS),
        Key::new(
            "path",
            Kind::List(&ONE_NAME, 2, HOPS as usize + 2),
            "Mesh nodes that the data pass, the ends included, {} as in from; what comes back takes the same way, unless path_back has another. Only with routing.protocol = static.",
        ),
        Key::new(
            "path_back",
            Kind::List(&ONE_NAME, 2, HOPS as usize + 2),
            "Mesh nodes that what comes back passes, from the last one of path to its first. Only beside path.",
        ),
        Key::new(
            "start_jitter",
            TIME_FROM_0,
            "The flow starts at start + U(0, start_jitter); by default that of [defaults].",
        ),
        Key::new(
            "dscp",
            Kind::ChoiceOrWhole(Dscp::NAMES, Whole { min: 0, max: Dscp::LARGEST as u64, unit: None }),
            "Service class that the IP headers of all its packets ask for, by name or number; where relays have queues for categories it says the category of access. Only 802.11n, 802.11ac and 802.11ax have others than best effort.",
        )
        .default("0"),
        Key::new("count", whole(0, 10_000), "So many flows of this kind; with 0 none.").default("1"),
        Key::new("rate", ANY_RATE, "Payload rate: offered, or within a burst (no default).")
            .only("app", AT_A_RATE),
        Key::new("packet", bytes(1, MSDU - 28), "UDP payload bytes of a packet (no default).")
            .only("app", UDP),
        Key::new("interval", TIME_ABOVE_0, "From one request to the next; the other end answers each at once with as many bytes (no default).")
            .only("app", &["echo"]),
        Key::new("udp_header", bytes(0, 8), "Bytes of the UDP header; 0 reproduces ns-2.")
            .default("8")
            .only("app", UDP),
        Key::new("file_mean", bytes(1, 1_000_000_000_000), "Mean of Pareto file or burst sizes.")
            .default("30000")
            .only("app", FILES),
        Key::new("file_shape", above(&RATIO, 1.0, 100.0), "Pareto shape; a mean exists above 1.")
            .default("1.5")
            .only("app", FILES),
        Key::new("pause_mean", TIME_ABOVE_0, "Mean pause between files or bursts.")
            .default("1")
            .only("app", FILES),
        Key::new("connection_per_file", Kind::Flag, "A new connection for every file, closed after it.")
            .default("false")
            .only("app", &["http"]),
        Key::new(
            "file_clock",
            Kind::Choice(&["write", "first-packet"]),
            "A file's time begins when the application hands it over, or when the first packet with data of it is sent.",
        )
        .default("\"write\"")
        .only("app", &["http"]),
        Key::new(
            "unfinished_files",
            Kind::Choice(&["left-out", "counted"]),
            "The file that is on its way when the run ends: left out, or counted with what has come of it by its age.",
        )
        .default("\"left-out\"")
        .only("app", &["http"]),
        Key::new("bytes", bytes(1, 1_000_000_000_000_000), "Payload bytes to transfer (no default).")
            .only("app", &["transfer"]),
    ],
};
