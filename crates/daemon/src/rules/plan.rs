//! Which packets go to which queue.

use crate::config::Config;
use crate::lease::Ports;
use ipnet::IpNet;
use std::path::{Path, PathBuf};

/// One rule: TCP packets that look like this are queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// They come in here.
    From(String),
    /// They go out here.
    To(String),
    /// Their source is one of these.
    Source(IpNet),
    /// Their destination is one of these.
    Destination(IpNet),
}

/// All rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    matches: Vec<Match>,
    queue: u16,
    lock: PathBuf,
    ports: Option<Ports>,
}

impl Plan {
    /// The rules that a configuration asks for: everything to and from the mesh's interfaces and subnets.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let interfaces = config.mesh.interfaces.iter();
        let subnets = config.mesh.subnets.iter();
        let matches = interfaces
            .flat_map(|name| [Match::From(name.clone()), Match::To(name.clone())])
            .chain(subnets.flat_map(|prefix| [Match::Source(*prefix), Match::Destination(*prefix)]))
            .collect();
        Self { matches, queue: config.nfqueue.queue, lock: lock_of(config), ports: None }
    }

    /// The same, with a lease that is renewed from these ports. Without, a plan's rules are found whatever the ports are, and
    /// made without a lease.
    #[must_use]
    pub fn leased(self, ports: Option<Ports>) -> Self {
        Self { ports, ..self }
    }

    /// The ports that the lease is renewed from.
    pub(super) const fn ports(&self) -> Option<Ports> {
        self.ports
    }

    pub(super) fn matches(&self) -> impl Iterator<Item = &Match> {
        self.matches.iter()
    }

    pub(super) const fn queue(&self) -> u16 {
        self.queue
    }

    pub(super) fn lock(&self) -> &Path {
        &self.lock
    }
}

/// The lock file of the old iptables where /run cannot be written (a hardened service): beside the control socket.
#[must_use]
pub fn lock_of(config: &Config) -> PathBuf {
    config.control.socket.with_file_name("xtables.lock")
}

impl Match {
    /// The IP version that the rule is confined to.
    pub(super) const fn prefix(&self) -> Option<IpNet> {
        match self {
            Self::From(_) | Self::To(_) => None,
            Self::Source(prefix) | Self::Destination(prefix) => Some(*prefix),
        }
    }
}
