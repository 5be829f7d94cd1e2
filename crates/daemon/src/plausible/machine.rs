//! What interfaces and IP have counted, read of the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Counters of this thread's network namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Every interface; none if they could not be read.
    pub interfaces: BTreeMap<String, Link>,
    /// Bytes that IP has received on all of them, if known.
    pub received: Option<u64>,
}

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
    /// The interface that it is a part of.
    pub master: Option<String>,
    /// Interfaces that stand on it.
    pub uppers: Vec<String>,
}

/// Both are those of the reading thread's namespace (net/core/net-procfs.c, net/ipv4/proc.c: seq_show).
const DEVICES: &str = "/proc/thread-self/net/dev";
const IPV4: &str = "/proc/thread-self/net/netstat";
const IPV6: &str = "/proc/thread-self/net/snmp6";
/// That of the namespace in which /sys was mounted; where that is another one nothing is known of how interfaces stand on each other.
const CLASS: &str = "/sys/class/net";

impl Machine {
    /// Reads the counters; how interfaces stand on each other only of those named.
    #[must_use]
    pub fn look(names: &[String]) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut interfaces = devices(&text(DEVICES));
        for name in names {
            if let Some(link) = interfaces.get_mut(name) {
                (link.master, link.uppers) = stands(&Path::new(CLASS).join(name));
            }
        }
        let received = received_v4(&text(IPV4));
        let received = received.map(|bytes| bytes + received_v6(&text(IPV6)).unwrap_or(0));
        Self { interfaces, received }
    }
}

/// `NAME: rx-bytes packets errs drop fifo frame compressed multicast tx-bytes ...`, below two lines of heads.
fn devices(text: &str) -> BTreeMap<String, Link> {
    let device = |line: &str| {
        let (name, counters) = line.split_once(':')?;
        let mut counters = counters.split_whitespace().map(str::parse);
        let (received, sent) = (counters.next()?.ok()?, counters.nth(7)?.ok()?);
        Some((name.trim().to_owned(), Link { received, sent, ..Link::default() }))
    };
    text.lines().filter_map(device).collect()
}

/// InOctets of the two lines `IpExt: NAMES` and `IpExt: VALUES`.
fn received_v4(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("IpExt:"));
    let (heads, values) = (lines.next()?, lines.next()?);
    let at = heads.split_whitespace().position(|head| head == "InOctets")?;
    values.split_whitespace().nth(at)?.parse().ok()
}

/// `Ip6InOctets VALUE` of the lines.
fn received_v6(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("Ip6InOctets"))?;
    value.trim().parse().ok()
}

/// The master, a link, and uppers, links by name (net/core/dev.c: netdev_adjacent_sysfs_add).
fn stands(folder: &Path) -> (Option<String>, Vec<String>) {
    let master = fs::read_link(folder.join("master")).ok();
    let master = master.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let upper = |name: std::ffi::OsString| Some(name.to_str()?.strip_prefix("upper_")?.to_owned());
    let mut uppers: Vec<_> = entries.filter_map(|entry| upper(entry.file_name())).collect();
    uppers.retain(|upper| Some(upper) != master.as_ref());
    (master, uppers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counters_as_the_kernel_prints_them() {
        let text = "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n\
            \x20   lo:    2640      22    0    0    0     0          0         0     2640      22    0    0    0     0       0          0\n\
             mesh0:1234567    1000    0    0    0     0          0         0 987654321     900    0    0    0     0       0          0\n";
        let found = devices(text);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["lo", "mesh0"]);
        assert_eq!((found["mesh0"].received, found["mesh0"].sent), (1_234_567, 987_654_321));
        let text = "TcpExt: A B\nTcpExt: 1 2\nIpExt: InNoRoutes InOctets OutOctets\nIpExt: 0 77 88\n";
        assert_eq!(received_v4(text), Some(77));
        assert_eq!(received_v6("Ip6InReceives   \t5\nIp6InOctets                     \t444\n"), Some(444));
    }

    #[test]
    fn this_machine_has_a_loopback_interface() {
        let machine = Machine::look(&["lo".to_owned()]);
        assert!(machine.interfaces.contains_key("lo") && machine.received.is_some(), "{machine:?}");
        assert_eq!(machine.interfaces["lo"].master, None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(IpExt:|InOctets|Ip6InOctets| |:|\n|[0-9]{1,22}|é|.){0,30}") {
            let _ = (devices(&text), received_v4(&text), received_v6(&text));
        }
    }
}
