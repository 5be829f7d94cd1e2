//! The TUN device and the addresses on both of its sides.

use crate::{ImpairmentConfig, MTU};
use meshpace_linux::{Tun, TunOptions};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An address and the length of the network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix, at most 32 or 128.
    pub length: u8,
}

/// A text that is no address with a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "found {found:?}; allowed: an address and a prefix length with room for two hosts, as 10.9.0.2/24 or fd09::2/64"
)]
pub struct PrefixError {
    found: String,
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let error = || PrefixError { found: text.to_owned() };
        let (address, length) = text.split_once('/').ok_or_else(error)?;
        let address: IpAddr = address.parse().map_err(|_| error())?;
        let length: u8 = length.parse().map_err(|_| error())?;
        let bits = if address.is_ipv6() { 128 } else { 32 };
        // At least one bit for hosts: the kernel's side of the device needs an address, too.
        (length < bits).then_some(Self { address, length }).ok_or_else(error)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl Prefix {
    /// The first address of the network that is not this one, nor in IPv4 that of the network itself: for the kernel's
    /// side of the device.
    #[must_use]
    pub fn neighbour(&self) -> IpAddr {
        match self.address {
            IpAddr::V4(own) => {
                let network = u32::from(own) & u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                // In a network of two, both addresses are hosts' (RFC 3021).
                let first = if self.length == 31 { network } else { network + 1 };
                let other = if first == u32::from(own) { first + 1 } else { first };
                Ipv4Addr::from(other).into()
            }
            IpAddr::V6(own) => {
                let network =
                    u128::from(own) & u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                // The very first is the routers' anycast address (RFC 4291, section 2.6.1), but for networks of two (RFC 6164).
                let first = if self.length == 127 { network } else { network + 1 };
                let other = if first == u128::from(own) { first + 1 } else { first };
                Ipv6Addr::from(other).into()
            }
        }
    }
}

/// The device of an endpoint.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name; a `%d` in it becomes the first free number.
    pub name: String,
    /// The endpoint's addresses, behind the device, with the networks that they share with the kernel's side.
    pub addresses: Vec<Prefix>,
    /// The kernel's addresses; for versions that are missing here, [`Prefix::neighbour`] of the endpoint's first.
    pub peers: Vec<IpAddr>,
    /// The longest packet, bytes.
    pub mtu: u32,
    /// Packets that wait for the endpoint before the kernel drops more; `None`: the kernel's default of 500.
    pub queue_length: Option<u32>,
    /// A bad network between device and endpoint, both directions alike.
    pub impairment: Option<ImpairmentConfig>,
}

impl Device {
    /// A device `name` whose endpoint has one address.
    #[must_use]
    pub fn new(name: &str, address: Prefix) -> Self {
        Self {
            name: name.to_owned(),
            addresses: vec![address],
            peers: Vec::new(),
            mtu: MTU,
            queue_length: None,
            impairment: None,
        }
    }

    /// The kernel's addresses, each with the prefix of the endpoint's first address of its version.
    fn kernel_side(&self) -> Vec<(IpAddr, u8)> {
        let mut side = Vec::new();
        for v6 in [false, true] {
            let Some(own) = self.addresses.iter().find(|prefix| prefix.address.is_ipv6() == v6) else {
                continue;
            };
            let mut given = self.peers.iter().filter(|peer| peer.is_ipv6() == v6).peekable();
            if given.peek().is_none() {
                side.push((own.neighbour(), own.length));
            }
            side.extend(given.map(|peer| (*peer, own.length)));
        }
        side
    }

    pub(crate) fn open(&self) -> io::Result<Tun> {
        Tun::open(&TunOptions {
            name: &self.name,
            mtu: self.mtu,
            queue_length: self.queue_length,
            ethernet: None,
            addresses: &self.kernel_side(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_gets_the_first_address_that_is_free() {
        let neighbour = |text: &str| text.parse::<Prefix>().expect(text).neighbour().to_string();
        assert_eq!(neighbour("10.9.0.2/24"), "10.9.0.1");
        assert_eq!(neighbour("10.9.0.1/24"), "10.9.0.2");
        assert_eq!(neighbour("10.9.0.4/31"), "10.9.0.5");
        assert_eq!(neighbour("10.9.0.5/31"), "10.9.0.4");
        assert_eq!(neighbour("10.9.0.2/0"), "0.0.0.1");
        assert_eq!(neighbour("fd09::2/64"), "fd09::1");
        assert_eq!(neighbour("fd09::1/64"), "fd09::2");
        assert_eq!(neighbour("fd09::1/127"), "fd09::");
    }

    #[test]
    fn what_is_no_prefix_is_told() {
        for wrong in
            ["", "10.9.0.2", "10.9.0.2/32", "10.9.0.2/-1", "10.9.0/24", "fd09::2/128", "fd09::2/129", "a/1"]
        {
            let error = wrong.parse::<Prefix>().expect_err(wrong).to_string();
            assert!(error.contains(&format!("{wrong:?}")), "{error}");
        }
    }

    #[test]
    fn both_versions_have_a_kernel_side() {
        let mut device = Device::new("t", "10.9.0.2/24".parse().expect("a prefix"));
        device.addresses.push("fd09::2/64".parse().expect("a prefix"));
        device.peers.push("10.9.0.77".parse().expect("an address"));
        let side: Vec<String> =
            device.kernel_side().iter().map(|(at, bits)| format!("{at}/{bits}")).collect();
        assert_eq!(side, ["10.9.0.77/24", "fd09::1/64"]);
    }
}
