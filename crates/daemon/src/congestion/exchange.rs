//! What the programs and user space tell each other: the types that stand for the structs of [`shared::congestion`](crate::shared::congestion).

use crate::shared::{congestion as c, mapped_bits};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use zerocopy::FromBytes;

/// The congestion control's name.
pub const NAME: &str = "calm";
/// Units of a logarithm, and of a second.
const LOGARITHM: f64 = (1 << c::LG_BITS) as f64;
const TICKS: f64 = c::TICKS as f64 * 1e6;

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
    pub fn told(&self) -> Option<c::Settings> {
        let cgroup = self.cgroup.as_deref().map_or("", |path| path.to_str().unwrap_or_default());
        Some(c::Settings {
            over: self.over.into(),
            unit: self.unit,
            instead: ended(&self.instead)?,
            cgroup: ended(cgroup)?,
        })
    }
}

/// A text with a zero behind it; `None` if there is no room for both.
fn ended<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    bytes[..N - 1].get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    Some(bytes)
}

/// The text before the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl From<&c::Settings> for Settings {
    fn from(told: &c::Settings) -> Self {
        let cgroup = text(&told.cgroup);
        Self {
            over: told.over != 0,
            unit: told.unit.max(1),
            instead: text(&told.instead),
            cgroup: (!cgroup.is_empty()).then(|| Path::new(&cgroup).to_owned()),
        }
    }
}

/// A destination as a key.
#[must_use]
pub fn subnet_key(subnet: IpNet) -> c::Subnet {
    let subnet = subnet.trunc();
    c::Subnet { bits: mapped_bits(subnet), address: subnet.addr().into() }
}

/// A key as a destination.
#[must_use]
pub fn subnet_of(key: c::Subnet) -> Option<IpNet> {
    let address: IpAddr = key.address.into();
    let bits = if address.is_ipv4() { key.bits.checked_sub(96)? } else { key.bits };
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
        said.chunks_exact(c::Flow::SIZE)
            .filter_map(|flow| Some(Self::of(&c::Flow::read_from_bytes(flow).ok()?)))
    }

    fn of(flow: &c::Flow) -> Self {
        let delay = |ticks: u32| (ticks > 0).then(|| f64::from(ticks) / TICKS);
        let law = &flow.law;
        Self {
            local: SocketAddr::new(flow.local.into(), flow.local_port),
            remote: SocketAddr::new(flow.remote.into(), flow.remote_port.get()),
            segment: flow.segment,
            pace: flow.pace,
            window: flow.window,
            in_flight: flow.in_flight,
            delivered: flow.delivered,
            sent_again: flow.sent_again,
            base: delay(flow.base),
            floor: (flow.floor > 0).then(|| f64::from(flow.floor) / 256.0),
            burst: flow.burst,
            rate: (f64::from(law.rate) / LOGARITHM).exp2(),
            queue: delay(law.queue),
            wire: law.wire,
            trains: law.trains,
            losses: law.losses,
            starting: law.flags & c::STARTING != 0,
            in_use: law.flags & c::IN_USE != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    #[test]
    fn settings_are_read_as_they_are_written() {
        let settings = Settings {
            over: true,
            unit: 4,
            instead: "cubic".to_owned(),
            cgroup: Some("/sys/fs/cgroup/a".into()),
        };
        assert_eq!(Settings::from(&settings.told().unwrap()), settings);
        let plain = Settings { over: false, unit: 1, instead: "reno".to_owned(), cgroup: None };
        assert_eq!(Settings::from(&plain.told().unwrap()), plain);
        assert!(Settings { instead: "a-name-too-long-".to_owned(), ..plain.clone() }.told().is_none());
        assert!(Settings { cgroup: Some("a".repeat(256).into()), ..plain }.told().is_none());
    }

    #[test]
    fn destinations_are_read_as_they_are_written() {
        for text in ["10.0.0.0/8", "192.0.2.7/32", "0.0.0.0/0", "fd77::/16", "::/0"] {
            let subnet: IpNet = text.parse().unwrap();
            assert_eq!(subnet_of(subnet_key(subnet)), Some(subnet), "{text}");
        }
        let key = |text: &str| subnet_key(text.parse().unwrap());
        assert_eq!(key("10.1.2.3/8").as_bytes(), key("10.0.0.0/8").as_bytes());
    }

    #[test]
    fn a_connection_is_read() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap().into();
        let told = c::Flow {
            local: address("10.0.0.1"),
            remote: address("10.0.0.2"),
            local_port: 5201,
            remote_port: 443.into(),
            base: 320_000,
            floor: 512,
            burst: 3,
            law: c::Calm { rate: 3 << c::LG_BITS, flags: c::STARTING, ..c::Calm::default() },
            ..c::Flow::default()
        };
        let flow = Flow::of(&told);
        assert_eq!(
            (flow.local.to_string(), flow.remote.to_string()),
            ("10.0.0.1:5201".into(), "10.0.0.2:443".into())
        );
        assert_eq!((flow.base, flow.floor, flow.rate, flow.queue), (Some(0.01), Some(2.0), 8.0, None));
        assert!(flow.starting && !flow.in_use && flow.burst == 3);
        assert_eq!(Flow::read(&[told.as_bytes(), told.as_bytes(), &[0; 5]].concat()).count(), 2);
    }
}
