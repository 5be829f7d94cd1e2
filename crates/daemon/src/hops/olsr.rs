//! OLSR: the routing tables of olsrd (jsoninfo plugin) and olsrd2 (its command `olsrv2info`).

use super::ask::ask;
use ipnet::IpNet;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// What jsoninfo is asked: it speaks HTTP, and answers a bare path too.
const JSONINFO: &str = "GET /routes HTTP/1.0\r\n\r\n";
/// What olsrd2's telnet is asked.
const OLSRV2INFO: &str = "/olsrv2info json route\n";

/// Prefixes and hops of olsrd.
///
/// # Errors
/// If nothing listens there, or the answer holds no routing table.
pub(super) fn olsrd(at: SocketAddr) -> Result<Vec<(IpNet, u32)>, String> {
    parse_jsoninfo(&ask(at, JSONINFO)?)
        .ok_or_else(|| format!("{at} answers, but not like olsrd's jsoninfo plugin"))
}

/// Prefixes and hops of olsrd2.
///
/// # Errors
/// As [`olsrd`].
pub(super) fn olsrd2(at: SocketAddr) -> Result<Vec<(IpNet, u32)>, String> {
    parse_olsrv2info(&ask(at, OLSRV2INFO)?)
        .ok_or_else(|| format!("{at} answers, but not like olsrd2's olsrv2info"))
}

/// Routes of jsoninfo: `metric` is the number of hops (`rtp_metric.hops`), whatever metric chose the route.
pub(crate) fn parse_jsoninfo(answer: &str) -> Option<Vec<(IpNet, u32)>> {
    let document = object(answer)?;
    let route = |route: &Value| {
        let address: IpAddr = route.get("destination")?.as_str()?.parse().ok()?;
        let length = u8::try_from(route.get("genmask")?.as_u64()?).ok()?;
        Some((IpNet::new(address, length).ok()?.trunc(), hops(route.get("metric")?)?))
    };
    Some(document.get("routes")?.as_array()?.iter().filter_map(route).collect())
}

/// Routes of olsrv2info: `domain_path_hops`. For a network behind a router that counts the network's own distance, too (RFC
/// 7181's attached networks; 1 unless it is said otherwise), so it is as far as the router, which is the route's last hop. A
/// router is there by its addresses, never by a network.
pub(crate) fn parse_olsrv2info(answer: &str) -> Option<Vec<(IpNet, u32)>> {
    let document = object(answer)?;
    let route = |route: &Value| {
        let text = route.get("route_dst")?.as_str()?;
        let prefix = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))?;
        Some((prefix.trunc(), hops(route.get("domain_path_hops")?)?))
    };
    let routes = document.get("route")?.as_array()?;
    let routers: BTreeMap<IpNet, u32> =
        routes.iter().filter_map(route).filter(|(prefix, _)| is_host(prefix)).collect();
    let by_radio = |entry: &Value| {
        let (prefix, hops) = route(entry)?;
        let router =
            || routers.get(&IpNet::from(entry.get("route_lasthop")?.as_str()?.parse::<IpAddr>().ok()?));
        let over = if is_host(&prefix) { None } else { router().copied() };
        Some((prefix, over.unwrap_or(hops)))
    };
    Some(routes.iter().filter_map(by_radio).collect())
}

/// True for one address.
fn is_host(prefix: &IpNet) -> bool {
    prefix.prefix_len() == prefix.max_prefix_len()
}

/// The JSON object in an answer, behind whatever headers and prompts; what follows it does not matter.
fn object(answer: &str) -> Option<Value> {
    let start = answer.find('{')?;
    serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>().next()?.ok()
}

/// A hop count, plain or as text; zero is this host itself.
fn hops(value: &Value) -> Option<u32> {
    let hops = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u32::try_from(hops).ok().filter(|hops| (1..=255).contains(hops))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What olsrd answered at both ends of a chain of four, asked as here (tests/fixtures/olsr).
    const AT_THE_GATEWAY: &str = include_str!("../../../../tests/fixtures/olsr/jsoninfo-routes.http");
    const AT_THE_GATEWAY_V6: &str = include_str!("../../../../tests/fixtures/olsr/jsoninfo-routes-v6.http");
    const THREE_HOPS_OFF: &str = include_str!("../../../../tests/fixtures/olsr/jsoninfo-routes-node-1.http");

    fn read(routes: &[(&str, u32)]) -> Option<Vec<(IpNet, u32)>> {
        Some(routes.iter().map(|(prefix, hops)| (prefix.parse().unwrap(), *hops)).collect())
    }

    #[test]
    fn jsoninfo_routes_as_recorded() {
        assert!(AT_THE_GATEWAY.starts_with("HTTP/1.1 200 OK\r\n"));
        let hosts = [("10.9.0.1/32", 3), ("10.9.0.2/32", 2), ("10.9.0.3/32", 1), ("10.9.1.3/32", 1)];
        let mut expected = hosts.to_vec();
        expected.push(("192.168.7.0/24", 3));
        assert_eq!(parse_jsoninfo(AT_THE_GATEWAY), read(&expected));
        let expected = [
            ("fd09::1/128", 3),
            ("fd09::2/128", 2),
            ("fd09::3/128", 1),
            ("fd09:1::3/128", 1),
            ("fd77::/48", 3),
        ];
        assert_eq!(parse_jsoninfo(AT_THE_GATEWAY_V6), read(&expected));
        let found = parse_jsoninfo(THREE_HOPS_OFF).unwrap();
        assert!(found.contains(&("10.9.1.4/32".parse().unwrap(), 3)), "{found:?}");
    }

    #[test]
    fn jsoninfo_routes_that_are_none() {
        let damaged = AT_THE_GATEWAY
            .replace("\"metric\": 3", "\"metric\": 0")
            .replace("\"10.9.0.2\"", "\"void\"")
            .replace("\"10.9.0.3\",\"genmask\": 32", "\"10.9.0.3\",\"genmask\": 200");
        assert_eq!(parse_jsoninfo(&damaged), read(&[("10.9.1.3/32", 1)]));
        assert_eq!(parse_jsoninfo("HTTP/1.1 404 Not Found\r\n\r\n"), None);
        assert_eq!(parse_jsoninfo("{\"error\": \"no\"}"), None);
    }

    const OLSRD2: &str = include_str!("../../../../tests/fixtures/olsr/olsrv2info-route.json");

    #[test]
    fn olsrv2info_routes_as_recorded() {
        let expected = [
            ("10.9.0.1/32", 3),
            ("10.9.0.2/32", 2),
            ("10.9.0.3/32", 1),
            ("192.168.7.0/24", 3), // Behind 10.9.0.1; `domain_path_hops` is 4.
            ("fd09::1/128", 3),
            ("fd09::2/128", 2),
            ("fd09::3/128", 1),
            ("fd77::/48", 3),
        ];
        assert_eq!(parse_olsrv2info(OLSRD2), read(&expected));
        assert_eq!(parse_olsrv2info(&format!("> {OLSRD2}\n> ")), read(&expected), "with telnet's prompts");
    }

    #[test]
    fn olsrv2info_routes_that_are_none() {
        let few = "{\"route\": [{\"route_dst\": \"10.1.0.9\", \"domain_path_hops\": \"2\"}, \
            {\"route_dst\": \"10.7.0.0/16\", \"route_lasthop\": \"10.1.0.8\", \"domain_path_hops\": 4}, \
            {\"route_dst\": \"10.1.0.1\", \"domain_path_hops\": 0}, {\"route_dst\": \"here\", \"domain_path_hops\": 1}]}";
        assert_eq!(parse_olsrv2info(few), read(&[("10.1.0.9/32", 2), ("10.7.0.0/16", 4)]));
        assert_eq!(parse_olsrv2info("Unknown command 'olsrv2info'\n"), None);
    }

    proptest! {
        #[test]
        fn no_answer_panics(text in "(\\{|\"routes\":|\"route\":|\\[|\\{\"destination\":\"10\\.0\\.0\\.1\",\"genmask\":|[0-9]{1,3}|,|\\}|\\]|é|.){0,12}") {
            let _ = (parse_jsoninfo(&text), parse_olsrv2info(&text));
        }
    }
}
