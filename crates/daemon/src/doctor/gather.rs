//! Gathers the facts; asks the machine, changes nothing.

use super::facts::{Daemon, Facts, Part, Presence};
use super::{calm, kernel, network};
use crate::config::Config;
use crate::rights::Rights;
use crate::tool::is_installed;
use crate::{edge, hops, rules};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Programs that something here can use.
const TOOLS: [&str; 8] = ["nft", "iptables-nft", "iptables-legacy", "iptables", "ip", "iw", "tc", "ethtool"];
/// The process that has bound a queue (net/netfilter/nfnetlink_queue.c: seq_show): number, port, waiting, ...
const QUEUES: &str = "/proc/thread-self/net/netfilter/nfnetlink_queue";

/// All facts about this machine.
pub(super) fn facts(config: &Config, daemon: Option<Daemon>) -> Facts {
    let mut kernel = kernel::kernel();
    // What the kernel answers to a rule goes before what its configuration says.
    if let Some(can) = rules::nft_can_queue() {
        kernel.parts.insert(Part::NftQueue, if can { Presence::Present } else { Presence::Absent });
    }
    Facts {
        missing_file: None,
        kernel,
        rights: Rights::here(),
        tools: TOOLS.into_iter().map(|name| (name, is_installed(name))).collect(),
        interfaces: network::interfaces(&config.mesh.interfaces),
        forwards_v4: network::switch("ipv4/ip_forward"),
        forwards_v6: Path::new("/proc/thread-self/net/if_inet6")
            .exists()
            .then(|| network::switch("ipv6/conf/all/forwarding"))
            .flatten(),
        flow_offloads: network::flow_offloads(),
        rules: rules::in_force_by_any_mode(config),
        queue_owner: fs::read_to_string(QUEUES).ok().and_then(|queues| owner(&queues, config.nfqueue.queue)),
        hop_sources: hops::survey(Arc::new(config.clone())).reports().to_vec(),
        daemon,
        edge: edge::ask(&config.edge.socket),
        calm: calm::calm(),
    }
}

fn owner(queues: &str, queue: u16) -> Option<u32> {
    queues.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse);
        let (number, port) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        (number == u32::from(queue)).then_some(port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_queue() {
        let queues = "    0   4711     0 2 65531     0     0        3  1\n19792   1234     0 2   128     0     0        9  1\n";
        assert_eq!(owner(queues, 19_792), Some(1_234));
        assert_eq!(owner(queues, 7), None);
        assert_eq!(owner("nonsense\n7\n", 7), None);
    }
}
