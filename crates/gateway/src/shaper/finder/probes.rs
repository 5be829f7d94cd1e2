//! Which hosts to ask for an echo, and when: those that are sent to and of which nothing else tells how long packets wait.
//!
//! A request follows a packet to its host, so that it waits in the mesh where that waited. A rate is found by several round trips of a host,
//! one soon after the other; so a few hosts are asked at a time, each for a while. Requests are bounded, all together and a host, as are
//! the hosts that are remembered. A host that does not answer is asked ever more seldom.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use meshpace_units::{Instant, Span};

/// Requests to a host are at least so far apart.
const APART: Span = Span::from_millis(200);
/// A host that told a round trip otherwise within this time need not be asked.
const TOLD: Span = Span::from_millis(500);
/// An answer that takes longer is none; nor is one to a request before another that was answered.
const PATIENCE: Span = Span::from_secs(2);
/// A host is asked for so long before others have their turn. It loses its turn when no packet was sent to it
/// for so long.
const TURN: Span = Span::from_secs(10);
const LEAVES: Span = Span::from_secs(1);
/// After so many requests in a row without an answer a host is asked no sooner than after this time, twice that after the next, and so on.
const UNANSWERED: u32 = 15;
const SELDOM: (Span, Span) = (Span::from_secs(2), Span::from_secs(128));
/// Requests of a host that are on their way at once.
const ON_WAY: usize = PATIENCE.as_nanos().div_ceil(APART.as_nanos()) as usize;
/// Hosts that are too many are looked for no more often than this.
const LOOKS: Span = Span::from_secs(1);

/// A host that is asked, or was.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// It is not asked before.
    next: Instant,
    /// When its turn began, while it has one.
    turn: Option<Instant>,
    /// When something left for it last that it might have been asked behind.
    left: Instant,
    /// Numbers of requests, and when each left.
    on_way: [Option<(u32, Instant)>; ON_WAY],
    /// Requests in a row that it did not answer.
    unanswered: u32,
    /// It has answered.
    answers: bool,
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct Probes {
    hosts: BTreeMap<IpAddr, Asked>,
    /// Those of them that have a turn.
    turns: Vec<IpAddr>,
    most: usize,
    looked: Instant,
    /// No request leaves before.
    next: Instant,
    number: u32,
}

impl Probes {
    /// None has been asked; so many hosts are remembered.
    pub const fn new(most: usize) -> Self {
        Self {
            hosts: BTreeMap::new(),
            turns: Vec::new(),
            most,
            looked: Instant::ZERO,
            next: Instant::ZERO,
            number: 0,
        }
    }

    /// A packet has left for a host, of which another measurement gave a round trip `told` ago. Returns the number of the echo
    /// request to send behind it; there are `a_second` of them at the most.
    pub fn ask(&mut self, now: Instant, host: IpAddr, told: Option<Span>, a_second: u32) -> Option<u32> {
        if a_second == 0 {
            return None;
        }
        let apart = Span::from_nanos(1_000_000_000u64.div_ceil(a_second.into()));
        if told.is_some_and(|told| told < TOLD) {
            self.end_turn(host);
            return None;
        }
        if let Some(asked) = self.hosts.get_mut(&host) {
            asked.left = now;
        }
        if now < self.next || !self.has_turn(now, host, a_second) {
            return None;
        }
        let number = self.number;
        let asked = self.hosts.get_mut(&host)?;
        asked.give_up(now);
        if now < asked.next {
            return None;
        }
        *asked.on_way.iter_mut().find(|place| place.is_none())? = Some((number, now));
        asked.unanswered = asked.unanswered.saturating_add(1);
        asked.next = now + asked.pause();
        if asked.is_silent() {
            asked.answers = false;
            self.end_turn(host);
        }
        self.next = now + apart;
        self.number = number.wrapping_add(1);
        Some(number)
    }

    /// A host answers the request of this number: the round trip that ends with it.
    pub fn comes(&mut self, now: Instant, host: IpAddr, number: u32) -> Option<Span> {
        let asked = self.hosts.get_mut(&host)?;
        asked.give_up(now);
        let (_, left) = asked.on_way.iter().flatten().copied().find(|(of, _)| *of == number)?;
        asked.forget(|at| at <= left);
        if asked.is_silent() {
            asked.next = now;
        }
        (asked.unanswered, asked.answers) = (0, true);
        Some(now.saturating_since(left))
    }

    /// How long two requests in a row to a host that answers have been on their way: no round trip takes less now. One alone may have been
    /// lost, and one that leaves now tells nothing.
    pub fn gone(&self, now: Instant, host: IpAddr) -> Option<Span> {
        let asked = self.hosts.get(&host).filter(|asked| asked.answers)?;
        let on_way = asked.on_way.iter().flatten().map(|(_, left)| *left);
        let mut left: Vec<_> = on_way.filter(|left| *left < now).collect();
        left.sort_unstable();
        left.get(1).map(|left| now.saturating_since(*left))
    }

    /// Whether a host has a turn, or may have one now.
    fn has_turn(&mut self, now: Instant, host: IpAddr, a_second: u32) -> bool {
        if self.hosts.get(&host).is_some_and(|asked| asked.turn.is_some_and(|since| now < since + TURN)) {
            return true;
        }
        // One whose turn has ended gives way to others for as long as they may take to be sent something.
        if self.hosts.get(&host).is_some_and(|asked| asked.turn.is_some()) {
            self.end_turn(host);
            self.hosts.get_mut(&host).into_iter().for_each(|asked| asked.next = now + APART * 2);
        }
        let places = u64::from(a_second) * APART.as_nanos() / 1_000_000_000;
        if self.turns.len() as u64 >= places.max(1) {
            let hosts = &mut self.hosts;
            self.turns.retain(|host| {
                let Some(asked) = hosts.get_mut(host) else { return false };
                let stays = now.saturating_since(asked.left) < LEAVES;
                asked.turn = asked.turn.filter(|_| stays);
                stays
            });
        }
        if self.turns.len() as u64 >= places.max(1) || !self.has_room(now, host) {
            return false;
        }
        let asked = self.hosts.entry(host).or_insert(Asked {
            next: now,
            turn: None,
            left: now,
            on_way: [None; ON_WAY],
            unanswered: 0,
            answers: false,
        });
        if now < asked.next {
            return false;
        }
        asked.turn = Some(now);
        self.turns.push(host);
        true
    }

    fn end_turn(&mut self, host: IpAddr) {
        if let Some(asked) = self.hosts.get_mut(&host).filter(|asked| asked.turn.is_some()) {
            asked.turn = None;
            self.turns.retain(|other| *other != host);
        }
    }

    /// Whether a host is remembered, or may be: of those that are too many the ones go that are not asked any more.
    fn has_room(&mut self, now: Instant, host: IpAddr) -> bool {
        if self.hosts.contains_key(&host) || self.hosts.len() < self.most {
            return true;
        }
        if now.saturating_since(self.looked) >= LOOKS {
            self.looked = now;
            self.hosts.retain(|_, asked| asked.turn.is_some() || now < asked.next.max(asked.left + TURN));
        }
        self.hosts.len() < self.most
    }
}

impl Asked {
    /// Forgets requests that are not answered any more.
    fn give_up(&mut self, now: Instant) {
        self.forget(|left| now.saturating_since(left) >= PATIENCE);
    }

    fn forget(&mut self, which: impl Fn(Instant) -> bool) {
        self.on_way.iter_mut().for_each(|place| *place = place.filter(|(_, left)| !which(*left)));
    }

    fn is_silent(&self) -> bool {
        self.unanswered >= UNANSWERED
    }

    /// How long it is not asked after a request.
    fn pause(&self) -> Span {
        let more = self.unanswered.saturating_sub(UNANSWERED);
        let (first, last) = SELDOM;
        if self.is_silent() { (first * (1 << more.min(16))).min(last) } else { APART }
    }
}

#[cfg(test)]
mod tests;
