//! The keys of the configuration file. Checker, default file and documentation are all made of these tables; `[law]` and
//! `[gateway]` come from the table of scheme parameters (see `parameters`).

use meshpace_gateway::{ShareBy, Uploading};
use meshpace_settings::{Key, Kind, Section, Whole, bytes, real_number as real, whole};
use meshpace_units::quantity::{RATE, RATIO, TIME};

/// More subnets, prefixes or interfaces than this are a mistake.
const MANY: usize = 10_000;
/// The TTL field has eight bits.
pub(super) const MAX_HOPS: u64 = 255;
/// From a thousandth of the slowest 802.11 rate to beyond the fastest.
/// What the firewall's limits take (xt_hashlimit: a million).
const PACKETS_A_SECOND: Whole = Whole { min: 1_000, max: 1_000_000, unit: None };
const LINK_RATE: Whole = Whole { min: 1_000, max: 1_000_000_000_000, unit: Some(&RATE) };

static ONE_NAME: Kind = Kind::Text;
static ONE_SOURCE: Kind = Kind::Choice(&["static", "802.11s", "olsr", "olsr2", "babel", "ttl"]);
const MODE: Kind = Kind::Choice(&["off", "observe", "pace"]);
const SHARE: Kind = real(&RATIO, 0.0, 1.0);

pub(super) static ROOT: Section = Section {
    doc: "meshpaced: adaptive pacing for TCP over wireless meshes. Plain numbers are in seconds, bit/s and bytes.",
    more: &[],
    keys: &[
        Key::new(
            "mode",
            MODE,
            "What happens to the flows between mesh and Internet: off forwards them unread, observe measures and says what \
             pacing would do, pace paces.",
        )
        .default("\"observe\""),
        Key::new(
            "paced_share",
            SHARE,
            "With mode = \"pace\": the share of flows that is paced, the rest is observed. That compares nothing, because \
             the rest takes the air that they leave (`meshpaced trial` compares). A hash of the flow's addresses and ports decides, so a flow stays what it is.",
        )
        .default("1.0"),
        Key::new("ab_seed", whole(0, i64::MAX as u64), "Another seed chooses other flows for paced_share.").default("0"),
        Key::new(
            "datapath",
            Kind::Choice(&["nfqueue", "ebpf"]),
            "How packets are reached: nfqueue hands each to the daemon (exact to tens of microseconds, everything works); \
             ebpf leaves them in the kernel (for high rates; needs sch_fq on the mesh interfaces, no local \
             retransmission).",
        )
        .default("\"nfqueue\""),
        Key::new("mesh", Kind::Table(&MESH), "Which packets are the mesh's."),
        Key::new("hops", Kind::Table(&HOPS), "How far away mesh hosts are."),
        Key::new("law", Kind::Free("a table of the rate law's parameters"), "The rate law."),
        Key::new("gateway", Kind::Free("a table of the gateway's parameters"), "The gateway."),
        Key::new("hosts", Kind::Table(&HOSTS), "What goes into the mesh, by host."),
        Key::new("guard", Kind::Table(&GUARD), "What happens after pacing was switched on."),
        Key::new("nfqueue", Kind::Table(&NFQUEUE), "The kernel's packet queue."),
        Key::new("control", Kind::Table(&CONTROL), "The socket of status, flows, explain, top and reload."),
        Key::new("metrics", Kind::Table(&METRICS), "Prometheus metrics."),
        Key::new("events", Kind::Table(&EVENTS), "What happened, as JSON lines."),
        Key::new("host", Kind::Table(&HOST), "Pacing on a wireless host."),
        Key::new("edge", Kind::Table(&EDGE), "Thin acknowledgements at the mesh's edge."),
        Key::new("subnet", Kind::Tables(&SUBNET), "Exceptions for the mesh hosts of a prefix."),
    ],
};

static MESH: Section = Section {
    doc: "A packet crosses the gateway if exactly one of its sides is mesh: it comes from or goes to one of the interfaces, \
          or its address lies in one of the subnets. All others are forwarded unread. `meshpaced gateway` needs at least \
          one interface or subnet.",
    more: &[],
    keys: &[
        Key::new("interfaces", Kind::List(&ONE_NAME, 0, MANY), "Network interfaces toward the mesh, such as [\"mesh0\"].")
            .default("[]"),
        Key::new(
            "subnets",
            Kind::List(&ONE_NAME, 0, MANY),
            "Addresses of mesh hosts, such as [\"10.1.0.0/16\", \"fd00:1::/48\"], where interfaces do not tell.",
        )
        .default("[]"),
        Key::new(
            "rate",
            Kind::ChoiceOrWhole(&["nl80211"], LINK_RATE),
            "MAC data rate of the mesh's links, the b of the rate law; \"nl80211\" asks the driver: for the mean of a path's \
             links, where 802.11s knows its air time, else for the present bitrate toward the first hop.",
        )
        .default("\"11Mbps\""),
        Key::new(
            "fallback_rate",
            Kind::Whole(LINK_RATE),
            "With rate = \"nl80211\": the rate while the driver tells none, or what has been seen to get across (times hops, up to four), if that \
             is more; by default 11Mbps.",
        ),
    ],
};

static HOPS: Section = Section {
    doc: "The number of wireless hops between gateway and mesh host, the h of the rate law. [hops.static] maps prefixes to \
          hops, as in \"10.1.2.0/24\" = 3; the longest prefix counts.",
    more: &[],
    keys: &[
        Key::new(
            "sources",
            Kind::List(&ONE_SOURCE, 0, 6),
            "Asked in this order; the first that knows a host is believed. static: [hops.static]. 802.11s: the kernel's \
             mesh paths. olsr, olsr2: the routing daemon's table. babel: babeld's, where its metric counts hops. ttl: the \
             TTL of received packets (right where mesh nodes route; an 802.11s or batman-adv mesh looks like one hop). \
             batman-adv knows link qualities, no hop counts: write [hops.static] there.",
        )
        .default("[\"static\", \"802.11s\", \"olsr\", \"olsr2\", \"babel\", \"ttl\"]"),
        Key::new("default", whole(1, MAX_HOPS), "Hops of a host that no source knows.").default("4"),
        Key::new("refresh", real(&TIME, 0.1, 86_400.0), "Time between two questions to a source.").default("\"10s\""),
        Key::new("expiry", real(&TIME, 0.1, 86_400.0), "Age at which the last answer of a source is forgotten.")
            .default("\"60s\""),
        Key::new("static", Kind::Free("a table of prefixes and hops"), "Prefixes and hops."),
        Key::new("olsr", Kind::Text, "Where olsrd's jsoninfo plugin listens.").default("\"127.0.0.1:9090\""),
        Key::new("olsr2", Kind::Text, "Where olsrd2's telnet listens.").default("\"127.0.0.1:2009\""),
        Key::new("babel", Kind::Text, "Where babeld listens (its option local-port).").default("\"[::1]:33123\""),
    ],
};

static HOSTS: Section = Section {
    doc: "A shaper of what goes into the mesh, whatever it is (docs/hosts.md): hosts share the rate in turn, and the flows of a host wait in \
          fair queues under CoDel. With a rate it acts as long as the mode of any mesh host is pace, and then on all of them. \
          Through NFQUEUE, or in the kernel (docs/ebpf.md).",
    more: &[],
    keys: &[
        Key::new(
            "rate",
            Kind::ChoiceOrWhole(&["off", "auto"], LINK_RATE),
            "What goes into the mesh, all hosts together, or \"off\": hosts are not shaped. \"auto\": it is found by how long packets wait \
             in the mesh, and begins at 1 Mbit/s. Otherwise a tenth below what the mesh carries, so that \
             packets wait here and not there. With by = \"airtime\" it is what a host gets that is one hop away over links of \
             mesh.rate.",
        )
        .default("\"off\""),
        Key::new("rate_min", Kind::Whole(LINK_RATE), "With rate = \"auto\": it is no lower.").default("\"200kbps\""),
        Key::new("rate_max", Kind::Whole(LINK_RATE), "With rate = \"auto\": it is no higher.").default("\"1Gbps\""),
        Key::new(
            "stands",
            real(&TIME, 0.0, 1.0),
            "With rate = \"auto\": how long packets may wait in the mesh a hop, where that is more than four packets take.",
        )
        .default("\"20ms\""),
        Key::new(
            "probes",
            whole(0, 1_000),
            "With rate = \"auto\": ICMP echo requests a second, all hosts together, to hosts that are sent to and of which neither TCP nor \
             QUIC tells how long packets wait; 0: none.",
        )
        .default("10"),
        Key::new(
            "by",
            Kind::Choice(ShareBy::WORDS),
            "What hosts share: bytes, or airtime, of which a byte takes the more, the more hops it goes (up to four) and the slower \
             their links are. Not airtime with rate = \"auto\": near hosts would take their air before far ones tell of it.",
        )
        .default("\"bytes\""),
        Key::new(
            "uploads",
            Kind::Choice(Uploading::WORDS),
            "With rate = \"auto\", through NFQUEUE: what is done where a host sends more than its share of both ways together while another one wants \
             more. shared: acknowledgements let its senders go no faster than its share; packets that are not TCP's are marked, or one is \
             dropped now and then. free: nothing.",
        )
        .default("\"shared\""),
        Key::new(
            "flows",
            Kind::Choice(&["free", "paced"]),
            "Whether flows of hosts whose mode is pace are left to the shaper (free), or have the pace of [law] before they meet it. Left to it, \
             hosts share equally; with a pace each, a host with more flows gets more.",
        )
        .default("\"free\""),
        Key::new("overhead", bytes(0, 10_000), "Bytes that a packet costs beside its own.").default("0"),
        Key::new(
            "quantum",
            whole(64, 65_535),
            "Bytes that a host of weight 1, and a flow of it, may send in its turn (RFC 8290, section 5.2.3).",
        )
        .default("1500"),
        Key::new(
            "target",
            real(&TIME, 0.001, 10.0),
            "Standing wait of a flow that is acceptable; at least one and a half of the time between its packets at its share (RFC \
             8289, section 4.4).",
        )
        .default("\"5ms\""),
        Key::new(
            "interval",
            real(&TIME, 0.001, 100.0),
            "How long it may stand; at least two targets (RFC 8289, section 4.3).",
        )
        .default("\"100ms\""),
        Key::new(
            "longest",
            real(&TIME, 0.01, 100.0),
            "All that waits leaves within this time: the host with the most loses what is too much. Sixteen packets may always wait.",
        )
        .default("\"250ms\""),
        Key::new("burst_time", real(&TIME, 0.0, 1.0), "Lateness of departures that the next ones make up for.")
            .default("\"1ms\""),
    ],
};

static GUARD: Section = Section {
    doc: "After pacing was switched on, by `meshpaced mode pace` or a reload, blocks with it and with the modes of before take turns, in a \
          drawn order. If pacing brings too little of the goodput of the hosts concerned, the daemon goes back and says so. What the file \
          says when the daemon starts is not guarded.",
    more: &[],
    keys: &[
        Key::new("on", Kind::Flag, "Whether it compares.").default("true"),
        Key::new("block", real(&TIME, 2.0, 3_600.0), "Length of a block, of which the first third is not counted.")
            .default("\"10s\""),
        Key::new(
            "pairs",
            whole(1, 1_000),
            "Pairs of blocks with traffic on both sides that are compared; four suffice if each says that it costs so much. Three times as \
             many are tried at most.",
        )
        .default("6"),
        Key::new("loss", real(&RATIO, 0.01, 0.99), "It goes back if pacing brings this part less.").default("0.33"),
    ],
};

static NFQUEUE: Section = Section {
    doc: "Used with datapath = \"nfqueue\".",
    more: &[],
    keys: &[
        Key::new("queue", whole(0, 65_535), "Number of the queue; no other program may use it.").default("19792"),
        Key::new(
            "length",
            whole(2, 1_000_000),
            "Packets that the kernel holds for the daemon; when it is full, packets pass unpaced. More than \
             gateway.gap_held_max, so that this stays the emergency exit; by default twice that.",
        ),
        Key::new(
            "socket_buffer",
            bytes(4_096, 1 << 30),
            "Receive buffer of the queue's socket; the kernel's default holds about 93 packets.",
        )
        .default("\"8MiB\""),
        Key::new(
            "observed_max",
            Kind::ChoiceOrWhole(&["all"], PACKETS_A_SECOND),
            "While nothing is paced, at most so many packets a second come to the daemon, of each IP version: what is beyond passes unseen, as \
             to look at each would take more of the forwarding than it is worth. Packets that open or end connections all come. What is told \
             then is of a sample, with its error. A packet that is still in one piece of many is one.",
        )
        .default("50000"),
        Key::new(
            "realtime",
            Kind::Flag,
            "Whether to ask for real-time scheduling: departures are up to 2 ms late with it on a busy machine, up to 15 ms \
             without.",
        )
        .default("true"),
    ],
};

static CONTROL: Section = Section {
    doc: "One JSON request a line, one JSON answer.",
    more: &[],
    keys: &[
        Key::new("socket", Kind::Text, "Its path.").default("\"/run/meshpaced/control.sock\""),
        Key::new(
            "group",
            Kind::Text,
            "Name or number of a group whose members may look too (status, flows, explain, top); mode, reload and stop are \
             for root and the daemon's own user. By default nobody else may look. The daemon's user must be in that group.",
        ),
    ],
};

static METRICS: Section = Section {
    doc: "Served over HTTP without authentication: keep them on loopback.",
    more: &[],
    keys: &[Key::new("listen", Kind::Text, "Address and port, or \"off\".").default("\"127.0.0.1:9733\"")],
};

static EVENTS: Section = Section {
    doc: "Start, mode changes, flows opened, closed and throttled, queue overflow, lateness.",
    more: &[],
    keys: &[
        Key::new(
            "file",
            Kind::Text,
            "The file that they are appended to, \"-\" for standard output, or \"off\".",
        )
        .default("\"off\""),
        Key::new(
            "max_size",
            bytes(4_096, 1 << 40),
            "A file that would get longer is renamed to FILE.1, and a new one begun.",
        )
        .default("\"10MiB\""),
        Key::new("keep", whole(0, 100), "So many renamed files are kept: FILE.1 is the latest.").default("4"),
    ],
};

static HOST: Section = Section {
    doc: "`meshpaced host` paces what a mesh host sends, by the RTT option that the gateway writes and by [law].",
    more: &[],
    keys: &[
        Key::new(
            "cgroup",
            Kind::Text,
            "Directory of the control group (version 2) whose sockets are paced; by default all of the host's.",
        ),
        Key::new(
            "hops",
            whole(1, MAX_HOPS),
            "Wireless hops to the gateway; by default what [hops.static] says of this host's address, else hops.default.",
        ),
        Key::new(
            "rate",
            Kind::Whole(LINK_RATE),
            "MAC data rate of the links to the gateway; by default that of [mesh].",
        ),
    ],
};

static EDGE: Section = Section {
    doc: "`meshpaced edge` lets one acknowledgement for many segments go into the mesh, by the rules of docs/law.md's filter (docs/edge.md).",
    more: &[],
    keys: &[
        Key::new(
            "interfaces",
            Kind::List(&ONE_NAME, 0, MANY),
            "Network interfaces into the mesh; by default those of [mesh].",
        )
        .default("[]"),
        Key::new(
            "datapath",
            Kind::Choice(&["auto", "ebpf", "nfqueue"]),
            "How packets are reached: ebpf leaves them in the kernel, nfqueue hands short ones to the daemon; auto is ebpf where \
             the kernel lets it.",
        )
        .default("\"auto\""),
        Key::new(
            "bytes",
            bytes(1, 1 << 32),
            "An acknowledgement that brings so much since the last that passed, passes.",
        )
        .default("23360"),
        Key::new(
            "share",
            whole(1, 1_000),
            "And one that brings so large a part, one in so many, of what has been acknowledged since the sender began.",
        )
        .default("8"),
        Key::new("wait", real(&TIME, 0.001, 10.0), "And one that comes so long after the last that passed.")
            .default("\"200ms\""),
        Key::new("tail", real(&TIME, 0.001, 10.0), "Others wait so long for a newer one, and then pass.")
            .default("\"100ms\""),
        Key::new(
            "flows",
            whole(16, 1 << 20),
            "Connections, either way, that are known: about 160 bytes of the kernel's memory each. The least recently seen goes first.",
        )
        .default("8192"),
        Key::new(
            "held",
            whole(1, 1 << 20),
            "Acknowledgements that may wait: about 300 bytes each. What has no place passes.",
        )
        .default("2048"),
        Key::new("queue", whole(0, 65_535), "Number of the packet queue, where NFQUEUE is used.").default("19793"),
        Key::new("socket", Kind::Text, "Path of the socket on which `meshpaced edge --status` asks.")
            .default("\"/run/meshpaced-edge/edge.sock\""),
        Key::new("listen", Kind::Text, "Address and port of Prometheus metrics, or \"off\".").default("\"127.0.0.1:9734\""),
    ],
};

static SUBNET: Section = Section {
    doc: "Any number of [[subnet]] tables. Where prefixes overlap, each key is taken from the longest that gives it.",
    more: &[],
    keys: &[
        Key::new("prefix", Kind::Text, "The mesh hosts that this is about, such as \"10.1.2.0/24\".")
            .required(),
        Key::new("mode", MODE, "As mode above."),
        Key::new("paced_share", SHARE, "As paced_share above."),
        Key::new("hops", whole(1, MAX_HOPS), "Wireless hops to these hosts, whatever the sources say."),
        Key::new("rate", Kind::Whole(LINK_RATE), "MAC data rate on the way to these hosts, as mesh.rate."),
        Key::new(
            "weight",
            whole(1, 1_000),
            "Shares of each of these hosts, where hosts are shaped; 1 unless given.",
        ),
        Key::new(
            "cap",
            Kind::Whole(LINK_RATE),
            "The most that goes to each of these hosts then, in bytes of IP packets.",
        ),
        Key::new("together", Kind::Flag, "These hosts count as one then, as those behind a router do."),
    ],
};
