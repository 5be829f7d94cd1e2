//! What an endpoint is made of.

use crate::ack_policy::{AckPolicy, Delayed, Every};
use crate::control::{Control, Paced, Rules, newreno, tahoe};
use crate::rto::{RtoConfig, SmoothedConfig, TickConfig};
use crate::segment::Segment;
use alloc::boxed::Box;
use meshpace_units::{Bytes, Span};

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// SYN, SYN-ACK; data complete it. The passive side takes the connection as open when the SYN arrives and repeats
    /// its SYN-ACK only when the SYN is repeated (schemes.md 16, last item).
    TwoWay,
    /// RFC 9293, section 3.5.
    ThreeWay,
}

/// How long headers are on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSize {
    /// 40 bytes of TCP and IP whatever the options (ns-2). Segments carry exact timestamps outside the wire format.
    Flat,
    /// 20 bytes of IP and the TCP header with its options.
    Real,
}

impl HeaderSize {
    /// The length of the IP packet that carries `segment`.
    #[must_use]
    pub fn wire_length(self, segment: &Segment) -> Bytes {
        let headers = match self {
            Self::Flat => 40,
            Self::Real => 20 + segment.header_length(),
        };
        Bytes(u64::from(headers) + u64::from(segment.payload))
    }
}

/// What takes delivered bytes out of the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The application takes everything at once: the window stays open.
    AtOnce,
    /// The application says so, with [`Connection::read`](crate::Connection::read).
    Application,
}

/// When selective acknowledgements are offered. A control that does not ask for what the peer has makes nothing of those
/// that the peer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackOffer {
    /// Never: a control that asks for them goes without, as with a peer that has none.
    Never,
    /// If the control asks for what the peer has ([`Asks::reports`](crate::control::Asks::reports)).
    IfAsked,
    /// Always.
    Always,
}

/// Probing of a silent peer (RFC 9293, section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Span,
    /// Time between probes.
    pub interval: Span,
    /// Unanswered probes after which the connection is given up.
    pub probes: u32,
}

/// How much a sender may keep in its host's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostQueue {
    /// What the pace makes in 1/2^n s may be there, in bursts of as much (`sk_pacing_shift`).
    pub pacing_shift: u32,
    /// Segments of a burst, at least, if window and data let out as many (`tcp_min_tso_segs`).
    pub least_burst: u32,
}

impl HostQueue {
    /// Over Ethernet: a millisecond's worth (net/core/sock.c, sock_init_data_uid).
    pub const WIRED: Self = Self { pacing_shift: 10, least_burst: 2 };
    /// Over mac80211: 8 ms' worth, for frames of several packets (net/mac80211/main.c, ieee80211_alloc_hw_nm; tx.c,
    /// __ieee80211_subif_start_xmit).
    pub const WIRELESS: Self = Self { pacing_shift: 7, ..Self::WIRED };
}

/// What an endpoint is made of. [`Config::ns2`] (the default), [`Config::rfc`], [`Config::linux`] and
/// [`Config::wifu`] are complete sets.
#[derive(Clone, Debug)]
pub struct Config {
    /// Window and pacing, as they are before a connection begins, which takes them.
    pub control: Box<dyn Control>,
    /// Whether an acknowledgement that changes the peer's window is no duplicate (RFC 5681, section 2). ns-2's carry
    /// no window.
    pub duplicates_keep_window: bool,
    /// Retransmission timeout.
    pub rto: RtoConfig,
    /// Whether a timeout doubles the next one (`ap_rto_backoff`, schemes.md section 2).
    pub rto_backoff: bool,
    /// When the receiver acknowledges.
    pub acknowledgements: Box<dyn AckPolicy>,
    /// Opening.
    pub handshake: Handshake,
    /// Whether the acknowledgement of a SYN-ACK leaves by itself, before any data (Linux's tcp_rcv_synsent_state_process).
    pub bare_handshake: bool,
    /// Length of headers.
    pub headers: HeaderSize,
    /// Payload bytes of a full segment, at least 1. With [`HeaderSize::Real`] the options of every segment come off
    /// it, as they do in a path's MTU (RFC 6691).
    pub mss: u32,
    /// The sender's own window limit in segments (ns-2's `window_`); `None` leaves it to the receiver. See
    /// [`Config::with_window`].
    pub window: Option<u32>,
    /// How much the sender may keep in its host's queues; `None`: what the window lets out. A driver has to say then what has
    /// left the host ([`Connection::handle_departure`](crate::Connection::handle_departure)).
    pub host_queue: Option<HostQueue>,
    /// Receive buffer in bytes. It is rounded up to whole units of the window scale, at most 16,383 bytes more.
    pub receive_buffer: u32,
    /// Whether the window on offer begins at 65,535 bytes and grows to the receive buffer with what is taken in a round trip (Linux's
    /// tcp_rcv_space_adjust).
    pub window_grows: bool,
    /// What empties the receive buffer.
    pub reading: Reading,
    /// Offer window scaling (RFC 7323, section 2). Without it windows end at 65,535 bytes. In profile `ns2` the option
    /// travels like every other, outside the flat 40 bytes.
    pub window_scaling: bool,
    /// Offer timestamps and use them for round trips and against old duplicates (RFC 7323).
    pub timestamps: bool,
    /// Whether to offer selective acknowledgements, and to send them where the peer takes them (RFC 2018, section 4).
    pub sack: SackOffer,
    /// Whether what arrives twice is reported, where selective acknowledgements are sent (RFC 2883).
    pub report_duplicates: bool,
    /// Offer explicit congestion notification, and use it where the peer offers it (RFC 3168).
    pub ecn: bool,
    /// Segments carry the exact time of their departure and of the one that they answer, outside the wire format: what ns-2's
    /// header has, and what WiFu's delay estimator lives on. A real network carries none.
    pub exact_stamps: bool,
    /// Zero of the timestamp clock, whose unit is a millisecond.
    pub timestamp_offset: u32,
    /// Hold back a small segment while data are outstanding (RFC 9293, section 3.7.4).
    pub nagle: bool,
    /// Timeouts in a row before the peer is given up (RFC 9293, section 3.8.3, R2); `None`: never.
    pub retries: Option<u32>,
    /// The same for the SYN (at least 3 minutes in all).
    pub syn_retries: Option<u32>,
    /// Probes of a silent peer; `None`: none.
    pub keep_alive: Option<KeepAlive>,
    /// Twice the maximum segment lifetime (RFC 9293, section 3.4.1).
    pub time_wait: Span,
    /// Challenge acknowledgements a second (RFC 5961, section 7).
    pub challenge_acks: u32,
}

impl Config {
    /// ns-2.35's NewReno with the papers' segment size and window (schemes.md 16; reference parameters).
    #[must_use]
    pub fn ns2() -> Self {
        Self {
            control: Box::new(newreno(Rules::NS2)),
            duplicates_keep_window: false,
            rto: RtoConfig::Ticks(TickConfig::NS2),
            rto_backoff: true,
            acknowledgements: Box::new(Every),
            handshake: Handshake::TwoWay,
            bare_handshake: false,
            headers: HeaderSize::Flat,
            mss: 1460,
            window: Some(64),
            host_queue: None,
            receive_buffer: 64 * 1460,
            window_grows: false,
            reading: Reading::AtOnce,
            window_scaling: true,
            timestamps: false,
            sack: SackOffer::IfAsked,
            report_duplicates: false,
            ecn: false,
            exact_stamps: true,
            timestamp_offset: 0,
            nagle: false,
            retries: None,
            syn_retries: None,
            keep_alive: None,
            time_wait: Span::from_secs(60),
            challenge_acks: 10,
        }
    }

    /// The same with another control.
    #[must_use]
    pub fn controlled_by(self, control: impl Control + 'static) -> Self {
        Self { control: Box::new(control), ..self }
    }

    /// The same with this pacing part beside the control that is there.
    #[must_use]
    pub fn paced_by(self, pacing: impl Control + 'static) -> Self {
        Self { control: Box::new(Paced::new(self.control, Box::new(pacing))), ..self }
    }

    /// A window of `segments` full segments: ns-2's sender limits itself, any other the receiver's buffer.
    #[must_use]
    pub fn with_window(self, segments: u32) -> Self {
        let window = self.window.map(|_| segments);
        Self { window, receive_buffer: segments.saturating_mul(self.mss), ..self }
    }

    /// NewReno by the RFCs, to talk to any stack.
    #[must_use]
    pub fn rfc() -> Self {
        Self {
            control: Box::new(newreno(Rules::RFC)),
            duplicates_keep_window: true,
            rto: RtoConfig::Smoothed(SmoothedConfig::RFC),
            acknowledgements: Box::new(Delayed::SECOND),
            handshake: Handshake::ThreeWay,
            headers: HeaderSize::Real,
            window: None,
            reading: Reading::Application,
            timestamps: true,
            exact_stamps: false,
            nagle: true,
            retries: Some(15), // Linux's tcp_retries2: well above the 100 s that RFC 9293, section 3.8.3, asks for
            syn_retries: Some(7), // 1 + 2 + ... + 32 + 60 + 60 s
            ..Self::ns2()
        }
    }

    /// WiFu's (schemes.md 5): no delayed acknowledgements, no scaling, no SACK; what is written leaves at once.
    #[must_use]
    pub fn wifu() -> Self {
        let rto = SmoothedConfig { initial: Span::from_secs(3), ..SmoothedConfig::RFC };
        Self {
            control: Box::new(tahoe(Rules::WIFU)),
            duplicates_keep_window: false,
            rto: RtoConfig::Smoothed(rto),
            acknowledgements: Box::new(Every),
            window_scaling: false,
            sack: SackOffer::Never,
            exact_stamps: true,
            nagle: false,
            ..Self::rfc()
        }
    }

    /// As [`Config::rfc`], with Linux's timeouts, initial window and byte counting.
    #[must_use]
    pub fn linux() -> Self {
        Self {
            control: Box::new(newreno(Rules::LINUX)),
            rto: RtoConfig::Smoothed(SmoothedConfig::LINUX),
            ..Self::rfc()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::ns2()
    }
}
