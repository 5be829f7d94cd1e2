//! The structs that the programs and this side share: bpf/include/congestion.h by offset.

use crate::shared_bytes::{address_at, array, u32_at, u64_at};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// The congestion control's name.
pub const NAME: &str = "calm";
/// `sizeof(struct settings)`.
const SETTINGS: usize = 280;
const SETTINGS_INSTEAD: usize = 8;
const SETTINGS_CGROUP: usize = 24;
/// `sizeof(struct flow)`.
const FLOW: usize = 184;
const FLOW_LAW: usize = 80;
/// Logarithms are in units of 2^-25, delays in 1/32 us (bpf/include/calm.h).
const LOGARITHM: f64 = (1 << 25) as f64;
const TICKS: f64 = 32e6;

/// What user space tells the programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// True if calm is over: connections go on with `instead`.
    pub over: bool,
    /// The number of segments that travel together.
    pub unit: u32,
    /// The congestion control that connections go on with.
    pub instead: String,
    /// The control group whose connections are switched by their destination.
    pub cgroup: Option<PathBuf>,
}

impl Settings {
    /// As the programs read it; `None` if a name or a path is too long.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let cgroup = self.cgroup.as_deref().map_or("", |path| path.to_str().unwrap_or_default());
        let mut bytes = vec![0; SETTINGS];
        bytes[..4].copy_from_slice(&u32::from(self.over).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.unit.to_ne_bytes());
        // The end of each is a zero.
        for (text, from, to) in
            [(&*self.instead, SETTINGS_INSTEAD, SETTINGS_CGROUP), (cgroup, SETTINGS_CGROUP, SETTINGS)]
        {
            bytes[from..to - 1].get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        }
        Some(bytes)
    }
}

/// What the programs have been told.
#[must_use]
pub fn settings_of(bytes: &[u8]) -> Settings {
    let text = |from: usize, to: usize| {
        let text = &bytes[from..to];
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).into_owned()
    };
    let cgroup = text(SETTINGS_CGROUP, SETTINGS);
    Settings {
        over: u32_at(bytes, 0) != 0,
        unit: u32_at(bytes, 4).max(1),
        instead: text(SETTINGS_INSTEAD, SETTINGS_CGROUP),
        cgroup: (!cgroup.is_empty()).then(|| Path::new(&cgroup).to_owned()),
    }
}

/// A destination as a key (`struct subnet`).
#[must_use]
pub fn subnet_key(subnet: IpNet) -> Vec<u8> {
    let subnet = subnet.trunc();
    let (bits, address) = match subnet {
        IpNet::V4(subnet) => (96 + subnet.prefix_len(), subnet.addr().to_ipv6_mapped()),
        IpNet::V6(subnet) => (subnet.prefix_len(), subnet.addr()),
    };
    [&u32::from(bits).to_ne_bytes()[..], &address.octets()].concat()
}

/// A key as a destination.
#[must_use]
pub fn subnet_of(key: &[u8]) -> Option<IpNet> {
    let (bits, address) = (u32_at(key, 0), address_at(key, 4));
    let bits = if address.is_ipv4() { bits.checked_sub(96)? } else { bits };
    IpNet::new(address, u8::try_from(bits).ok()?).ok()
}

/// A connection, as the kernel tells of it. Rates in packets a second, times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Payload of a full segment, bytes.
    pub segment: u32,
    /// The pace that the kernel keeps, bytes a second.
    pub pace: u64,
    /// The congestion window, segments.
    pub window: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Segments that arrived so far.
    pub delivered: u32,
    /// Segments sent again so far.
    pub sent_again: u32,
    /// The least round trip that counts, seconds.
    pub base: Option<f64>,
    /// The rate that its losses leave it at least, packets a second.
    pub floor: Option<f64>,
    /// Segments that the kernel hands down at once.
    pub burst: u32,
    /// The law's rate, packets a second.
    pub rate: f64,
    /// The queueing delay of the latest step, seconds.
    pub queue: Option<f64>,
    /// For how many more steps the path counts as a wire.
    pub wire: u16,
    /// The number of trains that may be on their way.
    pub trains: u16,
    /// The number of losses that are remembered.
    pub losses: u8,
    /// True while no queue has shown itself.
    pub starting: bool,
    /// True if the sender uses the rate.
    pub in_use: bool,
}

impl Flow {
    /// All that an iterator said.
    pub fn read(said: &[u8]) -> impl Iterator<Item = Self> {
        said.chunks_exact(FLOW).map(Self::of)
    }

    fn of(bytes: &[u8]) -> Self {
        let delay = |ticks: u32| (ticks > 0).then(|| f64::from(ticks) / TICKS);
        let flags = bytes[FLOW_LAW + 100];
        let floor = u32_at(bytes, 68);
        Self {
            local: SocketAddr::new(address(bytes, 0), u16::from_ne_bytes(array(bytes, 32))),
            remote: SocketAddr::new(address(bytes, 16), u16::from_be_bytes(array(bytes, 34))),
            segment: u32_at(bytes, 36),
            pace: u64_at(bytes, 40),
            window: u32_at(bytes, 48),
            in_flight: u32_at(bytes, 52),
            delivered: u32_at(bytes, 56),
            sent_again: u32_at(bytes, 60),
            base: delay(u32_at(bytes, 64)),
            floor: (floor > 0).then(|| f64::from(floor) / 256.0),
            burst: u32_at(bytes, 72),
            rate: (f64::from(i32::from_ne_bytes(array(bytes, FLOW_LAW + 8))) / LOGARITHM).exp2(),
            queue: delay(u32_at(bytes, FLOW_LAW + 24)),
            wire: u16::from_ne_bytes(array(bytes, FLOW_LAW + 92)),
            trains: u16::from_ne_bytes(array(bytes, FLOW_LAW + 94)),
            losses: bytes[FLOW_LAW + 99],
            starting: flags & 2 != 0,
            in_use: flags & 4 != 0,
        }
    }
}

fn address(bytes: &[u8], at: usize) -> IpAddr {
    address_at(bytes, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        let settings = Settings {
            over: true,
            unit: 4,
            instead: "cubic".to_owned(),
            cgroup: Some("/sys/fs/cgroup/a".into()),
        };
        assert_eq!(settings_of(&settings.to_bytes().unwrap()), settings);
        let plain = Settings { over: false, unit: 1, instead: "reno".to_owned(), cgroup: None };
        assert_eq!(settings_of(&plain.to_bytes().unwrap()), plain);
        assert_eq!(Settings { instead: "a-name-too-long-".to_owned(), ..plain.clone() }.to_bytes(), None);
        assert_eq!(Settings { cgroup: Some("a".repeat(256).into()), ..plain }.to_bytes(), None);
    }

    #[test]
    fn destinations_are_read_as_they_are_written() {
        for text in ["10.0.0.0/8", "192.0.2.7/32", "0.0.0.0/0", "fd77::/16", "::/0"] {
            let subnet: IpNet = text.parse().unwrap();
            assert_eq!(subnet_of(&subnet_key(subnet)), Some(subnet), "{text}");
        }
        assert_eq!(subnet_key("10.1.2.3/8".parse().unwrap()), subnet_key("10.0.0.0/8".parse().unwrap()));
    }

    #[test]
    fn a_connection_is_read_by_offset() {
        let mut bytes = vec![0; FLOW];
        bytes[10..16].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 1]);
        bytes[26..32].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 2]);
        bytes[32..34].copy_from_slice(&5201u16.to_ne_bytes());
        bytes[34..36].copy_from_slice(&443u16.to_be_bytes());
        bytes[64..68].copy_from_slice(&320_000u32.to_ne_bytes());
        bytes[68..72].copy_from_slice(&512u32.to_ne_bytes());
        bytes[72..76].copy_from_slice(&3u32.to_ne_bytes());
        bytes[FLOW_LAW + 8..FLOW_LAW + 12].copy_from_slice(&(3i32 << 25).to_ne_bytes());
        bytes[FLOW_LAW + 100] = 2;
        let flow = Flow::of(&bytes);
        assert_eq!(
            (flow.local.to_string(), flow.remote.to_string()),
            ("10.0.0.1:5201".into(), "10.0.0.2:443".into())
        );
        assert_eq!((flow.base, flow.floor, flow.rate, flow.queue), (Some(0.01), Some(2.0), 8.0, None));
        assert!(flow.starting && !flow.in_use && flow.burst == 3);
        assert_eq!(Flow::read(&[&bytes[..], &bytes, &[0; 5]].concat()).count(), 2);
    }
}
