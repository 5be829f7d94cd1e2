//! What the gateway's programs and user space tell each other: the types that stand for the structs of [`shared::gateway`].

use crate::shared::{self, gateway as c};
use meshpace_gateway::{Endpoint, FlowKey, Treatment};
use meshpace_units::{Bytes, Instant, Span};
use zerocopy::FromBytes;

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

impl From<Pace> for c::Pace {
    /// As the kernel reads it. No spacing is 0 there; one that rounds to 0 becomes a nanosecond.
    fn from(pace: Pace) -> Self {
        let number = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
        let (target, stands) =
            pace.codel.map_or((0, 0), |(target, stands)| (target.as_nanos().max(1), stands.as_nanos()));
        let (window, segment) =
            pace.window.map_or((0, 0), |(window, segment)| (number(window), number(segment)));
        Self {
            interval: pace.interval.map_or(0, |interval| interval.as_nanos().max(1)),
            packets: pace.packets,
            treatment: pace.handling.code(),
            target,
            stands,
            window,
            segment,
        }
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

impl From<Settings> for c::Settings {
    fn from(settings: Settings) -> Self {
        Self {
            alive_until: settings.alive_until.as_nanos(),
            horizon: settings.horizon.as_nanos(),
            treatment: settings.handling.code(),
            places: settings.places,
            apart: settings.apart.as_nanos(),
            finds: settings.finds.into(),
            unused: 0,
        }
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
    /// Of a wireless round trip: no other segment was acknowledged with it.
    pub is_single: bool,
}

impl Event {
    /// Reads an event; `None` if it is none (another length, another kind).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let event = c::Event::read_from_bytes(bytes).ok()?;
        let told = match event.kind {
            0 => EventKind::Opened,
            1 => EventKind::Sample(Span::from_nanos(event.rtt)),
            2 => EventKind::Closed,
            3 => EventKind::WiredSample(Span::from_nanos(event.rtt)),
            4 => EventKind::Again(Span::from_nanos(event.rtt)),
            _ => return None,
        };
        Some(Self {
            at: Instant::from_nanos(event.at),
            key: flow_key(event.key),
            segment: Bytes(event.segment.into()),
            window: known(event.window),
            ttl: Some(event.ttl).filter(|&ttl| ttl > 0),
            told,
            is_single: event.single != 0,
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

impl From<c::Half> for Half {
    fn from(half: c::Half) -> Self {
        Self {
            packets: half.packets,
            bytes: Bytes(half.bytes),
            payload: Bytes(half.payload),
            acked: Bytes(half.acked),
            begun: half.begun != 0,
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

impl From<c::Flow> for KernelFlow {
    fn from(flow: c::Flow) -> Self {
        Self {
            opened: Instant::from_nanos(flow.opened),
            active: Instant::from_nanos(flow.active),
            departure: Instant::from_nanos(flow.departure),
            down: flow.down.into(),
            up: flow.up.into(),
            wired_rtt: Some(flow.wired_rtt).filter(|&rtt| rtt > 0).map(Span::from_nanos),
            options: flow.options,
            delayed: flow.delayed,
            drops: flow.drops,
            segment: Bytes(flow.segment.into()),
            window: known(flow.window),
            ignored: flow.ignored != 0,
            ttl: Some(flow.ttl).filter(|&ttl| ttl > 0),
            aged: (flow.aged, flow.marks),
            limited: known(flow.limited),
            used: flow.used,
        }
    }
}

/// The key of the kernel's maps for a connection.
pub fn key_of(key: &FlowKey) -> c::FlowKey {
    c::FlowKey {
        wireless: key.wireless.address.into(),
        wired: key.wired.address.into(),
        wireless_port: key.wireless.port.into(),
        wired_port: key.wired.port.into(),
    }
}

/// The connection that a key of the kernel's maps names.
pub fn flow_key(key: c::FlowKey) -> FlowKey {
    let end = |address: shared::Address, port: u16| Endpoint { address: address.into(), port };
    FlowKey {
        wireless: end(key.wireless, key.wireless_port.get()),
        wired: end(key.wired, key.wired_port.get()),
    }
}

fn known(bytes: u32) -> Option<Bytes> {
    (bytes > 0).then(|| Bytes(u64::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::IpAddr;
    use zerocopy::IntoBytes;

    #[test]
    fn events_of_other_lengths_and_kinds_are_none() {
        let mut event = c::Event::default();
        assert_eq!(Event::read(event.as_bytes()).map(|event| event.told), Some(EventKind::Opened));
        event.kind = 5;
        assert_eq!(Event::read(event.as_bytes()), None);
        event.kind = 4;
        assert!(Event::read(event.as_bytes()).is_some());
        assert_eq!(Event::read(&event.as_bytes()[1..]), None);
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
            prop_assert_eq!(flow_key(key_of(&key)), key);
        }
    }
}
