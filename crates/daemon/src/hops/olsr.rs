//! OLSR: the routing tables of olsrd (jsoninfo plugin) and olsrd2 (its command `olsrv2info`).

use super::ask::ask;
use ipnet::IpNet;
use serde_json::Value;
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

/// Routes of olsrv2info: `domain_path_hops`.
pub(crate) fn parse_olsrv2info(answer: &str) -> Option<Vec<(IpNet, u32)>> {
    let document = object(answer)?;
    let route = |route: &Value| {
        let text = route.get("route_dst")?.as_str()?;
        let prefix = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))?;
        Some((prefix.trunc(), hops(route.get("domain_path_hops")?)?))
    };
    Some(document.get("route")?.as_array()?.iter().filter_map(route).collect())
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

    /// Written after what olsrd's jsoninfo plugin prints (its function `ipc_print_routes`), not recorded; `void` is this host's own.
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n\r\n\
{\n \"pid\": 1234,\n \"systemTime\": 1700000000,\n \"timeSinceStartup\": 9000,\n \"routes\": [\n  {\n   \"destination\": \"10.1.0.7\",\n\
   \"genmask\": 32,\n   \"gateway\": \"10.1.0.2\",\n   \"metric\": 3,\n   \"etx\": 3.4,\n   \"rtpMetricCost\": 3481,\n\
   \"networkInterface\": \"wlan0\"\n  },\n  { \"destination\": \"10.9.0.0\", \"genmask\": 16, \"gateway\": \"10.1.0.2\", \"metric\": 2 },\n\
  { \"destination\": \"fd00::5\", \"genmask\": 128, \"gateway\": \"fe80::1\", \"metric\": 1 },\n\
  { \"destination\": \"10.1.0.1\", \"genmask\": 32, \"gateway\": \"0.0.0.0\", \"metric\": 0, \"rtpMetricCost\": 0, \"networkInterface\": \"void\" },\n\
  { \"destination\": \"nonsense\", \"genmask\": 32, \"metric\": 1 }, { \"destination\": \"10.0.0.1\", \"genmask\": 200, \"metric\": 1 }\n ]\n}\n";

    #[test]
    fn jsoninfo_routes() {
        let routes = parse_jsoninfo(ANSWER).unwrap();
        let expected = [("10.1.0.7/32", 3), ("10.9.0.0/16", 2), ("fd00::5/128", 1)];
        assert_eq!(routes, expected.map(|(prefix, hops)| (prefix.parse().unwrap(), hops)));
        assert_eq!(parse_jsoninfo("HTTP/1.1 404 Not Found\r\n\r\n"), None);
        assert_eq!(parse_jsoninfo("{\"error\": \"no\"}"), None);
    }

    #[test]
    fn olsrv2info_routes() {
        let answer = "> {\"route\":[{\"route_dst\":\"10.1.0.9\",\"route_gw\":\"10.1.0.2\",\"route_metric\":2,\"route_if\":\"mesh0\",\
            \"domain\":\"0\",\"domain_path_hops\":2},{\"route_dst\":\"fd00:2::/64\",\"domain_path_hops\":\"4\"},\
            {\"route_dst\":\"10.1.0.1\",\"domain_path_hops\":0}]}\n> ";
        let expected = [("10.1.0.9/32", 2), ("fd00:2::/64", 4)];
        assert_eq!(
            parse_olsrv2info(answer).unwrap(),
            expected.map(|(prefix, hops)| (prefix.parse().unwrap(), hops))
        );
    }

    proptest! {
        #[test]
        fn no_answer_panics(text in "(\\{|\"routes\":|\"route\":|\\[|\\{\"destination\":\"10\\.0\\.0\\.1\",\"genmask\":|[0-9]{1,3}|,|\\}|\\]|é|.){0,12}") {
            let _ = (parse_jsoninfo(&text), parse_olsrv2info(&text));
        }
    }
}
