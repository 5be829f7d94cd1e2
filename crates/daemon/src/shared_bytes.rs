//! Numbers and addresses in structs that programs in the kernel share with this side, in the machine's byte order.

use std::net::{IpAddr, Ipv6Addr};

/// The `N` bytes from `at` on.
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of N bytes")
}

/// A `__u32`.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(array(bytes, at))
}

/// A `__u64`.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(array(bytes, at))
}

/// An IPv6 address, or the IPv4 address that it stands for (RFC 4291, section 2.5.5.2).
pub fn address_at(bytes: &[u8], at: usize) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from(array::<16>(bytes, at))).to_canonical()
}
