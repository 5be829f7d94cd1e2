//! The sending side: from offered packets to their acknowledgement or their last attempt.

use super::ahead::Ahead;
use super::{Action, Station, StationConfig, Transmitter};
use crate::burst::{Burst, MacPacket, Mpdu};
use crate::category::{Category, Peer};
use crate::frame::{BlockAck, Frame, FrameKind, Header};
use crate::phy::mpdus;
use crate::standard::control_sizes::RTS_BYTES;
use meshpace_units::{Bytes, Instant, Span};

impl Station {
    /// Takes a packet from the interface queue.
    ///
    /// # Panics
    /// If the station takes none: see [`Station::accepts`]; [`Station::join`] is for more of the same frame.
    pub fn offer(&mut self, now: Instant, packet: MacPacket, config: &StationConfig) {
        let category = packet.priority.category();
        self.with_category(category, config, |station| station.offer_to_current(now, packet, config));
    }

    #[inline(always)]
    fn offer_to_current(&mut self, now: Instant, packet: MacPacket, config: &StationConfig) {
        assert!(self.current_accepts(), "{:?} has {:?}, offered {packet:?}", self.id, self.burst);
        self.catch_up(now, config);
        let seq = self.next_seq(packet.peer());
        let burst = Burst::one(Mpdu { packet, seq, retry: false, losses: 0 });
        if let Some(several) = &mut self.several {
            if !self.burst.is_empty() {
                several.lane.ahead.push(burst);
                return;
            }
            several.lane.ahead.reopen();
        }
        self.burst = burst;
        self.needs_rts = packet.to.is_some() && config.phy.needs_rts(packet.size);
        self.retry = false;
        self.pay();
        // With a backoff running (post-backoff) the packet uses what is left of it. During the SIFS before an own
        // answer nothing is started: `resume` does, after the answer (ns2-behaviour 2.6).
        if self.backoff.is_none() && !(self.is_idle(now) && self.sifs_ends_at.is_some()) {
            self.draw_backoff(now, config);
        }
    }

    /// The neighbour that the packets of the latest frame are for, and how large another packet may be that goes with them; `None`
    /// if no packet may. A frame takes packets until its RTS announces it or it is sent; a frame that is
    /// [fixed](Station::fix) before its turn takes them until then. With several categories this is the frame of the category that
    /// [wins](Station::wins).
    #[must_use]
    #[inline]
    pub fn room(&self, config: &StationConfig) -> Option<(Peer, Bytes)> {
        config.phy.standard.aggregation.as_ref()?;
        self.room_beside(config)
    }

    #[inline(never)]
    fn room_beside(&self, config: &StationConfig) -> Option<(Peer, Bytes)> {
        let ahead = self.several.as_ref().map(|several| &several.lane.ahead);
        if ahead.is_some_and(Ahead::is_used) {
            return self.room_ahead(config);
        }
        if ahead.is_some_and(Ahead::has_aside) {
            return None;
        }
        let announced =
            matches!(self.transmitter, Transmitter::Rts | Transmitter::Data | Transmitter::Request)
                || (self.sifs_ends_at.is_some() && self.answer.is_none());
        let to = self.burst.first().filter(|_| !announced && self.request().is_none())?.packet.peer()?;
        self.room_after(to, &self.burst, config)
    }

    /// Takes another packet, which goes in the latest frame, in the mode of its first; this had so much [room](Station::room), and has
    /// what comes back.
    ///
    /// # Panics
    /// With debug assertions: if there is not that room, or it is too small, or for another station. The caller has asked just now, and the
    /// answer takes as long as the rest.
    #[inline]
    pub fn join(&mut self, packet: MacPacket, room: Bytes, config: &StationConfig) -> Option<(Peer, Bytes)> {
        let category = packet.priority.category();
        self.with_category(category, config, |station| station.join_current(packet, room, config))
    }

    #[inline(always)]
    fn join_current(
        &mut self,
        packet: MacPacket,
        room: Bytes,
        config: &StationConfig,
    ) -> Option<(Peer, Bytes)> {
        debug_assert!(
            self.room(config).is_some_and(|found| Some(found) == packet.peer().map(|to| (to, room)))
                && packet.size <= room,
            "{:?} has {:?}, not {room:?} for {packet:?}",
            self.id,
            self.burst
        );
        let seq = match self.inside(packet.size, config) {
            Some(seq) => seq,
            None => self.next_seq(packet.peer()),
        };
        let (frame, in_hand) = self.open_frame();
        let mode = frame.first().map_or(packet.mode, |first| first.packet.mode);
        frame.push(Mpdu { packet: MacPacket { mode, ..packet }, seq, retry: false, losses: 0 });
        if in_hand {
            self.needs_rts = self.is_protected(config);
        }
        let left = if config.phy.has_amsdus() { self.room(config) } else { self.left(packet, room, config) };
        debug_assert_eq!(left, self.room(config), "{:?} has {:?}", self.id, self.burst);
        left
    }

    /// The number of the latest frame's last MPDU, if that has room for a packet of this size (an A-MSDU).
    fn inside(&mut self, size: Bytes, config: &StationConfig) -> Option<u16> {
        if !config.phy.has_amsdus() {
            return None;
        }
        let (frame, _) = self.open_frame();
        config.phy.room_inside(frame.as_slice()).filter(|room| size <= *room)?;
        frame.as_slice().last().map(|last| last.seq)
    }

    /// The number of the next packet to a neighbour. With one packet a frame one counter serves all neighbours. With several packets a
    /// frame each neighbour and priority has a counter of its own, so that a receiver sees which packets it lacks.
    #[inline]
    fn next_seq(&mut self, to: Option<Peer>) -> u16 {
        if let (Some(several), Some(to)) = (&mut self.several, to) {
            return several.lane.requests.next_seq(to);
        }
        self.seq = (self.seq + 1) & 0xfff;
        self.seq
    }

    /// True if the packets in hand are sent after RTS/CTS.
    pub(super) fn is_protected(&self, config: &StationConfig) -> bool {
        config.phy.rts_threshold.is_some() && config.phy.protects(config.phy.frame(self.burst.as_slice()))
    }

    /// The first of the packets in hand.
    fn first(&self) -> &Mpdu {
        self.burst.first().unwrap_or_else(|| panic!("{:?} has nothing to send", self.id))
    }

    /// The backoff has run out with the medium idle.
    ///
    /// Part of the only one that calls it.
    #[inline(always)]
    pub(super) fn access(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        // An answer that waits goes first; `resume` draws afresh after it.
        if self.answer.is_some() {
            return;
        }
        if self.request().is_some() {
            self.send_request(now, config, out);
            return;
        }
        if self.burst.is_empty() {
            return;
        }
        if self.needs_rts {
            self.send_rts(now, config, out);
        } else {
            self.send_data(now, config, out);
        }
    }

    fn send_rts(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let MacPacket { to, mode, .. } = self.first().packet;
        let several = self.burst.is_several();
        let data_airtime = phy.data_airtime(phy.frame(self.burst.as_slice()), several, mode);
        let ack = phy.ack_bytes(several);
        let control = phy.answer(mode);
        let header = Header {
            kind: FrameKind::Rts,
            from: self.id,
            to,
            airtime: phy.rts_airtime(control),
            duration: phy.rts_duration(data_airtime, mode, ack),
            mode: control,
            size: RTS_BYTES,
            data_mode: mode,
            retry: self.retry,
            protected: true,
            packet: None,
        };
        self.transmit(now, header, Transmitter::Rts, phy.cts_timeout(mode), config, out);
    }

    /// Sends the data frame of the packets in hand.
    pub(super) fn send_data(&mut self, now: Instant, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let MacPacket { to, mode, .. } = self.first().packet;
        let unicast = to.is_some();
        let mode = if unicast { mode } else { phy.basic };
        let size = phy.frame(self.burst.as_slice());
        let several = self.burst.is_several();
        let ack = phy.ack_bytes(several);
        let airtime = phy.data_airtime(size, several, mode);
        let header = Header {
            kind: FrameKind::Data,
            from: self.id,
            to,
            airtime,
            duration: if unicast { phy.data_duration(mode, ack) } else { Span::ZERO },
            mode,
            size,
            data_mode: mode,
            retry: self.retry,
            protected: unicast && phy.protects(size),
            packet: self.burst.only().copied(),
        };
        let occupied = if unicast { phy.ack_timeout(airtime, mode, ack) } else { airtime };
        if let Some(several) = &mut self.several {
            several.counts.data(self.burst.as_slice());
        }
        self.transmit(now, header, Transmitter::Data, occupied, config, out);
    }

    /// The frame with this header, which the station has asked to put on the air by its last call.
    #[must_use]
    #[inline]
    pub fn frame(&self, header: &Header) -> Frame {
        if header.is_several() || matches!(header.kind, FrameKind::BlockAck | FrameKind::BlockAckReq) {
            return self.frame_with_more(header);
        }
        Frame::new(*header)
    }

    #[cold]
    #[inline(never)]
    fn frame_with_more(&self, header: &Header) -> Frame {
        if header.kind == FrameKind::Data {
            return Frame::data(*header, &self.burst);
        }
        let told = self.several.as_ref().and_then(|several| several.told);
        Frame::block_acknowledgement(*header, told.unwrap_or_else(|| panic!("{:?} told nothing", self.id)))
    }

    /// Puts a frame on the air; the transmitter is occupied for `occupied` unless an answer comes before.
    pub(super) fn transmit(
        &mut self,
        now: Instant,
        header: Header,
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
        self.on_air_until = now + header.airtime;
        self.times_out_at = Some(now + occupied);
        self.stats.transmits(&header);
        out.push(Action::Transmit(header));
    }

    /// The transmitter's state ends without the answer that it waited for (or none was due).
    pub(super) fn transmitter_times_out(
        &mut self,
        now: Instant,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        match self.transmitter {
            Transmitter::Idle => panic!("{:?}: an idle transmitter timed out at {now:?}", self.id),
            Transmitter::Ack | Transmitter::Cts => {}
            Transmitter::Request => self.request_failed(now, config, out),
            Transmitter::Data if self.burst.is_several() => self.ask_after(now, config),
            Transmitter::Rts => self.attempt_failed(now, true, config, out),
            Transmitter::Data => {
                let packet = self.first().packet;
                if packet.to.is_none() {
                    self.burst = Burst::EMPTY;
                    self.take_next(config);
                    self.narrow(config);
                    self.draw_backoff(now, config);
                    out.push(Action::Sent(packet));
                } else {
                    self.attempt_failed(now, false, config, out);
                }
            }
        }
        self.resume(now, config);
    }

    /// No CTS, or no acknowledgement. Gives packets up at their retry limit.
    ///
    /// The counters are the station's, not the packet's: one that reaches its limit is cleared, the other stays
    /// (ns2-behaviour 3.7). Under a standard with frames of several packets each packet counts its own data frames.
    fn attempt_failed(&mut self, now: Instant, rts: bool, config: &StationConfig, out: &mut Vec<Action>) {
        let phy = &config.phy;
        let protected = self.is_protected(config);
        let last = self.burst.first().and_then(|mpdu| mpdu.packet.peer());
        if !rts {
            self.exchange_ends(|_| 0, config, out);
        }
        if phy.standard.aggregation.is_some() && !rts {
            self.burst.change(|mpdu| mpdu.losses = mpdu.losses.saturating_add(1));
            self.give_up_lost(protected, config, out);
        } else {
            let (count, limit) = if rts || !protected {
                (&mut self.short_retries, phy.retry_short)
            } else {
                (&mut self.long_retries, phy.retry_long)
            };
            *count += 1;
            if *count >= limit {
                *count = 0;
                let burst = std::mem::take(&mut self.burst);
                out.extend(burst.as_slice().iter().map(|mpdu| Action::GaveUp(mpdu.packet)));
            }
        }
        if self.burst.is_empty() {
            self.narrow(config);
            self.needs_rts = false;
            self.owe(last);
            self.take_next(config);
        } else {
            self.try_again(now, self.is_protected(config), config);
        }
    }

    /// Gives those packets up whose data frames were lost too often.
    fn give_up_lost(&mut self, protected: bool, config: &StationConfig, out: &mut Vec<Action>) {
        let limit = if protected { config.phy.retry_long } else { config.phy.retry_short };
        self.burst.retain(|mpdu| {
            let keep = u32::from(mpdu.losses) < limit;
            if !keep {
                out.push(Action::GaveUp(mpdu.packet));
            }
            keep
        });
    }

    /// The window after a failure.
    #[inline]
    pub(super) fn widen(&mut self, config: &StationConfig) {
        let (least, most) = self.window(config);
        self.cw = (2 * self.cw + 1).min(most.max(least));
    }

    /// The window at the beginning, after a success, and for another packet.
    #[inline]
    pub(super) fn narrow(&mut self, config: &StationConfig) {
        self.cw = self.window(config).0;
    }

    /// Smallest and largest contention window of the current category.
    #[inline]
    fn window(&self, config: &StationConfig) -> (u32, u32) {
        let (least, most) = config.phy.window(self.category);
        if self.category == Category::BestEffort { ((1 << self.ecw_min) - 1, most) } else { (least, most) }
    }

    /// The smallest contention window of best effort is 2 to the power of so much, less 1 (ECWmin; IEEE 802.11-2020, 9.4.2.28).
    #[must_use]
    pub const fn ecw_min(&self) -> u8 {
        self.ecw_min
    }

    /// Gives best effort another one, of 15 at the most, with which the next backoff after a success is drawn.
    pub fn set_ecw_min(&mut self, power: u8) {
        self.ecw_min = power.min(15);
    }

    /// A larger window, a new backoff, and from the RTS again where there was one.
    pub(super) fn try_again(&mut self, now: Instant, protected: bool, config: &StationConfig) {
        self.widen(config);
        self.needs_rts = protected;
        self.retry = true;
        self.burst.change(|mpdu| mpdu.retry = true);
        self.draw_backoff(now, config);
    }

    /// The receiver of the data frame tells which of its packets arrived. The others go again, with what else there is for it:
    /// the exchange as such was no failure, so the window is the smallest one.
    pub(super) fn block_acked(
        &mut self,
        now: Instant,
        told: &BlockAck,
        config: &StationConfig,
        out: &mut Vec<Action>,
    ) {
        let protected = self.is_protected(config);
        let MacPacket { mode, .. } = self.first().packet;
        let to = self.first().packet.peer();
        let arrived = |mpdu: &Mpdu| told.arrived.has(usize::from(mpdu.seq.wrapping_sub(told.start) & 0xfff));
        let count = |packets: &[Mpdu]| mpdus(packets).filter(|mpdu| arrived(&mpdu[0])).count();
        self.exchange_ends(count, config, out);
        self.burst.retain(|mpdu| {
            let arrived = arrived(mpdu);
            if arrived {
                out.push(Action::Sent(mpdu.packet));
            }
            !arrived
        });
        self.burst.change(|mpdu| {
            mpdu.losses = mpdu.losses.saturating_add(1);
            mpdu.retry = true;
        });
        let left = self.burst.len();
        self.give_up_lost(protected, config, out);
        if let Some(to) = to.filter(|_| self.burst.len() < left) {
            self.tell_given_up(to, mode);
        }
        self.retry = !self.burst.is_empty();
        self.needs_rts = self.retry && self.is_protected(config);
        self.put_back();
        self.exchange_succeeded(now, protected, config);
    }

    /// An exchange of ours came to its end: the counter of its kind is cleared, the window is the smallest one.
    pub(super) fn exchange_succeeded(&mut self, now: Instant, protected: bool, config: &StationConfig) {
        if protected {
            self.long_retries = 0;
        } else {
            self.short_retries = 0;
        }
        self.narrow(config);
        self.take_next(config);
        self.draw_backoff(now, config);
        self.resume(now, config);
    }

    /// The transmitter turns idle: a waiting answer starts its SIFS, a waiting packet draws a backoff.
    pub(super) fn resume(&mut self, now: Instant, config: &StationConfig) {
        self.count_busy(now);
        if self.transmitter != Transmitter::Idle {
            self.transmitter = Transmitter::Idle;
            self.radio_idle_since = now;
            self.times_out_at = None;
        }
        if self.answer.is_some() {
            self.sifs_ends_at = Some(now + config.intervals.sifs);
        } else if self.sifs_ends_at.is_none() {
            if !self.burst.is_empty() && self.backoff.is_none() {
                self.draw_backoff(now, config);
            }
            if self.others.is_some() {
                self.resume_others(now, config);
            }
        }
    }
}
