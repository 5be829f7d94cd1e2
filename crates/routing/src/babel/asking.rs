//! Requests for a new number, where all ways have become infeasible (RFC 8966, sections 2.6 and 3.8).

use super::again::Again;
use super::message::INFINITE;
use super::{Babel, BabelTlv, newer};
use crate::{Action, Recipient};
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;

/// The numbers that this node or others through it have asked for.
#[derive(Debug, Default)]
pub(super) struct Asking(BTreeMap<NodeId, Asked>);

#[derive(Clone, Copy, Debug)]
struct Asked {
    seqno: u16,
    /// When it was last asked for.
    since: Instant,
    /// Asked for again; `None`: another node asked.
    again: Option<Again>,
}

/// A copy of a request that comes within this time goes no further (section 3.8.1.2); one that its maker repeats does.
const COPIES: Span = Span::from_secs(1);
/// Nodes that a request may pass (babeld).
const HOPS: u8 = 127;
/// A number so far from the known one was lost (babeld).
const LOST: u16 = 100;

impl Asking {
    /// When something is due.
    pub(super) fn at(&self) -> Option<Instant> {
        self.0.values().filter_map(|asked| Some(asked.again?.at())).min()
    }

    /// True if a neighbour waits for this number.
    pub(super) fn waits_for(&self, destination: NodeId, seqno: u16) -> bool {
        self.0.get(&destination).is_some_and(|asked| !newer(asked.seqno, seqno))
    }
}

impl Babel {
    /// A number has come.
    pub(super) fn satisfied(&mut self, destination: NodeId, seqno: u16) {
        if self.asking.waits_for(destination, seqno) {
            self.asking.0.remove(&destination);
        }
    }

    /// No route is left: a neighbour that knows one may have to pass the request on.
    pub(super) fn ask_everybody<P>(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) {
        let Some(seqno) = self.table.next_seqno(destination) else { return };
        self.asking.0.insert(destination, Asked { seqno, since: now, again: Some(Again::after(now)) });
        let request = BabelTlv::SeqnoRequest { destination, seqno, hops: HOPS };
        Self::send(vec![request], Recipient::Broadcast, out);
    }

    /// A neighbour tells of a way that may lead through here. If it would be the better one by far, it is asked for a new number.
    pub(super) fn ask_for_feasible<P>(
        &mut self,
        now: Instant,
        destination: NodeId,
        (from, told_seqno, metric): (NodeId, u16, u16),
        out: &mut Vec<Action<P>>,
    ) {
        const BY_FAR: u16 = 512;
        let Some(seqno) = self.table.next_seqno(destination) else { return };
        let present = self.table.chosen(destination).map_or(INFINITE, |(_, route)| route.metric());
        let better = metric < INFINITE && present >= metric.saturating_add(BY_FAR);
        if seqno.wrapping_sub(told_seqno) > LOST || !better {
            return;
        }
        let asked = self.asking.0.entry(destination).or_insert(Asked { seqno, since: now, again: None });
        asked.since = now;
        let request = BabelTlv::SeqnoRequest { destination, seqno, hops: HOPS };
        Self::send(vec![request], Recipient::Unicast(from), out);
    }

    /// Repeats requests without an answer.
    pub(super) fn ask_again<P>(&mut self, now: Instant, out: &mut Vec<Action<P>>) {
        let mut tlvs = Vec::new();
        for (destination, asked) in &mut self.asking.0 {
            let Some(again) = asked.again.as_mut().filter(|again| again.at() <= now) else { continue };
            tlvs.push(BabelTlv::SeqnoRequest { destination: *destination, seqno: asked.seqno, hops: HOPS });
            let left = again.said(now);
            asked.since = now;
            asked.again = asked.again.filter(|_| left);
        }
        if !tlvs.is_empty() {
            Self::send(tlvs, Recipient::Broadcast, out);
        }
    }

    /// A neighbour asks for a sequence number (babeld, `handle_request`): a node that has it tells it, the destination makes it, others pass the request
    /// on to their next hop, or to another neighbour if the next hop asks.
    pub(super) fn on_seqno_request<P>(
        &mut self,
        now: Instant,
        from: NodeId,
        (destination, seqno, hops): (NodeId, u16, u8),
        out: &mut Vec<Action<P>>,
    ) {
        if destination == self.me {
            let ahead = seqno.wrapping_sub(self.seqno);
            if newer(seqno, self.seqno) && ahead <= LOST {
                // By one, whatever was asked for (section 3.8.1.2).
                self.seqno = self.seqno.wrapping_add(1);
            }
            return self.telling.soon(now, destination, true, &mut self.jitter);
        }
        let chosen = self.table.chosen(destination).map(|(via, route)| (via, route.seqno, route.metric()));
        if chosen.is_some_and(|(_, known, metric)| metric < INFINITE && !newer(seqno, known)) {
            return self.telling.soon(now, destination, true, &mut self.jitter);
        }
        let copy =
            self.asking.0.get(&destination).is_some_and(|asked| {
                !newer(seqno, asked.seqno) && now.saturating_since(asked.since) < COPIES
            });
        if hops <= 1 || copy {
            return;
        }
        let over = chosen.filter(|(via, _, metric)| *metric < INFINITE && *via != from).map(|(via, ..)| via);
        let Some(over) = over.or_else(|| self.table.best(now, destination, false, Some(from))) else {
            return;
        };
        let again = self.asking.0.get(&destination).and_then(|asked| asked.again);
        self.asking.0.insert(destination, Asked { seqno, since: now, again });
        let request = BabelTlv::SeqnoRequest { destination, seqno, hops: hops - 1 };
        Self::send(vec![request], Recipient::Unicast(over), out);
    }
}
