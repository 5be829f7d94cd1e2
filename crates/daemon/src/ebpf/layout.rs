//! The structs that the kernel's programs and user space share, byte for byte as `bpf/include/gateway.h` lays them out.
//! Offsets are named here once; a test holds them against the header's own assertions.

use crate::shared_bytes::{address_at, array, u32_at, u64_at};
use meshpace_gateway::{Endpoint, FlowKey, Treatment};
use meshpace_units::{Bytes, Instant, Span};
use std::net::IpAddr;

pub const FLOW_KEY: usize = 36;
pub const FLOW: usize = 368;
pub const PACE: usize = 40;
pub const SETTINGS: usize = 40;
pub const EVENT: usize = 64;
/// Entries of `counters`.
pub const COUNTERS: usize = 16;

const HALF: usize = 56;
const HALF_PACKETS: usize = 16;
const HALF_BEGUN: usize = 52;
const FLOW_DEPARTURE: usize = 16;
const FLOW_DOWN: usize = 24;
const FLOW_UP: usize = 80;
const FLOW_WIRED_RTT: usize = 136;
const FLOW_ID: usize = 168;
const FLOW_WINDOW: usize = 176;
const FLOW_IGNORED: usize = 180;
const FLOW_AGED: usize = 248;
const FLOW_LIMITED: usize = 324;
const FLOW_USED: usize = 344;
const PACE_PACKETS: usize = 8;
const PACE_TREATMENT: usize = 12;
const PACE_TARGET: usize = 16;
const SETTINGS_TREATMENT: usize = 16;
const SETTINGS_PLACES: usize = 20;
const SETTINGS_APART: usize = 24;
const EVENT_KEY: usize = 16;
const EVENT_SEGMENT: usize = 52;
const EVENT_KIND: usize = 60;

/// What the kernel is to do with a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// As the gateway's treatments.
    Treat(Treatment),
    /// Let it pass unread (`mode = "off"`).
    Ignore,
}

impl Handling {
    const fn code(self) -> u32 {
        match self {
            Self::Treat(Treatment::Observe) => 0,
            Self::Treat(Treatment::Pace) => 1,
            Self::Ignore => 2,
        }
    }
}

/// `struct pace`: the orders for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Spacing of departures; `None` before the first sample.
    pub interval: Option<Span>,
    /// Most packets that may wait.
    pub packets: u32,
    /// What may be done.
    pub handling: Handling,
    /// CoDel's target and interval; `None`: what waits is dropped by its number alone.
    pub codel: Option<(Span, Span)>,
    /// Most bytes that the wired sender is to have on its way, and the segments that they are counted in; `None`: as its receiver says.
    pub window: Option<(Bytes, Bytes)>,
}

impl Pace {
    /// As the kernel reads it. No spacing is 0 there; one that rounds to 0 becomes a nanosecond.
    pub fn to_bytes(self) -> [u8; PACE] {
        let interval = self.interval.map_or(0, |interval| interval.as_nanos().max(1));
        let mut bytes = [0; PACE];
        bytes[..8].copy_from_slice(&interval.to_ne_bytes());
        bytes[PACE_PACKETS..PACE_PACKETS + 4].copy_from_slice(&self.packets.to_ne_bytes());
        bytes[PACE_TREATMENT..PACE_TARGET].copy_from_slice(&self.handling.code().to_ne_bytes());
        if let Some((target, interval)) = self.codel {
            bytes[PACE_TARGET..PACE_TARGET + 8].copy_from_slice(&target.as_nanos().max(1).to_ne_bytes());
            bytes[PACE_TARGET + 8..PACE_TARGET + 16].copy_from_slice(&interval.as_nanos().to_ne_bytes());
        }
        if let Some((window, segment)) = self.window {
            let number = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX).to_ne_bytes();
            bytes[PACE_TARGET + 16..PACE_TARGET + 20].copy_from_slice(&number(window));
            bytes[PACE_TARGET + 20..].copy_from_slice(&number(segment));
        }
        bytes
    }
}

/// `struct settings`: what holds for all packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Until when the programs act at all, unless renewed.
    pub alive_until: Instant,
    /// The farthest departure ahead.
    pub horizon: Span,
    /// For packets of flows that have no orders yet.
    pub handling: Handling,
    /// Most packets of all flows that may wait.
    pub places: u32,
    /// Of flows that are only watched, the wireless round trips of a host are reported no closer than this; zero:
    /// all are reported.
    pub apart: Span,
    /// True if the program reports data that are sent again.
    pub finds: bool,
}

impl Settings {
    pub fn to_bytes(self) -> [u8; SETTINGS] {
        let mut bytes = [0; SETTINGS];
        bytes[..8].copy_from_slice(&self.alive_until.as_nanos().to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.horizon.as_nanos().to_ne_bytes());
        bytes[SETTINGS_TREATMENT..SETTINGS_TREATMENT + 4]
            .copy_from_slice(&self.handling.code().to_ne_bytes());
        bytes[SETTINGS_PLACES..SETTINGS_APART].copy_from_slice(&self.places.to_ne_bytes());
        bytes[SETTINGS_APART..SETTINGS_APART + 8].copy_from_slice(&self.apart.as_nanos().to_ne_bytes());
        bytes[SETTINGS_APART + 8..SETTINGS_APART + 12].copy_from_slice(&u32::from(self.finds).to_ne_bytes());
        bytes
    }
}

/// What an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The first data of a connection.
    Opened,
    /// A wireless round trip.
    Sample(Span),
    /// The connection is over.
    Closed,
    /// A wired round trip.
    WiredSample(Span),
    /// Data towards the mesh pass again that have been gone for so long.
    Again(Span),
}

/// `struct event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happened.
    pub at: Instant,
    /// The connection.
    pub key: FlowKey,
    /// Largest payload towards the mesh so far.
    pub segment: Bytes,
    /// Largest window that the wireless end announced, if any.
    pub window: Option<Bytes>,
    /// TTL of the wireless end's latest packet, if any.
    pub ttl: Option<u8>,
    /// What happened.
    pub told: EventKind,
}

impl Event {
    /// Reads an event; `None` if it is none (another length, another kind).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; EVENT] = bytes.try_into().ok()?;
        let told = match bytes[EVENT_KIND] {
            0 => EventKind::Opened,
            1 => EventKind::Sample(Span::from_nanos(u64_at(bytes, 8))),
            2 => EventKind::Closed,
            3 => EventKind::WiredSample(Span::from_nanos(u64_at(bytes, 8))),
            4 => EventKind::Again(Span::from_nanos(u64_at(bytes, 8))),
            _ => return None,
        };
        Some(Self {
            at: Instant::from_nanos(u64_at(bytes, 0)),
            key: flow_key(&bytes[EVENT_KEY..]),
            segment: Bytes(u64::from(u32_at(bytes, EVENT_SEGMENT))),
            window: known(u32_at(bytes, EVENT_SEGMENT + 4)),
            ttl: Some(bytes[EVENT_KIND + 1]).filter(|&ttl| ttl > 0),
            told,
        })
    }
}

/// `struct half`: the data of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Half {
    /// Packets of this direction.
    pub packets: u64,
    /// Their IP lengths.
    pub bytes: Bytes,
    /// Their payload.
    pub payload: Bytes,
    /// Payload cumulatively acknowledged.
    pub acked: Bytes,
    /// Data were seen.
    pub begun: bool,
}

impl Half {
    fn read(bytes: &[u8]) -> Self {
        Self {
            packets: u64_at(bytes, HALF_PACKETS),
            bytes: Bytes(u64_at(bytes, HALF_PACKETS + 8)),
            payload: Bytes(u64_at(bytes, HALF_PACKETS + 16)),
            acked: Bytes(u64_at(bytes, HALF_PACKETS + 24)),
            begun: bytes[HALF_BEGUN] != 0,
        }
    }
}

/// `struct flow`: what the kernel knows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFlow {
    /// First data.
    pub opened: Instant,
    /// Latest packet.
    pub active: Instant,
    /// Departure of the latest data towards the mesh; may lie ahead.
    pub departure: Instant,
    /// Wired to wireless.
    pub down: Half,
    /// Wireless to wired.
    pub up: Half,
    /// Latest wired round trip.
    pub wired_rtt: Option<Span>,
    /// RTT options written.
    pub options: u64,
    /// Packets given a departure in the future.
    pub delayed: u64,
    /// Packets dropped because too much would wait.
    pub drops: u64,
    /// Largest payload towards the mesh.
    pub segment: Bytes,
    /// Largest window that the wireless end announced.
    pub window: Option<Bytes>,
    /// It does not cross the gateway.
    pub ignored: bool,
    /// TTL of the wireless end's latest packet.
    pub ttl: Option<u8>,
    /// Packets dropped, and marked, because packets waited too long.
    pub aged: (u64, u64),
    /// The window last announced in the receiver's stead, where that is less than the receiver's own.
    pub limited: Option<Bytes>,
    /// Packets that came as soon as that let them, and did not wait.
    pub used: u64,
}

impl KernelFlow {
    pub fn read(bytes: &[u8; FLOW]) -> Self {
        Self {
            opened: Instant::from_nanos(u64_at(bytes, 0)),
            active: Instant::from_nanos(u64_at(bytes, 8)),
            departure: Instant::from_nanos(u64_at(bytes, FLOW_DEPARTURE)),
            down: Half::read(&bytes[FLOW_DOWN..FLOW_DOWN + HALF]),
            up: Half::read(&bytes[FLOW_UP..FLOW_UP + HALF]),
            wired_rtt: Some(u64_at(bytes, FLOW_WIRED_RTT)).filter(|&rtt| rtt > 0).map(Span::from_nanos),
            options: u64_at(bytes, FLOW_WIRED_RTT + 8),
            delayed: u64_at(bytes, FLOW_WIRED_RTT + 16),
            drops: u64_at(bytes, FLOW_WIRED_RTT + 24),
            segment: Bytes(u64::from(u32_at(bytes, FLOW_ID + 4))),
            window: known(u32_at(bytes, FLOW_WINDOW)),
            ignored: bytes[FLOW_IGNORED] != 0,
            ttl: Some(bytes[FLOW_IGNORED + 1]).filter(|&ttl| ttl > 0),
            aged: (u64_at(bytes, FLOW_AGED), u64_at(bytes, FLOW_AGED + 8)),
            limited: known(u32_at(bytes, FLOW_LIMITED)),
            used: u64_at(bytes, FLOW_USED),
        }
    }
}

/// The key of the kernel's maps for a connection.
pub fn key_bytes(key: &FlowKey) -> [u8; FLOW_KEY] {
    let mut bytes = [0; FLOW_KEY];
    bytes[..16].copy_from_slice(&mapped(key.wireless.address));
    bytes[16..32].copy_from_slice(&mapped(key.wired.address));
    bytes[32..34].copy_from_slice(&key.wireless.port.to_be_bytes());
    bytes[34..].copy_from_slice(&key.wired.port.to_be_bytes());
    bytes
}

/// The connection that the first [`FLOW_KEY`] bytes name.
pub fn flow_key(bytes: &[u8]) -> FlowKey {
    let end = |address: usize, port: usize| Endpoint {
        address: address_at(bytes, address),
        port: u16::from_be_bytes(array(bytes, port)),
    };
    FlowKey { wireless: end(0, 32), wired: end(16, 34) }
}

/// An IPv4 address as an IPv4-mapped one (RFC 4291, section 2.5.5.2).
pub(super) fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

fn known(bytes: u32) -> Option<Bytes> {
    (bytes > 0).then(|| Bytes(u64::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebpf::trying::asserted;
    use proptest::prelude::*;

    /// Behind what is read of a flow.
    const FLOW_WINDOWS: usize = 184;

    const HEADER: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf/include/gateway.h"));

    #[test]
    fn the_header_asserts_the_same_numbers() {
        let numbers = asserted(HEADER).map(|(what, number)| (what, number.expect("a number")));
        let asserted: Vec<_> = numbers.collect();
        let expected = [
            ("sizeof(struct flow_key)", FLOW_KEY),
            ("sizeof(struct windows)", FLOW_AGED - FLOW_WINDOWS),
            ("sizeof(struct half)", HALF),
            ("offsetof(struct half, packets)", HALF_PACKETS),
            ("offsetof(struct half, begun)", HALF_BEGUN),
            ("sizeof(struct flow)", FLOW),
            ("offsetof(struct flow, departure)", FLOW_DEPARTURE),
            ("offsetof(struct flow, down)", FLOW_DOWN),
            ("offsetof(struct flow, up)", FLOW_UP),
            ("offsetof(struct flow, wired_rtt)", FLOW_WIRED_RTT),
            ("offsetof(struct flow, id)", FLOW_ID),
            ("offsetof(struct flow, window)", FLOW_WINDOW),
            ("offsetof(struct flow, ignored)", FLOW_IGNORED),
            ("offsetof(struct flow, aged)", FLOW_AGED),
            ("offsetof(struct flow, limited)", FLOW_LIMITED),
            ("offsetof(struct flow, used)", FLOW_USED),
            ("sizeof(struct pace)", PACE),
            ("offsetof(struct pace, packets)", PACE_PACKETS),
            ("offsetof(struct pace, treatment)", PACE_TREATMENT),
            ("offsetof(struct pace, target)", PACE_TARGET),
            ("sizeof(struct settings)", SETTINGS),
            ("offsetof(struct settings, treatment)", SETTINGS_TREATMENT),
            ("offsetof(struct settings, places)", SETTINGS_PLACES),
            ("offsetof(struct settings, apart)", SETTINGS_APART),
            ("sizeof(struct event)", EVENT),
            ("offsetof(struct event, key)", EVENT_KEY),
            ("offsetof(struct event, segment)", EVENT_SEGMENT),
            ("offsetof(struct event, kind)", EVENT_KIND),
            ("COUNTERS", COUNTERS),
        ];
        assert_eq!(asserted, expected);
    }

    #[test]
    fn events_of_other_lengths_and_kinds_are_none() {
        let mut bytes = [0; EVENT];
        assert_eq!(Event::read(&bytes).map(|event| event.told), Some(EventKind::Opened));
        bytes[EVENT_KIND] = 5;
        assert_eq!(Event::read(&bytes), None);
        assert_eq!(Event::read(&bytes[1..]), None);
    }

    proptest! {
        #[test]
        fn keys_survive_the_way_to_the_kernel_and_back(
            v4: [u8; 4], v6: [u8; 16], ports: (u16, u16), swap: bool,
        ) {
            let (a, b) = (IpAddr::from(v4), IpAddr::from(v6).to_canonical());
            let (wireless, wired) = if swap { (b, a) } else { (a, b) };
            let key = FlowKey {
                wireless: Endpoint { address: wireless, port: ports.0 },
                wired: Endpoint { address: wired, port: ports.1 },
            };
            prop_assert_eq!(flow_key(&key_bytes(&key)), key);
        }
    }
}
