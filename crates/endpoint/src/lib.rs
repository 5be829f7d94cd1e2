//! A user-space TCP/IP endpoint: [`meshpace_tcp`]'s connections with real bytes, on a TUN device.
//!
//! | layer | what it is |
//! |---|---|
//! | [`Stack`] | sans-I/O: IP packets in and out, the time an argument; many connections, listeners, byte buffers |
//! | [`Endpoint`] | runs a stack on a TUN device, in a thread of its own |
//! | [`Listener`], [`Stream`] | blocking sockets of an endpoint, as in `std::net` |
//! | [`Impairment`] | a bad network between stack and device, for tests |
//!
//! The endpoint has addresses of its own *behind* the device: the kernel routes packets to them and answers nothing
//! itself. What a connection is made of ([`SocketOptions`]) comes from any scheme of [`meshpace_schemes`].
//!
//! ```no_run
//! use meshpace_endpoint::{Device, Endpoint, SocketOptions, Stream};
//! use std::io::{Read, Write};
//!
//! # fn main() -> std::io::Result<()> {
//! let device = Device::new("mesh%d", "10.9.0.2/24".parse().expect("an address"));
//! let endpoint = Endpoint::open(&device)?;
//! let mut stream: Stream = endpoint.connect("10.9.0.1:80".parse().expect("an address"), &SocketOptions::default())?;
//! stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
//! stream.shutdown(std::net::Shutdown::Write)?;
//! let mut page = Vec::new();
//! stream.read_to_end(&mut page)?;
//! # Ok(())
//! # }
//! ```

mod buffer;
mod config;
mod device;
mod driver;
mod identity;
mod impair;
mod socket;
mod stack;

pub use config::{LiveOptions, MTU, MTU_MIN_V6, SocketOptions, StackConfig};
pub use device::{Device, Prefix, PrefixError};
pub use driver::Endpoint;
pub use identity::{FourTuple, Secret};
pub use impair::{Impaired, Impairment, ImpairmentConfig};
pub use socket::{Listener, Stream};
pub use stack::{
    BindError, Changed, ConnectError, Info, ListenerId, SocketError, SocketId, Stack, StackCounters,
};
