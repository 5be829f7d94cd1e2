//! What the shaper's program and user space tell each other: the types that stand for the structs of [`shared::shaping`].

use crate::shared::{self, mapped_bits, shaping as c};
use ipnet::IpNet;
use meshpace_gateway::{Endpoint, FlowKey};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::net::IpAddr;
use zerocopy::FromBytes;

/// What one flow counts for.
const ONE: u32 = 256;

/// Time that a byte takes at a rate, as the program reads it.
fn per_byte(rate: Rate) -> u64 {
    let bits = u128::from(rate.as_bits_per_sec().max(1));
    u64::try_from(((8_000_000_000_u128 << c::BYTE_SHIFT) / bits).max(1)).unwrap_or(u64::MAX)
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

impl From<Agreed> for c::Terms {
    fn from(agreed: Agreed) -> Self {
        Self {
            cap: agreed.cap.map_or(0, per_byte),
            weight: agreed.weight.max(1),
            price: (agreed.price * f64::from(1 << c::PRICE_SHIFT)).round().max(1.0) as u32,
            mask: agreed.together.map_or(0, mapped_bits),
            unused: 0,
        }
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

impl From<Shaping> for c::Shaping {
    fn from(shaping: Shaping) -> Self {
        let per_byte = per_byte(shaping.rate);
        let fewest = (u128::from(shaping.fewest.0) * u128::from(per_byte)) >> c::BYTE_SHIFT;
        Self {
            alive_until: shaping.alive_until.as_nanos(),
            per_byte,
            longest: shaping.longest.as_nanos(),
            fewest: u64::try_from(fewest).unwrap_or(u64::MAX >> 1),
            target: shaping.target.as_nanos(),
            interval: shaping.interval.as_nanos(),
            overhead: u32::try_from(shaping.overhead.0).unwrap_or(u32::MAX),
            places: shaping.places,
            shift: shaping.shift,
            finds: shaping.finds.into(),
            terms: shaping.otherwise.into(),
        }
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

impl From<c::Shaped> for Shaped {
    fn from(shaped: c::Shaped) -> Self {
        let c::Shaped { packets, bytes, cost, dropped, crowded, marked } = shaped;
        Self { packets, bytes: Bytes(bytes), cost, dropped, crowded, marked }
    }
}

/// `struct all`: all hosts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct All {
    /// What was done.
    pub shaped: Shaped,
    /// Packets that wait.
    pub waiting: u64,
    /// What was counted.
    pub sums: Sums,
}

impl All {
    /// At this time, with slots of that length.
    pub fn of(all: &c::All, now: Instant, shift: u32) -> Self {
        let first = now.as_nanos() >> (shift + c::COARSEST);
        let times = first..first + all.waiting.len() as u64;
        let waiting = times.map(|time| u64::from(busy(&all.waiting, time))).sum();
        let c::All { shaped: c::Shaped { cost, bytes, .. }, uplink, calls, .. } = *all;
        let sums = Sums { cost, bytes, work: Instant::from_nanos(all.work), uplink, calls };
        Self { shaped: all.shaped.into(), waiting, sums }
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
    pub fn of(host: &c::Host, now: Instant, shift: u32) -> Self {
        let flows = busy(&host.flows, now.as_nanos() >> (shift + c::COARSER));
        Self {
            shaped: host.shaped.into(),
            seen: Instant::from_nanos(host.seen),
            work: Instant::from_nanos(host.work),
            wait: Some(host.wait).filter(|wait| *wait > 0).map(Span::from_nanos),
            flows: flows.div_ceil(ONE) as usize,
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
        /// Bytes that had come for the host.
        of_host: u64,
        /// Since when no more than one connection sends into the mesh; `None`: something else does.
        alone: Option<Instant>,
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
    /// Packets that waited for no turn, and whose round trips nothing measures.
    pub calls: u64,
}

impl Measurement {
    /// Reads an event; `None` if it is none (another length, another kind).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let told = c::Told::read_from_bytes(bytes).ok()?;
        let at = Instant::from_nanos(told.at);
        let end = |address: shared::Address, port: u16| Endpoint { address: address.into(), port };
        let ends = FlowKey {
            wireless: end(told.ends.wireless, told.ends.wireless_port.get()),
            wired: end(told.ends.wired, told.ends.wired_port.get()),
        };
        let (host, bit) = (told.host.address.into(), told.bit != 0);
        Some(match told.kind {
            0 => {
                let c::Told { cost, bytes, uplink, of_host, calls, .. } = told;
                let sums = Sums { cost, bytes, work: Instant::from_nanos(told.work), uplink, calls };
                let alone = Some(told.alone).filter(|since| *since > 0).map(Instant::from_nanos);
                Self::Left { at, host, to: ends.wireless.address, sums, of_host, alone }
            }
            1 => Self::SpinInto(at, host, ends, bit),
            2 => Self::SpinOut(at, ends, bit),
            _ => return None,
        })
    }
}

/// How busy the slot of a time is.
fn busy(slots: &[c::Slot], time: u64) -> u32 {
    let slot = slots[(time % slots.len() as u64) as usize];
    if slot.time == time as u32 { slot.busy } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    #[test]
    fn what_is_told_of_other_lengths_and_kinds_is_nothing() {
        let mut told = c::Told::default();
        assert!(matches!(Measurement::read(told.as_bytes()), Some(Measurement::Left { .. })));
        told.kind = 3;
        assert_eq!(Measurement::read(told.as_bytes()), None);
        told.kind = 2;
        assert!(Measurement::read(told.as_bytes()).is_some());
        assert_eq!(Measurement::read(&told.as_bytes()[1..]), None);
    }

    #[test]
    fn slots_of_another_time_are_empty() {
        let mut slots = [c::Slot::default(); 16];
        slots[3] = c::Slot { time: 19, busy: 7 };
        assert_eq!([3, 19, 35].map(|time| busy(&slots, time)), [0, 7, 0]);
    }
}
