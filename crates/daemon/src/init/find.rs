//! Finding the interfaces toward a mesh: what `ip` and `iw` say, then a pure judgement.

use crate::Failure;
use crate::doctor::{Interface, interfaces};
use crate::tool::run;
use serde_json::Value;
use std::collections::BTreeMap;

/// The number under which babeld enters its routes (RTPROT_BABEL of linux/rtnetlink.h).
const BABEL: &str = "42";

/// An interface toward the mesh, and what tells so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub name: String,
    pub evidence: Evidence,
    /// The port that shows it, if `name` is a bridge: to the firewall its packets are the bridge's.
    pub port: Option<String>,
}

/// Why an interface is taken for one toward the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The user says so.
    Told {
        /// It is wireless.
        wireless: bool,
    },
    /// It is an 802.11s mesh point.
    MeshPoint,
    /// It is an 802.11 ad hoc (IBSS) interface.
    AdHoc,
    /// It is the soft interface of batman-adv.
    Batman,
    /// Routes of Babel lead over it.
    Babel {
        /// It is wireless.
        wireless: bool,
    },
}

impl Evidence {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Told { .. } => "as told",
            Self::MeshPoint => "802.11s mesh point",
            Self::AdHoc => "802.11 ad hoc",
            Self::Batman => "batman-adv",
            Self::Babel { .. } => "routes of Babel",
        }
    }

    /// True if nl80211 tells bitrates toward its neighbours.
    pub const fn has_bitrates(self) -> bool {
        matches!(
            self,
            Self::MeshPoint | Self::AdHoc | Self::Babel { wireless: true } | Self::Told { wireless: true }
        )
    }
}

/// What the tools printed.
#[derive(Debug, Default)]
pub(super) struct Machine {
    interfaces: Vec<Interface>,
    /// Types by the interface's name, as iw words them.
    wireless: BTreeMap<String, String>,
    /// Interfaces of Babel's routes, each as often as there are routes.
    babel: Vec<String>,
}

/// Asks the machine.
///
/// # Errors
/// [`Failure::Operational`] if interfaces cannot be listed.
pub(super) fn look() -> Result<Machine, Failure> {
    let missing =
        "interfaces cannot be listed (`ip -json -details link`): install iproute2 (OpenWrt: ip-full)";
    let interfaces = interfaces(&[]).ok_or_else(|| Failure::Operational(missing.to_owned()))?;
    // Without iw nothing wireless is found; without the routes, no Babel.
    let wireless = run("iw", &["dev"]).map(|text| types(&text)).unwrap_or_default();
    let routes = |family| run("ip", &[family, "-N", "-json", "route", "show", "proto", BABEL]);
    let babel = ["-4", "-6"].into_iter().filter_map(|family| routes(family).ok());
    Ok(Machine { interfaces, wireless, babel: babel.flat_map(|text| devices(&text)).collect() })
}

/// The wireless interfaces, whatever their type: nl80211 tells bitrates toward their neighbours.
pub(super) fn wireless() -> Vec<String> {
    run("iw", &["dev"]).map(|text| types(&text)).unwrap_or_default().into_keys().collect()
}

impl Machine {
    /// Interfaces toward a mesh, in the order in which the kernel lists them. What carries batman-adv is none: hosts are
    /// behind its soft interface.
    pub fn mesh(&self) -> Vec<Found> {
        let evidence = |interface: &Interface| {
            let wireless = self.wireless.get(&interface.name).map(String::as_str);
            if interface.kind.as_deref() == Some("batadv") {
                return Some(Evidence::Batman);
            }
            if interface.master_is(|master| self.is_a(master, "batadv")) {
                return None;
            }
            match wireless {
                Some("mesh point") => Some(Evidence::MeshPoint),
                Some("IBSS") => Some(Evidence::AdHoc),
                _ if self.babel.contains(&interface.name) => {
                    Some(Evidence::Babel { wireless: wireless.is_some() })
                }
                _ => None,
            }
        };
        let found = |interface: &Interface| {
            let (evidence, own) = (evidence(interface)?, interface.name.clone());
            let bridge = interface.master.clone().filter(|master| self.is_a(master, "bridge"));
            Some(match bridge {
                None => Found { name: own, evidence, port: None },
                Some(bridge) => Found { name: bridge, evidence, port: Some(own) },
            })
        };
        let mut all: Vec<Found> = Vec::new();
        for found in self.interfaces.iter().filter_map(found) {
            if all.iter().all(|other| other.name != found.name) {
                all.push(found);
            }
        }
        all
    }

    /// The interfaces there are, but the loopback.
    pub fn names(&self) -> Vec<&str> {
        self.interfaces.iter().map(|interface| interface.name.as_str()).filter(|name| *name != "lo").collect()
    }

    fn is_a(&self, name: &str, kind: &str) -> bool {
        let interface = self.interfaces.iter().find(|interface| interface.name == name);
        interface.is_some_and(|interface| interface.kind.as_deref() == Some(kind))
    }
}

/// `iw dev`: `Interface NAME`, then `type TYPE`, for each.
pub(crate) fn types(text: &str) -> BTreeMap<String, String> {
    let mut types = BTreeMap::new();
    let mut name = None;
    for line in text.lines().map(str::trim) {
        if let Some(found) = line.strip_prefix("Interface ") {
            name = Some(found.to_owned());
        } else if let Some(found) = line.strip_prefix("type ") {
            types.extend(name.take().map(|name| (name, found.to_owned())));
        }
    }
    types
}

/// The devices in `ip -json route`.
pub(crate) fn devices(text: &str) -> Vec<String> {
    let routes: Value = serde_json::from_str(text).unwrap_or_default();
    let device = |route: &Value| route["dev"].as_str().map(str::to_owned);
    routes.as_array().into_iter().flatten().filter_map(device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interface(name: &str, kind: Option<&str>, master: Option<&str>) -> Interface {
        Interface {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            master: master.map(str::to_owned),
            ..Interface::default()
        }
    }

    fn found(machine: &Machine) -> Vec<(String, Evidence)> {
        machine.mesh().into_iter().map(|found| (found.name, found.evidence)).collect()
    }

    const IW: &str = "phy#1\n\tInterface wlan1\n\t\tifindex 5\n\t\ttype IBSS\nphy#0\n\tInterface mesh0\n\t\tifindex 4\n\
        \t\taddr 02:00:00:00:00:00\n\t\ttype mesh point\n\tInterface ap0\n\t\ttype AP\n";

    #[test]
    fn mesh_points_ad_hoc_batman_and_babel_are_found() {
        let machine = Machine {
            interfaces: ["lo", "eth0", "mesh0", "ap0", "wlan1", "wg0"]
                .map(|n| interface(n, None, None))
                .into(),
            wireless: types(IW),
            babel: devices(r#"[{"dst":"10.1.0.2","dev":"wg0"},{"dst":"10.1.0.3","dev":"ap0"},{"dst":"x"}]"#),
        };
        let expected = [
            ("mesh0", Evidence::MeshPoint),
            ("ap0", Evidence::Babel { wireless: true }),
            ("wlan1", Evidence::AdHoc),
            ("wg0", Evidence::Babel { wireless: false }),
        ];
        assert_eq!(found(&machine), expected.map(|(name, evidence)| (name.to_owned(), evidence)));
        assert_eq!(machine.names(), ["eth0", "mesh0", "ap0", "wlan1", "wg0"]);
    }

    #[test]
    fn below_batman_nothing_is_mesh() {
        let machine = Machine {
            interfaces: vec![interface("mesh0", None, Some("bat0")), interface("bat0", Some("batadv"), None)],
            wireless: types(IW),
            babel: Vec::new(),
        };
        assert_eq!(found(&machine), [("bat0".to_owned(), Evidence::Batman)]);
    }

    #[test]
    fn a_port_of_a_bridge_is_the_bridges() {
        let machine = Machine {
            interfaces: vec![
                interface("mesh0", None, Some("br-lan")),
                interface("mesh1", None, Some("br-lan")),
                interface("br-lan", Some("bridge"), None),
            ],
            wireless: types("Interface mesh0\n\ttype mesh point\nInterface mesh1\n\ttype mesh point\n"),
            babel: Vec::new(),
        };
        let expected =
            Found { name: "br-lan".into(), evidence: Evidence::MeshPoint, port: Some("mesh0".into()) };
        assert_eq!(machine.mesh(), [expected]);
    }

    #[test]
    fn a_machine_without_mesh_has_none() {
        let machine = Machine {
            interfaces: vec![interface("eth0", None, None), interface("ap0", None, Some("br0"))],
            wireless: types(IW),
            babel: devices("not json"),
        };
        assert_eq!(found(&machine), []);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(Interface |type |mesh point|\n|\t|\\[|\\{\"dev\":\"x\"\\}|\\]|é|.){0,20}") {
            let _ = (types(&text), devices(&text));
        }
    }
}
