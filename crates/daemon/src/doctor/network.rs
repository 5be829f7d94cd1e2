//! Facts about interfaces, forwarding and the rule set.

use super::facts::{FlowOffload, Interface};
use super::kernel::read;
use crate::tool::run;
use serde_json::Value;

/// Offloads of `ethtool -k` that put several segments into one packet.
const OFFLOADS: [&str; 4] = [
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
];

/// Every interface; ethtool and iw are asked about those in `mesh`.
pub(crate) fn interfaces(mesh: &[String]) -> Option<Vec<Interface>> {
    let listed = run("ip", &["-json", "-details", "link", "show"]).ok()?;
    let strict_everywhere = is_strict("all");
    let complete = |mut interface: Interface| {
        interface.strict_rp_filter = strict_everywhere || is_strict(&interface.name);
        if mesh.contains(&interface.name) {
            interface.offloads =
                run("ethtool", &["-k", &interface.name]).map(|text| offloads(&text)).unwrap_or_default();
            interface.wireless =
                run("iw", &["dev", &interface.name, "info"]).ok().and_then(|text| wireless(&text));
        }
        interface
    };
    Some(links(&listed)?.into_iter().map(complete).collect())
}

/// A switch of `/proc/sys/net`.
pub(super) fn switch(name: &str) -> Option<bool> {
    read(&format!("/proc/sys/net/{name}")).map(|value| value != "0")
}

fn is_strict(interface: &str) -> bool {
    read(&format!("/proc/sys/net/ipv4/conf/{interface}/rp_filter")).as_deref() == Some("1")
}

/// Flowtables of nftables in use, and the offload target of iptables.
pub(super) fn flow_offloads() -> Vec<FlowOffload> {
    let nft = run("nft", &["list", "ruleset"]).map(|rules| flowtables(&rules)).unwrap_or_default();
    // Only asked where it has rules already; asking the old iptables would load it.
    let iptables = run("iptables-nft-save", &[] as &[&str]).unwrap_or_default();
    let target = iptables.lines().find(|line| line.contains("-j FLOWOFFLOAD"));
    let target = target.map(|line| FlowOffload { what: line.to_owned(), hardware: line.contains("--hw") });
    nft.into_iter().chain(target).collect()
}

/// `ip -json -details link show`.
pub(crate) fn links(listed: &str) -> Option<Vec<Interface>> {
    let links: Value = serde_json::from_str(listed).ok()?;
    let number = |link: &Value, key: &str| link[key].as_u64().and_then(|number| u32::try_from(number).ok());
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let interface = |link: &Value| {
        Some(Interface {
            name: text(&link["ifname"])?,
            kind: text(&link["linkinfo"]["info_kind"]),
            master: text(&link["master"]),
            up: link["flags"].as_array().is_some_and(|flags| flags.iter().any(|flag| flag == "UP")),
            mtu: number(link, "mtu").unwrap_or_default(),
            qdisc: text(&link["qdisc"]),
            gso_max_segs: number(link, "gso_max_segs"),
            ..Interface::default()
        })
    };
    Some(links.as_array()?.iter().filter_map(interface).collect())
}

pub(crate) fn offloads(text: &str) -> Vec<&'static str> {
    let is_on = |name: &&str| {
        let state = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
        state.is_some_and(|state| state.starts_with("on"))
    };
    OFFLOADS.into_iter().filter(is_on).collect()
}

pub(crate) fn wireless(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.trim().strip_prefix("type ")).map(str::to_owned)
}

/// Flowtables that a rule adds flows to, in `nft list ruleset`.
pub(crate) fn flowtables(rules: &str) -> Vec<FlowOffload> {
    let mut found = Vec::new();
    let mut lines = rules.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("flowtable ").and_then(|rest| rest.strip_suffix(" {")) else {
            continue;
        };
        let body: Vec<_> = lines.by_ref().take_while(|line| *line != "}").collect();
        let hardware = body.iter().any(|line| line.starts_with("flags") && line.contains("offload"));
        let used = ["flow add @", "flow offload @"].iter().any(|verb| {
            rules.lines().any(|line| {
                let table = line.split(verb).nth(1).and_then(|rest| rest.split_whitespace().next());
                table == Some(name)
            })
        });
        if used {
            found.push(FlowOffload { what: format!("flowtable {name}"), hardware });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_of_ip() {
        let listed = r#"[{"ifname":"lo","flags":["LOOPBACK","UP"],"mtu":65536,"qdisc":"noqueue"},
            {"ifname":"wg0","flags":["POINTOPOINT"],"mtu":1420,"master":"br0","linkinfo":{"info_kind":"wireguard"},"gso_max_segs":65535}]"#;
        let links = links(listed).unwrap();
        assert_eq!((links[0].name.as_str(), links[0].up, links[0].kind.as_deref()), ("lo", true, None));
        let wg0 = &links[1];
        assert_eq!(
            (wg0.up, wg0.mtu, wg0.kind.as_deref(), wg0.gso_max_segs),
            (false, 1420, Some("wireguard"), Some(65_535))
        );
        assert!(wg0.master_is(|master| master == "br0") && !links[0].master_is(|_| true));
        assert_eq!(super::links("Device \"x\" does not exist."), None);
    }

    #[test]
    fn offloads_of_ethtool_and_type_of_iw() {
        let text = "Features for m:\ntcp-segmentation-offload: on\n\ttx-tcp-segmentation: on\ngeneric-segmentation-offload: off\n\
            generic-receive-offload: on [fixed]\nlarge-receive-offload: off [fixed]\n";
        assert_eq!(offloads(text), ["tcp-segmentation-offload", "generic-receive-offload"]);
        assert_eq!(
            wireless("Interface mesh0\n\tifindex 3\n\ttype mesh point\n\tchannel 6\n").as_deref(),
            Some("mesh point")
        );
    }

    #[test]
    fn flowtables_that_are_used() {
        let rules = "table inet fw4 {\n\tflowtable ft {\n\t\thook ingress priority filter\n\t\tdevices = { eth0, mesh0 }\n\
            \t\tflags offload;\n\t}\n\tflowtable idle {\n\t\thook ingress priority filter\n\t}\n\tchain forward {\n\
            \t\tmeta l4proto { tcp, udp } flow add @ft comment \"offload\"\n\t}\n}\n";
        assert_eq!(flowtables(rules), [FlowOffload { what: "flowtable ft".to_owned(), hardware: true }]);
        assert_eq!(flowtables("table inet x {\n}\n"), []);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(flowtable | \\{|\\}|flow add @|\n|ft|flags offload|tcp-segmentation-offload: on|é|.){0,20}") {
            let _ = (flowtables(&text), offloads(&text), links(&text), wireless(&text));
        }
    }
}
