//! A network namespace that a test makes and removes, with two TUN devices between which it forwards, and packets for it.
#![allow(dead_code, reason = "each test file uses its part")]

use meshpace_linux::{Namespace, Poller, Tun, TunOptions};
use meshpace_units::Span;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Long enough for a busy machine; only waited for when something is missing.
pub const PATIENCE: Span = Span::from_secs(60);
/// How long silence is listened to.
pub const SILENCE: Span = Span::from_millis(200);

/// False, with the reason printed, where namespaces cannot be made.
pub fn root() -> bool {
    let root = std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0;
    if !root {
        println!("SKIPPED: network namespaces and NFQUEUE take root");
    }
    root
}

/// A named namespace; removed when dropped.
pub struct Net {
    name: String,
    pub namespace: Namespace,
}

impl Net {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("mp-linux-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        run(&["ip", "netns", "add", &name]);
        let namespace = Namespace::named(&name).expect("it was just made");
        let net = Self { name, namespace };
        net.run(&["ip", "link", "set", "lo", "up"]);
        net.set("net/ipv4/ip_forward", "1");
        net.set("net/ipv6/conf/all/forwarding", "1");
        net
    }

    /// Runs a command in the namespace.
    pub fn run(&self, command: &[&str]) {
        run(&[&["ip", "netns", "exec", &self.name], command].concat());
    }

    fn set(&self, key: &str, value: &str) {
        let write = || std::fs::write(format!("/proc/sys/{key}"), value);
        self.namespace.within(write).unwrap_or_else(|error| panic!("{key}: {error}"));
    }

    pub fn within<T>(&self, open: impl FnOnce() -> io::Result<T>) -> T {
        self.namespace.within(open).unwrap_or_else(|error| panic!("in {}: {error}", self.name))
    }

    /// A device that owns 10.77.N.1 and fd77:N::1, with everything else of the two prefixes behind it.
    pub fn tun(&self, n: u8) -> Tun {
        let addresses: [(IpAddr, u8); 2] = [
            (IpAddr::from([10, 77, n, 1]), 24),
            (IpAddr::from([0xfd77, u16::from(n), 0, 0, 0, 0, 0, 1]), 64),
        ];
        let options = TunOptions {
            name: &format!("mp{n}"),
            mtu: 1500,
            queue_length: Some(1000),
            ethernet: None,
            addresses: &addresses,
        };
        self.within(|| Tun::open(&options))
    }

    /// A rule for forwarded UDP packets, in the first of the rule makers that works here.
    pub fn queue_forwarded(&self, number: u16, family: &str) {
        let table = format!(
            "add table {family} mp; add chain {family} mp c {{ type filter hook forward priority -150; }}; \
             add rule {family} mp c meta l4proto udp queue num {number} bypass"
        );
        let iptables = if family == "ip" { "iptables" } else { "ip6tables" };
        let number = number.to_string();
        let rule = ["-t", "mangle", "-A", "FORWARD", "-p", "udp", "-j", "NFQUEUE", "--queue-num", &number];
        let legacy = format!("{iptables}-legacy");
        let nft = format!("{iptables}-nft");
        let candidates = [
            vec!["nft", &table],
            [&[nft.as_str()], &rule[..], &["--queue-bypass"]].concat(),
            [&[legacy.as_str()], &rule[..], &["--queue-bypass"]].concat(),
        ];
        let try_one = |command: &Vec<&str>| {
            let all = [&["ip", "netns", "exec", &self.name], &command[..]].concat();
            Command::new(all[0]).args(&all[1..]).output().is_ok_and(|output| output.status.success())
        };
        assert!(candidates.iter().any(try_one), "no rule maker of {candidates:?} works");
    }

    /// Discards packets of mark `mark` on their way out.
    pub fn drop_marked(&self, mark: u32) {
        let table = format!(
            "add table inet m; add chain inet m c {{ type filter hook postrouting priority 0; }}; \
             add rule inet m c meta mark {mark} drop"
        );
        self.run(&["nft", &table]);
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        run(&["ip", "netns", "del", &self.name]);
    }
}

fn run(command: &[&str]) {
    let output = Command::new(command[0]).args(&command[1..]).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The next UDP packet out of `tun`, `None` after `patience`. What the kernel says by itself (neighbour discovery) is skipped.
fn next_udp(tun: &Tun, patience: Span) -> Option<Vec<u8>> {
    let mut poller = Poller::new().expect("epoll");
    poller.add(tun, 0).expect("epoll_ctl");
    let mut buffer = vec![0; 65_536];
    loop {
        while let Some(length) = tun.receive(&mut buffer).expect("read") {
            let packet = &buffer[..length];
            if packet[0] >> 4 == 4 && packet[9] == 17 || packet[0] >> 4 == 6 && packet[6] == 17 {
                return Some(packet.to_vec());
            }
        }
        if poller.wait(Some(patience)).expect("epoll_wait").count() == 0 {
            return None;
        }
    }
}

/// The next UDP packet out of `tun`.
pub fn expect_udp(tun: &Tun) -> Vec<u8> {
    next_udp(tun, PATIENCE).expect("a packet came")
}

/// The texts of the UDP packets that come out of `tun` until it is silent.
pub fn texts(tun: &Tun) -> Vec<String> {
    std::iter::from_fn(|| next_udp(tun, SILENCE)).map(|packet| text(&packet).to_string()).collect()
}

/// What a packet made by [`udp`] says.
pub fn text(packet: &[u8]) -> &str {
    let headers = if packet[0] >> 4 == 4 { 28 } else { 48 };
    std::str::from_utf8(&packet[headers..]).expect("text")
}

/// A UDP packet with right checksums.
pub fn udp(source: IpAddr, destination: IpAddr, source_port: u16, port: u16, text: &[u8]) -> Vec<u8> {
    let length = 8 + text.len() as u16;
    let mut datagram = [source_port.to_be_bytes(), port.to_be_bytes(), length.to_be_bytes(), [0, 0]].concat();
    datagram.extend_from_slice(text);
    let (addresses, mut packet) = match (source, destination) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let total = (20 + length).to_be_bytes();
            let mut header = vec![0x45, 0, total[0], total[1], 0, 1, 0x40, 0, 9, 17, 0, 0];
            header.extend_from_slice(&from.octets());
            header.extend_from_slice(&to.octets());
            let check = checksum(&[&header]);
            header[10..12].copy_from_slice(&check.to_be_bytes());
            (header[12..20].to_vec(), header)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let [high, low] = length.to_be_bytes();
            let mut header = vec![0x60, 0, 0, 0, high, low, 17, 9];
            header.extend_from_slice(&from.octets());
            header.extend_from_slice(&to.octets());
            (header[8..40].to_vec(), header)
        }
        _ => panic!("{source} and {destination} are of two families"),
    };
    let pseudo = [&[0, 17], &length.to_be_bytes()[..]].concat();
    let check = checksum(&[&addresses, &pseudo, &datagram]);
    datagram[6..8].copy_from_slice(&check.to_be_bytes());
    packet.extend_from_slice(&datagram);
    packet
}

/// RFC 1071, over parts of which all but the last have even lengths.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
