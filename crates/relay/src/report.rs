//! What the MAC tells of a packet that it was given.

use meshpace_packet::Handle;
use meshpace_radio::{Frame, FrameKind, MacPacket};
use meshpace_units::{Bytes, Instant, NodeId, Rate, Span};
use meshpace_winf::Pair;

/// Something that happened at the MAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// The medium was won: the first frame of the packet's first exchange goes out.
    Granted(Exchange),
    /// An exchange failed and another one begins: its first frame goes out.
    Retry(Exchange),
    /// The packet was acknowledged, or its broadcast is over. It is in the store for the last time.
    Sent(Exchange),
    /// The packet was given up after its last attempt. What routing does with it comes afterwards.
    GivenUp(Exchange),
}

/// The MAC's dealings with one packet, up to now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// The packet.
    pub packet: Handle,
    /// Its next hop; `None`: broadcast.
    pub next_hop: Option<NodeId>,
    /// Its size at the network layer.
    pub size: Bytes,
    /// Data rate of the link.
    pub rate: Rate,
    /// When the MAC took it.
    pub offered: Instant,
    /// First bit of its first frame; `None` before that.
    pub granted: Option<Instant>,
    /// Exchanges opened: RTS sent, or data frames sent without one.
    pub attempts: u32,
    /// Data frames sent.
    pub data_frames: u32,
    /// Time on the air of all its RTS and data frames.
    pub airtime: Span,
    /// Time on the air of the latest data frame; 0 before there is one.
    pub data_airtime: Span,
    /// Last bit of the CTS that let the latest data frame go; `None` without RTS.
    pub cts_ended: Option<Instant>,
    /// Last bit of the latest data frame; in a report of `Sent` that of the frame that was acknowledged. (The last bit of
    /// the acknowledgement arrives as `Sent` is reported.)
    pub data_ended: Option<Instant>,
    /// What the receiver told in its acknowledgement: what it measured of the link.
    pub told: Option<Pair>,
}

/// Follows one station's exchanges from what its driver sees.
#[derive(Clone, Debug)]
pub struct ExchangeLog {
    sifs: Span,
    exchange: Option<Exchange>,
}

impl ExchangeLog {
    /// Of a station that has sent nothing yet; `sifs` is its short interframe space.
    #[must_use]
    pub fn new(sifs: Span) -> Self {
        Self { sifs, exchange: None }
    }

    /// The MAC takes a packet.
    pub fn offered(&mut self, now: Instant, packet: &MacPacket) {
        self.exchange = Some(Exchange {
            packet: packet.handle,
            next_hop: packet.to,
            size: packet.size,
            rate: packet.rate,
            offered: now,
            granted: None,
            attempts: 0,
            data_frames: 0,
            airtime: Span::ZERO,
            data_airtime: Span::ZERO,
            cts_ended: None,
            data_ended: None,
            told: None,
        });
    }

    /// The station sends a frame. CTS and ACK belong to the packets of others.
    pub fn transmits(&mut self, now: Instant, frame: &Frame) -> Option<Report> {
        if matches!(frame.kind, FrameKind::Cts | FrameKind::Ack) {
            return None;
        }
        let Some(exchange) = &mut self.exchange else { panic!("{frame:?} without a packet at {now:?}") };
        exchange.airtime += frame.airtime;
        let opens = frame.kind == FrameKind::Rts || !frame.protected;
        if frame.kind == FrameKind::Data {
            exchange.data_frames += 1;
            exchange.data_airtime = frame.airtime;
            // The data follow the CTS after a SIFS.
            exchange.cts_ended = frame.protected.then(|| now - self.sifs);
            exchange.data_ended = Some(now + frame.airtime);
        }
        if !opens {
            return None;
        }
        exchange.attempts += 1;
        let first = exchange.granted.is_none();
        exchange.granted.get_or_insert(now);
        Some(if first { Report::Granted(*exchange) } else { Report::Retry(*exchange) })
    }

    /// The packet is through with the MAC, acknowledged (or broadcast) or given up.
    pub fn ended(&mut self, sent: bool) -> Report {
        let exchange = self.exchange.take().unwrap_or_else(|| panic!("no packet was offered that could end"));
        if sent { Report::Sent(exchange) } else { Report::GivenUp(exchange) }
    }
}
