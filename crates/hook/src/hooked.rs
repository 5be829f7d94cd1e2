//! A hook with the packets that it holds.

use crate::{Direction, Orders, PacketHook, Passing, Rewrite, Ticket, Verdict};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use meshpace_units::Instant;

/// How a packet was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met<P> {
    /// It goes on now, so changed.
    Passes(P, Rewrite),
    /// It waits, if only behind what goes before it, and comes out of [`Hooked::poll`].
    Held,
    /// It goes no further.
    Dropped(P),
}

/// A packet that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving<P> {
    /// It goes on, so changed.
    Passes(P, Rewrite),
    /// It goes no further.
    Dropped(P),
}

/// A hook, and what waits there. Every packet comes out once.
///
/// Its driver calls
///
/// 1. [`Hooked::handle`] for each packet, then [`Hooked::poll`] until `None`;
/// 2. [`Hooked::handle_timeout`] when [`Hooked::poll_timeout`] says so, then `poll` until `None`.
#[derive(Debug)]
pub struct Hooked<P> {
    hook: Box<dyn PacketHook>,
    /// Most packets that wait; the one that has waited longest goes on for one more.
    most: usize,
    next: Ticket,
    waiting: BTreeMap<Ticket, (Instant, P)>,
    due: BTreeSet<(Instant, Ticket)>,
    leaving: VecDeque<Leaving<P>>,
}

impl<P> Hooked<P> {
    /// A hook at which so many packets may wait.
    #[must_use]
    pub fn new(hook: Box<dyn PacketHook>, most: usize) -> Self {
        Self {
            hook,
            most,
            next: Ticket(0),
            waiting: BTreeMap::new(),
            due: BTreeSet::new(),
            leaving: VecDeque::new(),
        }
    }

    /// A packet comes.
    pub fn handle(&mut self, now: Instant, direction: Direction, passing: &Passing<'_>, packet: P) -> Met<P> {
        let ticket = self.next;
        self.next = Ticket(ticket.0 + 1);
        let mut orders = Orders::default();
        let verdict = self.hook.on_packet(direction, ticket, passing, now, &mut orders);
        self.carry_out(orders);
        match verdict {
            Verdict::Pass => self.passes(packet, Rewrite::default()),
            Verdict::Rewrite(rewrite) => self.passes(packet, rewrite),
            Verdict::Drop => Met::Dropped(packet),
            Verdict::HoldUntil(until) => {
                self.waiting.insert(ticket, (until, packet));
                self.due.insert((until, ticket));
                if self.waiting.len() > self.most {
                    if let Some((&oldest, _)) = self.waiting.first_key_value() {
                        self.goes(oldest);
                    }
                }
                Met::Held
            }
        }
    }

    /// A packet goes on: at once, unless others go before it.
    fn passes(&mut self, packet: P, changes: Rewrite) -> Met<P> {
        if self.leaving.iter().all(|leaving| matches!(leaving, Leaving::Dropped(_))) {
            return Met::Passes(packet, changes);
        }
        self.leaving.push_back(Leaving::Passes(packet, changes));
        Met::Held
    }

    /// The next packet that leaves; call until `None`.
    #[must_use = "the packet has left the hook"]
    pub fn poll(&mut self) -> Option<Leaving<P>> {
        self.leaving.pop_front()
    }

    /// When something is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let due = self.due.first().map(|&(due, _)| due);
        due.into_iter().chain(self.hook.deadline()).min()
    }

    /// Does what is due at `now`. Early or repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.hook.deadline().is_some_and(|deadline| deadline <= now) {
            let mut orders = Orders::default();
            self.hook.on_deadline(now, &mut orders);
            self.carry_out(orders);
        }
        while let Some(&(_, ticket)) = self.due.first().filter(|&&(due, _)| due <= now) {
            self.goes(ticket);
        }
    }

    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len() + self.leaving.len()
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops every packet for which `wanted` is true.
    pub fn purge(&mut self, mut wanted: impl FnMut(&P) -> bool) {
        let gone: alloc::vec::Vec<Ticket> = self
            .waiting
            .iter()
            .filter(|(_, (_, packet))| wanted(packet))
            .map(|(&ticket, _)| ticket)
            .collect();
        for ticket in gone {
            self.hook.on_gone(ticket);
            self.take(ticket).into_iter().for_each(|packet| self.leaving.push_back(Leaving::Dropped(packet)));
        }
    }

    /// All that waits goes on.
    pub fn let_go(&mut self) {
        while let Some((&ticket, _)) = self.waiting.first_key_value() {
            self.goes(ticket);
        }
    }

    fn goes(&mut self, ticket: Ticket) {
        self.hook.on_gone(ticket);
        self.take(ticket)
            .into_iter()
            .for_each(|packet| self.leaving.push_back(Leaving::Passes(packet, Rewrite::default())));
    }

    fn take(&mut self, ticket: Ticket) -> Option<P> {
        let (until, packet) = self.waiting.remove(&ticket)?;
        self.due.remove(&(until, ticket));
        Some(packet)
    }

    fn carry_out(&mut self, orders: Orders) {
        for (ticket, passes) in orders.0 {
            if let Some(packet) = self.take(ticket) {
                self.leaving.push_back(match passes {
                    true => Leaving::Passes(packet, Rewrite::default()),
                    false => Leaving::Dropped(packet),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
