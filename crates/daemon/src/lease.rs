//! The lease: packets go to the queue only while the data thread shows that it gets on.
//!
//! The sign of life is a packet on the loopback interface, from a socket to itself. The rules know it by its port, which nobody
//! else can send from while the socket is bound, and note when they saw it last; a rule before those that queue lets everything
//! by once that is [`LEASE`] ago (see `rules`). So a thread that hangs or spins loses its packets without anybody's help, and
//! renewing takes neither a transaction of nftables, which waits while somebody loads a firewall, nor a right to write
//! anywhere.

use meshpace_units::Span;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// How long the rules believe a sign of life. A TCP sender whose packets vanish tries again after its time-out, then after
/// twice that, and so on (RFC 6298, section 5.5): the first attempt after the lease comes before three times its length.
pub const LEASE: Span = Span::from_secs(2);
/// Time between two signs of life: a machine that is busy for longer than a second loses the lease for a moment.
pub const RENEWAL: Span = Span::from_millis(500);

/// Ports by which the rules know the signs of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Of 127.0.0.1.
    pub v4: u16,
    /// Of `::1`, where the loopback interface has that.
    pub v6: Option<u16>,
}

/// What gives the signs of life.
#[derive(Debug)]
pub struct Beacon {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
}

impl Beacon {
    /// Sockets in the calling thread's namespace.
    ///
    /// # Errors
    /// The kernel's answer where the loopback interface is down.
    pub fn open() -> io::Result<Self> {
        let v6 = match open(Ipv6Addr::LOCALHOST.into()) {
            Ok(socket) => Some(socket),
            // No IPv6 in this kernel, or none on the loopback interface: then none is forwarded either.
            Err(why) if why.kind() == io::ErrorKind::AddrNotAvailable || why.raw_os_error() == Some(97) => {
                None
            }
            Err(why) => return Err(why),
        };
        Ok(Self { v4: open(Ipv4Addr::LOCALHOST.into())?, v6 })
    }

    /// # Errors
    /// The kernel's answer.
    pub fn ports(&self) -> io::Result<Ports> {
        let port = |socket: &UdpSocket| socket.local_addr().map(|address| address.port());
        Ok(Ports { v4: port(&self.v4)?, v6: self.v6.as_ref().map(port).transpose()? })
    }

    /// Gives a sign of life; never blocks.
    ///
    /// # Errors
    /// `EPERM` if a firewall drops what this host sends to itself; `ENETUNREACH` if the loopback interface is down.
    pub fn give(&self) -> io::Result<()> {
        for socket in [Some(&self.v4), self.v6.as_ref()].into_iter().flatten() {
            // The earlier signs, so that no counter of this host's tells of a full socket.
            while socket.recv(&mut [0; 1]).is_ok() {}
            socket.send(&[])?;
        }
        Ok(())
    }
}

fn open(address: IpAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((address, 0))?;
    socket.connect(socket.local_addr()?)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_send_from_its_port() {
        let beacon = Beacon::open().unwrap();
        let ports = beacon.ports().unwrap();
        for _ in 0..1_000 {
            beacon.give().unwrap();
        }
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, ports.v4)).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }

    /// Two renewals may come late, and the first retransmission after the lease comes within the bound of docs/robustness.md.
    #[test]
    fn a_lease_outlasts_late_renewals_and_ends_within_the_bound() {
        assert!(RENEWAL * 3 < LEASE && LEASE * 3 <= Span::from_secs(6));
    }
}
