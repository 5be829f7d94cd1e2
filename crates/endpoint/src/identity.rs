//! What tells connections apart, and what must be hard to guess from outside: initial sequence numbers, ephemeral ports, the zero of timestamps.

use meshpace_units::{Instant, Seq};
use siphasher::sip::SipHasher24;
use std::hash::{Hash, Hasher};
use std::net::SocketAddr;

/// What tells connections apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FourTuple {
    /// Our address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

/// Bits that only this endpoint knows, from the driver's random source.
#[derive(Clone, Copy)]
pub struct Secret(pub [u8; 16]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Unit of the clock behind initial sequence numbers (RFC 6528, section 3).
const ISN_TICK_NANOS: u64 = 4_000;
/// Ephemeral ports (RFC 6335, section 6: the dynamic ports).
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;

impl Secret {
    fn hash(&self, purpose: u8, about: &impl Hash) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        purpose.hash(&mut hasher);
        about.hash(&mut hasher);
        hasher.finish()
    }

    /// The initial sequence number of a connection opened at `now`: ISN = M + F(addresses, ports, secret) (RFC 6528,
    /// section 3).
    pub fn initial_sequence(&self, path: &FourTuple, now: Instant) -> Seq {
        let clock = now.as_nanos() / ISN_TICK_NANOS;
        Seq(self.hash(0, path) as u32) + clock as u32 // both modulo 2^32
    }

    /// The zero of the timestamp clock towards a host. By hosts, not connections: a later connection between the same
    /// ports continues the values, which lets it replace one in TIME-WAIT (RFC 7323, section 7.1; RFC 6191).
    pub fn timestamp_offset(&self, path: &FourTuple) -> u32 {
        self.hash(1, &(path.local.ip(), path.remote.ip())) as u32
    }

    /// Ephemeral ports in the order in which to try them, from a start that differs by destination (RFC 6056, section
    /// 3.3.3, "simple hash-based"). `count` is the number of ports given away so far.
    pub fn ephemeral_ports(&self, remote: SocketAddr, count: u64) -> impl Iterator<Item = u16> {
        let size = u64::from(EPHEMERAL.end() - EPHEMERAL.start()) + 1;
        let start = self.hash(2, &remote).wrapping_add(count);
        (0..size).map(move |n| EPHEMERAL.start() + (start.wrapping_add(n) % size) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Span;
    use std::collections::BTreeSet;

    fn path(port: u16) -> FourTuple {
        FourTuple { local: "10.0.0.1:80".parse().expect("address"), remote: ([10, 0, 0, 2], port).into() }
    }

    #[test]
    fn sequence_numbers_rise_with_time_and_differ_by_path_and_secret() {
        let (one, other) = (Secret([1; 16]), Secret([2; 16]));
        let now = Instant::from_nanos(5_000_000_000);
        let isn = one.initial_sequence(&path(1), now);
        assert_eq!(one.initial_sequence(&path(1), now + Span::from_secs(1)).since(isn), 250_000);
        assert_ne!(one.initial_sequence(&path(2), now), isn);
        assert_ne!(other.initial_sequence(&path(1), now), isn);
        assert_ne!(one.timestamp_offset(&path(1)), other.timestamp_offset(&path(1)));
        assert_eq!(one.timestamp_offset(&path(1)), one.timestamp_offset(&path(2)));
    }

    #[test]
    fn every_ephemeral_port_is_tried_once() {
        let ports: Vec<u16> = Secret([3; 16]).ephemeral_ports(path(7).remote, 9).collect();
        assert_eq!(ports.len(), 16_384);
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 16_384);
        assert!(ports.iter().all(|port| *port >= 49_152));
    }
}
