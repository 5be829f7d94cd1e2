//! Reports of the MAC: on a packet that it was given, and on a frame that its station has read.

use crate::packet::Handle;
use meshpace_explicit::winf::Pair;
use meshpace_radio::{Bitmap, Frame, FrameKind, MacPacket, Mode, Mpdu};
use meshpace_units::{Bytes, Instant, NodeId, Span};

/// A frame that the node's station has read to its last bit, just now.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// The frame; [`Here::carried`](crate::Here::carried) has what was read of what is in it.
    pub frame: &'a Frame,
    /// Which of its packets were read, by their place in the frame: of frames of several for this node each fares by itself. `None`: all.
    pub read: Option<&'a Bitmap>,
    /// True if it was for this node alone or for everybody, false if it was overheard. A data frame for this node may be a
    /// repetition that the MAC drops.
    pub mine: bool,
}

/// Something that happened at the MAC. Packets that go in one frame are granted the medium, and retried, as one, told of the first;
/// each of them is sent or given up by itself.
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
    /// Mode of the link's data.
    pub mode: &'static Mode,
    /// When the MAC took it.
    pub offered: Instant,
    /// First bit of its first frame; `None` before that.
    pub granted: Option<Instant>,
    /// Exchanges opened: RTS sent, or data frames sent without one.
    pub attempts: u32,
    /// Data frames sent.
    pub data_frames: u32,
    /// Packets in the latest data frame, this one included; 1 before there is one.
    pub packets: u32,
    /// Time on the air of all its RTS and data frames, whatever else they carried.
    pub airtime: Span,
    /// Size of the latest data frame; 0 before there is one.
    pub data_size: Bytes,
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
    /// Of the packets in the MAC, as they were offered.
    exchanges: Vec<Exchange>,
}

impl ExchangeLog {
    /// Of a station that has sent nothing yet; `sifs` is its short interframe space.
    #[must_use]
    pub const fn new(sifs: Span) -> Self {
        Self { sifs, exchanges: Vec::new() }
    }

    /// The MAC takes a packet, the only one or one that goes with those that it has.
    pub fn offered(&mut self, now: Instant, packet: &MacPacket) {
        if self.exchanges.len() == self.exchanges.capacity() {
            // Mostly there is one at a time, and a vector would begin with room for four.
            self.exchanges.reserve_exact(1);
        }
        self.exchanges.push(Exchange {
            packet: packet.handle,
            next_hop: packet.to,
            size: packet.size,
            mode: packet.mode,
            offered: now,
            granted: None,
            attempts: 0,
            data_frames: 0,
            packets: 1,
            airtime: Span::ZERO,
            data_size: Bytes::ZERO,
            data_airtime: Span::ZERO,
            cts_ended: None,
            data_ended: None,
            told: None,
        });
    }

    /// The station sends a frame of the packets `in_hand`, or an RTS for it. CTS and ACK belong to the packets of others, and a
    /// request for a block acknowledgement to none.
    pub fn transmits(&mut self, now: Instant, frame: &Frame, in_hand: &[Mpdu]) -> Option<Report> {
        if frame.kind.is_answer() || frame.kind == FrameKind::BlockAckReq {
            return None;
        }
        let opens = frame.kind == FrameKind::Rts || !frame.protected;
        // Of several frames in the MAC one is on the air; mostly it is the only one.
        let several = in_hand.len() < self.exchanges.len();
        let goes = |exchange: &Exchange| {
            !several || in_hand.iter().any(|mpdu| mpdu.packet.handle == exchange.packet)
        };
        let first = self.exchanges.iter().position(goes);
        let first = first.unwrap_or_else(|| panic!("{frame:?} without a packet at {now:?}"));
        let granted_before = self.exchanges[first].granted;
        for exchange in self.exchanges.iter_mut().filter(|exchange| goes(exchange)) {
            exchange.airtime += frame.airtime;
            if frame.kind == FrameKind::Data {
                exchange.data_frames += 1;
                exchange.packets = frame.packets().len() as u32;
                exchange.data_size = frame.size;
                exchange.data_airtime = frame.airtime;
                // The data follow the CTS after a SIFS.
                exchange.cts_ended = frame.protected.then(|| now - self.sifs);
                exchange.data_ended = Some(now + frame.airtime);
            }
            if opens {
                exchange.attempts += 1;
                exchange.granted.get_or_insert(now);
            }
        }
        let report = if granted_before.is_none() { Report::Granted } else { Report::Retry };
        opens.then(|| report(self.exchanges[first]))
    }

    /// A packet is through with the MAC, acknowledged (or broadcast) or given up.
    ///
    /// # Panics
    /// If it was not offered.
    pub fn ended(&mut self, packet: Handle, sent: bool) -> Report {
        let place = self.exchanges.iter().position(|exchange| exchange.packet == packet);
        let place = place.unwrap_or_else(|| panic!("packet {packet} was not offered: {:?}", self.exchanges));
        let exchange = self.exchanges.remove(place);
        if sent { Report::Sent(exchange) } else { Report::GivenUp(exchange) }
    }
}
