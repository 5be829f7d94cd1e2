//! The table of compositions.

use crate::Scheme;
use crate::choices::{ALL_GATEWAYS, ALL_RELAYS, Parts};
use meshpace_keys::{Preset, RawValue, Setting};
use meshpace_tcp::{ACK_POLICIES, PACINGS, PROFILES, RECOVERIES, WINDOWS};
use std::collections::{BTreeMap, BTreeSet};

/// One row: name, what it is, source, and what differs from ns-2's NewReno with an acknowledgement a segment, unpaced,
/// over drop-tail queues: parts and parameters, as a scenario file would set them.
struct Composition {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    differs: &'static [(&'static str, Preset)],
}

/// TCP-AP with `n` hops between packets, whatever the path's length, as the thesis measured it (schemes.md 2.1).
macro_rules! n_hop {
    ($name:literal, $n:literal) => {
        Composition {
            name: $name,
            summary: concat!("TCP-AP with ", $n, " hop(s) between a flow's packets, however short its path"),
            source: "schemes.md 2.1; Lee 2012",
            differs: &[
                ("pacing", Preset::Word("khd")),
                ("n", Preset::Whole($n)),
                ("ap_short_path", Preset::Word("n-hop")),
            ],
        }
    };
}

/// What makes a sender Linux's, with these acknowledgements and more.
macro_rules! linux {
    (cubic, $acks:literal $(, $more:expr)* $(,)?) => {
        &[
            ("tcp_profile", Preset::Word("linux")),
            ("congestion", Preset::Word("cubic")),
            ("slow_start", Preset::Word("hystart")),
            ("cubic_ahead", Preset::Word("least")),
            ("recovery", Preset::Word("rack")),
            ("ack_policy", Preset::Word($acks)),
            $($more),*
        ]
    };
    (bbr, $acks:literal) => {
        &[
            ("tcp_profile", Preset::Word("linux")),
            ("congestion", Preset::Word("bbr")),
            ("ack_policy", Preset::Word($acks)),
        ]
    };
}

static TABLE: [Composition; 57] = [
    Composition {
        name: "tahoe",
        summary: "TCP Tahoe as in ns-2.35",
        source: "schemes.md 16",
        differs: &[("congestion", Preset::Word("tahoe"))],
    },
    Composition {
        name: "newreno",
        summary: "TCP NewReno as in ns-2.35, the papers' baseline",
        source: "schemes.md 16",
        differs: &[],
    },
    Composition {
        name: "tahoe-rfc",
        summary: "TCP Tahoe with RFC 5681 windows, RFC 6298 timeouts, timestamps, delayed ACKs",
        source: "schemes.md 16; RFC 5681, 6298, 7323",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("tahoe")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "newreno-rfc",
        summary: "TCP NewReno by RFC 5681, 6298, 6582 and 7323, delayed ACKs",
        source: "schemes.md 16; RFC 5681, 6298, 6582, 7323",
        differs: &[("tcp_profile", Preset::Word("rfc")), ("ack_policy", Preset::Word("delayed"))],
    },
    Composition {
        name: "sack-rfc",
        summary: "TCP Reno with SACK-based loss recovery, RFC 6298 timeouts, timestamps, delayed ACKs",
        source: "schemes.md 16; RFC 5681, 6298, 6675, 7323",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("sack")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "cubic",
        summary: "TCP CUBIC, RFC 6298 timeouts, timestamps, delayed ACKs",
        source: "RFC 9438, 6298, 7323",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("cubic")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "cubic-fq-codel",
        summary: "TCP CUBIC over FQ-CoDel at every queue, as OpenWrt has it",
        source: "RFC 9438, 8290, 6298, 7323",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("cubic")),
            ("ack_policy", Preset::Word("delayed")),
            ("relay", Preset::Word("fq-codel")),
        ],
    },
    Composition {
        name: "vegas",
        summary: "TCP Vegas: two to four segments in queues; RACK-TLP, delayed ACKs",
        source: "schemes.md 22.2; Brakmo and Peterson 1995",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("vegas")),
            ("recovery", Preset::Word("rack")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "westwood",
        summary: "TCP Westwood+: a loss leaves what the bandwidth fills the path with; RACK-TLP, delayed ACKs",
        source: "schemes.md 22.2; Grieco and Mascolo 2004",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("westwood")),
            ("recovery", Preset::Word("rack")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "copa",
        summary: "Copa: a target rate by the queueing delay, bolder beside flows that fill buffers; RACK-TLP, delayed ACKs",
        source: "schemes.md 22.5; Arun and Balakrishnan 2018",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("copa")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "ledbat",
        summary: "LEDBAT++: background traffic below 60 ms of queue; RACK-TLP, delayed ACKs",
        source: "schemes.md 22.6; draft-irtf-iccrg-ledbat-plus-plus-01",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("ledbat")),
            ("recovery", Preset::Word("rack")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "bbr",
        summary: "BBR, version 1: pace and window by a model of the path; RACK-TLP, delayed ACKs",
        source: "schemes.md 22.3; Cardwell et al. 2016",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("bbr")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "bbr3",
        summary: "BBR, version 3: pace and window by a model of the path and what it loses; RACK-TLP, delayed ACKs",
        source: "schemes.md 22.7; draft-ietf-ccwg-bbr-06",
        differs: &[
            ("tcp_profile", Preset::Word("rfc")),
            ("congestion", Preset::Word("bbr3")),
            ("ack_policy", Preset::Word("delayed")),
        ],
    },
    Composition {
        name: "linux-reno",
        summary: "Reno as in Linux: RACK-TLP, PRR, F-RTO, quick and delayed ACKs, its timeouts",
        source: "schemes.md 22.4; Linux 6",
        differs: &[
            ("tcp_profile", Preset::Word("linux")),
            ("recovery", Preset::Word("rack")),
            ("ack_policy", Preset::Word("linux")),
        ],
    },
    Composition {
        name: "linux-cubic",
        summary: "CUBIC as in Linux: HyStart, RACK-TLP, PRR, F-RTO, quick and delayed ACKs, its timeouts",
        source: "schemes.md 22.2, 22.4; Linux 6",
        differs: linux!(cubic, "linux"),
    },
    Composition {
        name: "linux-bbr",
        summary: "BBR of version 1 as in Linux, with its loss recovery, acknowledgements and timeouts",
        source: "schemes.md 22.3, 22.4; Linux 6",
        differs: linux!(bbr, "linux"),
    },
    Composition {
        name: "calm",
        summary: "Ours: a rate by delay at the sender, thin acknowledgements at the receiver; Linux's loss recovery and timeouts",
        source: "docs/law.md; schemes.md 23",
        differs: &[
            ("tcp_profile", Preset::Word("linux")),
            ("congestion", Preset::Word("delay-rate")),
            ("ack_policy", Preset::Word("thin")),
        ],
    },
    Composition {
        name: "calm-gateway",
        summary: "Ours at the gateway alone: what goes into the mesh is paced by delay, acknowledgements are thinned; senders are linux-cubic",
        source: "docs/law.md; schemes.md 23",
        differs: linux!(
            cubic,
            "linux",
            ("gateway", Preset::Word("delay-rate")),
            ("dr_delta", Preset::Real(0.5)),
            ("dr_gain", Preset::Real(0.05)),
            ("gap_queue", Preset::Word("codel")),
            ("gap_window", Preset::Word("pipe")),
            ("gap_hook", Preset::Word("ack-filter")),
        ),
    },
    Composition {
        name: "calm-edge",
        summary: "calm-gateway, and receivers that acknowledge thinly, so that downloads save the air of their acknowledgements, too",
        source: "docs/law.md; schemes.md 23",
        differs: linux!(
            cubic,
            "thin",
            ("thin_wait", Preset::Word("100ms")),
            ("thin_tail", Preset::Word("50ms")),
            ("gateway", Preset::Word("delay-rate")),
            ("dr_delta", Preset::Real(0.5)),
            ("dr_gain", Preset::Real(0.05)),
            ("gap_queue", Preset::Word("codel")),
            ("gap_window", Preset::Word("pipe")),
            ("gap_hook", Preset::Word("ack-filter")),
        ),
    },
    Composition {
        name: "cubic-thin",
        summary: "linux-cubic with thin acknowledgements",
        source: "docs/law.md; schemes.md 22.2, 22.4; Linux 6",
        differs: linux!(cubic, "thin"),
    },
    Composition {
        name: "linux-bbr-thin",
        summary: "linux-bbr with thin acknowledgements",
        source: "docs/law.md; schemes.md 22.3, 22.4; Linux 6",
        differs: linux!(bbr, "thin"),
    },
    Composition {
        name: "linux-bbr-tack",
        summary: "linux-bbr with TACK's acknowledgements: every second segment, but no more than four in the least round trip",
        source: "schemes.md 7.4, 22.3, 22.4; Li et al. 2020",
        differs: linux!(bbr, "tack"),
    },
    Composition {
        name: "cubic-cake-acks",
        summary: "linux-cubic over queues that drop acknowledgements where newer ones wait, as CAKE's ack-filter",
        source: "schemes.md 7.5, 22.2, 22.4; Hoiland-Jorgensen et al. 2018",
        differs: linux!(cubic, "linux", ("relay", Preset::Word("cake-ack-filter")),),
    },
    Composition {
        name: "newreno-delack",
        summary: "NewReno, every second segment acknowledged or after 100 ms",
        source: "schemes.md 16 (Delayed ACK); RFC 1122, section 4.2.3.2",
        differs: &[("ack_policy", Preset::Word("delayed"))],
    },
    Composition {
        name: "newreno-dynack",
        summary: "NewReno, one to four segments an ACK as the connection ages",
        source: "schemes.md 7.1; Altman and Jimenez 2003",
        differs: &[("ack_policy", Preset::Word("dynamic-delayed"))],
    },
    Composition {
        name: "fixed-rate",
        summary: "NewReno paced at a fixed rate",
        source: "schemes.md 2.1; Lee 2012",
        differs: &[("pacing", Preset::Word("fixed"))],
    },
    Composition {
        name: "tcp-ap",
        summary: "TCP with adaptive pacing: four hops between a flow's packets",
        source: "schemes.md 2, profile paper; ElRakabawy, Klemm, Lindemann 2005",
        differs: &[("pacing", Preset::Word("khd"))],
    },
    Composition {
        name: "tcp-ap-ns2-2005",
        summary: "TCP-AP exactly as its authors' ns-2 agent does it",
        source: "schemes.md 2, profile ns2-2005",
        differs: &[("pacing", Preset::Word("agent"))],
    },
    Composition {
        name: "tcp-gap",
        summary: "TCP with gateway adaptive pacing and goodput control",
        source: "schemes.md 3; ElRakabawy, Klemm, Lindemann 2007",
        differs: &[
            ("pacing", Preset::Word("wireless-khd")),
            ("gateway", Preset::Word("pacing+goodput-control")),
        ],
    },
    Composition {
        name: "tcp-gap-nogc",
        summary: "TCP-GAP without goodput control",
        source: "schemes.md 3, without 3.5",
        differs: &[("pacing", Preset::Word("wireless-khd")), ("gateway", Preset::Word("pacing"))],
    },
    n_hop!("tcp-ap-n1", 1),
    n_hop!("tcp-ap-n2", 2),
    n_hop!("tcp-ap-n3", 3),
    n_hop!("tcp-ap-n4", 4),
    n_hop!("tcp-ap-n5", 5),
    n_hop!("tcp-ap-n6", 6),
    n_hop!("tcp-ap-n7", 7),
    n_hop!("tcp-ap-n8", 8),
    Composition {
        name: "oid",
        summary: "The later TCP-AP: one hop past the carrier-sensing range between packets",
        source: "schemes.md 2.2; ElRakabawy and Lindemann 2011",
        differs: &[("pacing", Preset::Word("oid"))],
    },
    Composition {
        name: "few",
        summary: "TCP-FeW: a window that opens by a hundredth of a segment a round trip",
        source: "schemes.md 6; Nahm, Helmy and Kuo 2005",
        // No threshold that any window reaches: what FeW's window is stays where the last loss put it (schemes.md 6).
        differs: &[("congestion", Preset::Word("few")), ("initial_ssthresh", Preset::Real(1e6))],
    },
    Composition {
        name: "dynack-ap",
        summary: "TCP-AP, one to four segments an ACK as the connection ages",
        source: "schemes.md 7.1, last paragraph; Lee 2012",
        differs: &[("pacing", Preset::Word("khd")), ("ack_policy", Preset::Word("dynamic-delayed"))],
    },
    Composition {
        name: "tcp-daa",
        summary: "TCP-DAA: a delaying window of 1 to 4 segments, and a sender that expects it",
        source: "schemes.md 7.2; de Oliveira and Braun 2005",
        differs: &[("congestion", Preset::Word("daa")), ("ack_policy", Preset::Word("daa"))],
    },
    Composition {
        name: "tcp-ada",
        summary: "TCP-ADA: one ACK a window if possible",
        source: "schemes.md 7.3",
        differs: &[("ack_policy", Preset::Word("ada"))],
    },
    Composition {
        name: "llap",
        summary: "NewReno over nodes that pace at the link layer by what they overhear",
        source: "schemes.md 8; Franklin, Siva Ram Murthy 2008",
        differs: &[("relay", Preset::Word("llap"))],
    },
    Composition {
        name: "llap-letter",
        summary: "LLAP with its Algorithm 1 to the letter: spacings, and timers that never stop at the core",
        source: "schemes.md 8, Core law",
        differs: &[
            ("relay", Preset::Word("llap")),
            ("llap_core", Preset::Word("spacing")),
            ("llap_idle", Preset::Word("free-core")),
        ],
    },
    Composition {
        name: "ez-flow",
        summary: "EZ-flow: NewReno over nodes that contend the more rarely the longer the next node's queue is",
        source: "schemes.md 15; Aziz et al. 2009",
        differs: &[("relay", Preset::Word("ez-flow"))],
    },
    Composition {
        name: "split",
        summary: "NewReno, at sources a queue for every flow, served in turn",
        source: "schemes.md 4; Osipov and Tschudin 2005, appendix 6.3",
        differs: &[("relay", Preset::Word("split"))],
    },
    Composition {
        name: "throttle",
        summary: "NewReno, throttled at its source by path length and path density",
        source: "schemes.md 4; Osipov and Tschudin 2005",
        differs: &[("relay", Preset::Word("throttle"))],
    },
    Composition {
        name: "xcp",
        summary: "XCP: routers tell every packet by how much its sender's throughput is to change",
        source: "schemes.md 11.1; Katabi, Handley, Rohrs 2002",
        differs: &[("congestion", Preset::Word("xcp")), ("relay", Preset::Word("xcp"))],
    },
    Composition {
        name: "rcp",
        summary: "RCP: routers keep one rate for all flows, and senders have no window",
        source: "schemes.md 12; Dukkipati, McKeown",
        differs: &[("congestion", Preset::Word("rcp")), ("relay", Preset::Word("rcp"))],
    },
    Composition {
        name: "tcp-ap-winf",
        summary: "TCP-AP by the capacity and available bandwidth that rt-Winf measures over the first four hops",
        source: "schemes.md 10.1; Barreto 2016",
        differs: &[("pacing", Preset::Word("winf-khd")), ("relay", Preset::Word("winf"))],
    },
    Composition {
        name: "we-tcp-ap",
        summary: "WE TCP-AP: TCP-AP with rt-Winf over the whole path, and a factor for more than four hops",
        source: "schemes.md 10.2; Barreto 2016",
        differs: &[
            ("pacing", Preset::Word("winf-khd")),
            ("relay", Preset::Word("winf")),
            ("we_scope", Preset::Word("path")),
            ("we_factor", Preset::Word("A")),
        ],
    },
    Composition {
        name: "xcp-b",
        summary: "XCP where no capacity is known, by how queues grow; reconstructed from memory",
        source: "schemes.md 11.2; Abrantes, Ricardo 2006",
        differs: &[("congestion", Preset::Word("xcp")), ("relay", Preset::Word("xcp-b"))],
    },
    Composition {
        name: "xcp-winf",
        summary: "XCP by the bandwidth that rt-Winf finds available; its law is a reconstruction",
        source: "schemes.md 11.3; Barreto, Sargento 2011",
        differs: &[("congestion", Preset::Word("xcp")), ("relay", Preset::Word("xcp-winf"))],
    },
    Composition {
        name: "rcp-winf",
        summary: "RCP by the bandwidth that rt-Winf finds available; its law is a reconstruction",
        source: "schemes.md 12; Barreto, Sargento",
        differs: &[("congestion", Preset::Word("rcp")), ("relay", Preset::Word("rcp-winf"))],
    },
    Composition {
        name: "wcp",
        summary: "WCP: a rate by additive increase and multiplicative decrease, congestion shared with the neighbourhood; constants from memory",
        source: "schemes.md 13; Rangwala et al. 2008",
        differs: &[("congestion", Preset::Word("wcp")), ("relay", Preset::Word("wcp"))],
    },
    Composition {
        name: "wcpcap",
        summary: "wcpcap-airtime, a surrogate for WCPCap: max-min shares of the air, worked out centrally every 10 s",
        source: "schemes.md 13; after Rangwala et al. 2008",
        differs: &[("congestion", Preset::Word("wcpcap")), ("relay", Preset::Word("wcpcap"))],
    },
];

/// The names of the built-in schemes, in the order of the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

/// The built-in scheme of that name.
///
/// # Panics
/// If its row says what no scheme file could say: a broken table.
#[must_use]
pub fn lookup(name: &str) -> Option<Scheme> {
    let row = TABLE.iter().find(|row| row.name == name)?;
    let mut scheme = Scheme {
        name: row.name.to_owned(),
        summary: row.summary.to_owned(),
        source: row.source.to_owned(),
        parts: plain(),
        chosen: BTreeSet::new(),
        said: BTreeMap::new(),
    };
    let differs: Vec<(&str, RawValue)> =
        row.differs.iter().map(|(key, preset)| (*key, raw(key, *preset))).collect();
    let set = scheme.set_all(differs.iter().map(|(key, value)| (*key, value)));
    set.unwrap_or_else(|(_, error)| panic!("the row of {name}: {error}"));
    Some(scheme)
}

/// What every row starts from: the first of each table, and NewReno.
fn plain() -> Parts {
    let newreno = WINDOWS.iter().find(|part| part.about.word == "newreno");
    Parts {
        profile: PROFILES[0],
        congestion: newreno.unwrap_or_else(|| panic!("no part newreno")),
        recovery: RECOVERIES[0],
        pacing: PACINGS[0],
        acknowledgements: ACK_POLICIES[0],
        relay: &ALL_RELAYS[0],
        gateway: &ALL_GATEWAYS[0],
    }
}

fn raw(key: &str, preset: Preset) -> RawValue {
    match preset.setting() {
        Some(Setting::Text(word)) => RawValue::Text(word),
        Some(Setting::Flag(flag)) => RawValue::Bool(flag),
        Some(Setting::Real(number)) => RawValue::Float(number),
        Some(Setting::Whole(number)) => {
            RawValue::Integer(i64::try_from(number).unwrap_or_else(|_| panic!("{key} = {number}")))
        }
        other => panic!("the table of compositions says {key} = {other:?}"),
    }
}
