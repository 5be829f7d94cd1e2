//! Counters of one station.

use crate::frame::{FrameKind, Header};
use crate::reception::Collision;
use meshpace_units::{NodeId, Span};

/// What a station counted, by neighbour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StationStats {
    collisions: Vec<(NodeId, [u64; 4])>,
    sent: Vec<(NodeId, Sent)>,
    /// Where in `sent` the neighbours of the last RTS or data frame and of the last answer are: what passes through a node
    /// comes from one neighbour and goes to another.
    latest: [u32; 2],
}

/// What a station sent to one neighbour, as sent: whether it arrived or not. Broadcasts have no receiver here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Exchanges opened: an RTS, or a data frame without one. Every one beyond the packets that got through was a
    /// retry, whichever frame of the exchange was lost.
    pub attempts: u64,
    /// Time on the air of the RTS and data frames, and of requests for block acknowledgements.
    pub airtime: Span,
    /// Time on the air of the CTS and ACK frames: they belong to the neighbour's exchanges.
    pub answers: Span,
}

impl StationStats {
    pub(super) fn collision(&mut self, lost: Collision) {
        let kind = match lost.kind {
            FrameKind::Rts | FrameKind::BlockAckReq => 0,
            FrameKind::Cts => 1,
            FrameKind::Data => 2,
            FrameKind::Ack | FrameKind::BlockAck => 3,
        };
        let place = place(&mut self.collisions, lost.from);
        self.collisions[place].1[kind] += 1;
    }

    /// A frame starts.
    #[inline]
    pub(super) fn transmits(&mut self, frame: &Header) {
        let Some(to) = frame.to else { return };
        let answer = frame.kind.is_answer();
        let sent = match self.sent.get_mut(self.latest[usize::from(answer)] as usize) {
            Some((latest, sent)) if *latest == to => sent,
            _ => self.find(to, answer),
        };
        if answer {
            sent.answers += frame.airtime;
        } else {
            let opens = frame.kind == FrameKind::Rts || (frame.kind == FrameKind::Data && !frame.protected);
            sent.attempts += u64::from(opens);
            sent.airtime += frame.airtime;
        }
    }

    /// Apart from [`StationStats::transmits`]: most frames are for the neighbour that the one before was for.
    #[cold]
    #[inline(never)]
    fn find(&mut self, to: NodeId, answer: bool) -> &mut Sent {
        let place = place(&mut self.sent, to);
        self.latest[usize::from(answer)] = place as u32;
        &mut self.sent[place].1
    }

    /// Frames lost to overlap by transmitter, in order: RTS (and requests for block acknowledgements), CTS, data, ACK.
    pub fn collisions(&self) -> impl Iterator<Item = (NodeId, [u64; 4])> + '_ {
        self.collisions.iter().copied()
    }

    /// What the station sent, by neighbour, in the neighbours' order.
    pub fn sent(&self) -> impl Iterator<Item = (NodeId, Sent)> + '_ {
        self.sent.iter().copied()
    }

    /// What was sent to one neighbour.
    #[must_use]
    pub fn sent_to(&self, to: NodeId) -> Sent {
        let found = self.sent.binary_search_by_key(&to, |entry| entry.0);
        found.map_or_else(|_| Sent::default(), |index| self.sent[index].1)
    }
}

/// Where a neighbour's entry is in a sorted list. It is made if there is none.
fn place<T: Default>(list: &mut Vec<(NodeId, T)>, node: NodeId) -> usize {
    list.binary_search_by_key(&node, |entry| entry.0).unwrap_or_else(|place| {
        if list.len() == list.capacity() {
            // Every node has such lists, mostly short: doubling would leave half of them empty.
            list.reserve_exact(2);
        }
        list.insert(place, (node, T::default()));
        place
    })
}
