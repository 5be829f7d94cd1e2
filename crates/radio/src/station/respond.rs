//! The receiving side: what an error-free frame for this node (or for everybody) causes.

use super::{Action, Answer, Station, StationConfig, Transmitter};
use crate::frame::{Frame, FrameKind};
use crate::phy::{ACK_BYTES, CTS_BYTES};
use meshpace_units::{Instant, NodeId, Rate, Span};

impl Station {
    /// Handles a frame for this node, or a broadcast, that was received without error.
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
        }
    }

    /// An RTS is ignored while the transmitter is occupied or an answer waits. The NAV is looked at only when the
    /// CTS is due (ns2-behaviour 3.2).
    fn receive_rts(&mut self, now: Instant, frame: &Frame, config: &StationConfig) {
        if self.transmitter == Transmitter::Idle && self.answer.is_none() {
            self.answer_with(FrameKind::Cts, frame.from, frame.duration, frame.data_rate);
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
        self.transmitter_idle_since = now;
        self.times_out_at = None;
        self.sifs_ends_at = Some(now + config.intervals.sifs);
    }

    fn receive_data(&mut self, now: Instant, frame: &Frame, config: &StationConfig, out: &mut Vec<Action>) {
        let packet = frame.packet.unwrap_or_else(|| panic!("data frame without packet: {frame:?}"));
        if frame.to.is_none() {
            out.push(Action::Deliver { packet, from: frame.from });
            return;
        }
        // With RTS in use, data is accepted only while waiting for it (from whom is not checked); without, only if no
        // other answer is pending (ns2-behaviour 3.5).
        if frame.protected {
            if self.transmitter != Transmitter::Cts {
                return;
            }
            self.answer_with(FrameKind::Ack, frame.from, frame.duration, frame.data_rate);
            self.resume(now, config);
        } else {
            if self.answer.is_some() {
                return;
            }
            self.answer_with(FrameKind::Ack, frame.from, frame.duration, frame.data_rate);
            // While waiting for an ACK of its own, the station sends this one only after its time-out.
            if self.transmitter == Transmitter::Idle {
                self.resume(now, config);
            }
        }
        if self.is_new(frame.from, frame.seq) {
            out.push(Action::Deliver { packet, from: frame.from });
        }
    }

    fn receive_ack(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        if self.transmitter != Transmitter::Data {
            return;
        }
        let packet = self.packet.take().unwrap_or_else(|| panic!("{:?}: an ACK for nothing", self.id));
        if config.phy.needs_rts(packet.size) {
            self.long_retries = 0;
        } else {
            self.short_retries = 0;
        }
        self.cw = config.phy.cw_min();
        self.draw_backoff(now, config);
        self.resume(now, config);
        out.push(Action::Sent(packet));
    }

    fn answer_with(&mut self, kind: FrameKind, to: NodeId, duration: Span, data_rate: Rate) {
        self.answer = Some(Answer { kind, to, duration, data_rate });
    }

    /// The SIFS is over: the answer, or the data after a CTS, goes out.
    pub(super) fn sifs_over(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let Some(answer) = self.answer.take() else {
            self.data_after_cts(now, config, out);
            return;
        };
        let control = phy.control_rate(answer.data_rate);
        let frame = |size, duration| Frame {
            kind: answer.kind,
            from: self.id,
            to: Some(answer.to),
            airtime: phy.airtime(size, control),
            duration,
            rate: control,
            size,
            data_rate: answer.data_rate,
            seq: 0,
            retry: false,
            protected: false,
            packet: None,
        };
        match answer.kind {
            FrameKind::Cts => {
                // Overheard NAV, EIFS and the NAV of a frame captured over suppress the CTS, silently.
                if self.is_idle(now) {
                    let duration = phy.cts_duration(answer.duration, control);
                    let occupied = phy.data_timeout(duration, control);
                    self.transmit(now, frame(CTS_BYTES, duration), Transmitter::Cts, occupied, config, out);
                } else {
                    self.resume(now, config);
                }
            }
            FrameKind::Ack => {
                let ack = frame(ACK_BYTES, Span::ZERO);
                self.transmit(now, ack, Transmitter::Ack, ack.airtime, config, out);
            }
            FrameKind::Rts | FrameKind::Data => unreachable!("{answer:?} is no answer"),
        }
    }

    /// If the medium is busy when the data is due, it starts from the RTS again; no retry is counted
    /// (ns2-behaviour 3.4).
    fn data_after_cts(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        if self.is_idle(now) {
            self.send_data(now, config, out);
        } else {
            self.try_again(now, true, config);
        }
    }

    /// Duplicate detection: only the last sequence number of a neighbour is remembered (ns2-behaviour 3.9).
    fn is_new(&mut self, from: NodeId, seq: u16) -> bool {
        match self.heard.binary_search_by_key(&from, |entry| entry.0) {
            Ok(index) => std::mem::replace(&mut self.heard[index].1, seq) != seq,
            Err(index) => {
                self.heard.insert(index, (from, seq));
                true
            }
        }
    }
}
