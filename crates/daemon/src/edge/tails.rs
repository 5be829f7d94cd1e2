//! When what waits in the kernel is sent, sans I/O: deadlines by connection, and a look at what is there when one has come.
//!
//! The kernel replaces a waiting acknowledgement whenever a newer one comes, and reports only the first. So a deadline that
//! comes is a question: does an acknowledgement wait there, and since when? An acknowledgement that was sent passes the
//! program again, which takes it out of the map or finds that it is no longer the newest; so there is another look after
//! that.

use super::exchange::{Ends, Event, EventKind, Held};
use meshpace_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel's table of what waits.
pub trait Keeper {
    /// What waits of a connection.
    fn held(&self, ends: &Ends) -> Option<Held>;
    /// Sends it. False if that is not possible.
    fn send(&mut self, held: Held) -> bool;
    /// Takes it out of the table.
    fn forget(&mut self, ends: &Ends);
}

/// See the module's description.
#[derive(Debug)]
pub struct Tails {
    tail: Span,
    due: BTreeSet<(Instant, Ends)>,
    of: BTreeMap<Ends, Instant>,
    failed: u64,
}

impl Tails {
    /// With what waits being sent so long after it came.
    pub const fn new(tail: Span) -> Self {
        Self { tail, due: BTreeSet::new(), of: BTreeMap::new(), failed: 0 }
    }

    /// Takes an event.
    pub fn on_event(&mut self, event: &Event, keeper: &mut impl Keeper) {
        match event.told {
            EventKind::Kept => self.arm(event.ends, event.at),
            // Another one may have come to wait meanwhile.
            EventKind::Yields(ack) => match keeper.held(&event.ends) {
                Some(held) if held.ack == ack => self.send(event.ends, held, keeper),
                Some(held) => self.arm(event.ends, held.at),
                None => {}
            },
        }
    }

    /// Sends what is due.
    pub fn on_time(&mut self, now: Instant, keeper: &mut impl Keeper) {
        while let Some(&(_, ends)) = self.due.first().filter(|(due, _)| *due <= now) {
            self.disarm(&ends);
            match keeper.held(&ends) {
                Some(held) if held.at + self.tail <= now => self.send(ends, held, keeper),
                Some(held) => self.arm(ends, held.at),
                None => {}
            }
        }
    }

    /// Sends everything now.
    pub fn let_go(&mut self, keeper: &mut impl Keeper) {
        while let Some((ends, _)) = self.of.first_key_value().map(|(ends, at)| (*ends, *at)) {
            self.disarm(&ends);
            if let Some(held) = keeper.held(&ends) {
                self.failed += u64::from(!keeper.send(held));
                keeper.forget(&ends);
            }
        }
    }

    /// When [`Tails::on_time`] has something to do.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.due.first().map(|&(due, _)| due)
    }

    /// Connections of which something waits, or did when it was last looked.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// What could not be sent.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    fn send(&mut self, ends: Ends, held: Held, keeper: &mut impl Keeper) {
        let ack = held.ack;
        if !keeper.send(held) {
            // Its sender asks again, by its timers.
            self.failed += 1;
            return keeper.forget(&ends);
        }
        match keeper.held(&ends) {
            // The program is not there any more: it has left all the same.
            Some(left) if left.ack == ack => keeper.forget(&ends),
            Some(newer) => self.arm(ends, newer.at),
            None => {}
        }
    }

    fn arm(&mut self, ends: Ends, came: Instant) {
        self.disarm(&ends);
        let due = came + self.tail;
        self.due.insert((due, ends));
        self.of.insert(ends, due);
    }

    fn disarm(&mut self, ends: &Ends) {
        if let Some(due) = self.of.remove(ends) {
            self.due.remove(&(due, *ends));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: Span = Span::from_millis(100);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// The kernel's side: what is sent passes if it still is what waits.
    #[derive(Default)]
    struct Kernel {
        held: BTreeMap<Ends, Held>,
        sent: Vec<u32>,
        /// One that comes while the first is being sent.
        meanwhile: Option<(Ends, Held)>,
        refuses: bool,
        absent: bool,
    }

    impl Keeper for Kernel {
        fn held(&self, ends: &Ends) -> Option<Held> {
            self.held.get(ends).cloned()
        }

        fn send(&mut self, held: Held) -> bool {
            if let Some((ends, newer)) = self.meanwhile.take() {
                self.held.insert(ends, newer);
            }
            if self.refuses {
                return false;
            }
            self.sent.push(held.ack);
            if !self.absent {
                self.held.retain(|_, waits| waits.ack != held.ack);
            }
            true
        }

        fn forget(&mut self, ends: &Ends) {
            self.held.remove(ends);
        }
    }

    fn held(at: u64, ack: u32) -> Held {
        Held { at: ms(at), interface: 1, ack, ip: 14, vlan: None, frame: Vec::new() }
    }

    fn ends(n: u8) -> Ends {
        Ends { source_port: u16::from(n).into(), ..Ends::default() }
    }

    fn event(at: u64, n: u8, told: EventKind) -> Event {
        Event { at: ms(at), ends: ends(n), told }
    }

    #[test]
    fn the_newest_is_sent_a_tail_after_it_came() {
        let (mut tails, mut kernel) = (Tails::new(TAIL), Kernel::default());
        kernel.held.insert(ends(1), held(10, 100));
        tails.on_event(&event(10, 1, EventKind::Kept), &mut kernel);
        assert_eq!(tails.poll_timeout(), Some(ms(110)));
        // Two newer acknowledgements; no event reported them.
        kernel.held.insert(ends(1), held(70, 300));
        tails.on_time(ms(110), &mut kernel);
        assert_eq!((kernel.sent.len(), tails.poll_timeout()), (0, Some(ms(170))));
        tails.on_time(ms(169), &mut kernel);
        assert_eq!(kernel.sent.len(), 0);
        tails.on_time(ms(170), &mut kernel);
        assert_eq!((&*kernel.sent, tails.len(), tails.poll_timeout()), (&[300][..], 0, None));
    }

    #[test]
    fn what_has_passed_by_itself_is_not_sent() {
        let (mut tails, mut kernel) = (Tails::new(TAIL), Kernel::default());
        tails.on_event(&event(10, 1, EventKind::Kept), &mut kernel);
        tails.on_time(ms(500), &mut kernel);
        assert_eq!((kernel.sent.len(), tails.len()), (0, 0));
    }

    #[test]
    fn one_that_comes_while_another_is_sent_has_its_own_deadline() {
        let (mut tails, mut kernel) = (Tails::new(TAIL), Kernel::default());
        kernel.held.insert(ends(1), held(10, 100));
        kernel.meanwhile = Some((ends(1), held(110, 200)));
        tails.on_event(&event(10, 1, EventKind::Kept), &mut kernel);
        tails.on_time(ms(110), &mut kernel);
        assert_eq!(tails.poll_timeout(), Some(ms(210)));
        tails.on_time(ms(210), &mut kernel);
        assert_eq!((&*kernel.sent, tails.len()), (&[100, 200][..], 0));
    }

    #[test]
    fn what_yields_is_sent_at_once_unless_it_was_replaced() {
        let (mut tails, mut kernel) = (Tails::new(TAIL), Kernel::default());
        kernel.held.insert(ends(1), held(10, 100));
        tails.on_event(&event(10, 1, EventKind::Kept), &mut kernel);
        tails.on_event(&event(20, 1, EventKind::Yields(100)), &mut kernel);
        assert_eq!(kernel.sent, [100]);
        tails.on_time(ms(110), &mut kernel);
        assert_eq!((&*kernel.sent, tails.len()), (&[100][..], 0));
        kernel.held.insert(ends(2), held(120, 300));
        tails.on_event(&event(115, 2, EventKind::Yields(200)), &mut kernel);
        assert_eq!((&*kernel.sent, tails.poll_timeout()), (&[100][..], Some(ms(220))));
    }

    #[test]
    fn what_cannot_be_sent_is_counted_and_forgotten() {
        let (mut tails, mut kernel) = (Tails::new(TAIL), Kernel { refuses: true, ..Kernel::default() });
        kernel.held.insert(ends(1), held(10, 100));
        tails.on_event(&event(10, 1, EventKind::Kept), &mut kernel);
        tails.on_time(ms(110), &mut kernel);
        assert_eq!((tails.failed(), tails.len(), kernel.held.len()), (1, 0, 0));
    }

    #[test]
    fn without_the_program_nothing_is_sent_twice() {
        let (mut tails, mut kernel) = (Tails::new(TAIL), Kernel { absent: true, ..Kernel::default() });
        for n in 0..3 {
            kernel.held.insert(ends(n), held(10, n.into()));
            tails.on_event(&event(10, n, EventKind::Kept), &mut kernel);
        }
        tails.on_time(ms(110), &mut kernel);
        assert_eq!((&*kernel.sent, tails.len(), kernel.held.len()), (&[0, 1, 2][..], 0, 0));
        kernel.held.insert(ends(7), held(120, 9));
        tails.on_event(&event(120, 7, EventKind::Kept), &mut kernel);
        tails.let_go(&mut kernel);
        assert_eq!((&*kernel.sent, tails.len(), kernel.held.len()), (&[0, 1, 2, 9][..], 0, 0));
    }
}
