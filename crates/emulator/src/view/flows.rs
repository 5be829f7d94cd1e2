//! Flows of the real hosts by what comes to them: payload, each byte of TCP once.

use super::{FlowRow, seconds};
use meshpace_units::{Instant, Seq, Span};
use meshpace_wire::{Outline, outline, parse, protocol};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Flows that are kept; one more takes the place of the one that has been silent longest.
const MOST: usize = 64;
/// A flow that has been silent for so long is not told of.
const SILENT: Span = Span::from_secs(30);
/// Headers of IP and of UDP or ICMP.
const SHORT_HEADERS: [u64; 2] = [20 + 8, 40 + 8];

/// The flows, by their ends.
pub struct RealFlows {
    names: BTreeMap<IpAddr, String>,
    flows: BTreeMap<Ends, Flow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    source: SocketAddr,
    destination: SocketAddr,
    protocol: u8,
}

struct Flow {
    bytes: u64,
    /// Behind the last byte of TCP payload that came, be there holes before it or not: what fills them does not count again.
    highest: Option<Seq>,
    latest: Instant,
}

impl RealFlows {
    /// None yet; `names` are the nodes'.
    pub fn new(names: BTreeMap<IpAddr, String>) -> Self {
        Self { names, flows: BTreeMap::new() }
    }

    /// A packet has come to a device of a host that has these addresses. What only crosses the host has not arrived.
    pub fn delivered(&mut self, at: Instant, host: [IpAddr; 2], bytes: &[u8]) {
        let Ok(Outline { source, destination, protocol, ports, length, .. }) = outline(bytes) else { return };
        if !host.contains(&destination) {
            return;
        }
        let ends = Ends {
            source: SocketAddr::new(source, ports.0),
            destination: SocketAddr::new(destination, ports.1),
            protocol,
        };
        if protocol != protocol::TCP {
            let headers = SHORT_HEADERS[usize::from(source.is_ipv6())];
            let flow = self.flow(at, ends);
            flow.bytes += length.0.saturating_sub(headers);
            return;
        }
        let Ok(packet) = parse(bytes) else { return };
        let (segment, payload) = (&packet.segment, packet.segment.payload);
        // What only acknowledges is the other way's.
        if payload == 0 && !segment.flags.syn {
            return;
        }
        let flow = self.flow(at, ends);
        let end = segment.seq + payload + u32::from(segment.flags.syn);
        match flow.highest.filter(|_| !segment.flags.syn) {
            Some(highest) if end.at_or_before(highest) => {}
            Some(highest) => {
                flow.bytes += u64::from(end.since(highest));
                flow.highest = Some(end);
            }
            None => {
                flow.bytes += u64::from(payload);
                flow.highest = Some(end);
            }
        }
    }

    fn flow(&mut self, at: Instant, ends: Ends) -> &mut Flow {
        if self.flows.len() >= MOST && !self.flows.contains_key(&ends) {
            let silent = self.flows.iter().min_by_key(|(_, flow)| flow.latest).map(|(ends, _)| *ends);
            silent.and_then(|ends| self.flows.remove(&ends));
        }
        let flow = self.flows.entry(ends).or_insert(Flow { bytes: 0, highest: None, latest: at });
        flow.latest = at;
        flow
    }

    /// Those that have carried something, and not long ago.
    pub fn rows(&mut self, now: Instant) -> Vec<FlowRow> {
        self.flows.retain(|_, flow| now.saturating_since(flow.latest) < SILENT);
        let name =
            |end: SocketAddr| self.names.get(&end.ip()).cloned().unwrap_or_else(|| end.ip().to_string());
        let row = |(ends, flow): (&Ends, &Flow)| {
            let Ends { source, destination, .. } = *ends;
            FlowRow {
                id: format!("{} {source} {destination}", ends.protocol),
                from: name(source),
                to: name(destination),
                kind: ends.kind(),
                real: true,
                at_s: seconds(now),
                bytes: flow.bytes,
                queue: None,
            }
        };
        self.flows.iter().filter(|(_, flow)| flow.bytes > 0).map(row).collect()
    }
}

impl Ends {
    fn kind(&self) -> String {
        let ports = || format!("{} → {}", self.source.port(), self.destination.port());
        match self.protocol {
            protocol::TCP => format!("TCP {}", ports()),
            protocol::UDP => format!("UDP {}", ports()),
            protocol::ICMP | protocol::ICMPV6 => "ICMP".to_owned(),
            other => format!("protocol {other}"),
        }
    }
}
