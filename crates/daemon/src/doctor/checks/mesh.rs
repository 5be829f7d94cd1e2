//! Interfaces, forwarding, and what leads packets past the daemon.

use crate::config::{Config, Datapath, Flows, RateSource};
use crate::doctor::facts::{Facts, Interface};
use crate::doctor::finding::Finding;
use crate::plausible::name_instead;
use crate::text::bit_rate;
use ipnet::IpNet;
use meshpace_pacing::FLOW_LAWS;

/// Kinds of interfaces that wrap packets into others (ip-link(8)).
const TUNNELS: [&str; 14] = [
    "wireguard",
    "tun",
    "gre",
    "gretap",
    "ip6gre",
    "ip6gretap",
    "ipip",
    "ip6tnl",
    "sit",
    "vxlan",
    "geneve",
    "vti",
    "xfrm",
    "l2tp",
];
/// Least MTU of IPv6 (RFC 8200, section 5).
const LEAST_IPV6: u32 = 1_280;
/// Largest packet that an 802.11 frame carries (IEEE 802.11: maximum MSDU size).
const MSDU: u32 = 2_304;

pub(super) fn is_configured(config: &Config, facts: &Facts) -> Vec<Finding> {
    if let Some(file) = &facts.missing_file {
        let found = format!("{} does not exist: these are the defaults, and nothing is mesh", file.display());
        return vec![Finding::serious("configuration", found, "meshpaced init writes one")];
    }
    if !config.mesh.interfaces.is_empty() || !config.mesh.subnets.is_empty() {
        return Vec::new();
    }
    let found = "neither mesh.interfaces nor mesh.subnets: nothing is mesh";
    vec![Finding::serious(
        "configuration",
        found,
        "name the interface toward the mesh: interfaces = [\"mesh0\"]",
    )]
}

pub(super) fn interfaces(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "mesh interface";
    if facts.interfaces.is_none() {
        let found = "interfaces could not be listed (`ip -json -details link`)";
        let remedy = "install iproute2 (OpenWrt: ip-full)";
        return vec![Finding::warning(subject, found, remedy)];
    }
    config
        .mesh
        .interfaces
        .iter()
        .flat_map(|name| match facts.interface(name) {
            None => vec![Finding::serious(
                subject,
                format!("{name} does not exist"),
                "correct mesh.interfaces, or make it",
            )],
            Some(interface) => of(interface, &config.mesh.interfaces),
        })
        .collect()
}

/// Rates that a driver is asked for, and no driver has.
pub(super) fn link_rate(config: &Config, facts: &Facts) -> Vec<Finding> {
    let named = &config.mesh.interfaces;
    let (Some(all), RateSource::Nl80211) = (&facts.interfaces, config.mesh.rate_source) else {
        return Vec::new();
    };
    let leads = |interface: &Interface| {
        named.contains(&interface.name)
            || interface.master.as_ref().is_some_and(|master| named.contains(master))
    };
    if all.iter().any(|interface| leads(interface) && interface.wireless.is_some()) {
        return Vec::new();
    }
    let taken = bit_rate(config.mesh.rate.as_bits_per_sec() as f64);
    let found = format!(
        "mesh.rate is \"nl80211\", and no 802.11 interface leads to the mesh: {taken} is taken, or more if more is seen"
    );
    let remedy =
        "write the links' MAC data rate into mesh.rate; where there is an 802.11 interface, install iw";
    vec![Finding::warning("link rate", found, remedy)]
}

/// Hosts that share, and what that leaves of the pace of flows.
pub(super) fn hosts(config: &Config, _: &Facts) -> Vec<Finding> {
    let noted = |found: String, remedy: &str| {
        vec![Finding { remedy: Some(remedy.to_owned()), ..Finding::note("hosts", found) }]
    };
    let law = config.law.word().filter(|word| *word != FLOW_LAWS[0].about.word);
    match (config.hosts.shaper, config.hosts.flows, law) {
        (Some(_), Flows::Paced, _) => noted(
            "each paced flow has the pace of [law] before hosts take turns: a host with more flows gets more"
                .to_owned(),
            "flows = \"free\" in [hosts] lets hosts share equally",
        ),
        (Some(_), Flows::Free, Some(law)) => noted(
            format!("flows are left to the shaper of hosts: the law {law} paces none"),
            "flows = \"paced\" in [hosts] gives each a pace before hosts take turns",
        ),
        (Some(_), Flows::Free, None) | (None, ..) => Vec::new(),
    }
}

fn of(interface: &Interface, named: &[String]) -> Vec<Finding> {
    let Interface { name, mtu, .. } = interface;
    let subject = "mesh interface";
    let mut found = Vec::new();
    if let Some(master) = interface.master.as_ref().filter(|master| !named.contains(master)) {
        let what =
            format!("{name} is a part of {master}: to the firewall its packets are {master}'s, and not seen");
        found.push(Finding::serious(subject, what, name_instead(master)));
    }
    if !interface.up {
        found.push(Finding::warning(subject, format!("{name} is down"), format!("ip link set {name} up")));
    }
    if *mtu < LEAST_IPV6 {
        let what =
            format!("{name} has an MTU of {mtu}: IPv6 needs {LEAST_IPV6}, and small packets waste the air");
        found.push(Finding::warning(subject, what, format!("ip link set {name} mtu 1500")));
    } else if *mtu > MSDU {
        let what = format!("{name} has an MTU of {mtu}: no 802.11 frame carries more than {MSDU}");
        found.push(Finding::warning(subject, what, format!("ip link set {name} mtu 1500")));
    }
    if found.is_empty() {
        let kind = interface.wireless.as_ref().or(interface.kind.as_ref());
        let kind = kind.map_or(String::new(), |kind| format!(", {kind}"));
        found.push(Finding::good(subject, format!("{name}: up, MTU {mtu}{kind}")));
    }
    found
}

pub(super) fn offloads(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "offloads";
    let mut found = Vec::new();
    for interface in config.mesh.interfaces.iter().filter_map(|name| facts.interface(name)) {
        let Interface { name, offloads, .. } = interface;
        if offloads.contains(&"large-receive-offload") {
            let what = format!("{name}: large-receive-offload merges packets that are to be forwarded");
            found.push(Finding::warning(subject, what, format!("ethtool -K {name} lro off")));
        }
        // nfnetlink_queue hands out single segments; a queueing discipline sees packets of up to 64 KB.
        let merged: Vec<_> =
            offloads.iter().filter(|offload| **offload != "large-receive-offload").copied().collect();
        if config.datapath == Datapath::Ebpf && !merged.is_empty() && interface.gso_max_segs != Some(1) {
            let what = format!(
                "{name}: {} on: the eBPF data path would pace bursts of up to 64 KB",
                merged.join(", ")
            );
            let remedy = format!("ethtool -K {name} gro off; ip link set {name} gso_max_segs 1");
            found.push(Finding::warning(subject, what, remedy));
        } else if config.datapath == Datapath::Nfqueue && !merged.is_empty() {
            found.push(Finding::good(
                subject,
                format!("{name}: {} on; the queue hands out single segments", merged.join(", ")),
            ));
        }
    }
    found
}

pub(super) fn forwarding(config: &Config, facts: &Facts) -> Vec<Finding> {
    let subject = "forwarding";
    let has = |v4: bool| {
        let subnets = &config.mesh.subnets;
        subnets.is_empty() || subnets.iter().any(|prefix| matches!(prefix, IpNet::V4(_)) == v4)
    };
    let mut found = Vec::new();
    match facts.forwards_v4 {
        Some(false) if has(true) => found.push(Finding::serious(
            subject,
            "net.ipv4.ip_forward is 0: this host forwards no IPv4",
            "sysctl -w net.ipv4.ip_forward=1, and the same in /etc/sysctl.d",
        )),
        Some(true) => found.push(Finding::good(subject, "IPv4")),
        _ => {}
    }
    match facts.forwards_v6 {
        Some(false) if config.mesh.subnets.iter().any(|prefix| matches!(prefix, IpNet::V6(_))) => {
            found.push(Finding::serious(
                subject,
                "net.ipv6.conf.all.forwarding is 0: this host forwards no IPv6",
                "sysctl -w net.ipv6.conf.all.forwarding=1, and the same in /etc/sysctl.d",
            ));
        }
        Some(false) => found
            .push(Finding::note(subject, "net.ipv6.conf.all.forwarding is 0: this host forwards no IPv6")),
        Some(true) => found.push(Finding::good(subject, "IPv6")),
        None => {}
    }
    found
}

pub(super) fn flow_offload(_: &Config, facts: &Facts) -> Vec<Finding> {
    let finding = |offload: &super::super::facts::FlowOffload| {
        let by = if offload.hardware { "hardware" } else { "software" };
        let found = format!(
            "{} ({by}): established flows go past the FORWARD hook, where they are paced",
            offload.what
        );
        let remedy = "remove the flow offload (OpenWrt: uci set firewall.@defaults[0].flow_offloading=0; uci set \
                      firewall.@defaults[0].flow_offloading_hw=0; uci commit firewall; service firewall restart)";
        Finding::serious("flow offload", found, remedy)
    };
    facts.flow_offloads.iter().map(finding).collect()
}

pub(super) fn tunnels(config: &Config, facts: &Facts) -> Vec<Finding> {
    let is_tunnel = |interface: &&Interface| {
        let kind = interface.kind.as_deref().unwrap_or_default();
        interface.up && TUNNELS.contains(&kind) && !config.mesh.interfaces.contains(&interface.name)
    };
    let finding = |interface: &Interface| {
        let Interface { name, kind, .. } = interface;
        let found = format!(
            "{name} ({}): what is inside a tunnel is not seen where it passes encapsulated, and not paced",
            kind.as_deref().unwrap_or_default()
        );
        let remedy = format!(
            "if {name} ends in the mesh, add it to mesh.interfaces; if it leads to the Internet, nothing"
        );
        Finding { severity: crate::doctor::Severity::Note, ..Finding::warning("tunnel", found, remedy) }
    };
    facts.interfaces.iter().flatten().filter(is_tunnel).map(finding).collect()
}

pub(super) fn reverse_path_filter(config: &Config, facts: &Facts) -> Vec<Finding> {
    let strict = |name: &&String| facts.interface(name).is_some_and(|interface| interface.strict_rp_filter);
    let names: Vec<_> = config.mesh.interfaces.iter().filter(strict).map(String::as_str).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let found = format!(
        "rp_filter is strict on {}: packets that come from the mesh by another way than theirs back are dropped",
        names.join(", ")
    );
    if names.len() > 1 {
        let remedy =
            format!("sysctl -w net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.{}.rp_filter=2", names[0]);
        return vec![Finding::warning("reverse path filter", found, remedy)];
    }
    vec![Finding::note("reverse path filter", found)]
}
