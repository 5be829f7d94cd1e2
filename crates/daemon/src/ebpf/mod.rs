//! `datapath = "ebpf"`: the packets stay in the kernel, where tc programs pace by departure times and measure; the law
//! and goodput control are here.

mod datapath;
mod engine;
pub(crate) mod exchange;
mod kernel;
pub(crate) mod loading;
mod opening;
pub(crate) mod programs;
pub(crate) mod qdisc;
pub(crate) mod shaping;
#[cfg(test)]
pub(crate) mod trying;

pub use datapath::Datapath;
pub use opening::{open, prepare};

use crate::Failure;
use crate::tool::is_installed;
use meshpace_linux::interface;

/// Removes what an earlier gateway left on an interface, programs and queueing discipline; says what it was.
///
/// # Errors
/// [`Failure::Operational`] if something is there and cannot be removed.
pub fn undo(name: &str) -> Result<Vec<String>, Failure> {
    let mut removed = Vec::new();
    // An interface that is gone took its programs with it; without tc no program was put there.
    if interface::index(name).is_err() || !is_installed("tc") {
        return Ok(removed);
    }
    let shaper = shaping::remove_leftovers(name);
    if kernel::remove_leftovers(name) || shaper {
        qdisc::remove_empty_clsact(name);
        removed.push(format!("eBPF programs on {name}"));
    }
    if qdisc::remove(name)? {
        removed.push(format!("queueing discipline fq on {name}"));
    }
    Ok(removed)
}
