//! What an endpoint and its connections are made of.

use crate::identity::Secret;
use meshpace_pacing::Route;
use meshpace_schemes::{FlowEnd, Scheme};
use meshpace_tcp::{Config, Handshake, HeaderSize, KeepAlive, Reading, SackOffer};
use meshpace_units::Rate;
use std::net::IpAddr;

/// The default of [`StackConfig::mtu`]: Ethernet's.
pub const MTU: u32 = 1500;
/// The smallest MTU that every IPv6 link has (RFC 8200, section 5).
pub const MTU_MIN_V6: u32 = 1280;

/// What a [`Stack`](crate::Stack) is made of.
#[derive(Clone, Debug)]
pub struct StackConfig {
    /// The endpoint's own addresses. Packets to others are not for it.
    pub addresses: Vec<IpAddr>,
    /// The longest packet that the device takes, bytes. At least 1,280 if there are IPv6 addresses.
    pub mtu: u32,
    /// Time to live of packets sent (RFC 1700 recommends 64).
    pub ttl: u8,
    /// From the driver's random source.
    pub secret: Secret,
    /// Connections at most, those in TIME-WAIT included; SYNs beyond it are ignored, `connect` fails.
    pub connections: usize,
    /// Connections of one listener at most whose handshake is not complete; a SYN beyond it takes the place of the
    /// oldest (RFC 4987, section 3.4).
    pub half_open: usize,
}

impl StackConfig {
    /// An endpoint with these addresses.
    #[must_use]
    pub fn new(addresses: Vec<IpAddr>, secret: Secret) -> Self {
        Self { addresses, mtu: MTU, ttl: 64, secret, connections: 65_536, half_open: 1024 }
    }
}

/// What a connection is made of.
#[derive(Clone, Debug)]
pub struct SocketOptions {
    /// The TCP. Its `mss`, `timestamp_offset` are set by the path.
    pub tcp: Config,
    /// Bytes that may be written ahead of the peer's acknowledgements.
    pub send_buffer: usize,
    /// The wireless way, for the rate laws of TCP-AP and TCP-GAP (schemes.md 1.2); `None` if there is none.
    pub route: Option<Route>,
}

/// What a scheme needs to know to run on a real path.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveOptions {
    /// The wireless way, for the rate laws.
    pub route: Route,
    /// The sender's own window limit in segments; `None` leaves it to the receiver's window.
    pub window: Option<u32>,
    /// Receive buffer in bytes.
    pub receive_buffer: u32,
    /// Send buffer in bytes.
    pub send_buffer: usize,
    /// Hold small segments back while data are outstanding.
    pub nagle: bool,
    /// Probe a silent peer.
    pub keep_alive: Option<KeepAlive>,
    /// Offer timestamps.
    pub timestamps: bool,
    /// Offer window scaling.
    pub window_scaling: bool,
    /// Whether to offer and send selective acknowledgements.
    pub sack: SackOffer,
    /// Offer explicit congestion notification, whatever the scheme says.
    pub ecn: bool,
}

impl Default for LiveOptions {
    /// Linux's defaults where it has one; hops unknown; a link of 11 Mbit/s.
    fn default() -> Self {
        Self {
            route: Route::uniform(None, Rate::bits_per_sec(11_000_000)),
            window: None,
            receive_buffer: 2 << 20,
            send_buffer: 2 << 20,
            nagle: true,
            keep_alive: None,
            timestamps: true,
            window_scaling: true,
            sack: SackOffer::Always,
            ecn: false,
        }
    }
}

impl SocketOptions {
    /// The scheme's sender and receiver, able to talk to any stack.
    ///
    /// What the scheme says of congestion control, timeouts, pacing and acknowledgements stays. What ns-2 leaves out or
    /// simplifies does not work on a real path and is as the RFCs have it: three-way handshake, real headers, an
    /// application that reads, acknowledgements with a changed window are no duplicates (RFC 5681, section 2), a peer
    /// that does not answer is given up.
    #[must_use]
    pub fn from_scheme(scheme: &Scheme, live: &LiveOptions) -> Self {
        let rfc = Config::rfc();
        // The size of a segment is the path's business; the scheme only passes it on.
        let flow = FlowEnd { segment: rfc.mss, window: live.window.unwrap_or(u32::MAX), from_mesh: true };
        let scheme = scheme.sender(&flow);
        let tcp = Config {
            duplicates_keep_window: true,
            // A TUN device takes packets out of the count at once (skb_orphan in tun_net_xmit); and here nothing tells when one has left.
            host_queue: None,
            handshake: Handshake::ThreeWay,
            headers: HeaderSize::Real,
            window: live.window,
            receive_buffer: live.receive_buffer,
            reading: Reading::Application,
            window_scaling: live.window_scaling,
            timestamps: live.timestamps,
            sack: live.sack,
            ecn: live.ecn || scheme.ecn,
            exact_stamps: false,
            nagle: live.nagle,
            retries: rfc.retries,
            syn_retries: rfc.syn_retries,
            keep_alive: live.keep_alive,
            time_wait: rfc.time_wait,
            challenge_acks: rfc.challenge_acks,
            ..scheme
        };
        Self { tcp, send_buffer: live.send_buffer, route: Some(live.route.clone()) }
    }
}

impl Default for SocketOptions {
    /// NewReno by the RFCs with Linux's timeouts.
    fn default() -> Self {
        let LiveOptions { send_buffer, receive_buffer, .. } = LiveOptions::default();
        Self {
            tcp: Config { receive_buffer, sack: SackOffer::Always, ..Config::linux() },
            send_buffer,
            route: None,
        }
    }
}
