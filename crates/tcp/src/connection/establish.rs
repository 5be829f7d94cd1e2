//! The handshake.

use super::{Connection, State};
use crate::config::{Handshake, HeaderSize, SackOffer};
use crate::event::{Arrival, Closing, Event};
use crate::position;
use crate::receiver::Receiver;
use crate::segment::{Options, Segment};
use alloc::boxed::Box;
use meshpace_units::{Instant, Seq};

/// The largest shift (RFC 7323, section 2.3).
const SCALE_MAX: u8 = 14;

/// The payload size of a peer that does not say (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u32 = 536;

/// The smallest payload size believed; a tiny one would multiply the packets.
const MSS_MIN: u32 = 64;

impl Connection {
    /// The shift that the receive buffer needs.
    fn wanted_scale(&self) -> u8 {
        let buffer = self.config.receive_buffer;
        (0..SCALE_MAX).find(|&shift| buffer >> shift <= u32::from(u16::MAX)).unwrap_or(SCALE_MAX)
    }

    /// The options of a SYN or SYN-ACK: in an answer only what the peer offered.
    pub(super) fn syn_options(&self) -> Options {
        let offered = self.receiver.is_none();
        let scales = if offered { self.config.window_scaling } else { self.scaling };
        Options {
            mss: Some(u16::try_from(self.config.mss).unwrap_or(u16::MAX)),
            window_scale: scales.then(|| self.wanted_scale()),
            sack_permitted: if offered { self.offers_sack() } else { self.sack },
            ..Options::default()
        }
    }

    /// True if the peer is offered, or asked for, selective acknowledgements.
    fn offers_sack(&self) -> bool {
        match self.config.sack {
            SackOffer::Never => false,
            SackOffer::IfAsked => self.asks().reports(),
            SackOffer::Always => true,
        }
    }

    /// True if segments carry timestamps, or a first SYN offers them.
    pub(super) fn stamps(&self) -> bool {
        if self.receiver.is_none() { self.config.timestamps } else { self.timestamps }
    }

    /// Bytes that the options of every data segment take.
    pub(super) fn options_overhead(&self) -> u32 {
        match self.config.headers {
            HeaderSize::Flat => 0,
            HeaderSize::Real => 12 * u32::from(self.stamps()),
        }
    }

    /// Learns from the peer's SYN or SYN-ACK.
    fn on_peer_syn(&mut self, now: Instant, segment: &Segment) {
        let options = &segment.options;
        self.timestamps = self.config.timestamps && options.timestamps.is_some();
        self.sack = self.offers_sack() && options.sack_permitted;
        self.ecn.on_peer_syn(segment.flags);
        let scaling = options.window_scale.filter(|_| self.config.window_scaling);
        self.scaling = scaling.is_some();
        self.peer_scale = scaling.unwrap_or(0).min(SCALE_MAX);
        let peer_mss = options.mss.map_or(DEFAULT_MSS, u32::from).max(MSS_MIN);
        let full = self.config.mss.min(peer_mss);
        let scale = if scaling.is_some() { self.wanted_scale() } else { 0 };
        let mut receiver = Receiver::new(&self.config, full, segment.seq, scale);
        if let Some(stamp) = options.timestamps.filter(|_| self.timestamps) {
            receiver.remember(now, stamp.value, 0);
        }
        self.receiver = Some(receiver);
        self.agreed_mss = full;
        self.sender.mss = full.saturating_sub(self.options_overhead()).max(1);
        let window = u64::from(segment.window);
        self.sender.edge = 1 + window;
        self.sender.max_window = window;
        self.window_set_by = (segment.seq, 0);
        self.echo = segment.ns2.map(|stamp| stamp.sent);
    }

    pub(super) fn on_listen(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        if flags.rst {
            return;
        }
        if flags.ack {
            self.reset = super::reset_for(segment).map(Box::new);
            return;
        }
        if !flags.syn {
            return;
        }
        self.ports.remote = segment.source_port;
        self.on_peer_syn(now, segment);
        self.syn_due = true;
        self.state = State::SynReceived;
        if self.config.handshake == Handshake::TwoWay {
            // Nothing will acknowledge the SYN-ACK on its own, so it is not waited for.
            self.sender.una = 1;
            (self.sender.nxt, self.sender.max) = (1, 1);
            self.on_connected();
        }
    }

    pub(super) fn on_syn_sent(&mut self, now: Instant, segment: &Segment, arrival: &Arrival) {
        let flags = segment.flags;
        let ack = position::position(self.iss, self.sender.una, segment.ack);
        let acceptable = flags.ack && ack == Some(1) && self.sender.max > 0;
        if flags.ack && !acceptable {
            if !flags.rst {
                self.reset = super::reset_for(segment).map(Box::new);
            }
            return;
        }
        if flags.rst {
            if flags.ack {
                self.gone(Closing::Refused);
            }
            return;
        }
        if !flags.syn {
            return;
        }
        self.on_peer_syn(now, segment);
        if flags.ack {
            self.on_ack_of_syn(now, segment, arrival);
            if let Some(receiver) =
                self.receiver.as_mut().filter(|_| self.config.handshake == Handshake::ThreeWay)
            {
                if self.config.bare_handshake {
                    receiver.owe_alone();
                } else {
                    receiver.owe_now();
                }
            }
        } else {
            // Simultaneous open (RFC 9293, section 3.5, figure 7).
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    /// An acceptable acknowledgement of our SYN arrived.
    #[cold]
    pub(super) fn on_ack_of_syn(&mut self, now: Instant, segment: &Segment, arrival: &Arrival) {
        let reported = self.reported(segment);
        let event = self.ack_event(now, segment, 1, (arrival, reported.as_ref()), false);
        self.sender.on_ack(&event);
        self.syn_due = false;
        self.on_connected();
    }

    fn on_connected(&mut self) {
        self.state = if self.sender.fin { State::FinWait1 } else { State::Established };
        self.sender.on_connected();
        self.timers.heard(self.now);
        self.events.push_back(Event::Connected);
    }

    /// A SYN in a state where none is expected: repeat the SYN-ACK if it is the peer's first one again and nothing
    /// else has come since, else challenge it (RFC 5961, section 4.2).
    #[cold]
    pub(super) fn on_unexpected_syn(&mut self, segment: &Segment) {
        let repeated = self.receiver.as_ref().is_some_and(|receiver| {
            let first = receiver.position(segment.seq) == Some(0);
            first && receiver.nxt == 1
        });
        let open = self.state == State::SynReceived
            || (self.passive && self.config.handshake == Handshake::TwoWay && self.state.is_synchronized());
        if repeated && open && !segment.flags.ack {
            self.syn_due = true;
            self.ecn.on_repeated_syn(segment.flags);
            self.echo = segment.ns2.map(|stamp| stamp.sent);
        } else if self.passive || self.config.handshake == Handshake::ThreeWay {
            // In the two-way handshake a repeated SYN-ACK needs no answer.
            self.challenge();
        }
    }

    /// The sequence number of a position of our stream.
    pub(super) fn sequence(&self, position: u64) -> Seq {
        position::sequence(self.iss, position)
    }
}
