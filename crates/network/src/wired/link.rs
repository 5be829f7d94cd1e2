//! Full-duplex links with rate, delay and a queue a direction.

use crate::event::Alarm;
use meshpace_packet::Host;
use meshpace_relay::Relay;
use meshpace_units::{Bytes, Rate, Span};

/// One direction of a link.
#[derive(Debug)]
pub struct WiredLink {
    /// Sender.
    pub from: Host,
    /// Receiver.
    pub to: Host,
    rate: Rate,
    delay: Span,
    /// Where packets wait.
    pub relay: Box<dyn Relay>,
    /// When the relay wants to be called.
    pub relay_alarm: Alarm,
    /// True while a packet's bits leave.
    pub sending: bool,
    /// Drops and packets carried in the measured interval.
    pub count: WiredCount,
}

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WiredCount {
    /// Packets with payload dropped.
    pub data_drops: u64,
    /// Acknowledgements dropped.
    pub ack_drops: u64,
    /// Packets sent.
    pub carried: u64,
}

impl WiredLink {
    /// One direction of a link, idle.
    pub fn new(from: Host, to: Host, rate: Rate, delay: Span, relay: Box<dyn Relay>) -> Self {
        let relay_alarm = Alarm::default();
        Self { from, to, rate, delay, relay, relay_alarm, sending: false, count: WiredCount::default() }
    }

    /// Time to send a packet of this size; the link adds no header of its own.
    pub fn serialisation(&self, size: Bytes) -> Span {
        self.rate.time_to_send(size).unwrap_or_else(|| panic!("a link of {:?}", self.rate))
    }

    /// Propagation delay.
    pub fn delay(&self) -> Span {
        self.delay
    }
}
