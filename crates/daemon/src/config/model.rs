//! What the daemon's configuration file says, as plain checked data: every default filled in, units as types.

use ipnet::IpNet;
use meshpace_gateway::{ShaperConfig, ShareBy};
use meshpace_hook::{HOOKS, HookMaker};
use meshpace_keys::{Setting, Values};
use meshpace_pacing::LawMaker;
use meshpace_units::{Bytes, Rate, Span};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The largest packet that is not cut yet (GSO_LEGACY_MAX_SIZE of the kernel's include/linux/netdevice.h).
const LARGEST: Bytes = Bytes(65_536);

/// The whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What happens to flows that no subnet says otherwise about.
    pub mode: Mode,
    /// Share of the flows that are paced where the mode is [`Mode::Pace`], from 0 to 1; the rest is observed (A/B).
    pub paced_share: f64,
    /// Seed of the hash that chooses those flows.
    pub ab_seed: u64,
    /// How packets reach the gateway.
    pub datapath: Datapath,
    /// `datapath = "ebpf"` was asked for, and nothing here keeps departure times: NFQUEUE has its place.
    pub fallen_back: bool,
    /// What is mesh.
    pub mesh: Mesh,
    /// Exceptions by prefix, longest prefix first; see [`Config::policy`].
    pub subnets: Vec<Subnet>,
    /// Where hop counts come from.
    pub hops: Hops,
    /// The gateway's state machine, goodput control included.
    pub gateway: meshpace_gateway::Config,
    /// The law of flows, of gateway and host.
    pub law: LawMaker,
    /// What sees packets between the gateway and the Internet, if anything.
    pub hook: Option<HookMaker>,
    /// The shaper of what goes into the mesh, by host.
    pub hosts: Hosts,
    /// How the guard compares pacing that is switched on with what was before; `None`: not at all.
    pub guard: Option<GuardTerms>,
    /// The kernel's packet queue.
    pub nfqueue: Nfqueue,
    /// The control socket.
    pub control: Control,
    /// The metrics endpoint.
    pub metrics: Metrics,
    /// The event log.
    pub events: Events,
    /// Pacing on a wireless host (`meshpaced host`).
    pub host: Host,
    /// Thin acknowledgements at the mesh's edge (`meshpaced edge`).
    pub edge: Edge,
}

/// How the guard compares ([`crate::guard`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardTerms {
    /// Length of a block.
    pub block: Span,
    /// Pairs of blocks that have to count.
    pub pairs: u32,
    /// It goes back if pacing brings this part less, or more of it.
    pub loss: f64,
}

/// What the daemon does with a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Forward untouched, not even measured.
    Off,
    /// Measure, and say what pacing would do; packets are never held or changed.
    Observe,
    /// Pace.
    Pace,
}

/// How packets reach the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datapath {
    /// Through NFQUEUE, packet by packet in user space.
    Nfqueue,
    /// tc eBPF programs with earliest departure times; rates from user space.
    Ebpf,
}

/// `[mesh]`: which packets are the mesh's, and how fast its links are.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Interfaces behind which the mesh is.
    pub interfaces: Vec<String>,
    /// Prefixes of mesh hosts.
    pub subnets: Vec<IpNet>,
    /// MAC data rate of the mesh's links, the `b` of schemes.md (1.2): as configured, or while nl80211 tells none.
    pub rate: Rate,
    /// Whether the rate toward the first hop is asked of nl80211.
    pub rate_source: RateSource,
}

/// Where the rate of a mesh link comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateSource {
    /// The file.
    Configured,
    /// The driver's present bitrate toward the first hop, the file's rate where it tells none.
    Nl80211,
}

/// `[[subnet]]`: exceptions for the mesh hosts of a prefix; `None` takes what the next shorter prefix, in the end the
/// whole file, says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subnet {
    /// The mesh hosts that this is about.
    pub prefix: IpNet,
    /// As [`Config::mode`].
    pub mode: Option<Mode>,
    /// As [`Config::paced_share`].
    pub paced_share: Option<f64>,
    /// Wireless hops between gateway and these hosts, whatever the sources say.
    pub hops: Option<u32>,
    /// As [`Mesh::rate`], and not asked of nl80211 then.
    pub rate: Option<Rate>,
    /// Shares of each of them, where hosts are shaped.
    pub weight: Option<u32>,
    /// The most that goes to each of them then.
    pub cap: Option<Rate>,
    /// They count as one host then.
    pub together: Option<bool>,
}

/// What is in force for one mesh host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// What happens to its flows.
    pub mode: Mode,
    /// Share of its flows that are paced where `mode` is [`Mode::Pace`].
    pub paced_share: f64,
    /// Configured hops; `None` asks the sources.
    pub hops: Option<u32>,
    /// Configured rate; `None` takes the mesh's, by its source.
    pub rate: Option<Rate>,
    /// Its shares, where hosts are shaped.
    pub weight: u32,
    /// The most that goes to it then.
    pub cap: Option<Rate>,
}

/// What the hosts of a prefix have of a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Shares of each.
    pub weight: u32,
    /// The most that goes to each.
    pub cap: Option<Rate>,
    /// The prefix whose hosts count as one.
    pub together: Option<IpNet>,
}

/// `[hosts]`: a shaper of what goes into the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Its parameters; `None`: hosts are not shaped.
    pub shaper: Option<ShaperConfig>,
    /// What becomes of flows that are paced.
    pub flows: Flows,
}

/// What a shaper of hosts leaves of the pace of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flows {
    /// Those whose mode is [`Mode::Pace`] have a law of their own, before they meet the shaper.
    Paced,
    /// None has.
    Free,
}

/// `[hops]`: how many wireless hops away a mesh host is.
#[derive(Clone, Debug, PartialEq)]
pub struct Hops {
    /// Asked in this order; the first that knows a host is believed.
    pub sources: Vec<HopSource>,
    /// Hops of a host that no source knows; at least 1.
    pub default: u32,
    /// Time between two questions to a source.
    pub refresh: Span,
    /// Age at which an answer is forgotten; longer than `refresh`.
    pub expiry: Span,
    /// `[hops.static]`, longest prefix first.
    pub fixed: Vec<(IpNet, u32)>,
    /// Where the jsoninfo plugin of olsrd listens.
    pub olsr: SocketAddr,
    /// Where the telnet server of olsrd2 listens.
    pub olsr2: SocketAddr,
    /// Where babeld's local interface listens.
    pub babel: SocketAddr,
}

/// One source of hop counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HopSource {
    /// `[hops.static]` and `[[subnet]]`.
    Static,
    /// The kernel's 802.11s mesh paths.
    Mpath,
    /// The routing table of olsrd (OLSR, RFC 3626).
    Olsr,
    /// The routing table of olsrd2 (OLSRv2, RFC 7181).
    Olsr2,
    /// The Babel daemon's routing table, where its metric counts hops.
    Babel,
    /// The TTL of received packets (schemes.md 1.2).
    Ttl,
    /// [`Hops::default`].
    Default,
}

/// `[nfqueue]`: the kernel's packet queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nfqueue {
    /// Its number.
    pub queue: u16,
    /// Packets that it holds; when it is full, packets pass unqueued.
    pub length: u32,
    /// Receive buffer of its netlink socket.
    pub socket_buffer: Bytes,
    /// Packets a second that come to it at the most while nothing is paced; `None`: all.
    pub observed_max: Option<u32>,
    /// Whether real-time scheduling is asked for.
    pub realtime: bool,
}

/// `[control]`: the socket on which commands ask the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Its path.
    pub socket: PathBuf,
    /// Name or number of the group whose members may use it besides its owner.
    pub group: Option<String>,
}

/// `[metrics]`: Prometheus metrics over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Where; `None` serves none.
    pub listen: Option<SocketAddr>,
}

/// `[events]`: JSON lines of what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// The file that they are appended to, `-` for standard output; `None` writes none.
    pub file: Option<PathBuf>,
    /// A file that would get longer is put away.
    pub max_size: Bytes,
    /// Files put away that are kept.
    pub keep: u32,
}

/// `[host]`: pacing on a wireless host.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// The control group (version 2) whose sockets are paced; `None`: the root of its hierarchy.
    pub cgroup: Option<PathBuf>,
    /// Wireless hops to the gateway; `None`: what [`Hops::fixed`] says of this host's address, else [`Hops::default`].
    pub hops: Option<u32>,
    /// MAC data rate of the links to the gateway.
    pub rate: Rate,
    /// A sender's interval before its law's first answer.
    pub initial_interval: Span,
}

/// `[edge]`: thin acknowledgements at the mesh's edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Interfaces into the mesh; none: those of [`Mesh::interfaces`].
    pub interfaces: Vec<String>,
    /// How packets are reached.
    pub datapath: EdgeDatapath,
    /// An acknowledgement that brings so much since the last that passed, passes.
    pub bytes: Bytes,
    /// And one that brings so large a part, one in so many, of what has been acknowledged since the sender began.
    pub share: u32,
    /// And one that comes so long after the last that passed.
    pub wait: Span,
    /// Others wait so long for a newer one.
    pub tail: Span,
    /// Connections, either way, that are known.
    pub flows: u32,
    /// Acknowledgements that may wait.
    pub held: u32,
    /// Number of the kernel's packet queue, where that is used.
    pub queue: u16,
    /// Where the status is asked for.
    pub socket: PathBuf,
    /// Where metrics are served; `None` serves none.
    pub listen: Option<SocketAddr>,
}

/// How packets reach the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeDatapath {
    /// By eBPF where the kernel lets it, else by NFQUEUE.
    Auto,
    /// By a tc eBPF program.
    Ebpf,
    /// Through NFQUEUE.
    Nfqueue,
}

impl Edge {
    /// The hook that does the same in user space.
    ///
    /// # Panics
    /// If there is no hook `ack-filter`.
    #[must_use]
    pub fn hook(&self) -> HookMaker {
        let part = HOOKS.iter().find(|part| part.about.word == "ack-filter").expect("a hook of that name");
        let values = [
            ("filter_bytes", Setting::Whole(self.bytes.0)),
            ("filter_share", Setting::Whole(self.share.into())),
            ("filter_wait", Setting::Real(self.wait.as_secs_f64())),
            ("filter_tail", Setting::Real(self.tail.as_secs_f64())),
        ];
        HookMaker::new(part, Values::new(values))
    }
}

impl HopSource {
    /// Every source, in the default order; [`HopSource::Default`] always answers last and is not listed.
    pub const ALL: [Self; 6] = [Self::Static, Self::Mpath, Self::Olsr, Self::Olsr2, Self::Babel, Self::Ttl];

    /// Its name in the file and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Mpath => "802.11s",
            Self::Olsr => "olsr",
            Self::Olsr2 => "olsr2",
            Self::Babel => "babel",
            Self::Ttl => "ttl",
            Self::Default => "default",
        }
    }
}

impl Mode {
    /// Its name in the file and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Pace => "pace",
        }
    }
}

impl Datapath {
    /// Its name in the file and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nfqueue => "nfqueue",
            Self::Ebpf => "ebpf",
        }
    }
}

impl Subnet {
    /// A prefix whose hosts are no exceptions yet.
    #[must_use]
    pub const fn of(prefix: IpNet) -> Self {
        Self {
            prefix,
            mode: None,
            paced_share: None,
            hops: None,
            rate: None,
            weight: None,
            cap: None,
            together: None,
        }
    }
}

impl Mesh {
    /// True if the address lies in one of the mesh's prefixes.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.subnets.iter().any(|prefix| prefix.contains(&address))
    }
}

impl Config {
    /// What is in force for the mesh host of that address: key by key the longest matching prefix that gives it, else
    /// the whole file's value.
    #[must_use]
    pub fn policy(&self, host: IpAddr) -> Policy {
        let matching = || self.subnets.iter().filter(|subnet| subnet.prefix.contains(&host));
        Policy {
            mode: matching().find_map(|subnet| subnet.mode).unwrap_or(self.mode),
            paced_share: matching().find_map(|subnet| subnet.paced_share).unwrap_or(self.paced_share),
            hops: matching().find_map(|subnet| subnet.hops),
            rate: matching().find_map(|subnet| subnet.rate),
            weight: matching().find_map(|subnet| subnet.weight).unwrap_or(1),
            cap: matching().find_map(|subnet| subnet.cap),
        }
    }

    /// The prefix that a mesh host counts under where hosts are shaped: its own address, or the prefix whose
    /// hosts count as one.
    #[must_use]
    pub fn counts_as(&self, host: IpAddr) -> IpAddr {
        let matching = self.subnets.iter().filter(|subnet| subnet.prefix.contains(&host));
        match matching.filter_map(|subnet| Some((subnet.prefix, subnet.together?))).next() {
            Some((prefix, true)) => prefix.network(),
            Some((_, false)) | None => host,
        }
    }

    /// What each prefix with an exception has of a shaper of hosts.
    pub fn shares(&self) -> impl Iterator<Item = (IpNet, Share)> {
        self.subnets.iter().map(|of| {
            let matching = || self.subnets.iter().filter(|subnet| subnet.prefix.contains(&of.prefix));
            let together = matching().filter_map(|subnet| Some((subnet.prefix, subnet.together?))).next();
            let share = Share {
                weight: matching().find_map(|subnet| subnet.weight).unwrap_or(1),
                cap: matching().find_map(|subnet| subnet.cap),
                together: together.filter(|(_, together)| *together).map(|(prefix, _)| prefix),
            };
            (of.prefix, share)
        })
    }

    /// True if flows of any mesh host are paced.
    #[must_use]
    pub fn is_pacing(&self) -> bool {
        self.modes().any(|mode| mode == Mode::Pace)
    }

    /// The shaper of hosts that is in force: once anything is paced, all that goes into the mesh is shaped.
    #[must_use]
    pub fn shaper(&self) -> Option<ShaperConfig> {
        self.hosts.shaper.filter(|_| self.is_pacing())
    }

    /// True if flows are left to the shaper of hosts: none has a law of its own.
    #[must_use]
    pub fn leaves_flows_free(&self) -> bool {
        self.hosts.flows == Flows::Free && self.shaper().is_some()
    }

    /// True if packets may go on as the kernel has them, offloaded segments in one piece. That is so if nothing is paced, because no packet
    /// is held or changed then; or if flows are left to the shaper, at a rate at which the largest packet takes no longer than a burst.
    #[must_use]
    pub fn leaves_whole(&self) -> bool {
        let Some(shaper) = self.shaper() else { return !self.is_pacing() };
        let takes = shaper.rate.time_to_send(LARGEST);
        self.hosts.flows == Flows::Free
            && shaper.find.is_none()
            && shaper.by == ShareBy::Bytes
            && takes.is_some_and(|takes| takes <= shaper.burst)
            && self.subnets.iter().all(|subnet| subnet.cap.is_none())
    }

    /// Packets a second that come to the daemon at the most, all others being watched by them: while nothing is paced.
    #[must_use]
    pub fn samples(&self) -> Option<u32> {
        let watches = self.datapath == Datapath::Nfqueue && !self.is_pacing();
        self.nfqueue.observed_max.filter(|_| watches)
    }

    /// Every mode that is in force somewhere.
    fn modes(&self) -> impl Iterator<Item = Mode> {
        std::iter::once(self.mode).chain(self.subnets.iter().filter_map(|subnet| subnet.mode))
    }

    /// True if no flow anywhere is more than forwarded, so that no packet needs to be queued.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.modes().all(|mode| mode == Mode::Off)
    }
}
