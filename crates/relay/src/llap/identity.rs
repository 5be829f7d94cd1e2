//! The identity that the ingress may add to a packet, for nodes whose MAC does not show the FCS (schemes.md 8, Overhearing).
//!
//! The simulated relays know packets again by their number; the identity is there for the room that it takes.

use crate::packet::{Packet, Shim, ShimBytes, ShimKind};
use meshpace_units::Bytes;

/// The last `N` bytes of the packet's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity<const N: usize>([u8; N]);

impl<const N: usize> Shim for Identity<N> {
    const KIND: ShimKind = ShimKind::LlapIdentity;
    const NAME: &'static str = "llap-identity";
    const WIRE_LENGTH: Bytes = Bytes(N as u64);

    fn to_bytes(&self) -> ShimBytes {
        ShimBytes::new(&self.0)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// Adds an identity of so many bytes, 4 at the most.
pub(super) fn add(packet: &mut Packet, bytes: u32) {
    match bytes {
        0 => {}
        1 => set::<1>(packet),
        2 => set::<2>(packet),
        3 => set::<3>(packet),
        4 => set::<4>(packet),
        more => panic!("an identity of {more} bytes"),
    }
}

fn set<const N: usize>(packet: &mut Packet) {
    let mut identity = [0; N];
    identity.copy_from_slice(&packet.id.0.to_be_bytes()[8 - N..]);
    packet.set_shim(&Identity(identity));
}
