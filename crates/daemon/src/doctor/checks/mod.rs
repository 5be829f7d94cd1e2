//! The checks: pure functions of configuration and facts.

mod calm;
mod edge;
mod flows;
mod kernel;
mod mesh;

use super::facts::Facts;
use super::finding::Finding;
use crate::config::Config;

/// All findings, in the order in which they are shown.
pub(super) fn all(config: &Config, facts: &Facts) -> Vec<Finding> {
    let checks = [
        kernel::rights,
        kernel::queueing,
        kernel::goodput_control,
        kernel::ebpf,
        kernel::uploads,
        kernel::verdict_search,
        kernel::queue_length,
        kernel::clock,
        kernel::cgroup,
        mesh::is_configured,
        mesh::interfaces,
        mesh::link_rate,
        mesh::hosts,
        mesh::offloads,
        mesh::forwarding,
        mesh::flow_offload,
        mesh::tunnels,
        mesh::reverse_path_filter,
        flows::hop_sources,
        flows::queue_owner,
        flows::rules,
        flows::asymmetric_routing,
        flows::doubts,
        flows::forecasts,
        edge::possible,
        edge::running,
        calm::possible,
        calm::loaded,
    ];
    checks.iter().flat_map(|check| check(config, facts)).collect()
}

#[cfg(test)]
mod tests;
