//! Babel: the routing table of babeld, by its local interface (option `local-port`), where its metric counts hops.
//!
//! babeld sums link costs. Where link quality is off, every link costs 96 (RFC 8966, appendix A.2.1: the suggested cost
//! of a wired link, babeld's default rxcost), and the metric divided by that is the number of hops. With link quality
//! (ETX) costs vary and say nothing about hops: then this source has no answer.

use super::ask::ask;
use ipnet::IpNet;
use std::net::SocketAddr;

/// The local interface greets first, then obeys.
const DUMP: &str = "dump\nquit\n";
/// Cost of a link where babeld counts hops.
const LINK: u32 = 96;

/// Prefixes and hops.
///
/// # Errors
/// If nothing listens there, the answer is not babeld's, or its metric does not count hops.
pub(super) fn routes(at: SocketAddr) -> Result<Vec<(IpNet, u32)>, String> {
    parse(&ask(at, DUMP)?).map_err(|problem| format!("{at}: {problem}"))
}

pub(crate) fn parse(answer: &str) -> Result<Vec<(IpNet, u32)>, String> {
    if !answer.starts_with("BABEL ") {
        return Err("answers, but not like babeld".to_owned());
    }
    let lines = || answer.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let other = lines()
        .filter(|words| words.starts_with(&["add", "neighbour"]))
        .filter_map(|words| field(&words, "cost"))
        .find(|cost| *cost != LINK.to_string());
    if let Some(cost) = other {
        return Err(format!(
            "a neighbour costs {cost}, not {LINK}: babeld weighs link quality, its metric counts no hops"
        ));
    }
    let route = |words: Vec<&str>| {
        let installed = words.starts_with(&["add", "route"]) && field(&words, "installed") == Some("yes");
        let metric: u32 = field(&words, "metric").filter(|_| installed)?.parse().ok()?;
        let prefix: IpNet = field(&words, "prefix")?.parse().ok()?;
        // A route for traffic from certain sources only is none for a host's address.
        let everybody = field(&words, "from").is_none_or(|from| from.ends_with("/0"));
        let counts = everybody && metric > 0 && metric.is_multiple_of(LINK) && metric / LINK <= 255;
        counts.then_some((prefix.trunc(), metric / LINK))
    };
    Ok(lines().filter_map(route).collect())
}

/// The word behind a name.
fn field<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    // The first two words are the event and its object.
    let at = words.iter().skip(2).position(|word| *word == name)?;
    words.get(at + 3).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANSWER: &str = "BABEL 1.0\nversion babeld-1.12.1\nhost gw\nmy-id 02:00:00:ff:fe:00:00:01\nok\n\
add interface mesh0 up true ipv6 fe80::1 ipv4 10.1.0.1\n\
add neighbour 55d0c0 address fe80::2 if mesh0 reach ffff ureach 0000 rxcost 96 txcost 96 cost 96\n\
add xroute 10.1.0.1/32-::/0 prefix 10.1.0.1/32 from ::/0 metric 0\n\
add route 55d1e0 prefix 10.1.0.2/32 from 0.0.0.0/0 installed yes id 02:00:00:ff:fe:00:00:02 metric 96 refmetric 0 via fe80::2 if mesh0\n\
add route 55d1f0 prefix 10.1.0.5/32 from 0.0.0.0/0 installed yes id 02:00:00:ff:fe:00:00:05 metric 384 refmetric 288 via fe80::2 if mesh0\n\
add route 55d200 prefix 10.1.0.5/32 from 0.0.0.0/0 installed no id 02:00:00:ff:fe:00:00:05 metric 576 refmetric 480 via fe80::3 if mesh0\n\
add route 55d210 prefix fd00:7::/64 from ::/0 installed yes id 02:00:00:ff:fe:00:00:07 metric 192 refmetric 96 via fe80::2 if mesh0\n\
add route 55d220 prefix 10.7.0.0/16 from 0.0.0.0/0 installed yes id 02:00:00:ff:fe:00:00:08 metric 200 refmetric 104 via fe80::2 if mesh0\n\
add route 55d230 prefix ::/0 from 2001:db8::/32 installed yes id 02:00:00:ff:fe:00:00:09 metric 96 refmetric 0 via fe80::2 if mesh0\nok\n";

    #[test]
    fn installed_routes_whose_metric_counts_hops() {
        let expected = [("10.1.0.2/32", 1), ("10.1.0.5/32", 4), ("fd00:7::/64", 2)];
        assert_eq!(parse(ANSWER).unwrap(), expected.map(|(prefix, hops)| (prefix.parse().unwrap(), hops)));
    }

    /// What babeld answered at one end of a chain of five (`VM_CASES=5 make test-vm`, tests/vm/guest/case-5-babel.sh).
    #[test]
    fn a_recorded_answer() {
        let answer = include_str!("../../../../fuzz/seeds/hops/babel");
        let expected = [("10.0.1.3/32", 2), ("10.0.1.5/32", 4)];
        assert_eq!(parse(answer).unwrap(), expected.map(|(prefix, hops)| (prefix.parse().unwrap(), hops)));
    }

    #[test]
    fn link_quality_is_no_hop_count() {
        let weighed = ANSWER.replace("txcost 96 cost 96", "txcost 256 cost 384");
        assert!(parse(&weighed).unwrap_err().contains("a neighbour costs 384"));
        assert!(parse("HTTP/1.0 400 Bad Request\r\n").is_err());
        assert_eq!(parse("BABEL 1.0\nok\nok\n"), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn no_answer_panics(text in "BABEL 1\\.0\n(add |route |neighbour |prefix |10\\.0\\.0\\.0/8 |installed yes |metric |cost |[0-9]{0,12} |\n|.){0,30}") {
            let _ = parse(&text);
        }
    }
}
