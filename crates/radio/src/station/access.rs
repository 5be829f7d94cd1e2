//! The sending side: from an offered packet to its acknowledgement or its last attempt.

use super::{Action, Station, StationConfig, Transmitter};
use crate::frame::{Frame, FrameKind, MacPacket};
use crate::phy::RTS_BYTES;
use meshpace_units::{Instant, Span};

impl Station {
    /// Takes a packet from the interface queue.
    ///
    /// # Panics
    /// If the station already has one: see [`Station::accepts`].
    pub fn offer(&mut self, now: Instant, packet: MacPacket, config: &StationConfig) {
        assert!(self.packet.is_none(), "{:?} has {:?}, offered {packet:?}", self.id, self.packet);
        self.catch_up(now, config);
        self.seq = (self.seq + 1) & 0xfff;
        self.packet = Some(packet);
        self.needs_rts = packet.to.is_some() && config.phy.needs_rts(packet.size);
        self.retry = false;
        // With a backoff running (post-backoff) the packet uses what is left of it. During the SIFS before an own
        // answer nothing is started: `resume` does, after the answer (ns2-behaviour 2.6).
        if self.backoff.is_none() && !(self.is_idle(now) && self.sifs_ends_at.is_some()) {
            self.draw_backoff(now, config);
        }
    }

    /// The backoff has run out with the medium idle.
    pub(super) fn access(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        // An answer that waits goes first; `resume` draws afresh after it.
        let Some(packet) = self.packet.filter(|_| self.answer.is_none()) else { return };
        if self.needs_rts {
            self.send_rts(now, &packet, config, out);
        } else {
            self.send_data(now, config, out);
        }
    }

    fn send_rts(&mut self, now: Instant, packet: &MacPacket, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let data_airtime = phy.airtime(phy.mpdu(packet.size), packet.rate);
        let control = phy.control_rate(packet.rate);
        let frame = Frame {
            kind: FrameKind::Rts,
            from: self.id,
            to: packet.to,
            airtime: phy.airtime(RTS_BYTES, control),
            duration: phy.rts_duration(data_airtime, packet.rate),
            rate: control,
            size: RTS_BYTES,
            data_rate: packet.rate,
            seq: 0,
            retry: self.retry,
            protected: true,
            packet: None,
        };
        self.transmit(now, frame, Transmitter::Rts, phy.cts_timeout(packet.rate), config, out);
    }

    /// Sends the data frame of the packet in hand.
    pub(super) fn send_data(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let packet = self.packet.unwrap_or_else(|| panic!("{:?}: no data to send", self.id));
        let unicast = packet.to.is_some();
        let rate = if unicast { packet.rate } else { phy.basic_rate };
        let size = phy.mpdu(packet.size);
        let airtime = phy.airtime(size, rate);
        let frame = Frame {
            kind: FrameKind::Data,
            from: self.id,
            to: packet.to,
            airtime,
            duration: if unicast { phy.data_duration(rate) } else { Span::ZERO },
            rate,
            size,
            data_rate: rate,
            seq: self.seq,
            retry: self.retry,
            protected: unicast && phy.needs_rts(packet.size),
            packet: Some(packet),
        };
        let occupied = if unicast { phy.ack_timeout(airtime, rate) } else { airtime };
        self.transmit(now, frame, Transmitter::Data, occupied, config, out);
    }

    /// Puts a frame on the air; the transmitter is occupied for `occupied` unless an answer comes before.
    pub(super) fn transmit(
        &mut self,
        now: Instant,
        frame: Frame,
        state: Transmitter,
        occupied: Span,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        if !self.reception.busy() && self.transmitter == Transmitter::Idle {
            self.medium_turns_busy(now, config);
        }
        self.count_busy(now);
        self.reception.transmitter_starts();
        self.transmitter = state;
        self.on_air_until = now + frame.airtime;
        self.times_out_at = Some(now + occupied);
        self.stats.transmits(&frame);
        out.push(Action::Transmit(frame));
    }

    /// The transmitter's state ends without the answer that it waited for (or none was due).
    pub(super) fn transmitter_times_out(
        &mut self,
        now: Instant,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        let finished = match self.transmitter {
            Transmitter::Idle => panic!("{:?}: an idle transmitter timed out at {now:?}", self.id),
            Transmitter::Ack | Transmitter::Cts => None,
            Transmitter::Rts => self.attempt_failed(now, true, config),
            Transmitter::Data => {
                let packet = self.packet.unwrap_or_else(|| panic!("{:?} sent no packet", self.id));
                if packet.to.is_none() {
                    self.packet = None;
                    self.cw = config.phy.cw_min();
                    self.draw_backoff(now, config);
                    Some(Action::Sent(packet))
                } else {
                    self.attempt_failed(now, false, config)
                }
            }
        };
        self.resume(now, config);
        out.extend(finished);
    }

    /// No CTS, or no ACK. Gives the packet up at its retry limit.
    ///
    /// The counters are the station's, not the packet's: one that reaches its limit is cleared, the other stays
    /// (ns2-behaviour 3.7).
    fn attempt_failed(&mut self, now: Instant, rts: bool, config: &StationConfig) -> Option<Action> {
        let phy = &config.phy;
        let packet = self.packet.unwrap_or_else(|| panic!("{:?} has no packet that could fail", self.id));
        let protected = phy.needs_rts(packet.size);
        let (count, limit) = if rts || !protected {
            (&mut self.short_retries, phy.retry_short)
        } else {
            (&mut self.long_retries, phy.retry_long)
        };
        *count += 1;
        if *count >= limit {
            *count = 0;
            self.cw = phy.cw_min();
            self.packet = None;
            self.needs_rts = false;
            return Some(Action::GaveUp(packet));
        }
        self.try_again(now, protected, config);
        None
    }

    /// A larger window, a new backoff, and from the RTS again where there was one.
    pub(super) fn try_again(&mut self, now: Instant, protected: bool, config: &StationConfig) {
        self.cw = (2 * self.cw + 1).min(config.phy.cw_max());
        self.needs_rts = protected;
        self.retry = true;
        self.draw_backoff(now, config);
    }

    /// The transmitter turns idle: a waiting answer starts its SIFS, a waiting packet draws a backoff.
    pub(super) fn resume(&mut self, now: Instant, config: &StationConfig) {
        self.count_busy(now);
        if self.transmitter != Transmitter::Idle {
            self.transmitter = Transmitter::Idle;
            self.transmitter_idle_since = now;
            self.times_out_at = None;
        }
        if self.answer.is_some() {
            self.sifs_ends_at = Some(now + config.intervals.sifs);
        } else if self.packet.is_some() && self.backoff.is_none() && self.sifs_ends_at.is_none() {
            self.draw_backoff(now, config);
        }
    }
}
