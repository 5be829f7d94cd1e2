//! Loaded programs, and the interfaces that they are on: putting them there, following interfaces that are made anew, taking them off.

use super::loading::{attach_one, chain, header_length, load, map, program, remove_leftovers};
use super::qdisc;
use crate::Failure;
use aya::Ebpf;
use aya::maps::{HashMap, Map, MapData, MapError};
use aya::programs::TcAttachType;
use aya::programs::tc::SchedClassifierLinkId;
use meshpace_linux::interface;

/// An interface with the programs on it.
#[derive(Debug)]
struct Attached {
    name: String,
    index: u32,
    header: u32,
    links: Vec<(&'static str, SchedClassifierLinkId)>,
    /// The clsact qdisc is ours to remove.
    clsact: bool,
}

/// The programs of an object, and the interfaces that they are on. Dropping it detaches them.
pub struct Programs {
    pub(crate) ebpf: Ebpf,
    /// The programs and the side of an interface that each is for.
    programs: &'static [(&'static str, TcAttachType)],
    /// Of the filters where they are clsact's.
    priority: u16,
    /// What the programs know: how long the link-layer header is, by interface.
    pub(crate) headers: HashMap<MapData, u32, u32>,
    attached: Vec<Attached>,
}

impl Programs {
    /// Loads an object with the map `interfaces`, whose other maps get these sizes. Its programs are on no interface yet.
    ///
    /// # Errors
    /// As [`load`]; [`Failure::Operational`] if the map cannot be used.
    pub fn load(
        object: &[u8],
        sizes: &[(&str, u32)],
        programs: &'static [(&'static str, TcAttachType)],
        priority: u16,
    ) -> Result<Self, Failure> {
        let mut ebpf = load(object, sizes, programs)?;
        Ok(Self { programs, priority, headers: map(&mut ebpf, "interfaces")?, attached: Vec::new(), ebpf })
    }

    /// The map of that name, to be taken once.
    ///
    /// # Errors
    /// As [`map`].
    pub fn map<T: TryFrom<Map, Error = MapError>>(&mut self, name: &str) -> Result<T, Failure> {
        map(&mut self.ebpf, name)
    }

    /// Puts the programs on an interface. What an earlier process left there is removed first.
    ///
    /// # Errors
    /// [`Failure::Operational`] if there is no such interface, if its link layer is neither Ethernet nor nothing, or if
    /// the kernel refuses.
    pub fn attach(&mut self, name: &str) -> Result<(), Failure> {
        let index = interface::index(name).map_err(|error| Failure::Operational(error.to_string()))?;
        let header = header_length(name)?;
        remove_leftovers(name, self.programs);
        self.headers
            .insert(index, header, 0)
            .map_err(|error| Failure::operational(format!("interface {name}"), chain(&error)))?;
        let mut attached =
            Attached { name: name.to_owned(), index, header, links: Vec::new(), clsact: false };
        for (program_name, side) in self.programs {
            let program = program(&mut self.ebpf, program_name);
            let link = attach_one(program, name, *side, self.priority, &mut attached.clsact)?;
            attached.links.push((program_name, link));
        }
        self.attached.push(attached);
        Ok(())
    }

    /// Puts the programs on interfaces that were made anew since. Tells the names of those it attached to.
    ///
    /// # Errors
    /// As [`Self::attach`]; an interface that is gone is none.
    pub fn follow(&mut self) -> Result<Vec<String>, Failure> {
        let mut again = Vec::new();
        for position in (0..self.attached.len()).rev() {
            let Attached { name, index, .. } = &self.attached[position];
            if interface::index(name).is_ok_and(|now| now != *index) {
                let gone = self.attached.remove(position);
                // The links went with the interface, so that there is nothing to detach.
                let _ = self.headers.remove(&gone.index);
                self.attach(&gone.name)?;
                again.push(gone.name);
            }
        }
        Ok(again)
    }

    /// Takes the programs off all interfaces; the qdisc that carried them too if it was made for them and is empty.
    pub fn detach(&mut self) {
        for attached in std::mem::take(&mut self.attached) {
            let _ = self.headers.remove(&attached.index);
            for (name, link) in attached.links {
                // It may have gone with its interface.
                let _ = program(&mut self.ebpf, name).detach(link);
            }
            if attached.clsact {
                qdisc::remove_empty_clsact(&attached.name);
            }
        }
    }

    /// How long the link-layer header of an interface is; `None` if the programs are not on it.
    pub fn header(&self, index: u32) -> Option<u32> {
        self.attached.iter().find(|attached| attached.index == index).map(|attached| attached.header)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.detach();
    }
}
