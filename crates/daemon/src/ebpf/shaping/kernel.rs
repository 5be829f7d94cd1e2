//! The kernel's side of the shaper of hosts: loading its programs, putting them on the mesh interfaces, reading and writing its maps.

use super::exchange::{Agreed, All, KernelHost, Measurement, Shaping};
use crate::Failure;
use crate::ebpf::loading;
use crate::ebpf::programs::Programs;
use crate::shared::{mapped_bits, shaping as c};
use aya::include_bytes_aligned;
use aya::maps::lpm_trie::{Key, LpmTrie};
use aya::maps::{Array, HashMap, MapData, RingBuf};
use aya::programs::TcAttachType;
use ipnet::IpNet;
use meshpace_units::Instant;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;

static OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/shaper.bpf.o"));

const PROGRAMS: [(&str, TcAttachType); 2] =
    [("meshpace_shape", TcAttachType::Egress), ("meshpace_hear", TcAttachType::Ingress)];

/// Priority of the filter where it is clsact's: before the gateway's, whose is "MP".
const PRIORITY: u16 = 0x4d4f;

/// How much the kernel may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Hosts.
    pub hosts: u32,
    /// Flows.
    pub flows: u32,
}

/// The loaded programs and their maps. Dropping it detaches the programs.
pub struct Kernel {
    /// The programs, to put on interfaces.
    pub programs: Programs,
    settings: Array<MapData, [u8; c::Shaping::SIZE]>,
    prefixes: LpmTrie<MapData, [u8; c::HostKey::SIZE], [u8; c::Terms::SIZE]>,
    agreed: HashMap<MapData, [u8; c::HostKey::SIZE], [u8; c::Terms::SIZE]>,
    hosts: HashMap<MapData, [u8; c::HostKey::SIZE], [u8; c::Host::SIZE]>,
    all: Array<MapData, [u8; c::All::SIZE]>,
    tellings: RingBuf<MapData>,
    shift: u32,
}

impl Kernel {
    /// Loads the program. It lets everything pass until it is given [`Shaping`].
    ///
    /// # Errors
    /// As [`loading::load`].
    pub fn load(sizes: Sizes) -> Result<Self, Failure> {
        let sizes = [("hosts", sizes.hosts), ("agreed", sizes.hosts), ("queues", sizes.flows)];
        let mut programs = Programs::load(OBJECT, &sizes, &PROGRAMS, PRIORITY)?;
        Ok(Self {
            settings: programs.map("settings")?,
            prefixes: programs.map("prefixes")?,
            agreed: programs.map("agreed")?,
            hosts: programs.map("hosts")?,
            all: programs.map("all")?,
            tellings: programs.map("tellings")?,
            programs,
            shift: 0,
        })
    }

    /// Readable when something is told.
    pub const fn tellings(&self) -> &impl AsFd {
        &self.tellings
    }

    /// Takes what is told next.
    ///
    /// # Panics
    /// If the kernel's program and this code disagree about it.
    pub fn told(&mut self) -> Option<Measurement> {
        let item = self.tellings.next()?;
        let told = Measurement::read(&item);
        Some(told.unwrap_or_else(|| panic!("not told: {:?}", &*item)))
    }

    /// Tells the program what holds for all packets.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn set(&mut self, shaping: &Shaping) -> io::Result<()> {
        self.shift = shaping.shift;
        self.settings.set(0, c::Shaping::from(*shaping).to_bytes(), 0).map_err(io::Error::other)
    }

    /// Tells what is agreed about the hosts of prefixes, and of no others.
    ///
    /// # Errors
    /// What bpf(2) answers: there are more than the program has room for.
    pub fn agree_on_prefixes(&mut self, prefixes: &[(IpNet, Agreed)]) -> io::Result<()> {
        let key = |prefix: IpNet| Key::new(mapped_bits(prefix), host_key(prefix.network()));
        let wanted: Vec<_> = prefixes.iter().map(|(prefix, agreed)| (key(*prefix), agreed)).collect();
        let there: Vec<_> = self.prefixes.keys().filter_map(Result::ok).collect();
        for old in there {
            if wanted.iter().all(|(new, _)| (new.prefix_len(), new.data()) != (old.prefix_len(), old.data()))
            {
                let _ = self.prefixes.remove(&old);
            }
        }
        for (key, agreed) in wanted {
            self.prefixes.insert(&key, c::Terms::from(*agreed).to_bytes(), 0).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Tells what is agreed about a host. Where there is no room for it, what holds for its prefix does.
    pub fn agree(&mut self, host: IpAddr, agreed: &Agreed) {
        let _ = self.agreed.insert(host_key(host), c::Terms::from(*agreed).to_bytes(), 0);
    }

    /// Nothing is agreed about a host any more.
    pub fn disagree(&mut self, host: IpAddr) {
        let _ = self.agreed.remove(&host_key(host));
    }

    /// The kernel's table of hosts. Hosts that come or go meanwhile may be missing.
    pub fn hosts(&self, now: Instant) -> impl Iterator<Item = (IpAddr, KernelHost)> {
        let entries = self.hosts.iter().filter_map(Result::ok);
        entries.map(move |(key, host)| {
            let (key, host) = (c::HostKey::of_bytes(key), c::Host::of_bytes(host));
            (key.address.into(), KernelHost::of(&host, now, self.shift))
        })
    }

    /// All hosts together.
    ///
    /// # Errors
    /// What bpf(2) answers.
    pub fn all(&self, now: Instant) -> io::Result<All> {
        let bytes = self.all.get(&0, 0).map_err(io::Error::other)?;
        let all = c::All::of_bytes(bytes);
        Ok(All::of(&all, now, self.shift))
    }
}

fn host_key(host: IpAddr) -> [u8; c::HostKey::SIZE] {
    c::HostKey { address: host.into() }.to_bytes()
}

/// Removes what an earlier process left on an interface. True if there was something.
pub fn remove_leftovers(interface: &str) -> bool {
    loading::remove_leftovers(interface, &PROGRAMS)
}

#[cfg(test)]
mod tests;
