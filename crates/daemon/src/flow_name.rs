//! Naming a flow, and finding the one that a name means.

use meshpace_gateway::{Endpoint, FlowKey};
use std::net::SocketAddr;

/// Most names listed when a part of a name fits several flows.
const LISTED: usize = 8;

/// A flow's name: its end in the mesh, a dash, its end in the Internet, as `10.1.2.3:5001-93.184.216.34:443` or
/// `[fd00::3]:5001-[2001:db8::1]:443`.
#[must_use]
pub fn flow_name(key: &FlowKey) -> String {
    format!("{}-{}", end_name(&key.wireless), end_name(&key.wired))
}

/// One end's name: address and port.
#[must_use]
pub fn end_name(end: &Endpoint) -> String {
    SocketAddr::new(end.address, end.port).to_string()
}

/// The flow that `text` means: the one of that name; else the only one with that end or that address; else the only one
/// whose name contains it.
///
/// # Errors
/// A message for the user if no flow fits, or several.
pub fn find_flow<'a>(
    text: &str,
    keys: &(impl Iterator<Item = &'a FlowKey> + Clone),
) -> Result<FlowKey, String> {
    type Fits = fn(&str, &FlowKey) -> bool;
    let ways: [Fits; 3] = [
        |text, key| flow_name(key) == text,
        |text, key| {
            [key.wireless, key.wired]
                .iter()
                .any(|end| end_name(end) == text || end.address.to_string() == text)
        },
        |text, key| flow_name(key).contains(text),
    ];
    for fits in ways {
        let mut found = keys.clone().filter(|key| fits(text, key));
        let Some(first) = found.next() else { continue };
        let others: Vec<&FlowKey> = found.collect();
        if others.is_empty() {
            return Ok(*first);
        }
        let shown: Vec<String> =
            std::iter::once(first).chain(others.iter().copied()).take(LISTED).map(flow_name).collect();
        let more = (others.len() + 1).saturating_sub(LISTED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        return Err(format!("{text:?} fits {} flows: {}{rest}", others.len() + 1, shown.join(", ")));
    }
    Err(format!(
        "no flow fits {text:?}; a flow is named as 10.1.2.3:5001-93.184.216.34:443, mesh end first, or by a part of \
         that which only it has"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(wireless: &str, wired: &str) -> FlowKey {
        let end = |text: &str| {
            let end: SocketAddr = text.parse().unwrap();
            Endpoint { address: end.ip(), port: end.port() }
        };
        FlowKey { wireless: end(wireless), wired: end(wired) }
    }

    fn flows() -> Vec<FlowKey> {
        vec![
            key("10.1.2.3:5001", "93.184.216.34:443"),
            key("10.1.2.3:5002", "93.184.216.34:443"),
            key("110.1.2.3:6000", "198.51.100.7:80"),
            key("[fd00::3]:5001", "[2001:db8::1]:443"),
        ]
    }

    #[test]
    fn a_name_an_end_an_address_or_a_part_finds_the_flow() {
        let flows = flows();
        let find = |text: &str| find_flow(text, &flows.iter());
        assert_eq!(find("10.1.2.3:5002-93.184.216.34:443"), Ok(flows[1]));
        assert_eq!(find("110.1.2.3"), Ok(flows[2]));
        assert_eq!(find("10.1.2.3:5001"), Ok(flows[0]), "not that 110.1.2.3 contains it");
        assert_eq!(find("fd00::3"), Ok(flows[3]));
        assert_eq!(find("[fd00::3]:5001-[2001:db8::1]:443"), Ok(flows[3]));
        assert_eq!(find("5002"), Ok(flows[1]));
    }

    #[test]
    fn a_part_of_several_is_refused_with_their_names() {
        let flows = flows();
        let error = find_flow("10.1.2.3", &flows.iter()).unwrap_err();
        assert!(error.contains("fits 2 flows: 10.1.2.3:5001-93.184.216.34:443, 10.1.2.3:5002-"), "{error}");
        let many: Vec<FlowKey> = (1..=20).map(|n| key(&format!("10.0.0.{n}:1000"), "192.0.2.1:80")).collect();
        let error = find_flow("192.0.2.1", &many.iter()).unwrap_err();
        assert!(error.contains("fits 20 flows") && error.ends_with("and 12 more"), "{error}");
    }

    #[test]
    fn nothing_found_says_how_flows_are_named() {
        let error = find_flow("8.8.8.8", &flows().iter()).unwrap_err();
        assert!(error.contains("no flow fits \"8.8.8.8\"") && error.contains("10.1.2.3:5001-"), "{error}");
    }

    #[test]
    fn what_a_client_wrote_stays_on_one_line() {
        let error = find_flow("8.8\n\u{1b}[2J", &flows().iter()).unwrap_err();
        assert!(error.starts_with(r#"no flow fits "8.8\n\u{1b}[2J";"#), "{error}");
    }
}
