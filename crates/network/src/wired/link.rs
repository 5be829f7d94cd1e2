//! Full-duplex links with rate, delay and a queue a direction.

use super::Surroundings;
use crate::event::{Alarm, Event};
use crate::measure::{LossCause, LossPlace};
use meshpace_radio::Categories;
use meshpace_relay::packet::{Class, Handle, Host, Ticket};
use meshpace_relay::{Here, Relay};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Rate, Span};
use std::fmt::Debug;

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
    relay: Box<dyn Relay>,
    /// When the relay wants to be called.
    alarm: Alarm,
    /// True while a packet's bits leave.
    sending: bool,
    /// The ticket of that packet, if it set out from here and its host wants to know when it has left.
    ticket: Option<Ticket>,
    count: WiredCount,
    loss: Option<Loss>,
}

/// Packets are lost on the way, each by itself.
#[derive(Debug)]
pub(crate) struct Loss {
    pub share: f64,
    pub stream: Stream,
}

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WiredCount {
    /// Packets with payload that the queue dropped.
    pub data_drops: u64,
    /// Acknowledgements that it dropped.
    pub ack_drops: u64,
    /// Packets sent.
    pub carried: u64,
}

impl WiredLink {
    /// One direction of a link, idle.
    pub(crate) fn new(
        (from, to): (Host, Host),
        rate: Rate,
        delay: Span,
        relay: Box<dyn Relay>,
        loss: Option<Loss>,
    ) -> Self {
        let alarm = Alarm::default();
        Self {
            from,
            to,
            rate,
            delay,
            relay,
            alarm,
            sending: false,
            ticket: None,
            count: WiredCount::default(),
            loss,
        }
    }

    /// Drops and packets carried since counting began.
    #[must_use]
    pub fn count(&self) -> WiredCount {
        self.count
    }

    pub(super) fn begin_counting(&mut self) {
        self.count = WiredCount::default();
    }

    /// A packet reaches the queue.
    pub(super) fn enqueue<T: Copy + Debug>(
        &mut self,
        number: u32,
        packet: Handle,
        dropped: &mut Vec<Handle>,
        with: &mut Surroundings<'_, T>,
    ) {
        self.call(number, dropped, with, |relay, here| relay.enqueue(here, packet));
        self.send(number, dropped, with);
    }

    /// A packet's last bit has left.
    pub(super) fn sent<T: Copy + Debug>(
        &mut self,
        number: u32,
        dropped: &mut Vec<Handle>,
        with: &mut Surroundings<'_, T>,
    ) {
        self.sending = false;
        if let Some(ticket) = self.ticket.take() {
            with.packets.leaves(ticket);
        }
        self.count.carried += 1;
        self.send(number, dropped, with);
    }

    /// The relay's deadline.
    pub(super) fn relay_alarm<T: Copy + Debug>(
        &mut self,
        number: u32,
        dropped: &mut Vec<Handle>,
        with: &mut Surroundings<'_, T>,
    ) {
        if self.alarm.rings(with.queue.now()) {
            self.call(number, dropped, with, |relay, here| relay.handle_timeout(here));
            self.send(number, dropped, with);
        }
    }

    /// Sends the next packet, if the link is free.
    fn send<T: Copy + Debug>(
        &mut self,
        number: u32,
        dropped: &mut Vec<Handle>,
        with: &mut Surroundings<'_, T>,
    ) {
        if self.sending || self.relay.is_empty() {
            return;
        }
        let next = self.call(number, dropped, with, |relay, here| relay.dequeue(here));
        let Some(packet) = next else { return };
        self.ticket = with.packets.withdraw(packet);
        let size = with.packets.get(packet).size;
        self.sending = true;
        let sent = with.queue.now() + self.serialisation(size);
        with.queue.schedule(sent, Event::WiredSent(number));
        let loses = self.loss.as_mut().is_some_and(|loss| loss.stream.unit() < loss.share);
        if loses {
            let _: Class = lose(number, packet, LossCause::Wire, with);
        } else {
            with.queue.schedule(sent + self.delay, Event::WiredArrival { link: number, packet });
        }
    }

    /// Calls the relay, frees and counts what it drops, and sets its alarm.
    fn call<T: Copy + Debug, R>(
        &mut self,
        number: u32,
        dropped: &mut Vec<Handle>,
        with: &mut Surroundings<'_, T>,
        call: impl FnOnce(&mut dyn Relay, &mut Here<'_>) -> R,
    ) -> R {
        let now = with.queue.now();
        let mut here = Here::new(now, with.packets, Categories::best_effort(!self.sending), None, dropped);
        let answer = call(self.relay.as_mut(), &mut here);
        while let Some(handle) = dropped.pop() {
            match lose(number, handle, LossCause::Queue, with) {
                Class::Data => self.count.data_drops += 1,
                Class::Ack => self.count.ack_drops += 1,
                Class::Control | Class::Arp => {}
            }
        }
        let deadline = self.relay.poll_timeout().filter(|at| *at > now);
        self.alarm.arm(deadline, Event::WiredRelay(number), with.queue);
        answer
    }

    /// Time to send a packet of this size; the link adds no header of its own.
    fn serialisation(&self, size: Bytes) -> Span {
        self.rate.time_to_send(size).unwrap_or_else(|| panic!("a link of {:?}", self.rate))
    }
}

/// Frees a packet that goes no further, and notes it; what it is.
fn lose<T: Copy + Debug>(
    number: u32,
    handle: Handle,
    cause: LossCause,
    with: &mut Surroundings<'_, T>,
) -> Class {
    let packet = with.packets.take(handle);
    with.statistics.lose(packet.account, packet.class, LossPlace::Wired(number), cause);
    packet.class
}
