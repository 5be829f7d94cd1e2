//! Block acknowledgements as their originator sees them (IEEE 802.11-2020, 10.25): the numbers of packets for each neighbour, and
//! requests for a block acknowledgement.
//!
//! A request goes out after a frame of several packets that got no answer: only its receiver knows which of them arrived. The
//! request also names the packet that the receiver need not wait before any more. Where packets were given up, a request goes out
//! for that alone: at once if other packets of the frame arrived, else before the next packet for that neighbour.

use super::{Action, Station, StationConfig, Transmitter};
use crate::burst::Bitmap;
use crate::category::Peer;
use crate::frame::{BlockAck, FrameKind, Header};
use crate::standard::Mode;
use crate::standard::control_sizes::BLOCK_ACK_REQ_BYTES;
use meshpace_units::Instant;

/// A request that is to go out, or has gone out and got no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub to: Peer,
    /// The first packet that the receiver may still wait for.
    start: u16,
    /// Mode of the data: the request goes like its answer.
    mode: &'static Mode,
    /// It asks after the packets in hand; else it tells what was given up, and they wait.
    asks: bool,
}

/// What a station needs where frames carry several packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    /// The latest number, by neighbour and priority, sorted.
    numbers: Vec<(Peer, u16)>,
    /// Neighbours that were not told yet what was given up, sorted.
    owed: Vec<Peer>,
    request: Option<Request>,
}

impl Requests {
    /// The number of the next packet for a neighbour; the first has 1.
    #[inline]
    pub fn next_seq(&mut self, to: Peer) -> u16 {
        let place = self.numbers.binary_search_by_key(&to, |entry| entry.0).unwrap_or_else(|place| {
            self.numbers.insert(place, (to, 0));
            place
        });
        let latest = &mut self.numbers[place].1;
        *latest = (*latest + 1) & 0xfff;
        *latest
    }

    /// The number that the next packet for a neighbour will have.
    pub fn upcoming(&self, to: Peer) -> u16 {
        let found = self.numbers.binary_search_by_key(&to, |entry| entry.0);
        (found.map_or(0, |place| self.numbers[place].1) + 1) & 0xfff
    }
}

impl Station {
    /// The request that is to go out, or waits for its answer.
    #[inline]
    pub(super) fn request(&self) -> Option<Request> {
        self.several.as_ref().and_then(|several| several.lane.requests.request)
    }

    /// A frame of several packets got no answer.
    #[cold]
    pub(super) fn ask_after(&mut self, now: Instant, config: &StationConfig) {
        let (to, mode) = match self.burst.first() {
            Some(mpdu) => (mpdu.packet.peer(), mpdu.packet.mode),
            None => panic!("{:?} sent nothing", self.id),
        };
        let to = to.unwrap_or_else(|| panic!("{:?} broadcast several packets", self.id));
        // Not the first of the frame: what was lost before may go after it.
        let start = self.oldest(to).unwrap_or_else(|| panic!("{:?} has nothing for {to:?}", self.id));
        self.ask(Request { to, start, mode, asks: true });
        self.widen(config);
        self.draw_backoff(now, config);
    }

    fn requests(&mut self) -> &mut Requests {
        &mut self.several.get_or_insert_default().lane.requests
    }

    fn ask(&mut self, request: Request) {
        let requests = self.requests();
        requests.owed.retain(|owed| *owed != request.to);
        requests.request = Some(request);
    }

    /// Notes that a neighbour has to learn, before the next packet for it, which packets were given up.
    pub(super) fn owe(&mut self, to: Option<Peer>) {
        if let (Some(several), Some(to)) = (&mut self.several, to) {
            let owed = &mut several.lane.requests.owed;
            if let Err(place) = owed.binary_search(&to) {
                owed.insert(place, to);
            }
        }
    }

    /// The packet in hand is for a neighbour that must get a request first.
    #[inline]
    pub(super) fn pay(&mut self) {
        if self.several.as_ref().is_some_and(|several| !several.lane.requests.owed.is_empty()) {
            self.pay_debts();
        }
    }

    fn pay_debts(&mut self) {
        let Some(packet) = self.burst.first().map(|mpdu| mpdu.packet) else { return };
        let oldest = packet.peer().and_then(|to| self.oldest(to));
        let requests = self.requests();
        let owed = packet.peer().filter(|to| requests.owed.binary_search(to).is_ok());
        if let (Some(to), Some(start), None) = (owed, oldest, requests.request) {
            self.ask(Request { to, start, mode: packet.mode, asks: false });
        }
    }

    /// Packets of a frame were given up, others of it arrived: the receiver waits for nothing before what is left.
    pub(super) fn tell_given_up(&mut self, to: Peer, mode: &'static Mode) {
        let oldest = self.oldest(to);
        let upcoming = self.requests().upcoming(to);
        self.ask(Request { to, start: oldest.unwrap_or(upcoming), mode, asks: false });
    }

    pub(super) fn send_request(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        let Some(Request { to, start, mode, .. }) = self.request() else {
            panic!("{:?} has no request", self.id)
        };
        let told = BlockAck { priority: to.priority, start, arrived: Bitmap::NONE };
        let several = self.several.get_or_insert_default();
        several.told = Some(told);
        several.counts.request(to);
        let phy = &config.phy;
        let control = phy.answer(mode);
        let airtime = phy.airtime(BLOCK_ACK_REQ_BYTES, control);
        let ack = phy.ack_bytes(true);
        let header = Header {
            kind: FrameKind::BlockAckReq,
            from: self.id,
            to: Some(to.node),
            airtime,
            duration: phy.data_duration(mode, ack),
            mode: control,
            size: BLOCK_ACK_REQ_BYTES,
            data_mode: mode,
            retry: false,
            protected: false,
            packet: None,
        };
        self.transmit(now, header, Transmitter::Request, phy.ack_timeout(airtime, mode, ack), config, out);
    }

    /// A request got no answer. After its last attempt, what is in hand for that neighbour is given up.
    #[cold]
    pub(super) fn request_failed(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        self.short_retries += 1;
        if self.short_retries < config.phy.retry_short {
            self.widen(config);
            self.draw_backoff(now, config);
            return;
        }
        self.short_retries = 0;
        self.narrow(config);
        let Some(Request { to, asks, .. }) = self.requests().request.take() else {
            panic!("{:?} has no request", self.id)
        };
        self.owe(Some(to));
        if self.burst.first().is_some_and(|mpdu| mpdu.packet.peer() == Some(to)) {
            if asks {
                self.exchange_ends(|_| 0, config, out);
            }
            let burst = std::mem::take(&mut self.burst);
            out.extend(burst.as_slice().iter().map(|mpdu| Action::GaveUp(mpdu.packet)));
            self.needs_rts = false;
            self.take_next(config);
        } else {
            self.pay();
        }
    }

    /// A request was answered: the packets in hand that it asked after are known to have arrived, or not.
    pub(super) fn request_answered(
        &mut self,
        now: Instant,
        from: Peer,
        told: &BlockAck,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        let Some(request) = self.request().filter(|request| request.to == from) else { return };
        self.requests().request = None;
        self.short_retries = 0;
        if request.asks {
            self.block_acked(now, told, config, out);
        } else {
            self.pay();
            self.exchange_succeeded(now, false, config);
        }
    }
}
