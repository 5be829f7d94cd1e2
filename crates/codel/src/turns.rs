//! Whose turn it is: deficit round robin, in which a newcomer goes first (RFC 8290, section 4.2; Shreedhar and Varghese,
//! SIGCOMM 1995).
//!
//! Each sharer (a flow, a host) keeps a [`Turn`]; the lists hold their names alone. The driver sets the cost of a packet: bytes, or air
//! time expressed as bytes.

use alloc::collections::VecDeque;

/// What a queue may still send in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Turn {
    /// Below zero by less than the cost of a packet.
    credit: i64,
    /// True while it is on one of the lists.
    listed: bool,
}

impl Turn {
    /// It has sent what costs so much.
    pub const fn sent(&mut self, cost: u64) {
        self.credit -= cost as i64;
    }

    /// How many turns more it needs until it may send.
    #[must_use]
    pub const fn turns_away(&self, quantum: u64) -> u64 {
        if self.credit > 0 { 0 } else { self.credit.unsigned_abs() / quantum + 1 }
    }

    /// So many turns pass without a packet.
    pub const fn pass(&mut self, turns: u64, quantum: u64) {
        self.credit += (turns * quantum) as i64;
    }

    /// True while it waits for its turn.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        self.listed
    }
}

/// The sharers that have something to send, in order.
#[derive(Clone, Debug)]
pub struct Turns<K> {
    /// The newcomers.
    new: VecDeque<K>,
    old: VecDeque<K>,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self { new: VecDeque::new(), old: VecDeque::new() }
    }
}

impl<K: Copy + PartialEq> Turns<K> {
    /// A sharer has something to send. One that waits already keeps its place.
    pub fn join(&mut self, who: K, turn: &mut Turn, quantum: u64) {
        if !turn.listed {
            *turn = Turn { credit: quantum as i64, listed: true };
            self.new.push_back(who);
        }
    }

    /// The next one.
    #[must_use]
    pub fn first(&self) -> Option<K> {
        self.new.front().or(self.old.front()).copied()
    }

    /// The first of the newcomers.
    #[must_use]
    pub fn newcomer(&self) -> Option<K> {
        self.new.front().copied()
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = K> {
        self.new.iter().chain(&self.old).copied()
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.new.len() + self.old.len()
    }

    /// True if none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the first may send. If it has used up its turn, it goes behind the others, with another one.
    pub fn may_send(&mut self, turn: &mut Turn, quantum: u64) -> bool {
        if turn.credit > 0 {
            return true;
        }
        turn.credit += quantum as i64;
        let (who, _) = self.take_first();
        self.old.extend(who);
        false
    }

    /// The first has nothing to send after all.
    ///
    /// A newcomer waits once for its turn among the old ones, lest it be new at once again and starve them (RFC 8290,
    /// section 4.2).
    pub fn has_none(&mut self, turn: &mut Turn) {
        let (who, was_new) = self.take_first();
        turn.listed = was_new;
        if was_new {
            self.old.extend(who);
        }
    }

    /// The first may not send now, and leaves the lists with what credit it has; [`rejoin`](Self::rejoin) brings it back.
    pub fn set_aside(&mut self) {
        self.take_first();
    }

    /// The sharer that was set aside is the next of the old ones: it keeps the turn that it could not use.
    pub fn rejoin(&mut self, who: K) {
        self.old.push_front(who);
    }

    fn take_first(&mut self) -> (Option<K>, bool) {
        let was_new = !self.new.is_empty();
        let list = if was_new { &mut self.new } else { &mut self.old };
        (list.pop_front(), was_new)
    }
}
