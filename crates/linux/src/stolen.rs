//! Time that a hypervisor took.

use meshpace_units::Span;
use nix::unistd::{SysconfVar, sysconf};

/// How long the machine's processors, all together, have wanted to run and been kept from it by a hypervisor since the machine
/// started; `None`: the kernel does not say.
#[must_use]
pub fn stolen_time() -> Option<Span> {
    let ticks = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    of(&std::fs::read_to_string("/proc/stat").ok()?, ticks)
}

/// The eighth number of the line of all processors (proc_stat(5), Linux 2.6.11), in ticks.
fn of(stat: &str, ticks_per_second: u64) -> Option<Span> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let stolen: u64 = line.split_whitespace().nth(7)?.parse().ok()?;
    stolen.checked_mul(1_000_000_000).map(|nanos| Span::from_nanos(nanos / ticks_per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_processors_together() {
        let stat = "cpu  3586983 1237418 822468 1920911 17746 0 16061 3633 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(of(stat, 100), Some(Span::from_millis(36_330)));
        assert_eq!(of("cpu  1 2 3 4\n", 100), None, "an old kernel");
        assert!(stolen_time().is_some());
    }
}
