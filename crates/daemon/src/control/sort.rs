//! The orders in which flows can be listed, and the filters.

use super::protocol::Flow;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::net::{IpAddr, SocketAddr};

/// What flows are sorted by. Numbers: largest first; what is unknown comes last either way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SortKey {
    /// Name, ascending.
    Name,
    /// Goodput of the latest second.
    #[default]
    Goodput,
    /// Wireless round trip.
    Wireless,
    /// Wired round trip.
    Wired,
    /// The law's rate.
    Rate,
    /// Packets waiting.
    Queue,
    /// How long packets wait.
    Wait,
    /// Wireless hops.
    Hops,
    /// Bytes carried.
    Bytes,
    /// Time since the first packet.
    Age,
}

impl SortKey {
    /// All of them, in the order of `top`'s columns.
    pub const ALL: [Self; 10] = [
        Self::Name,
        Self::Hops,
        Self::Wireless,
        Self::Wired,
        Self::Goodput,
        Self::Rate,
        Self::Queue,
        Self::Wait,
        Self::Bytes,
        Self::Age,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Goodput => "goodput",
            Self::Wireless => "wireless",
            Self::Wired => "wired",
            Self::Rate => "rate",
            Self::Queue => "queue",
            Self::Wait => "wait",
            Self::Hops => "hops",
            Self::Bytes => "bytes",
            Self::Age => "age",
        }
    }

    /// Puts `flows` in order; ties by name.
    pub fn sort(self, flows: &mut [Flow], reverse: bool) {
        if self == Self::Name {
            flows.sort_by(|a, b| if reverse { b.flow.cmp(&a.flow) } else { a.flow.cmp(&b.flow) });
            return;
        }
        flows.sort_by(|a, b| {
            let order = match (self.value(a), self.value(b)) {
                (Some(a), Some(b)) if reverse => a.total_cmp(&b),
                (Some(a), Some(b)) => b.total_cmp(&a),
                (a, b) => a.is_none().cmp(&b.is_none()),
            };
            order.then_with(|| -> Ordering { a.flow.cmp(&b.flow) })
        });
    }

    fn value(self, flow: &Flow) -> Option<f64> {
        match self {
            Self::Name => None,
            Self::Goodput => flow.goodput_bps.map(|bps| bps as f64),
            Self::Wireless => flow.wireless_rtt_s,
            Self::Wired => flow.wired_rtt_s,
            Self::Rate => flow.rate_bps.map(|bps| bps as f64),
            Self::Queue => Some(flow.queued as f64),
            Self::Wait => flow.wait_s,
            Self::Hops => flow.hops.map(f64::from),
            Self::Bytes => Some((flow.down_bytes + flow.up_bytes) as f64),
            Self::Age => Some(flow.age_s),
        }
    }
}

/// Which flows are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Those with an end in the prefix.
    Prefix(IpNet),
    /// Those with an end of this port.
    Port(u16),
}

impl Filter {
    /// Reads `10.1.2.0/24`, `10.1.2.3` or `:443`.
    ///
    /// # Errors
    /// A message for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let port = text.strip_prefix(':').and_then(|port| port.parse().ok()).map(Self::Port);
        let prefix = || text.parse().map(Self::Prefix).ok();
        let address = || text.parse::<IpAddr>().map(|address| Self::Prefix(address.into())).ok();
        port.or_else(prefix).or_else(address).ok_or_else(|| {
            format!(
                "{text:?} is no filter: give an address (10.1.2.3), a prefix (10.1.2.0/24) or a port (:443)"
            )
        })
    }

    /// True if one of the ends fits.
    #[must_use]
    pub fn fits(&self, ends: [SocketAddr; 2]) -> bool {
        ends.iter().any(|end| match self {
            Self::Prefix(prefix) => prefix.contains(&end.ip()),
            Self::Port(port) => *port == end.port(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::example;

    #[test]
    fn numbers_come_largest_first_and_the_unknown_last() {
        let flow = |name: &str, goodput| Flow { flow: name.into(), goodput_bps: goodput, ..example::flow() };
        let mut flows = [flow("c", None), flow("b", Some(5)), flow("d", Some(9)), flow("a", Some(5))];
        let names = |flows: &[Flow]| flows.iter().map(|f| f.flow.clone()).collect::<String>();
        SortKey::Goodput.sort(&mut flows, false);
        assert_eq!(names(&flows), "dabc");
        SortKey::Goodput.sort(&mut flows, true);
        assert_eq!(names(&flows), "abdc");
        SortKey::Name.sort(&mut flows, false);
        assert_eq!(names(&flows), "abcd");
        SortKey::Name.sort(&mut flows, true);
        assert_eq!(names(&flows), "dcba");
    }

    #[test]
    fn a_filter_is_an_address_a_prefix_or_a_port() {
        let ends = ["10.1.2.3:5001", "192.0.2.1:443"].map(|end| end.parse().unwrap());
        for (text, fits) in [
            ("10.1.2.3", true),
            ("10.1.2.4", false),
            ("10.1.0.0/16", true),
            ("192.0.2.1/32", true),
            (":443", true),
            (":44", false),
            ("fd00::/8", false),
        ] {
            assert_eq!(Filter::parse(text).unwrap().fits(ends), fits, "{text}");
        }
        for wrong in ["", ":", ":70000", "10.1.2", "10.1.2.3/33", "mesh"] {
            assert!(Filter::parse(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
        let refused = Filter::parse("\u{1b}[2J\n").unwrap_err();
        assert!(refused.starts_with(r#""\u{1b}[2J\n" is no filter"#), "{refused}");
    }
}
