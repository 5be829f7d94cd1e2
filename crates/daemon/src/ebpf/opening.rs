//! The programs on the mesh interfaces, and sch_fq there where flows are to be paced.

use super::engine::places;
use super::kernel::{Kernel, Sizes};
use super::qdisc;
use super::shaping;
use crate::Failure;
use crate::config::{Config, Mode};
use meshpace_gateway::ShaperConfig;

/// Hosts that the shaper's program keeps at the most: each takes 1.1 kB of the kernel's memory from the start.
const HOSTS: u32 = 1024;
/// Flows whose clocks it keeps at the most, 0.1 kB each: those that have sent nothing for the longest go first, and nothing of them waits.
const SHARING: u32 = 16_384;
/// The programs on their interfaces, ready to act; and sch_fq where flows are to be paced.
pub struct Opened {
    pub(super) kernel: Kernel,
    pub(super) shaper: Option<shaping::Kernel>,
}

/// Loads the programs and puts them on the mesh interfaces. They act once the data thread runs.
///
/// # Errors
/// [`Failure::User`] if the configuration asks for what this data path has not, [`Failure::Operational`] where the
/// kernel refuses.
pub fn open(config: &Config) -> Result<Opened, Failure> {
    if config.mesh.interfaces.is_empty() {
        return Err(Failure::User(
            "datapath = \"ebpf\" takes the mesh's interfaces: [mesh] interfaces is empty".to_owned(),
        ));
    }
    let limit = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let sizes =
        Sizes { flows: limit(config.gateway.flows_max), departures: limit(config.gateway.segments_total) };
    prepare(config)?;
    let mut kernel = Kernel::load(sizes).inspect_err(|_| unprepare(&config.mesh.interfaces))?;
    let opened = attach(config, &mut kernel).inspect_err(|_| unprepare(&config.mesh.interfaces));
    opened.map(|shaper| Opened { kernel, shaper })
}

/// Puts the programs on the mesh interfaces: the shaper's too, where the configuration has a rate for hosts.
fn attach(config: &Config, kernel: &mut Kernel) -> Result<Option<shaping::Kernel>, Failure> {
    for interface in &config.mesh.interfaces {
        kernel.programs.attach(interface)?;
    }
    shaper(config)
}

/// The shaper's programs on the mesh interfaces, where the configuration has a rate for hosts.
pub(super) fn shaper(config: &Config) -> Result<Option<shaping::Kernel>, Failure> {
    let flows = u32::try_from(config.gateway.flows_max).unwrap_or(u32::MAX).min(SHARING);
    let sizes = |shaper: &ShaperConfig| shaping::Sizes {
        hosts: u32::try_from(shaper.hosts_max).unwrap_or(u32::MAX).min(HOSTS),
        flows,
    };
    let mut shaper = config.hosts.shaper.map(|shaper| shaping::Kernel::load(sizes(&shaper))).transpose()?;
    if let Some(shaper) = &mut shaper {
        config.mesh.interfaces.iter().try_for_each(|interface| shaper.programs.attach(interface))?;
    }
    Ok(shaper)
}

/// Puts sch_fq on the mesh interfaces if anything is to be paced; on none if one refuses.
///
/// # Errors
/// [`Failure::Operational`] where nothing can keep departure times: the kernel has no sch_fq, or another discipline was chosen.
pub fn prepare(config: &Config) -> Result<(), Failure> {
    if !paces(config) {
        return Ok(());
    }
    // What takes no place passes through it as well.
    let packets = places(&config.gateway).saturating_mul(2);
    for interface in &config.mesh.interfaces {
        if let Err(failure) = qdisc::install(interface, packets) {
            unprepare(&config.mesh.interfaces);
            return Err(failure);
        }
    }
    Ok(())
}

/// Takes sch_fq away where this daemon put it.
pub(super) fn unprepare(interfaces: &[String]) {
    for interface in interfaces {
        // An interface that is gone took it along.
        let _ = qdisc::remove(interface);
    }
}

/// Whether some flow is to be paced.
pub(super) fn paces(config: &Config) -> bool {
    let modes = config.subnets.iter().filter_map(|subnet| subnet.mode);
    std::iter::once(config.mode).chain(modes).any(|mode| mode == Mode::Pace)
}
