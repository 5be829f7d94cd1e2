//! Asking for precise wake-ups: real-time scheduling and memory that stays.

use meshpace_units::Span;
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
use std::fmt;
use std::io;

/// Above threads without real-time priority, below what an administrator puts above (kernel threads of interrupts run at 50).
const PRIORITY: i32 = 50;
/// Linux may let the timers of an ordinary thread expire this much later; the default is 50 us (PR_SET_TIMERSLACK(2const)).
const SLACK: Span = Span::NANOSECOND;

/// What the calling thread got from the kernel: for a line in the log.
#[derive(Debug)]
pub enum Realtime {
    /// `SCHED_FIFO`: ordinary load on the machine no longer makes it late.
    Fifo {
        /// Its priority, 1 to 99.
        priority: i32,
        /// Why memory may still be paged out; `None` if it is locked.
        pageable: Option<io::Error>,
    },
    /// Ordinary scheduling with the smallest timer slack: late by milliseconds when the processors are busy.
    Ordinary {
        /// Why real-time scheduling was refused.
        refused: io::Error,
    },
}

impl fmt::Display for Realtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo { priority, pageable: None } => write!(f, "SCHED_FIFO {priority}, memory locked"),
            Self::Fifo { priority, pageable: Some(reason) } => {
                write!(f, "SCHED_FIFO {priority}, memory not locked ({reason})")
            }
            Self::Ordinary { refused } => {
                write!(
                    f,
                    "ordinary scheduling with {} ns of timer slack: SCHED_FIFO was refused ({refused}; it takes \
                     CAP_SYS_NICE or an RLIMIT_RTPRIO, and a cgroup with real-time time where the kernel groups it), so departures may be \
                     milliseconds late when the processors are busy",
                    SLACK.as_nanos()
                )
            }
        }
    }
}

/// The kernel's `struct sched_param` (include/uapi/linux/sched/types.h); a C library may have a longer one.
#[repr(C)]
struct SchedParam {
    sched_priority: i32,
}

/// Makes the calling thread's wake-ups as precise as the kernel allows, and says how precise that is.
///
/// Such a thread must sleep when it has nothing to do: one that spins starves everything on its processor up to the
/// kernel's limit of 95 % (`sched_rt_runtime_us`, sched(7)).
#[must_use]
pub fn realtime() -> Realtime {
    let parameters = SchedParam { sched_priority: PRIORITY };
    // Children (commands that are run) go back to ordinary scheduling.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // The system call itself: musl's function of that name only answers ENOSYS.
    // SAFETY: 0 is the calling thread; `parameters` is a valid sched_param that the call only reads.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) };
    if result != 0 {
        let refused = io::Error::last_os_error();
        // Fails only for negative values, which an unsigned one is not.
        set_timerslack(SLACK.as_nanos()).unwrap_or_else(|error| panic!("PR_SET_TIMERSLACK: {error}"));
        return Realtime::Ordinary { refused };
    }
    Realtime::Fifo { priority: PRIORITY, pageable: lock_memory().err() }
}

/// Lifts the limit on locked memory, which eBPF maps count against before Linux 5.11.
///
/// # Errors
/// `EPERM` without CAP_SYS_RESOURCE: loading may then fail on such a kernel.
pub fn lift_memory_lock_limit() -> io::Result<()> {
    Ok(setrlimit(Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY)?)
}

/// Keeps the process's pages in memory, those of later allocations included, once they have been used.
fn lock_memory() -> io::Result<()> {
    // Within a limit the call may succeed, and then allocations past it fail (mlockall(2)).
    let limited = getrlimit(Resource::RLIMIT_MEMLOCK)?.0 != RLIM_INFINITY;
    if limited && !has_capability(CAP_IPC_LOCK)? {
        let takes = "it takes CAP_IPC_LOCK, or no limit on locked memory (RLIMIT_MEMLOCK)";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, takes));
    }
    // ONFAULT: the stacks of threads are megabytes that are not touched.
    let onfault = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
    Ok(mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE | onfault)?)
}

/// `include/uapi/linux/capability.h`.
const CAP_IPC_LOCK: u32 = 14;

/// True if the calling thread may use `capability` now.
fn has_capability(capability: u32) -> io::Result<bool> {
    let status = std::fs::read_to_string("/proc/thread-self/status")?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = effective.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    let mask = mask.ok_or_else(|| io::Error::other("/proc/thread-self/status has no CapEff line"))?;
    Ok(mask & (1 << capability) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_confirms_the_verdict() {
        let verdict = realtime();
        println!("{verdict}");
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("proc");
        // proc_pid_stat(5): after the name in parentheses, field 40 is rt_priority and field 41 the policy.
        let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
        let (priority, policy) = (fields[37], fields[38]);
        match verdict {
            Realtime::Fifo { .. } => assert_eq!((priority, policy), ("50", "1")),
            Realtime::Ordinary { .. } => {
                assert_eq!((priority, policy), ("0", "0"));
                let slack = std::fs::read_to_string("/proc/self/timerslack_ns");
                assert!(slack.is_ok(), "{slack:?}");
            }
        }
    }
}
