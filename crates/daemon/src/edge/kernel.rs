//! The kernel's side: loading the program, putting it on interfaces, reading and writing its maps.

use super::exchange::{Ends, Event, Held, Thinning};
use crate::Failure;
use crate::ebpf::loading::{self, sums};
use crate::ebpf::programs::Programs;
use crate::shared::edge as c;
use aya::include_bytes_aligned;
use aya::maps::{Array, HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::TcAttachType;
use std::io;
use std::os::fd::AsFd;

static OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/edge.bpf.o"));
const PROGRAM: &str = "meshpace_edge";
const PROGRAMS: [(&str, TcAttachType); 1] = [(PROGRAM, TcAttachType::Egress)];

/// Priority of the filter where it is clsact's: behind the gateway's, whose is "MP".
const PRIORITY: u16 = 0x4d51;

/// How much the kernel may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Connections, either way.
    pub flows: u32,
    /// Acknowledgements that wait.
    pub held: u32,
}

/// The loaded program and its maps. Dropping it detaches the program.
pub struct Kernel {
    /// The programs, to put on interfaces.
    pub programs: Programs,
    held: HashMap<MapData, [u8; Ends::SIZE], [u8; c::Held::SIZE]>,
    settings: Array<MapData, [u8; c::Thinning::SIZE]>,
    counters: PerCpuArray<MapData, u64>,
    events: RingBuf<MapData>,
}

impl Kernel {
    /// Loads the program. It lets everything pass until it is given [`Thinning`].
    ///
    /// # Errors
    /// As [`loading::load`].
    pub fn load(sizes: Sizes) -> Result<Self, Failure> {
        let mut programs =
            Programs::load(OBJECT, &[("flows", sizes.flows), ("held", sizes.held)], &PROGRAMS, PRIORITY)?;
        Ok(Self {
            held: programs.map("held")?,
            settings: programs.map("settings")?,
            counters: programs.map("counters")?,
            events: programs.map("events")?,
            programs,
        })
    }

    /// Readable when events wait.
    pub const fn events(&self) -> &impl AsFd {
        &self.events
    }

    /// Takes the next event.
    ///
    /// # Panics
    /// If the kernel's program and this code disagree about events.
    pub fn next_event(&mut self) -> Option<Event> {
        let item = self.events.next()?;
        let event = Event::read(&item);
        Some(event.unwrap_or_else(|| panic!("not an event: {:?}", &*item)))
    }

    /// Tells the program when to let acknowledgements pass, and until when it is to act.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn set(&mut self, thinning: Thinning) -> io::Result<()> {
        self.settings.set(0, c::Thinning::from(thinning).to_bytes(), 0).map_err(io::Error::other)
    }

    /// What waits of a connection.
    pub fn held(&self, ends: &Ends) -> Option<Held> {
        let held = c::Held::of_bytes(self.held.get(&ends.to_bytes(), 0).ok()?);
        Some(Held::from(&held))
    }

    /// Forgets what waits of a connection.
    pub fn forget(&mut self, ends: &Ends) {
        let _ = self.held.remove(&ends.to_bytes());
    }

    /// How long the link-layer header of an interface is; `None` if the program is not on it.
    pub fn link_header(&self, index: u32) -> Option<u32> {
        self.programs.header(index)
    }

    /// The counters in the order of `enum edge_counter`, summed over processors.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn counters(&self) -> io::Result<[u64; c::COUNTERS]> {
        sums(&self.counters)
    }
}

/// Removes what an earlier process left on an interface, where it was a filter. True if there was something.
pub fn remove_leftovers(interface: &str) -> bool {
    loading::remove_leftovers(interface, &PROGRAMS)
}

#[cfg(test)]
mod tests;
