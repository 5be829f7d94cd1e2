//! The table of compositions.

use crate::scheme::Algorithm;
use crate::scheme::{FixedRate, Relay, Scheme, Sender, SenderPacing, TcpProfile};
use meshpace_gateway as gateway;
use meshpace_pacing::AdaptiveConfig;
use meshpace_tcp::AckPolicy;
use meshpace_units::{Bytes, Rate};

/// One row: name, what it is, source, parts.
struct Composition {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    sender: (Algorithm, TcpProfile, SenderPacing),
    receiver: AckPolicy,
    gateway: Option<gateway::Config>,
}

use Algorithm::{NewReno, Tahoe};
use TcpProfile::{Ns2, Rfc};

/// BYU's estimate of the right rate for 5 flows on 9 hops (schemes.md section 5, "Measured").
pub(crate) const FIXED_RATE: FixedRate = FixedRate { rate: Rate::bits_per_sec(250_000), mtu: Bytes(1500) };

static TABLE: [Composition; 11] = [
    Composition {
        name: "tahoe",
        summary: "TCP Tahoe as in ns-2.35",
        source: "schemes.md 16",
        sender: (Tahoe, Ns2, SenderPacing::None),
        receiver: AckPolicy::Every,
        gateway: None,
    },
    Composition {
        name: "newreno",
        summary: "TCP NewReno as in ns-2.35, the papers' baseline",
        source: "schemes.md 16",
        sender: (NewReno, Ns2, SenderPacing::None),
        receiver: AckPolicy::Every,
        gateway: None,
    },
    Composition {
        name: "tahoe-rfc",
        summary: "TCP Tahoe with RFC 5681 windows, RFC 6298 timeouts, timestamps, delayed ACKs",
        source: "schemes.md 16; RFC 5681, 6298, 7323",
        sender: (Tahoe, Rfc, SenderPacing::None),
        receiver: AckPolicy::DELAYED,
        gateway: None,
    },
    Composition {
        name: "newreno-rfc",
        summary: "TCP NewReno by RFC 5681, 6298, 6582 and 7323, delayed ACKs",
        source: "schemes.md 16; RFC 5681, 6298, 6582, 7323",
        sender: (NewReno, Rfc, SenderPacing::None),
        receiver: AckPolicy::DELAYED,
        gateway: None,
    },
    Composition {
        name: "newreno-delack",
        summary: "NewReno, every second segment acknowledged or after 100 ms",
        source: "schemes.md 16 (Delayed ACK); RFC 1122, section 4.2.3.2",
        sender: (NewReno, Ns2, SenderPacing::None),
        receiver: AckPolicy::DELAYED,
        gateway: None,
    },
    Composition {
        name: "newreno-dynack",
        summary: "NewReno, one to four segments an ACK as the connection ages",
        source: "schemes.md 7.1; Altman and Jimenez 2003",
        sender: (NewReno, Ns2, SenderPacing::None),
        receiver: AckPolicy::DYNAMIC_DELAYED,
        gateway: None,
    },
    Composition {
        name: "fixed-rate",
        summary: "NewReno paced at a fixed rate",
        source: "schemes.md 2.1; Lee 2012",
        sender: (NewReno, Ns2, SenderPacing::Fixed(FIXED_RATE)),
        receiver: AckPolicy::Every,
        gateway: None,
    },
    Composition {
        name: "tcp-ap",
        summary: "TCP with adaptive pacing: four hops between a flow's packets",
        source: "schemes.md 2, profile paper; ElRakabawy, Klemm, Lindemann 2005",
        sender: (NewReno, Ns2, SenderPacing::KHop(AdaptiveConfig::PAPER)),
        receiver: AckPolicy::Every,
        gateway: None,
    },
    Composition {
        name: "tcp-ap-ns2-2005",
        summary: "TCP-AP exactly as its authors' ns-2 agent does it",
        source: "schemes.md 2, profile ns2-2005",
        sender: (NewReno, Ns2, SenderPacing::Agent(AdaptiveConfig::NS2_2005)),
        receiver: AckPolicy::Every,
        gateway: None,
    },
    Composition {
        name: "tcp-gap",
        summary: "TCP with gateway adaptive pacing and goodput control",
        source: "schemes.md 3; ElRakabawy, Klemm, Lindemann 2007",
        sender: (NewReno, Ns2, SenderPacing::WirelessKHop(AdaptiveConfig::PAPER)),
        receiver: AckPolicy::Every,
        gateway: Some(gateway::Config::PAPER),
    },
    Composition {
        name: "tcp-gap-nogc",
        summary: "TCP-GAP without goodput control",
        source: "schemes.md 3, without 3.5",
        sender: (NewReno, Ns2, SenderPacing::WirelessKHop(AdaptiveConfig::PAPER)),
        receiver: AckPolicy::Every,
        gateway: Some(gateway::Config { goodput_control: None, ..gateway::Config::PAPER }),
    },
];

/// The names of the built-in schemes, in the order of the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

/// The built-in scheme of that name.
#[must_use]
pub fn lookup(name: &str) -> Option<Scheme> {
    TABLE.iter().find(|row| row.name == name).map(|row| {
        let (congestion, profile, pacing) = row.sender;
        let rto_backoff = backs_off(&pacing);
        Scheme {
            name: row.name.to_owned(),
            summary: row.summary.to_owned(),
            source: row.source.to_owned(),
            sender: Sender {
                congestion,
                profile,
                rto: profile.rto(),
                rto_backoff,
                initial_ssthresh: profile.initial_ssthresh(),
                pacing,
            },
            receiver: row.receiver,
            relay: Relay::DropTail,
            gateway: row.gateway,
        }
    })
}

/// TCP-AP does not back its timeout off, every other scheme does (schemes.md section 2, "RTO back-off").
pub(crate) const fn backs_off(pacing: &SenderPacing) -> bool {
    !matches!(pacing, SenderPacing::KHop(_) | SenderPacing::Agent(_))
}
