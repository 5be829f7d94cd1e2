//! What the machine's memory allows: limits that the file does not give follow it, so that a small router is not asked for
//! more than it has.

use meshpace_units::Bytes;
use std::fs;
use std::path::Path;

/// From here on the limits are those of schemes.md; below they are in proportion. All of them together, full to the brim,
/// take under a quarter of it.
const FULL: u64 = 2 << 30;
/// A limit on the daemon alone counts as the memory of a machine so many times as large, since the daemon
/// would take a quarter of a machine's memory.
const SHARE: u64 = 4;

/// Memory to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(Bytes);

impl Memory {
    /// So much.
    #[must_use]
    pub const fn of(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The memory that this process has: the machine's, or the limit of its control groups (version 2), whichever is
    /// less. `None` if the kernel does not tell.
    #[must_use]
    pub fn here() -> Option<Self> {
        let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
        let groups = fs::read_to_string("/proc/self/cgroup").ok();
        let limit = groups.and_then(|text| limit(Path::new("/sys/fs/cgroup"), &text));
        let limit = limit.map(|limit| limit.saturating_mul(SHARE));
        total.into_iter().chain(limit).min().map(|bytes| Self(Bytes(bytes)))
    }

    /// A limit in proportion to this memory, at least 1.
    pub(super) fn scaled(self, limit: u64) -> u64 {
        let scaled = u128::from(limit) * u128::from(self.0.0.min(FULL)) / u128::from(FULL);
        u64::try_from(scaled).unwrap_or(limit).max(1)
    }

    /// True if limits are less than they are elsewhere.
    pub(super) const fn is_short(self) -> bool {
        self.0.0 < FULL
    }
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} MiB", self.0.0 >> 20)
    }
}

/// `MemTotal` of /proc/meminfo (proc_meminfo(5)), in bytes.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least `memory.max` of the process's control group and those above it (cgroups(7): the line `0::PATH`).
fn limit(root: &Path, groups: &str) -> Option<u64> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let ways = Path::new(own).ancestors().map(|group| root.join(group).join("memory.max"));
    // Without a limit the file says "max"; the root has none.
    ways.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words() {
        assert_eq!(total("MemTotal:         124568 kB\nMemFree: 1 kB\n"), Some(124_568 * 1024));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        let root = tempfile::tempdir().unwrap();
        let write = |group: &str, text: &str| {
            fs::create_dir_all(root.path().join(group)).unwrap();
            fs::write(root.path().join(group).join("memory.max"), text).unwrap();
        };
        write("system.slice/meshpaced.service", "max\n");
        write("system.slice", "67108864\n");
        write("other", "1\n");
        let limit = |groups: &str| limit(root.path(), groups);
        assert_eq!(limit("0::/system.slice/meshpaced.service\n"), Some(64 << 20), "of the group above");
        assert_eq!(limit("12:cpu:/x\n0::/\n"), None);
        assert_eq!(limit("12:memory:/other\n"), None, "version 1");
        assert!(Memory::here().is_some(), "this machine tells");
    }

    #[test]
    fn limits_are_in_proportion_below_two_gibibytes() {
        let small = Memory::of(Bytes(128 << 20));
        assert_eq!((small.scaled(256 << 20), small.scaled(65_536), small.scaled(3)), (16 << 20, 4_096, 1));
        let large = Memory::of(Bytes(64 << 30));
        assert_eq!((large.scaled(256 << 20), large.is_short()), (256 << 20, false));
        assert!(small.is_short());
        assert_eq!(small.to_string(), "128 MiB");
    }
}
