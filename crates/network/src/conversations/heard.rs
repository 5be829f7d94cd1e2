//! Conversations counted along a way, by what its nodes hear of (Osipov and Tschudin 2005, sections 2.3.2 and 4.1; schemes.md 4,
//! "Obtaining h and N").
//!
//! In each period of three seconds a node notes the conversations whose data it sends, takes or could decode: a frame that
//! a collision costs it is one of dozens. In the next period that is known along the way: N is how many conversations any of
//! the nodes noted that sent or took something of this one. Bringing it to the source costs no air time here, as static routes
//! cost none.

use meshpace_relay::packet::Account;
use meshpace_units::{Instant, Span};

/// LUNAR builds its routes anew so often.
const PERIOD: Span = Span::from_secs(3);

/// The latest two periods, from 1, in which something was noted; 0: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Noted {
    latest: u32,
    before: u32,
}

impl Noted {
    fn note(&mut self, period: u32) {
        if self.latest != period {
            (self.before, self.latest) = (self.latest, period);
        }
    }

    fn was_in(self, period: u32) -> bool {
        period != 0 && (self.latest == period || self.before == period)
    }
}

/// Of a conversation at a node.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Data of it were in the air.
    heard: Noted,
    /// Something of it was sent or taken here.
    passed: Noted,
}

/// What all nodes have noted.
#[derive(Debug)]
pub(crate) struct HeardConversations {
    /// By node, then by number of the account.
    nodes: Vec<Vec<Entry>>,
    /// By number of the account: in which period it was counted, and what came of it.
    known: Vec<(u32, Option<u32>)>,
}

impl HeardConversations {
    /// For so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes: vec![Vec::new(); nodes], known: Vec::new() }
    }

    fn entry(&mut self, node: usize, account: Account) -> &mut Entry {
        let (entries, index) = (&mut self.nodes[node], number(account));
        if entries.len() <= index {
            entries.resize(index + 1, Entry::default());
        }
        &mut entries[index]
    }

    /// A node sends a frame, or one is addressed to it.
    pub(crate) fn pass(&mut self, now: Instant, node: usize, account: Account) {
        self.entry(node, account).passed.note(period(now));
    }

    /// A node sends data, or could decode them.
    pub(crate) fn hear(&mut self, now: Instant, node: usize, account: Account) {
        self.entry(node, account).heard.note(period(now));
    }

    /// This conversation and others that its way knew of in the last whole period; `None`: it had no way.
    pub(crate) fn along(&mut self, now: Instant, account: Account) -> Option<u32> {
        let (this, index) = (period(now), number(account));
        if self.known.len() <= index {
            self.known.resize(index + 1, (0, None));
        }
        if self.known[index].0 != this {
            self.known[index] = (this, self.count(this - 1, index));
        }
        self.known[index].1
    }

    fn count(&self, period: u32, index: usize) -> Option<u32> {
        let on_way =
            |entries: &&Vec<Entry>| entries.get(index).is_some_and(|entry| entry.passed.was_in(period));
        let way: Vec<_> = self.nodes.iter().filter(on_way).collect();
        let conversations = way.iter().map(|entries| entries.len()).max()?;
        let noted = |entries: &&Vec<Entry>, other: usize| {
            entries.get(other).is_some_and(|entry| entry.heard.was_in(period))
        };
        let known =
            (0..conversations).filter(|other| *other != index && way.iter().any(|node| noted(node, *other)));
        Some(1 + known.count() as u32)
    }
}

fn period(now: Instant) -> u32 {
    (now.as_nanos() / PERIOD.as_nanos()) as u32 + 1
}

fn number(account: Account) -> usize {
    account.0.get() as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    fn account(number: u32) -> Account {
        Account(NonZeroU32::new(number).expect("accounts begin with 1"))
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    /// ```text
    /// 1:  0 - 1 - 2        2:  3 - 4, heard by 2        3:  5 - 6, heard by 4 only
    /// ```
    fn three() -> HeardConversations {
        let mut heard = HeardConversations::new(7);
        for (conversation, way, hears) in [(1, [0, 1, 2].as_slice(), 0), (2, &[3, 4], 2), (3, &[5, 6], 4)] {
            for node in way {
                heard.pass(at(100), *node, account(conversation));
                heard.hear(at(100), *node, account(conversation));
            }
            heard.hear(at(200), hears, account(conversation));
        }
        heard
    }

    #[test]
    fn conversations_are_those_that_any_node_of_the_way_has_heard_of() {
        let mut heard = three();
        let mut along = |ms, conversation| heard.along(at(ms), account(conversation));
        assert_eq!([along(2_999, 1), along(2_999, 2)], [None, None], "the period is not over");
        assert_eq!([along(3_000, 1), along(3_000, 2), along(3_000, 3)], [Some(2), Some(2), Some(1)]);
        assert_eq!(along(6_000, 1), None, "nothing of it went in the last period");
    }

    #[test]
    fn a_conversation_counts_for_the_period_in_which_it_was_heard_and_no_longer() {
        let mut heard = three();
        // The second is silent now, the first goes on.
        heard.pass(at(3_500), 2, account(1));
        assert_eq!(heard.along(at(5_000), account(1)), Some(2), "the last whole period");
        heard.hear(at(6_500), 2, account(2));
        assert_eq!(heard.along(at(8_000), account(1)), Some(1));
        heard.pass(at(6_600), 2, account(1));
        assert_eq!(heard.along(at(9_000), account(1)), Some(2), "it is back");
    }
}
