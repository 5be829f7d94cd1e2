//! Typed headers between IP and the transport: what relays, gateways and end points tell each other.

use meshpace_units::Bytes;

/// Every kind of shim: the table to which a new one adds a row. Numbers are what captures show, and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ShimKind {
    /// LLAP's identity of a packet (schemes.md 8).
    LlapIdentity = 1,
    /// What a sender's control asks of relays, with their answer: XCP's header, RCP's (schemes.md 11, 12).
    Request = 2,
    /// The same, returned by the receiver.
    Answer = 3,
    /// What nodes tell their neighbours of congestion and round trips: WCP's (schemes.md 13).
    WcpShare = 4,
    /// The nodes that a packet has gone through, for a contention count: rt-Winf's (schemes.md 14).
    WinfWay = 5,
    /// What a receiver's acknowledgement policy tells the sender's control.
    Report = 6,
    /// For tests and experiments, as these two numbers of IP's protocols (RFC 3692).
    ExperimentA = 253,
    /// See `ExperimentA`.
    ExperimentB = 254,
}

/// A header beside TCP's. It is kept from hop to hop, and shown in captures.
///
/// A new one is a type that implements this, in a file of its own, and a row of [`ShimKind`].
pub trait Shim: Sized {
    /// Which one it is: at most one of a kind is in a packet.
    const KIND: ShimKind;
    /// What captures call it.
    const NAME: &'static str;
    /// By how much it makes the packet longer on the wire.
    const WIRE_LENGTH: Bytes;

    /// The same of this one, where they differ.
    fn wire_length(&self) -> Bytes {
        Self::WIRE_LENGTH
    }

    /// Its fields as bytes in network order.
    fn to_bytes(&self) -> ShimBytes;

    /// The shim of these bytes; `None` if they are none.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

/// The bytes of a shim. IPv4 has room for 40 bytes of options (RFC 791, section 3.1), no known shim for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShimBytes {
    length: u8,
    bytes: [u8; Self::MOST],
}

impl ShimBytes {
    /// The longest shim.
    pub const MOST: usize = 40;

    /// A copy of `bytes`.
    ///
    /// # Panics
    /// If there are more than [`MOST`](Self::MOST).
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= Self::MOST, "a shim of {} bytes", bytes.len());
        let mut array = [0; Self::MOST];
        array[..bytes.len()].copy_from_slice(bytes);
        Self { length: bytes.len() as u8, bytes: array }
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// A shim as captures see it: without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShimView<'a> {
    /// Which one it is.
    pub kind: ShimKind,
    /// What it is called.
    pub name: &'static str,
    /// By how much it makes the packet longer on the wire.
    pub wire_length: Bytes,
    /// Its fields.
    pub bytes: &'a [u8],
}

/// The shims of one packet: a list, since most packets have none and hardly any has two. Empty, it allocates nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shims(Option<Box<Held>>);

#[derive(Clone, Debug, PartialEq)]
struct Held {
    kind: ShimKind,
    name: &'static str,
    wire_length: Bytes,
    bytes: ShimBytes,
    rest: Shims,
}

impl Shims {
    /// The shim of a type.
    pub fn get<T: Shim>(&self) -> Option<T> {
        let held = std::iter::successors(self.0.as_deref(), |held| held.rest.0.as_deref());
        held.filter(|held| held.kind == T::KIND).map(Held::read).next()
    }

    /// Puts a shim in; how long the one of its kind was that it replaces.
    pub fn set<T: Shim>(&mut self, shim: &T) -> Option<Bytes> {
        let before = self.take::<T>().map(|held| held.wire_length);
        let rest = std::mem::take(self);
        let (bytes, wire_length) = (shim.to_bytes(), shim.wire_length());
        self.0 = Some(Box::new(Held { kind: T::KIND, name: T::NAME, wire_length, bytes, rest }));
        before
    }

    /// Writes other fields into a shim, where it is. True if there is one.
    pub fn rewrite<T: Shim>(&mut self, change: impl FnOnce(&mut T)) -> bool {
        let mut here = self.0.as_deref_mut();
        while let Some(held) = here {
            if held.kind == T::KIND {
                let mut shim = held.read();
                change(&mut shim);
                held.bytes = shim.to_bytes();
                return true;
            }
            here = held.rest.0.as_deref_mut();
        }
        false
    }

    fn take<T: Shim>(&mut self) -> Option<Held> {
        let mut here = self;
        while here.0.as_ref()?.kind != T::KIND {
            here = &mut here.0.as_mut()?.rest;
        }
        let mut held = *here.0.take()?;
        *here = std::mem::take(&mut held.rest);
        Some(held)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = ShimView<'_>> {
        std::iter::successors(self.0.as_deref(), |held| held.rest.0.as_deref()).map(|held| ShimView {
            kind: held.kind,
            name: held.name,
            wire_length: held.wire_length,
            bytes: held.bytes.as_slice(),
        })
    }
}

impl Held {
    fn read<T: Shim>(&self) -> T {
        let bytes = self.bytes.as_slice();
        T::from_bytes(bytes).unwrap_or_else(|| panic!("{} does not know its own bytes {bytes:?}", T::NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Class, Packet};
    use meshpace_routing::DsdvUpdate;
    use std::net::{IpAddr, Ipv4Addr};

    /// A counter of 16 bits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Count(u16);

    impl Shim for Count {
        const KIND: ShimKind = ShimKind::ExperimentA;
        const NAME: &'static str = "count";
        const WIRE_LENGTH: Bytes = Bytes(4);

        fn to_bytes(&self) -> ShimBytes {
            ShimBytes::new(&self.0.to_be_bytes())
        }

        fn from_bytes(bytes: &[u8]) -> Option<Self> {
            bytes.try_into().ok().map(|bytes| Self(u16::from_be_bytes(bytes)))
        }
    }

    /// Says that it was there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Mark;

    impl Shim for Mark {
        const KIND: ShimKind = ShimKind::ExperimentB;
        const NAME: &'static str = "mark";
        const WIRE_LENGTH: Bytes = Bytes(8);

        fn to_bytes(&self) -> ShimBytes {
            ShimBytes::new(&[])
        }

        fn from_bytes(bytes: &[u8]) -> Option<Self> {
            bytes.is_empty().then_some(Self)
        }
    }

    fn packet() -> Packet {
        let here = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));
        let body = Body::Control(DsdvUpdate { routes: Vec::new() }.into());
        Packet::new(here, here, Bytes(1000), Class::Data, body)
    }

    fn names(packet: &Packet) -> Vec<&str> {
        packet.shims().map(|shim| shim.name).collect()
    }

    #[test]
    fn the_packet_grows_with_its_shims() {
        let mut packet = packet();
        assert_eq!((packet.shim::<Count>(), packet.shim::<Mark>()), (None, None));
        packet.set_shim(&Count(7));
        packet.set_shim(&Mark);
        assert_eq!((packet.size, names(&packet)), (Bytes(1012), vec!["mark", "count"]));
        packet.set_shim(&Count(8));
        assert_eq!((packet.size, packet.shim()), (Bytes(1012), Some(Count(8))));
        assert_eq!(names(&packet), ["count", "mark"], "one of a kind");
        assert_eq!(packet.shim(), Some(Mark));
    }

    #[test]
    fn a_copy_has_shims_of_its_own() {
        let mut packet = packet();
        packet.set_shim(&Count(1));
        let copy = packet.clone();
        packet.set_shim(&Count(2));
        assert_eq!((copy.shim(), packet.shim()), (Some(Count(1)), Some(Count(2))));
        let shown: Vec<_> = copy.shims().map(|shim| (shim.kind as u8, shim.bytes.to_vec())).collect();
        assert_eq!(shown, [(253, vec![0, 1])]);
    }
}
