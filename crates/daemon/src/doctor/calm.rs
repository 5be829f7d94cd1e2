//! Facts about calm as a congestion control of this kernel.

use super::facts::{Calm, CalmChoice};
use super::kernel::read;

/// Its name there.
const NAME: &str = "calm";

pub(super) fn calm() -> Calm {
    let named = |switch: &str| {
        let names = read(&format!("/proc/sys/net/ipv4/{switch}")).unwrap_or_default();
        names.split_whitespace().any(|name| name == NAME)
    };
    let loaded = named("tcp_available_congestion_control");
    Calm { loaded, default: named("tcp_congestion_control"), choice: choice().filter(|_| loaded) }
}

#[cfg(feature = "ebpf")]
fn choice() -> Option<CalmChoice> {
    let crate::congestion::Choice { unit, cgroup, subnets } = crate::congestion::choice().ok()??;
    let cgroup = cgroup.map(|path| {
        let exists = path.exists();
        (path, exists)
    });
    Some(CalmChoice { unit, cgroup, subnets })
}

#[cfg(not(feature = "ebpf"))]
fn choice() -> Option<CalmChoice> {
    None
}
