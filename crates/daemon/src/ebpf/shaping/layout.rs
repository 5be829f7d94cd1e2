//! The structs that the shaper's program and user space share, byte for byte as `bpf/include/shaping.h` lays them out. Offsets are named here
//! once; a test holds them against the header's own assertions.

use crate::ebpf::layout::{flow_key, mapped};
use crate::shared_bytes::{address_at, u32_at, u64_at};
use ipnet::IpNet;
use meshpace_gateway::FlowKey;
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::net::IpAddr;

pub const HOST_KEY: usize = 16;
pub const PREFIX: usize = 16;
pub const TERMS: usize = 24;
pub const SHAPING: usize = 88;
pub const ALL: usize = 4312;
pub const HOST: usize = 1128;
pub const TOLD: usize = 104;

const ALL_WORK: usize = 48;
const ALL_WAITING: usize = 64;
const HOST_SEEN: usize = 48;
const HOST_WORK: usize = 56;
const HOST_WAIT: usize = 80;
const HOST_FLOWS: usize = 96;
const TOLD_HOST: usize = 48;
const TOLD_ENDS: usize = 64;
const TOLD_KIND: usize = 100;
const HOST_SLOTS: u64 = 128;
const WAIT_SLOTS: u64 = 16;
/// How many times longer slots are, as powers of two: those of flows, and those of packets that wait.
const COARSER: u32 = 2;
const COARSEST: u32 = 5;
/// What one flow counts for.
const ONE: u32 = 256;
/// Fractions of a nanosecond a byte, and of what a byte costs.
const BYTE_SHIFT: u32 = 10;
const PRICE_SHIFT: u32 = 8;

/// Time that a byte takes at a rate, as the program reads it.
fn per_byte(rate: Rate) -> u64 {
    let bits = u128::from(rate.as_bits_per_sec().max(1));
    u64::try_from(((8_000_000_000_u128 << BYTE_SHIFT) / bits).max(1)).unwrap_or(u64::MAX)
}

/// `struct terms`: what is agreed about a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreed {
    /// The most that it may have.
    pub cap: Option<Rate>,
    /// Its shares.
    pub weight: u32,
    /// What a byte to it costs.
    pub price: f64,
    /// The prefix whose hosts count as one, if it is of one.
    pub together: Option<IpNet>,
}

impl Agreed {
    pub fn to_bytes(self) -> [u8; TERMS] {
        let mut bytes = [0; TERMS];
        let price = (self.price * f64::from(1 << PRICE_SHIFT)).round().max(1.0) as u32;
        let mask = self.together.map_or(0, mapped_bits);
        bytes[..8].copy_from_slice(&self.cap.map_or(0, per_byte).to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.weight.max(1).to_ne_bytes());
        bytes[12..16].copy_from_slice(&price.to_ne_bytes());
        bytes[16..20].copy_from_slice(&mask.to_ne_bytes());
        bytes
    }
}

/// `struct shaping`: what holds for all packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaping {
    /// Until when the program acts at all, unless renewed.
    pub alive_until: Instant,
    /// What all together may have, in costs.
    pub rate: Rate,
    /// What would wait longer is dropped.
    pub longest: Span,
    /// Unless all that waits takes no longer than so many bytes do.
    pub fewest: Bytes,
    /// CoDel's target and interval.
    pub target: Span,
    /// See [`Self::target`].
    pub interval: Span,
    /// Bytes that a packet costs beside its own.
    pub overhead: Bytes,
    /// Most packets that wait.
    pub places: u32,
    /// How long slots of time are, as a power of two of nanoseconds.
    pub shift: u32,
    /// True if user space finds the rate; the program then reports what that takes.
    pub finds: bool,
    /// Of hosts of which nothing is agreed.
    pub otherwise: Agreed,
}

impl Shaping {
    pub fn to_bytes(self) -> [u8; SHAPING] {
        let mut bytes = [0; SHAPING];
        let byte = per_byte(self.rate);
        let fewest = (u128::from(self.fewest.0) * u128::from(byte)) >> BYTE_SHIFT;
        let times = [
            self.alive_until.as_nanos(),
            byte,
            self.longest.as_nanos(),
            u64::try_from(fewest).unwrap_or(u64::MAX >> 1),
            self.target.as_nanos(),
            self.interval.as_nanos(),
        ];
        for (place, time) in bytes.chunks_exact_mut(8).zip(times) {
            place.copy_from_slice(&time.to_ne_bytes());
        }
        let overhead = u32::try_from(self.overhead.0).unwrap_or(u32::MAX);
        for (place, number) in
            bytes[48..64].chunks_exact_mut(4).zip([overhead, self.places, self.shift, self.finds.into()])
        {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes[64..].copy_from_slice(&self.otherwise.to_bytes());
        bytes
    }
}

/// `struct shaped`: what was done with packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shaped {
    /// Packets that went on.
    pub packets: u64,
    /// Their lengths together.
    pub bytes: Bytes,
    /// What they cost.
    pub cost: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Dropped packets among these for which there was no room.
    pub crowded: u64,
    /// Packets marked.
    pub marked: u64,
}

impl Shaped {
    fn read(bytes: &[u8]) -> Self {
        let [packets, length, cost, dropped, crowded, marked] = std::array::from_fn(|n| u64_at(bytes, 8 * n));
        Self { packets, bytes: Bytes(length), cost, dropped, crowded, marked }
    }
}

/// `struct all`: all hosts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct All {
    /// What was done.
    pub shaped: Shaped,
    /// When all that has come will have left, at the rate.
    pub work: Instant,
    /// Packets that wait.
    pub waiting: u64,
}

impl All {
    /// At this time, with slots of that length.
    pub fn read(bytes: &[u8; ALL], now: Instant, shift: u32) -> Self {
        let first = now.as_nanos() >> (shift + COARSEST);
        let waiting = (first..first + WAIT_SLOTS)
            .map(|time| u64::from(slot(&bytes[ALL_WAITING..], time, WAIT_SLOTS)))
            .sum();
        Self { shaped: Shaped::read(bytes), work: Instant::from_nanos(u64_at(bytes, ALL_WORK)), waiting }
    }
}

/// `struct host`: what the kernel knows of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelHost {
    /// What was done.
    pub shaped: Shaped,
    /// Its latest packet.
    pub seen: Instant,
    /// When all that has come for it will have left, at its share.
    pub work: Instant,
    /// How long its packets wait, smoothed; `None` where none has waited.
    pub wait: Option<Span>,
    /// Flows that share what it has.
    pub flows: usize,
}

impl KernelHost {
    /// At this time, with slots of that length.
    pub fn read(bytes: &[u8; HOST], now: Instant, shift: u32) -> Self {
        let busy = slot(&bytes[HOST_FLOWS..], now.as_nanos() >> (shift + COARSER), HOST_SLOTS);
        Self {
            shaped: Shaped::read(bytes),
            seen: Instant::from_nanos(u64_at(bytes, HOST_SEEN)),
            work: Instant::from_nanos(u64_at(bytes, HOST_WORK)),
            wait: Some(u64_at(bytes, HOST_WAIT)).filter(|wait| *wait > 0).map(Span::from_nanos),
            flows: (busy.div_ceil(ONE)) as usize,
        }
    }
}

/// What the program tells of what leaves, and of spin bits (`struct told`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measurement {
    /// A packet leaves for a host.
    Left {
        /// When it came.
        at: Instant,
        /// Whose it is.
        host: IpAddr,
        /// Where it goes: other than `host` where that stands for several.
        to: IpAddr,
        /// What had been done with packets since the program was loaded.
        sums: Sums,
    },
    /// The spin bit of what goes to a host turned: from when that packet leaves on it is this.
    SpinInto(Instant, IpAddr, FlowKey, bool),
    /// The spin bit of what comes out of the mesh turned.
    SpinOut(Instant, FlowKey, bool),
}

/// Sums that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// What all that came for the mesh costs.
    pub cost: u64,
    /// Its bytes.
    pub bytes: u64,
    /// When all of it will have left, at the rate.
    pub work: Instant,
    /// Bytes that came out of the mesh, and did not go in again.
    pub uplink: u64,
    /// Bytes that came for the host.
    pub of_host: u64,
}

impl Measurement {
    /// Reads an event; `None` if it is none (another length, another kind).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; TOLD] = bytes.try_into().ok()?;
        let at = Instant::from_nanos(u64_at(bytes, 0));
        let (host, ends) = (address_at(bytes, TOLD_HOST), flow_key(&bytes[TOLD_ENDS..]));
        let bit = bytes[TOLD_KIND + 1] != 0;
        Some(match bytes[TOLD_KIND] {
            0 => {
                let [cost, length, work, uplink, of_host] = std::array::from_fn(|n| u64_at(bytes, 8 + 8 * n));
                let work = Instant::from_nanos(work);
                let sums = Sums { cost, bytes: length, work, uplink, of_host };
                Self::Left { at, host, to: ends.wireless.address, sums }
            }
            1 => Self::SpinInto(at, host, ends, bit),
            2 => Self::SpinOut(at, ends, bit),
            _ => return None,
        })
    }
}

/// How busy a slot of time is, of as many as there are (`struct slot`).
fn slot(slots: &[u8], time: u64, count: u64) -> u32 {
    let at = 8 * (time % count) as usize;
    if u32_at(slots, at) == time as u32 { u32_at(slots, at + 4) } else { 0 }
}

/// The key of a host.
pub fn host_key(host: IpAddr) -> [u8; HOST_KEY] {
    mapped(host)
}

/// The host that a key names.
pub fn host_of(key: &[u8; HOST_KEY]) -> IpAddr {
    address_at(key, 0)
}

/// Bits of a prefix, of IPv4 behind those that say so (RFC 4291, section 2.5.5.2).
pub fn mapped_bits(prefix: IpNet) -> u32 {
    u32::from(prefix.prefix_len()) + if prefix.addr().is_ipv4() { 96 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebpf::trying::{asserted, defined};

    const HEADER: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf/include/shaping.h"));

    #[test]
    fn the_header_asserts_the_same_numbers() {
        let numbers = asserted(HEADER).map(|(what, number)| (what, number.expect("a number")));
        let asserted: Vec<_> = numbers.collect();
        let expected = [
            ("sizeof(struct prefix_key)", PREFIX + 4),
            ("sizeof(struct terms)", TERMS),
            ("sizeof(struct shaping)", SHAPING),
            ("offsetof(struct all, work)", ALL_WORK),
            ("offsetof(struct all, waiting)", ALL_WAITING),
            ("sizeof(struct all)", ALL),
            ("offsetof(struct host, seen)", HOST_SEEN),
            ("offsetof(struct host, work)", HOST_WORK),
            ("offsetof(struct host, wait)", HOST_WAIT),
            ("offsetof(struct host, flows)", HOST_FLOWS),
            ("sizeof(struct host)", HOST),
            ("offsetof(struct told, host)", TOLD_HOST),
            ("offsetof(struct told, ends)", TOLD_ENDS),
            ("offsetof(struct told, kind)", TOLD_KIND),
            ("sizeof(struct told)", TOLD),
        ];
        assert_eq!(asserted, expected);
        let numbers = [
            ("BYTE_SHIFT", BYTE_SHIFT.into()),
            ("PRICE_SHIFT", PRICE_SHIFT.into()),
            ("HOST_SLOTS", HOST_SLOTS),
            ("WAIT_SLOTS", WAIT_SLOTS),
            ("COARSER", COARSER.into()),
            ("COARSEST", COARSEST.into()),
        ];
        numbers
            .iter()
            .for_each(|(name, number)| assert_eq!(defined(HEADER, name), number.to_string(), "{name}"));
    }

    #[test]
    fn what_is_told_of_other_lengths_and_kinds_is_nothing() {
        let mut bytes = [0; TOLD];
        assert!(matches!(Measurement::read(&bytes), Some(Measurement::Left { .. })));
        bytes[TOLD_KIND] = 3;
        assert_eq!(Measurement::read(&bytes), None);
        assert_eq!(Measurement::read(&bytes[1..]), None);
    }

    #[test]
    fn slots_of_another_time_are_empty() {
        let mut slots = [0; 8 * 16];
        slots[8 * 3..8 * 3 + 4].copy_from_slice(&19_u32.to_ne_bytes());
        slots[8 * 3 + 4..8 * 4].copy_from_slice(&7_u32.to_ne_bytes());
        assert_eq!([3, 19, 35].map(|time| slot(&slots, time, 16)), [0, 7, 0]);
    }
}
