//! What this process may do (capabilities(7)).

use crate::Failure;

/// Capabilities of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights {
    /// CAP_NET_ADMIN.
    pub net_admin: bool,
    /// CAP_NET_RAW.
    pub net_raw: bool,
    /// CAP_BPF.
    pub bpf: bool,
    /// CAP_PERFMON.
    pub perfmon: bool,
    /// CAP_SYS_ADMIN.
    pub sys_admin: bool,
    /// CAP_SYS_NICE.
    pub sys_nice: bool,
    /// CAP_IPC_LOCK.
    pub ipc_lock: bool,
}

impl Rights {
    /// Those of the calling thread; none if the kernel does not tell.
    #[must_use]
    pub fn here() -> Self {
        let status = std::fs::read_to_string("/proc/thread-self/status");
        status.map(|status| Self::of(&status)).unwrap_or_default()
    }

    /// Bits of CapEff (linux/capability.h).
    fn of(status: &str) -> Self {
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let bits = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or_default();
        let has = |bit: u32| bits >> bit & 1 == 1;
        Self {
            net_admin: has(12),
            net_raw: has(13),
            ipc_lock: has(14),
            sys_admin: has(21),
            sys_nice: has(23),
            perfmon: has(38),
            bpf: has(39),
        }
    }

    /// Programs take more: said before the kernel's verifier says it.
    ///
    /// # Errors
    /// [`Failure::Operational`] with what to do, if CAP_BPF or CAP_PERFMON is missing.
    #[cfg(feature = "ebpf")]
    pub fn require_bpf(self) -> Result<(), Failure> {
        if self.bpf && self.perfmon {
            return Ok(());
        }
        Err(Failure::Operational(
            "datapath = \"ebpf\" takes CAP_BPF and CAP_PERFMON, too: run it as root, or give the service the drop-in \
             meshpaced-ebpf.conf"
                .to_owned(),
        ))
    }

    /// Nothing that changes how packets go can be done without CAP_NET_ADMIN: said at once, before the kernel says it in
    /// its words.
    ///
    /// # Errors
    /// [`Failure::Operational`] with what to do, if it is missing.
    pub fn require_net_admin(self, command: &str) -> Result<(), Failure> {
        if self.net_admin {
            return Ok(());
        }
        Err(Failure::Operational(format!(
            "{command} takes root's rights, or CAP_NET_ADMIN and CAP_NET_RAW: sudo meshpaced {command}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_bits() {
        let rights = Rights::of("Name:\tx\nCapEff:\t0000008000a01000\n");
        let expected =
            Rights { net_admin: true, sys_admin: true, sys_nice: true, bpf: true, ..Rights::default() };
        assert_eq!(rights, expected);
        assert_eq!(Rights::of(""), Rights::default());
    }

    #[test]
    fn who_is_not_root_is_told_so() {
        let refused = Rights::default().require_net_admin("gateway").unwrap_err();
        assert!(matches!(&refused, Failure::Operational(said) if said.contains("sudo meshpaced gateway")));
        let admin = Rights { net_admin: true, ..Rights::default() };
        assert!(admin.require_net_admin("gateway").is_ok());
        #[cfg(feature = "ebpf")]
        {
            let refused = Rights { bpf: true, ..admin }.require_bpf().unwrap_err();
            assert!(refused.to_string().contains("meshpaced-ebpf.conf"), "{refused}");
            assert!(Rights { bpf: true, perfmon: true, ..admin }.require_bpf().is_ok());
        }
    }
}
