//! Interfaces by name and by index, in the calling thread's network namespace.

pub(crate) mod segments;

pub use segments::{gso_max_segments, set_gso_max_segments};

use crate::namespace::with_context;
use nix::net::if_::{if_indextoname, if_nameindex, if_nametoindex};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The index of interface `name`.
///
/// # Errors
/// If there is none; the message says which was looked for.
pub fn index(name: &str) -> io::Result<u32> {
    if_nametoindex(name).map_err(|error| with_context(&error.into(), &format!("interface {name}")))
}

/// The name of interface `index`.
///
/// # Errors
/// If there is none, or its name is not UTF-8.
pub fn name(index: u32) -> io::Result<String> {
    let name =
        if_indextoname(index).map_err(|error| with_context(&error.into(), &format!("interface {index}")))?;
    name.into_string().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The names of all interfaces; one that is not UTF-8 is left out.
///
/// # Errors
/// What the kernel answers.
pub fn names() -> io::Result<Vec<String>> {
    let all = if_nameindex()?;
    Ok(all.iter().filter_map(|one| one.name().to_str().ok()).map(str::to_owned).collect())
}

/// The MTU of interface `name` in bytes: the longest IP packet that it takes.
///
/// # Errors
/// If there is no such interface.
pub fn mtu(name: &str) -> io::Result<u32> {
    let mut request = request(name)?;
    ioctl(&control_socket()?, libc::SIOCGIFMTU, &mut request)
        .map_err(|error| with_context(&error, &format!("interface {name}")))?;
    // SAFETY: SIOCGIFMTU (netdevice(7)) filled the MTU in; every bit pattern is an int.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    u32::try_from(mtu).map_err(|_| io::Error::other(format!("interface {name}: MTU {mtu}")))
}

/// What the interface's link layer puts in front of an IP packet, as `ARPHRD_*` of `linux/if_arp.h` (1: Ethernet, which
/// 802.11 interfaces show too; 65534: nothing).
///
/// # Errors
/// An interface of that name does not exist, or is no name.
pub fn link_type(name: &str) -> io::Result<u16> {
    let mut request = request(name)?;
    ioctl(&control_socket()?, libc::SIOCGIFHWADDR, &mut request)
        .map_err(|error| with_context(&error, &format!("interface {name}")))?;
    // SAFETY: SIOCGIFHWADDR (netdevice(7)) filled the address in; every bit pattern is one.
    let address = unsafe { request.ifr_ifru.ifru_hwaddr };
    Ok(address.sa_family)
}

/// Any socket will do for the calls of netdevice(7).
pub(crate) fn control_socket() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?)
}

/// An empty `struct ifreq` for `name`.
pub(crate) fn request(name: &str) -> io::Result<libc::ifreq> {
    let mut ifr_name = [0; libc::IFNAMSIZ];
    // One byte stays for the terminating zero.
    if name.is_empty() || name.len() >= ifr_name.len() || name.contains(['\0', '/']) {
        let allowed = libc::IFNAMSIZ - 1;
        let message = format!("interface name {name:?}: 1 to {allowed} bytes, no slash");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for (to, from) in ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(libc::ifreq { ifr_name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_ifindex: 0 } })
}

/// One of the calls of netdevice(7) or TUN that take a `struct ifreq`. Their numbers are of another type than ioctl's
/// parameter where the C library is musl.
pub(crate) fn ioctl(
    descriptor: &impl AsRawFd,
    call: impl TryInto<libc::Ioctl>,
    request: &mut libc::ifreq,
) -> io::Result<()> {
    let Ok(call) = call.try_into() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // SAFETY: every caller passes a call that reads and writes one `struct ifreq`, which `request` is for its length.
    let result = unsafe { libc::ioctl(descriptor.as_raw_fd(), call, &raw mut *request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_found_both_ways() {
        let index = index("lo").expect("lo exists");
        assert_eq!(name(index).expect("it has a name"), "lo");
        assert!(names().expect("they are listed").contains(&"lo".to_owned()));
        assert_eq!(mtu("lo").expect("it has an MTU"), 65_536);
        assert_eq!(link_type("lo").expect("it has a type"), libc::ARPHRD_LOOPBACK);
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(index("mp-none-such").expect_err("none").to_string().contains("mp-none-such"));
        assert_eq!(
            mtu("mp-none-such").expect_err("none").kind(),
            io::Error::from_raw_os_error(libc::ENODEV).kind()
        );
        for wrong in ["", "a/b", "sixteen-letters-", "z\0"] {
            assert_eq!(mtu(wrong).expect_err("refused").kind(), io::ErrorKind::InvalidInput, "{wrong:?}");
        }
    }
}
