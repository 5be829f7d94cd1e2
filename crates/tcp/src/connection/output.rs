//! Departing segments.

use super::{Connection, State};
use crate::control::Feedback;
use crate::event::Transmit;
use crate::receiver::{Due, Receiver};
use crate::segment::{Flags, Ns2Stamp, Options, SackBlocks, Segment, Timestamps};
use crate::sender::Chunk;
use meshpace_units::{Ecn, Instant, Seq};

/// The reset that answers `segment` where there is no connection; `None` if it is a reset itself (RFC 9293, section
/// 3.10.7.1).
#[must_use]
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.rst {
        return None;
    }
    let (seq, ack) = if segment.flags.ack { (segment.ack, Seq(0)) } else { (Seq(0), segment.end()) };
    Some(Segment {
        ack,
        flags: Flags { rst: true, ack: !segment.flags.ack, ..Flags::default() },
        ..Segment::new(segment.destination_port, segment.source_port, seq)
    })
}

impl Connection {
    /// The next segment to send; call until `None`.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.now = now;
        if let Some(segment) = self.reset.take() {
            return Some(bare(*segment));
        }
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => {
                return self.take_syn(now).or_else(|| self.take_ack());
            }
            _ => {}
        }
        if self.syn_due {
            return self.take_syn(now); // a repeated SYN-ACK of the two-way handshake
        }
        if self.state.sends() && self.due() != Due::Alone {
            if let Some(chunk) = self.sender.take(now) {
                return Some(self.data(now, chunk));
            }
        }
        if let Some(ack) = self.take_ack() {
            return Some(ack);
        }
        if core::mem::take(&mut self.probe_due) {
            // One below what the peer has acknowledged: it must answer (RFC 9293, section 3.8.4).
            return Some(bare(self.acknowledgement(self.sender.una.saturating_sub(1))));
        }
        self.arm_persist_timer(now);
        None
    }

    #[cold]
    fn take_syn(&mut self, now: Instant) -> Option<Transmit> {
        if !core::mem::take(&mut self.syn_due) {
            return None;
        }
        let window = match &mut self.receiver {
            Some(receiver) => {
                receiver.on_ack_sent();
                receiver.advertise(true)
            }
            None => u16::try_from(self.config.receive_buffer).unwrap_or(u16::MAX),
        };
        let mut segment = self.header(0);
        let ecn = self.ecn.syn_flags(self.receiver.is_some());
        segment.flags = Flags { syn: true, ack: segment.flags.ack, ..ecn };
        segment.window = window;
        let stamps = segment.options.timestamps;
        segment.options = Options { timestamps: stamps, ..self.syn_options() };
        if !self.state.is_synchronized() {
            self.sender.on_syn_departure(now);
        }
        Some(Transmit { request: self.request(), answer: self.answered.take(), ..bare(segment) })
    }

    /// What relays are asked.
    fn request(&self) -> Option<Feedback> {
        self.sender.asks.relays?;
        self.sender.control.request(self.sender.mss)
    }

    /// What the receiving half owes the peer.
    fn due(&self) -> Due {
        self.receiver.as_ref().map_or(Due::Nothing, Receiver::due)
    }

    /// A pure acknowledgement if one is due.
    fn take_ack(&mut self) -> Option<Transmit> {
        if self.due() == Due::Nothing {
            return None;
        }
        self.sender.counters.pure_acks += 1;
        // Once: what one packet gained is not to be given twice.
        let answer = self.answered.take();
        let report = self.receiver.as_mut().and_then(|receiver| receiver.report(self.now));
        Some(Transmit { answer, report, ..bare(self.acknowledgement(self.sender.max)) })
    }

    fn acknowledgement(&mut self, position: u64) -> Segment {
        let mut segment = self.header(position);
        segment.flags.ece = self.ecn.echoing();
        if let Some(receiver) = &mut self.receiver {
            segment.window = receiver.advertise(false);
            if self.sack {
                // As many as the 40 bytes of options have room for: 8 each and 4 (RFC 2018, section 3).
                segment.options.sack = receiver.selective(if self.timestamps { 3 } else { 4 });
            }
            receiver.on_ack_sent();
        }
        segment
    }

    fn data(&mut self, now: Instant, chunk: Chunk) -> Transmit {
        let mut segment = self.acknowledgement(chunk.start);
        // They would not fit behind a full segment's data; what arrives out of order is answered by segments of its own.
        segment.options.sack = SackBlocks::default();
        segment.payload = chunk.length;
        segment.flags.fin = chunk.fin;
        // Less than a segment may wait for what this one's acknowledgement allows (Nagle's algorithm; RFC 9293, section 3.7.4).
        let behind = self.sender.end.saturating_sub(chunk.start + u64::from(chunk.length));
        segment.flags.psh = chunk.length > 0 && behind < u64::from(self.sender.mss);
        let new_data = chunk.start >= self.sender.max && chunk.length > 0;
        segment.flags.cwr = self.ecn.is_used() && new_data && self.sender.reductions.tell();
        let first = self.sender.on_departure(now, &chunk);
        segment.flags.psh |= chunk.length > 0 && self.sender.pushes(now);
        Transmit {
            segment,
            offset: chunk.start.saturating_sub(1),
            first_transmission: first && chunk.length > 0,
            ecn: self.ecn.codepoint(new_data),
            request: self.request(),
            answer: None,
            report: None,
        }
    }

    /// A segment at `position` with the fields that all segments share.
    pub(super) fn header(&self, position: u64) -> Segment {
        let timestamps = self.stamps().then(|| Timestamps {
            value: self.clock(self.now),
            echo: self.receiver.as_ref().map_or(0, |receiver| receiver.echo()),
        });
        let ack = self.receiver.as_ref().map(|receiver| receiver.ack());
        let ns2 = self.config.exact_stamps.then_some(Ns2Stamp { sent: self.now, echo: self.echo });
        Segment {
            ack: ack.unwrap_or_default(),
            flags: Flags { ack: ack.is_some(), ..Flags::default() },
            options: Options { timestamps, ..Options::NONE },
            ns2,
            ..Segment::new(self.ports.local, self.ports.remote, self.sequence(position))
        }
    }

    /// The timestamp clock, milliseconds (RFC 7323, section 5.4: between 1 ms and 1 s a tick).
    pub(super) fn clock(&self, now: Instant) -> u32 {
        let ms = now.as_nanos() / 1_000_000;
        self.config.timestamp_offset.wrapping_add(ms as u32)
    }
}

fn bare(segment: Segment) -> Transmit {
    Transmit {
        segment,
        offset: 0,
        first_transmission: false,
        ecn: Ecn::NotEct,
        request: None,
        answer: None,
        report: None,
    }
}
