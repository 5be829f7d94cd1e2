//! The program in the kernel: loading, attaching, orders, and taking it away without leaving limits behind.
//!
//! The link is pinned: should this process be killed, the program stays attached and lifts all limits once the clock has
//! passed what it was last told. A link that only this process held would go with it, and its limits would stay.

use super::cgroup::Cgroup;
use super::exchange::{COUNTERS, Cookie, Order, Report, in_force, is_limited};
use crate::Failure;
use crate::shared::host as c;
use aya::maps::{Array, HashMap, Map, MapData, MapError, PerCpuArray, RingBuf};
use aya::programs::links::{FdLink, PinnedLink};
use aya::programs::{CgroupAttachMode, Iter, SockOps};
use aya::util::KernelVersion;
use aya::{Btf, Ebpf, EbpfLoader};
use meshpace_units::{Instant, Rate};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The first kernel whose `BPF_SOCK_OPS_RTT_CB` carries the round-trip sample (commit 48e2cd3e3dcf, Linux 6.11).
const KERNEL: KernelVersion = KernelVersion::new(6, 11, 0);
const OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/host.bpf.o"));
/// `BPF_EXIST` of linux/bpf.h: only entries that the program made are written, none is brought back.
const EXIST: u64 = 2;

/// The loaded and attached program.
pub struct Program {
    ebpf: Ebpf,
    link: PinnedLink,
    reports: RingBuf<MapData>,
    orders: HashMap<MapData, u64, [u8; c::Order::SIZE]>,
    connections: HashMap<MapData, u64, [u8; c::Connection::SIZE]>,
    settings: Array<MapData, [u8; c::Settings::SIZE]>,
    counters: PerCpuArray<MapData, u64>,
}

/// Where the link of this control group's program is pinned.
#[must_use]
pub fn pin_path(bpffs: &Path, cgroup: &Cgroup) -> PathBuf {
    bpffs.join(format!("meshpaced-host-{}", cgroup.inode()))
}

/// Detaches what a killed meshpaced left on this control group; true if there was something.
///
/// # Errors
/// [`Failure::Operational`] if the pin cannot be removed.
pub fn remove_stale(pin: &Path) -> Result<bool, Failure> {
    match std::fs::remove_file(pin) {
        Ok(()) => Ok(true),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(why) => Err(Failure::operational(pin.display(), why)),
    }
}

/// Refuses kernels whose callback carries no sample.
fn check_kernel(running: KernelVersion) -> Result<(), Failure> {
    if running < KERNEL {
        let code = running.code();
        return Err(Failure::Operational(format!(
            "Linux {}.{}: `meshpaced host` needs 6.11 or newer; older kernels do not hand round-trip samples to eBPF",
            code >> 16,
            code >> 8 & 0xff
        )));
    }
    Ok(())
}

impl Program {
    /// Loads the program for at most so many connections and attaches it to `cgroup`, beside whatever else is attached
    /// there. It acts until `alive_until`.
    ///
    /// # Errors
    /// [`Failure::Operational`]: the kernel is too old, a right is missing, no BPF file system is mounted.
    pub fn attach(
        cgroup: &Cgroup,
        pin: &Path,
        connections: u32,
        alive_until: Instant,
    ) -> Result<Self, Failure> {
        check_kernel(KernelVersion::current().map_err(|why| Failure::operational("kernel version", why))?)?;
        let mut ebpf = EbpfLoader::new()
            .btf(Btf::from_sys_fs().ok().as_ref())
            .override_global("sol_socket", &(libc::SOL_SOCKET as u32), true)
            .override_global("so_max_pacing_rate", &(libc::SO_MAX_PACING_RATE as u32), true)
            .map_max_entries("connections", connections)
            .map_max_entries("orders", connections)
            .load(OBJECT)
            .map_err(|why| refused("loading the eBPF maps", &why))?;
        let mut settings: Array<_, [u8; c::Settings::SIZE]> = map(&mut ebpf, "settings")?;
        settings.set(0, lives_until(alive_until), 0).map_err(|why| refused("eBPF map settings", &why))?;
        let (reports, orders, connections, counters) = (
            map(&mut ebpf, "reports")?,
            map(&mut ebpf, "orders")?,
            map(&mut ebpf, "connections")?,
            map(&mut ebpf, "counters")?,
        );
        let program = ebpf.program_mut("meshpace_host").expect("the object has it");
        let program: &mut SockOps = program.try_into().expect("a sock_ops program");
        program.load().map_err(|why| refused("loading the eBPF program", &why))?;
        let link = program
            // No flag: a link never displaces another program, and takes none (kernel/bpf/cgroup.c).
            .attach(cgroup.directory(), CgroupAttachMode::Single)
            .and_then(|id| program.take_link(id))
            .map_err(|why| refused(&format!("attaching to {}", cgroup.path().display()), &why))?;
        let link: FdLink = link.try_into().expect("Linux 5.7 and newer attach by a link");
        let link = link.pin(pin).map_err(|why| {
            let directory = pin.parent().unwrap_or(pin).display();
            let hint =
                format!("is a BPF file system mounted there? (mount -t bpf bpf {directory}, or --bpffs)");
            Failure::operational(pin.display(), format!("{}; {hint}", chain(&why)))
        })?;
        Ok(Self { ebpf, link, reports, orders, connections, settings, counters })
    }

    /// The next report, `None` if there is none now.
    pub fn next_report(&mut self) -> Option<Report> {
        let item = self.reports.next()?;
        Some(Report::read(&item).unwrap_or_else(|| panic!("not a report of our program: {:?}", &*item)))
    }

    /// Tells the kernel what is wanted of a connection. False if that is over.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the kernel refuses.
    pub fn order(&mut self, cookie: Cookie, order: Order) -> Result<bool, Failure> {
        match self.orders.insert(cookie.0, c::Order::from(order).to_bytes(), EXIST) {
            Ok(()) => Ok(true),
            Err(why) if is_missing(&why) => Ok(false),
            Err(why) => Err(refused("eBPF map orders", &why)),
        }
    }

    /// The limit that the connection's socket has; `None` inside is none, outside that it is over.
    #[must_use]
    pub fn in_force(&self, cookie: Cookie) -> Option<Option<Rate>> {
        self.connections
            .get(&cookie.0, 0)
            .ok()
            .map(|connection| in_force(&c::Connection::of_bytes(connection)))
    }

    /// Lets the program act until then.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the kernel refuses.
    pub fn keep_alive(&mut self, until: Instant) -> Result<(), Failure> {
        self.settings.set(0, lives_until(until), 0).map_err(|why| refused("eBPF map settings", &why))
    }

    /// What the program counted so far, by name.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the kernel refuses.
    pub fn counters(&self) -> Result<Vec<(&'static str, u64)>, Failure> {
        let value = |(index, name): (u32, &'static str)| {
            let values = self.counters.get(&index, 0).map_err(|why| refused("eBPF map counters", &why))?;
            Ok((name, values.iter().sum()))
        };
        (0..).zip(COUNTERS).map(value).collect()
    }

    /// Connections whose limit is not the one that their application set.
    #[must_use]
    pub fn limited(&self) -> usize {
        self.connections
            .iter()
            .flatten()
            .filter(|&(_, connection)| is_limited(&c::Connection::of_bytes(connection)))
            .count()
    }

    /// Gives all sockets their own limits back: those of this network namespace at once, if the kernel has its types
    /// (BTF), the others at their next acknowledgement, if [`Self::detach`] waits for that.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the kernel refuses.
    pub fn lift(&mut self) -> Result<(), Failure> {
        self.keep_alive(Instant::ZERO)?;
        let Ok(btf) = Btf::from_sys_fs() else { return Ok(()) };
        let program = self.ebpf.program_mut("meshpace_lift").expect("the object has it");
        let program: &mut Iter = program.try_into().expect("an iterator");
        let iterator =
            |why: &(dyn std::error::Error + 'static)| refused("the eBPF iterator over TCP sockets", why);
        let link = program
            .load("tcp", &btf)
            .and_then(|()| program.attach())
            .and_then(|id| program.take_link(id))
            .map_err(|why| iterator(&why))?;
        let mut file = link.into_file().map_err(|why| iterator(&why))?;
        // Reading runs the program; it prints nothing.
        file.read_to_end(&mut Vec::new())
            .map_err(|why| Failure::operational("iterating TCP sockets", why))?;
        Ok(())
    }

    /// Detaches the program.
    ///
    /// # Errors
    /// [`Failure::Operational`] if the pin cannot be removed.
    pub fn detach(self) -> Result<(), Failure> {
        self.link.unpin().map(drop).map_err(|why| Failure::operational("detaching", why))
    }
}

impl AsFd for Program {
    /// Readable when there is a report.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reports.as_fd()
    }
}

/// What lets the program act until then.
fn lives_until(alive_until: Instant) -> [u8; c::Settings::SIZE] {
    c::Settings { alive_until: alive_until.as_nanos() }.to_bytes()
}

fn map<M: TryFrom<Map, Error = MapError>>(ebpf: &mut Ebpf, name: &str) -> Result<M, Failure> {
    let map = ebpf.take_map(name).unwrap_or_else(|| panic!("the object has a map {name}"));
    M::try_from(map).map_err(|why| refused(&format!("eBPF map {name}"), &why))
}

fn is_missing(why: &MapError) -> bool {
    match why {
        MapError::KeyNotFound | MapError::ElementNotFound => true,
        MapError::SyscallError(why) => why.io_error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn refused(what: &str, why: &(dyn std::error::Error + 'static)) -> Failure {
    let denied = std::iter::successors(Some(why), |why| why.source())
        .filter_map(|why| why.downcast_ref::<std::io::Error>())
        .any(|why| why.kind() == std::io::ErrorKind::PermissionDenied);
    let hint = if denied { " (needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON)" } else { "" };
    Failure::operational(what, format!("{}{hint}", chain(why)))
}

/// An error with its causes in one line.
fn chain(why: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(why), |why| why.source());
    let mut texts: Vec<String> = causes.map(ToString::to_string).collect();
    // Some errors end with their cause already.
    texts.dedup_by(|cause, text| text.ends_with(cause.as_str()));
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_without_samples_are_refused_by_name() {
        let old = check_kernel(KernelVersion::new(6, 10, 14)).unwrap_err().to_string();
        assert!(old.starts_with("Linux 6.10: `meshpaced host` needs 6.11 or newer"), "{old}");
        assert!(
            check_kernel(KernelVersion::new(6, 11, 0)).is_ok()
                && check_kernel(KernelVersion::new(7, 0, 0)).is_ok()
        );
    }

    #[test]
    fn causes_are_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("map x: {0}")]
        struct Outer(#[source] std::io::Error);
        #[derive(Debug, thiserror::Error)]
        #[error("loading")]
        struct Outermost(#[source] Outer);
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let why = Outermost(Outer(denied));
        assert_eq!(chain(&why), "loading: map x: permission denied");
        assert!(
            refused("this", &why).to_string().ends_with("(needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON)")
        );
    }
}
