//! Which packets go to which queue.

use crate::config::{self, Config};
use crate::lease::Ports;
use ipnet::IpNet;
use meshpace_gateway::ShaperConfig;
use std::path::{Path, PathBuf};

/// Whose rules they are. Each finds and removes its own alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The gateway's, for what it forwards.
    Gateway,
    /// The edge's, for what leaves into the mesh, forwarded or this host's own.
    Edge,
}

impl Owner {
    /// Name of the table, of the chain, of the lease's list, and of the comment on rules elsewhere.
    pub(super) const fn tag(self) -> &'static str {
        match self {
            Self::Gateway => "meshpaced",
            Self::Edge => "meshpaced_edge",
        }
    }

    /// nftables' hooks at which they stand, as iptables names them.
    pub(super) const fn hooks(self) -> &'static [&'static str] {
        match self {
            Self::Gateway => &["FORWARD"],
            Self::Edge => &["FORWARD", "OUTPUT"],
        }
    }
}

/// One rule: packets that look like this are queued, TCP's alone unless the plan says otherwise.
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
    /// They go out here, and are no longer than an acknowledgement can be.
    AcksTo(String),
}

/// Bytes of an IP packet with the longest headers that an acknowledgement has: 60 of IPv4 and 60 of TCP, or IPv6's 40 with an
/// extension header or two.
pub(super) const ACK_MAX: u32 = 120;

/// Packets that may come at once where only so many a second are queued: a hundredth of a second's worth at the default.
pub(super) const SAMPLE_BURST: u32 = 500;

/// Name of the limit by which so many packets a second are queued at the most. The kernel keeps a limit by its name, also while it is
/// replaced: another rate has another name.
pub(super) fn limit(most: u32) -> String {
    format!("samples_{most}")
}

/// Which packets are queued whatever they are, and not as TCP alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whatever {
    None,
    /// Where hosts are shaped.
    IntoMesh,
    /// Where the rate of that is found, too: what comes from the mesh tells how long packets wait there.
    BothWays,
}

impl Whatever {
    fn of(shaper: Option<ShaperConfig>) -> Self {
        match shaper.map(|shaper| shaper.find.is_some()) {
            None => Self::None,
            Some(false) => Self::IntoMesh,
            Some(true) => Self::BothWays,
        }
    }
}

/// All rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    owner: Owner,
    matches: Vec<Match>,
    whatever: Whatever,
    queue: u16,
    /// Packets a second that are queued at the most, apart from those that open and end connections.
    sample: Option<u32>,
    lock: PathBuf,
    ports: Option<Ports>,
}

impl Plan {
    /// True if the other one has the same rules, but for what the mode says: whether a sample or all is queued, and whether TCP or whatever
    /// there is.
    #[must_use]
    pub fn is_but_for_the_mode(&self, other: &Self) -> bool {
        let alike = |plan: &Self| Self { sample: None, whatever: Whatever::None, ..plan.clone() };
        alike(self) == alike(other)
    }

    /// The rules that a configuration asks for: all TCP to and from the mesh's interfaces and subnets, and where hosts are shaped
    /// everything to them, and from them where the rate is found.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let interfaces = config.mesh.interfaces.iter();
        let subnets = config.mesh.subnets.iter();
        let matches = interfaces
            .flat_map(|name| [Match::From(name.clone()), Match::To(name.clone())])
            .chain(subnets.flat_map(|prefix| [Match::Source(*prefix), Match::Destination(*prefix)]))
            .collect();
        Self {
            owner: Owner::Gateway,
            matches,
            whatever: Whatever::of(config.shaper()),
            queue: config.nfqueue.queue,
            sample: config.samples(),
            lock: lock_of(config),
            ports: None,
        }
    }

    /// The same with hosts shaped where they were not, as the configuration has it, and the other way round.
    pub(super) fn with_the_other_shaping(self, config: &Config) -> Self {
        let shaped = config.hosts.shaper.filter(|_| self.whatever == Whatever::None);
        Self { whatever: Whatever::of(shaped), sample: self.sample.filter(|_| shaped.is_none()), ..self }
    }

    /// The same with all packets queued where a sample was, and the other way round.
    pub(super) fn with_the_other_sampling(self, config: &Config) -> Self {
        let sample = config.nfqueue.observed_max.filter(|_| self.sample.is_none());
        Self { sample: sample.filter(|_| self.is_all_of_tcp()), ..self }
    }

    /// The rules of an edge: what acknowledges, on its way out of these interfaces.
    #[must_use]
    pub fn of_edge(edge: &config::Edge, interfaces: &[String]) -> Self {
        Self {
            owner: Owner::Edge,
            matches: interfaces.iter().cloned().map(Match::AcksTo).collect(),
            whatever: Whatever::None,
            queue: edge.queue,
            sample: None,
            lock: lock_beside(&edge.socket),
            ports: None,
        }
    }

    /// The same, with a lease that is renewed from these ports. Without, a plan's rules are found whatever the ports are, and
    /// made without a lease.
    #[must_use]
    pub fn leased(self, ports: Option<Ports>) -> Self {
        Self { ports, ..self }
    }

    pub(super) const fn owner(&self) -> Owner {
        self.owner
    }

    /// The ports that the lease is renewed from.
    pub(super) const fn ports(&self) -> Option<Ports> {
        self.ports
    }

    pub(super) fn matches(&self) -> impl Iterator<Item = &Match> {
        self.matches.iter()
    }

    /// Whether a rule queues TCP's packets alone.
    pub(super) const fn is_of_tcp(&self, rule: &Match) -> bool {
        match self.whatever {
            Whatever::None => true,
            Whatever::IntoMesh => !matches!(rule, Match::To(_) | Match::Destination(_)),
            Whatever::BothWays => false,
        }
    }

    /// Whether all rules do.
    pub(super) fn is_all_of_tcp(&self) -> bool {
        self.whatever == Whatever::None
    }

    /// Packets a second that are queued at the most; `None`: all.
    pub(super) const fn sample(&self) -> Option<u32> {
        self.sample
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
    lock_beside(&config.control.socket)
}

/// The same, beside a socket.
#[must_use]
pub fn lock_beside(socket: &Path) -> PathBuf {
    socket.with_file_name("xtables.lock")
}

impl Match {
    /// The IP version that the rule is confined to.
    pub(super) const fn prefix(&self) -> Option<IpNet> {
        match self {
            Self::From(_) | Self::To(_) | Self::AcksTo(_) => None,
            Self::Source(prefix) | Self::Destination(prefix) => Some(*prefix),
        }
    }
}
