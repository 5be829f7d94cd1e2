//! A TUN or TAP device: IP packets, or Ethernet frames, to and from user space.

use crate::address;
use crate::interface::{control_socket, index, ioctl, request};
use crate::namespace::with_context;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// How a device is to look. Its kernel side gets the addresses; what lies behind it is up to user space.
#[derive(Debug)]
pub struct TunOptions<'a> {
    /// Its name, 1 to 15 bytes; a `%d` in it becomes the first free number.
    pub name: &'a str,
    /// The longest packet in bytes.
    pub mtu: u32,
    /// How many packets wait for user space before the kernel drops more; `None`: the kernel's default of 500.
    pub queue_length: Option<u32>,
    /// Its MAC address, if it is to carry Ethernet frames (TAP) and not IP packets (TUN).
    pub ethernet: Option<[u8; 6]>,
    /// Addresses of the kernel's side with their prefix lengths; the prefixes are routed to the device.
    pub addresses: &'a [(IpAddr, u8)],
}

/// A TUN or TAP device in the namespace in which it was opened (see [`crate::Namespace::within`]); gone when dropped.
///
/// Packets have complete checksums and are at most the MTU long: the device offers no offloads.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
}

impl Tun {
    /// Makes the device and brings it up.
    ///
    /// # Errors
    /// What the kernel answers, with the step that failed: `EPERM` without CAP_NET_ADMIN, `EBUSY` for a name in use.
    pub fn open(options: &TunOptions<'_>) -> io::Result<Self> {
        let step =
            |what: &str, error: &io::Error| with_context(error, &format!("TUN {}: {what}", options.name));
        let path = "/dev/net/tun";
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path);
        let file = file.map_err(|error| step(path, &error))?;
        let mut create = request(options.name)?;
        let layer = if options.ethernet.is_some() { libc::IFF_TAP } else { libc::IFF_TUN };
        create.ifr_ifru.ifru_flags = (layer | libc::IFF_NO_PI) as libc::c_short;
        ioctl(&file, libc::TUNSETIFF, &mut create).map_err(|error| step("creating it", &error))?;
        let name: Vec<u8> =
            create.ifr_name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
        let name =
            String::from_utf8(name).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let tun = Self { file, name };

        let control = control_socket()?;
        let set = |what: &str, call, fill: &dyn Fn(&mut libc::ifreq)| {
            let mut ifreq = request(&tun.name)?;
            fill(&mut ifreq);
            ioctl(&control, call, &mut ifreq).map_err(|error| step(what, &error))
        };
        let int = |value: u32| {
            let error =
                || io::Error::new(io::ErrorKind::InvalidInput, format!("TUN {}: {value}", options.name));
            libc::c_int::try_from(value).map_err(|_| error())
        };
        if let Some(mac) = options.ethernet {
            let address = hardware_address(mac);
            set("its MAC address", libc::SIOCSIFHWADDR, &|ifreq| ifreq.ifr_ifru.ifru_hwaddr = address)?;
        }
        let mtu = int(options.mtu)?;
        set("its MTU", libc::SIOCSIFMTU, &|ifreq| ifreq.ifr_ifru.ifru_mtu = mtu)?;
        if let Some(length) = options.queue_length {
            // netdevice(7): the value is in ifr_qlen, an int at the same place as ifr_ifindex.
            let length = int(length)?;
            set("its queue length", libc::SIOCSIFTXQLEN, &|ifreq| ifreq.ifr_ifru.ifru_ifindex = length)?;
        }
        let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        set("bringing it up", libc::SIOCSIFFLAGS, &|ifreq| ifreq.ifr_ifru.ifru_flags = up)?;
        let index = index(&tun.name)?;
        for (ip, prefix) in options.addresses {
            let added = address::add(index, *ip, *prefix);
            added.map_err(|error| step(&format!("address {ip}/{prefix}"), &error))?;
        }
        Ok(tun)
    }

    /// The device's name, with its number where one was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next packet or frame that the kernel sends through the device, read into `buffer`: its length, `None` if there is none
    /// now. A packet longer than the buffer loses its end.
    ///
    /// # Errors
    /// What `read(2)` answers.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives the kernel a packet or frame as if it had arrived through the device.
    ///
    /// # Errors
    /// What `write(2)` answers: `EINVAL` for what is no IP packet, or too short for an Ethernet header, `EIO` while the device is down.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let sent = (&self.file).write(packet)?;
        assert_eq!(sent, packet.len(), "TUN takes whole packets");
        Ok(())
    }
}

/// A MAC address as ioctls take it (netdevice(7): the family is ARPHRD_ETHER).
fn hardware_address(mac: [u8; 6]) -> libc::sockaddr {
    let mut sa_data = [0; 14];
    for (to, byte) in sa_data.iter_mut().zip(mac) {
        *to = byte as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::ARPHRD_ETHER, sa_data }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
