//! Addresses of an interface, over rtnetlink(7).

use crate::netlink;
use crate::rtnetlink::RtNetlink;
use meshpace_units::Span;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// How long an address may take until packets to it are delivered. It is a kernel worker's next turn; beside a load of 15 on two
/// processors that once took more than 2 s.
const PATIENCE: Span = Span::from_secs(30);
/// How long to leave the processor to that worker before the kernel is asked again.
const PAUSE: Duration = Duration::from_micros(200);

/// Gives interface `index`, which is up, an address that can be used when this returns.
///
/// # Errors
/// What the kernel answers: `EEXIST` for an address that it has.
#[allow(clippy::disallowed_methods, reason = "a real kernel's worker is waited for")]
pub(crate) fn add(index: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
    let kernel = RtNetlink::open()?;
    let (family, octets) = bytes_of(address);
    // `struct ifaddrmsg`: family, prefix length, flags, scope, index. Without IFA_F_NODAD an IPv6 address would be tentative at
    // first, and no packet's source.
    let mut header = vec![family, prefix, libc::IFA_F_NODAD as u8, libc::RT_SCOPE_UNIVERSE];
    header.extend_from_slice(&index.to_ne_bytes());
    let flags = libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let attributes = [(libc::IFA_LOCAL, &octets[..]), (libc::IFA_ADDRESS, &octets)];
    kernel.ask(libc::RTM_NEWADDR, flags, &header, &attributes)?;
    // The kernel adds an IPv6 address's local route from a worker, after its answer (addrconf_dad_start).
    let start = crate::monotonic_now();
    while !is_local(&kernel, address)? {
        if crate::monotonic_now() - start > PATIENCE {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the kernel does not route {address} to itself"),
            ));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// True if the kernel delivers packets to `address` to its own sockets.
fn is_local(kernel: &RtNetlink, address: IpAddr) -> io::Result<bool> {
    let (family, octets) = bytes_of(address);
    // `struct rtmsg`: family, lengths of destination and source, type of service, table, protocol, scope, type, flags.
    let header = [family, (octets.len() * 8) as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    match kernel.ask(libc::RTM_GETROUTE, 0, &header, &[(libc::RTA_DST, &octets)]) {
        Ok(answer) => Ok(answer.get(netlink::HEADER + 7) == Some(&libc::RTN_LOCAL)),
        Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => Ok(false),
        Err(error) => Err(error),
    }
}

fn bytes_of(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(v4) => (libc::AF_INET as u8, v4.octets().to_vec()),
        IpAddr::V6(v6) => (libc::AF_INET6 as u8, v6.octets().to_vec()),
    }
}
