//! The receiving side: what an error-free frame for this node (or for everybody) causes.

use super::{Action, ResponseFrame, Station, StationConfig, Transmitter};
use crate::burst::{Bitmap, Burst};
use crate::category::{Peer, Priority};
use crate::frame::{BlockAck, Frame, FrameKind, Header};
use crate::phy::mpdus;
use crate::standard::control_sizes::{ACK_BYTES, CTS_BYTES};
use meshpace_units::{Instant, Span};

impl Station {
    /// Handles a frame of one packet or none for this node, or a broadcast, that was received without error.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        frame: &Frame,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        match frame.kind {
            FrameKind::Rts => self.receive_rts(now, frame, config),
            FrameKind::Cts => self.receive_cts(now, config),
            FrameKind::Data => self.receive_data(now, frame, config, out),
            FrameKind::Ack => self.receive_ack(now, config, out),
            FrameKind::BlockAck => self.receive_block_ack(now, frame, config, out),
            FrameKind::BlockAckReq => self.receive_request(now, frame, config, out),
        }
    }

    /// A request for a block acknowledgement is answered like data. It tells, too, what need not be waited for.
    #[cold]
    fn receive_request(
        &mut self,
        now: Instant,
        frame: &Frame,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        if !self.takes_data(frame) {
            return;
        }
        let asked = frame.block_ack().unwrap_or_else(|| panic!("it asks nothing: {frame:?}"));
        let BlockAck { priority, start, .. } = *asked;
        let from = Peer { node: frame.from, priority };
        out.push(Action::Release { from, start });
        let several = self.several.get_or_insert_default();
        several.told = Some(BlockAck { priority, start, arrived: several.since(from, start) });
        self.answer_with(FrameKind::BlockAck, frame);
        self.answer_data(now, frame, config);
    }

    /// An RTS is ignored while the transmitter is occupied or an answer waits. The NAV is looked at only when the
    /// CTS is due (ns2-behaviour 3.2).
    fn receive_rts(&mut self, now: Instant, frame: &Frame, config: &StationConfig) {
        if self.transmitter == Transmitter::Idle && self.answer.is_none() {
            self.answer_with(FrameKind::Cts, frame);
            self.resume(now, config);
        }
    }

    fn receive_cts(&mut self, now: Instant, config: &StationConfig) {
        if self.transmitter != Transmitter::Rts {
            return;
        }
        self.count_busy(now);
        self.needs_rts = false;
        self.short_retries = 0;
        self.transmitter = Transmitter::Idle;
        self.radio_idle_since = now;
        self.times_out_at = None;
        self.sifs_ends_at = Some(now + config.intervals.sifs);
    }

    fn receive_data(&mut self, now: Instant, frame: &Frame, config: &StationConfig, out: &mut Vec<Action>) {
        let mpdu = frame.packet.unwrap_or_else(|| panic!("data frame without packet: {frame:?}"));
        let (packet, from) = (mpdu.packet, frame.from);
        if frame.to.is_none() {
            out.push(Action::Deliver { packet, from, seq: None, more: false });
            return;
        }
        if !self.takes_data(frame) {
            return;
        }
        self.answer_with(FrameKind::Ack, frame);
        self.answer_data(now, frame, config);
        let several = config.phy.standard.aggregation.is_some();
        let peer = Peer { node: from, priority: packet.priority };
        let new = if several {
            self.several.get_or_insert_default().is_new(peer, mpdu.seq)
        } else {
            self.heard.is_new(peer, mpdu.seq)
        };
        if new {
            out.push(Action::Deliver { packet, from, seq: several.then_some(mpdu.seq), more: false });
        }
    }

    /// Handles a frame of several packets of which these MPDUs were `read`.
    pub(super) fn receive_several(
        &mut self,
        now: Instant,
        frame: &Frame,
        read: &Bitmap,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        if !self.takes_data(frame) {
            return;
        }
        let (start, priority) = (frame.packets()[0].seq, frame.packets()[0].packet.priority);
        let from = Peer { node: frame.from, priority };
        let several = self.several.get_or_insert_default();
        let window = several.window(from, start);
        let mut arrived = Bitmap::NONE;
        for (place, packets) in mpdus(frame.packets()).enumerate().filter(|(place, _)| read.has(*place)) {
            let seq = packets[0].seq;
            let behind = seq.wrapping_sub(start) & 0xfff;
            assert!(usize::from(behind) < Bitmap::MOST, "MPDU {place} of {frame:?} is out of reach");
            arrived.set(usize::from(behind));
            if window.note(seq) {
                let last = packets.len() - 1;
                out.extend(packets.iter().enumerate().map(|(place, mpdu)| Action::Deliver {
                    packet: mpdu.packet,
                    from: frame.from,
                    seq: Some(seq),
                    more: place < last,
                }));
            }
        }
        several.told = Some(BlockAck { priority, start, arrived });
        self.answer_with(FrameKind::BlockAck, frame);
        self.answer_data(now, frame, config);
    }

    /// With RTS in use, data is accepted only while waiting for it (from whom is not checked); without, only if no
    /// other answer is pending (ns2-behaviour 3.5).
    #[inline]
    fn takes_data(&self, frame: &Frame) -> bool {
        if frame.protected { self.transmitter == Transmitter::Cts } else { self.answer.is_none() }
    }

    /// The acknowledgement of a data frame goes out; while waiting for an ACK of its own, the station sends this one only after
    /// its time-out.
    #[inline]
    fn answer_data(&mut self, now: Instant, frame: &Frame, config: &StationConfig) {
        if frame.protected || self.transmitter == Transmitter::Idle {
            self.resume(now, config);
        }
    }

    fn receive_ack(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        if self.transmitter != Transmitter::Data {
            return;
        }
        // The sender of several packets waits for another kind of acknowledgement.
        let Some(mpdu) = self.burst.only() else { return };
        let packet = mpdu.packet;
        self.exchange_ends(|_| 1, config, out);
        self.burst = Burst::EMPTY;
        self.exchange_succeeded(now, config.phy.needs_rts(packet.size), config);
        out.push(Action::Sent(packet));
    }

    fn receive_block_ack(
        &mut self,
        now: Instant,
        frame: &Frame,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        let told = frame.block_ack().unwrap_or_else(|| panic!("it says nothing: {frame:?}"));
        let from = Peer { node: frame.from, priority: told.priority };
        // A late answer may come from the station that got the frame before.
        if self.transmitter == Transmitter::Request {
            self.request_answered(now, from, told, config, out);
            return;
        }
        let awaited = self.burst.first().is_some_and(|mpdu| mpdu.packet.peer() == Some(from));
        if self.transmitter == Transmitter::Data && self.burst.is_several() && awaited {
            self.block_acked(now, told, config, out);
        }
    }

    fn answer_with(&mut self, kind: FrameKind, frame: &Frame) {
        let Header { from: to, duration, data_mode, .. } = **frame;
        self.answer = Some(ResponseFrame { kind, to, duration, data_mode });
    }

    /// The SIFS is over: the answer, or the data after a CTS, goes out.
    pub(super) fn sifs_over(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let Some(answer) = self.answer.take() else {
            self.data_after_cts(now, config, out);
            return;
        };
        let ResponseFrame { kind, to, duration: asked, data_mode } = answer;
        let control = phy.answer(data_mode);
        let header = |size, duration| Header {
            kind,
            from: self.id,
            to: Some(to),
            airtime: phy.ack_airtime(size, control),
            duration,
            mode: control,
            size,
            data_mode,
            retry: false,
            protected: false,
            packet: None,
        };
        match kind {
            FrameKind::Cts => {
                // Overheard NAV, EIFS and the NAV of a frame captured over suppress the CTS, silently.
                if self.is_idle(now) {
                    let duration = phy.cts_duration(asked, control);
                    let occupied = phy.data_timeout(duration, control);
                    let cts = header(CTS_BYTES, duration);
                    self.transmit(now, cts, Transmitter::Cts, occupied, config, out);
                } else {
                    self.resume(now, config);
                }
            }
            FrameKind::Ack => {
                let ack = header(ACK_BYTES, Span::ZERO);
                let airtime = ack.airtime;
                self.transmit(now, ack, Transmitter::Ack, airtime, config, out);
            }
            FrameKind::BlockAck => {
                let ack = header(phy.ack_bytes(true), Span::ZERO);
                let several = self.several.get_or_insert_default();
                let priority = several.told.map_or(Priority::BEST_EFFORT, |told| told.priority);
                several.counts.block_ack(Peer { node: to, priority });
                let airtime = ack.airtime;
                self.transmit(now, ack, Transmitter::Ack, airtime, config, out);
            }
            FrameKind::Rts | FrameKind::Data | FrameKind::BlockAckReq => {
                unreachable!("{kind:?} is no answer")
            }
        }
    }

    /// If the medium is busy when the data is due, it starts from the RTS again; no retry is counted
    /// (ns2-behaviour 3.4).
    fn data_after_cts(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        if self.is_idle(now) {
            self.send_data(now, config, out);
        } else {
            self.try_again(now, true, config);
            if self.others.is_some() {
                self.resume_others(now, config);
            }
        }
    }
}
