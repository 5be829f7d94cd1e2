//! What a running daemon sees.

use super::facts::Daemon;
use crate::control::Client;
use crate::control::protocol::{Flow, Reply, Request};
use std::collections::BTreeMap;
use std::path::Path;

/// Packets in one direction after which some must have come back: a TCP receiver acknowledges at least every second
/// segment (RFC 5681, section 4.2), and a sender gives a handshake up after about six SYNs.
const TELLING: u64 = 8;

/// Asks the daemon that listens at a socket; `None` if there is none.
pub(super) fn ask(socket: &Path) -> Option<Daemon> {
    let mut client = Client::connect(socket).ok()?;
    let flows = Request::Flows { filter: None, sort: Default::default(), reverse: false, limit: None };
    let Reply::Flows(flows) = client.ask(&flows).ok()?.answer else { return None };
    let Reply::Status(status) = client.ask(&Request::Status {}).ok()?.answer else { return None };
    Some(Daemon { doubts: status.doubts, forecasts: status.forecasts, ..of(&flows.list) })
}

fn of(flows: &[Flow]) -> Daemon {
    let is_one_way = |flow: &&Flow| {
        let (less, more) = (flow.down_packets.min(flow.up_packets), flow.down_packets.max(flow.up_packets));
        less == 0 && more >= TELLING
    };
    let mut hop_sources = BTreeMap::new();
    for flow in flows {
        *hop_sources.entry(flow.hop_source.clone()).or_default() += 1;
    }
    Daemon {
        flows: flows.len(),
        one_way: flows.iter().filter(is_one_way).count(),
        hop_sources,
        doubts: Vec::new(),
        forecasts: None,
    }
}
