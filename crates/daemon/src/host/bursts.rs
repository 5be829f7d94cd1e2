//! One segment a packet on the mesh interface, while asked for, so that a limit spaces packets and not bursts of ten.
//!
//! TCP hands the interface one packet of several segments (TSO) about every millisecond or round trip, whatever the
//! limit; `gso_max_segs 1` is the only setting that makes it hand over single segments (docs/host.md). It caps a flow at a
//! few hundred Mbit/s, so it has to be asked for.

use crate::Failure;
use meshpace_linux::interface;
use std::path::{Path, PathBuf};

/// The interface's own setting, put back when this is dropped. A file remembers it for the case of a kill.
#[derive(Debug)]
pub struct SingleSegments {
    interface: String,
    before: u32,
    memory: PathBuf,
}

impl SingleSegments {
    /// Sets `gso_max_segs 1` on `interface`; `memory` remembers what it was. Connections made from now on obey it.
    ///
    /// # Errors
    /// [`Failure::User`] if there is no such interface, [`Failure::Operational`] if the kernel refuses.
    pub fn set(interface: &str, memory: &Path) -> Result<Self, Failure> {
        restore(memory)?;
        let before = interface::gso_max_segments(interface).map_err(|why| Failure::User(why.to_string()))?;
        let fail = |why: std::io::Error| Failure::operational(memory.display(), why);
        if let Some(directory) = memory.parent() {
            std::fs::create_dir_all(directory).map_err(fail)?;
        }
        std::fs::write(memory, format!("{before} {interface}\n")).map_err(fail)?;
        let single = Self { interface: interface.to_owned(), before, memory: memory.to_owned() };
        interface::set_gso_max_segments(interface, 1)
            .map_err(|why| Failure::operational(format!("gso_max_segs 1 on {interface}"), why))?;
        Ok(single)
    }
}

impl Drop for SingleSegments {
    fn drop(&mut self) {
        // The interface may have gone meanwhile; then there is nothing to put back.
        let put_back = interface::set_gso_max_segments(&self.interface, self.before);
        if put_back.is_ok() || interface::index(&self.interface).is_err() {
            let _ = std::fs::remove_file(&self.memory);
        } else if let Err(why) = put_back {
            eprintln!("meshpaced: gso_max_segs {} on {}: {why}", self.before, self.interface);
        }
    }
}

/// Puts back what a killed process left in `memory`; true if there was something.
///
/// # Errors
/// [`Failure::Operational`] if the kernel refuses, or the file is not ours.
pub fn restore(memory: &Path) -> Result<bool, Failure> {
    let text = match std::fs::read_to_string(memory) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(why) => return Err(Failure::operational(memory.display(), why)),
    };
    let (before, interface) = remembered(&text).ok_or_else(|| {
        Failure::operational(memory.display(), "not a line of a number and an interface; remove it")
    })?;
    if interface::index(interface).is_ok() {
        interface::set_gso_max_segments(interface, before)
            .map_err(|why| Failure::operational(format!("gso_max_segs {before} on {interface}"), why))?;
    }
    std::fs::remove_file(memory).map_err(|why| Failure::operational(memory.display(), why))?;
    Ok(true)
}

fn remembered(text: &str) -> Option<(u32, &str)> {
    let (before, interface) = text.strip_suffix('\n')?.split_once(' ')?;
    Some((before.parse().ok()?, interface))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_is_read_and_nothing_else() {
        assert_eq!(remembered("65535 mesh0\n"), Some((65_535, "mesh0")));
        for torn in ["", "65535", "65535 mesh0", "x mesh0\n"] {
            assert_eq!(remembered(torn), None, "{torn:?}");
        }
    }
}
