//! A node's knowledge of congestion and round trips around it, from its neighbours' frames (schemes.md 13, "Sharing").
//!
//! The neighbourhood of a link i -> j is every link that begins or ends at i, at j, or at a neighbour of either. So a link
//! v -> w is near a congested one if v or w is an end of one, or the neighbour of an end. It is enough that each frame says
//! whether its sender is the one or the other, and of its link whether that is congested: the receiver is the other end.
//! Lists of links would say no more. Round trips likewise: the largest of the links at the sender, and of those at its
//! neighbours.

use crate::packet::{Shim, ShimBytes, ShimKind};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::collections::BTreeMap;

/// What is said of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkState {
    /// It is congested.
    pub congested: bool,
    /// Mean round trip of its flows, if one is known: whole microseconds.
    pub rtt: Option<Span>,
}

/// What a frame says of its sender and of the link that it goes over. On the wire times are microseconds, 0 where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    /// The link.
    pub link: LinkState,
    /// The sender is an end of a congested link.
    pub end: bool,
    /// The sender is one, or a neighbour of one.
    pub near: bool,
    /// The largest round trip of the links at the sender.
    pub own_rtt: Option<Span>,
    /// The largest that it learnt from its neighbours of theirs.
    pub learnt_rtt: Option<Span>,
}

impl Shim for Share {
    const KIND: ShimKind = ShimKind::WcpShare;
    const NAME: &'static str = "wcp-share";
    /// None is printed, so none (docs/experiments/we-tcp-ap.md, E10).
    const WIRE_LENGTH: Bytes = Bytes(0);

    fn to_bytes(&self) -> ShimBytes {
        let mut bytes = [0; 13];
        bytes[0] = u8::from(self.link.congested) | u8::from(self.end) << 1 | u8::from(self.near) << 2;
        for (at, time) in [self.link.rtt, self.own_rtt, self.learnt_rtt].into_iter().enumerate() {
            let micros = time.map_or(0, |time| u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
            bytes[1 + 4 * at..5 + 4 * at].copy_from_slice(&micros.to_be_bytes());
        }
        ShimBytes::new(&bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (flags, times) = bytes.split_first().filter(|(_, times)| times.len() == 12)?;
        let time = |at: usize| {
            let micros = times[4 * at..4 * at + 4].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            (micros > 0).then(|| Span::from_micros(micros))
        };
        Some(Self {
            link: LinkState { congested: flags & 1 != 0, rtt: time(0) },
            end: flags & 2 != 0,
            near: flags & 4 != 0,
            own_rtt: time(1),
            learnt_rtt: time(2),
        })
    }
}

/// What is known of one's own links.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Own {
    /// One of them is congested.
    pub congested: bool,
    /// The largest mean round trip of their flows.
    pub rtt: Option<Span>,
}

/// A neighbour, as its latest frame told.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    share: Share,
    seen: Instant,
    /// Its link to us, and when it said so.
    towards_us: Option<(LinkState, Instant)>,
}

/// What a node has learnt.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbourhood {
    neighbours: BTreeMap<NodeId, Neighbour>,
}

/// How long what was learnt counts before any round trip is known.
const UNKNOWN: Span = Span::from_secs(1);
/// Control intervals after which what was learnt no longer counts (schemes.md 13, decided).
const KEPT: u64 = 2;

/// How long what was learnt counts where this is the control interval.
pub(super) fn kept(interval: Option<Span>) -> Span {
    interval.map_or(UNKNOWN, |interval| interval * KEPT)
}

impl Neighbour {
    fn rtt(&self) -> Option<Span> {
        self.share.own_rtt.max(self.share.learnt_rtt)
    }

    fn counts(&self, now: Instant, own: Own) -> bool {
        now.saturating_since(self.seen) <= kept(self.rtt().max(own.rtt))
    }

    /// What it said of its link to us.
    fn link_to_us(&self, now: Instant, own: Own) -> Option<LinkState> {
        let (link, at) = self.towards_us?;
        (now.saturating_since(at) <= kept(self.rtt().max(own.rtt))).then_some(link)
    }
}

impl Neighbourhood {
    /// A neighbour's frame was read; `mine`: it was for us.
    pub(super) fn heard(&mut self, now: Instant, from: NodeId, share: Share, mine: bool) {
        let neighbour =
            self.neighbours.entry(from).or_insert(Neighbour { share, seen: now, towards_us: None });
        (neighbour.share, neighbour.seen) = (share, now);
        if mine {
            neighbour.towards_us = Some((share.link, now));
        }
    }

    /// What a frame of ours over this link says.
    pub(super) fn share(&self, now: Instant, own: Own, link: LinkState) -> Share {
        Share { link, ..self.here(now, own) }
    }

    /// Of our link to a neighbour, or of a wire, which has none: whether it is near a congested one, and the largest round trip
    /// in its neighbourhood.
    pub(super) fn of_link(&self, now: Instant, own: Own, to: Option<NodeId>) -> LinkState {
        let here = self.here(now, own);
        let there = to.and_then(|to| self.neighbours.get(&to)).filter(|neighbour| neighbour.counts(now, own));
        let there = there.map_or_else(Share::default, |neighbour| neighbour.share);
        let rtts = [here.own_rtt, here.learnt_rtt, there.own_rtt, there.learnt_rtt];
        LinkState { congested: here.near || there.near, rtt: rtts.into_iter().flatten().max() }
    }

    /// Forgets neighbours that have not been heard for so long that nothing of theirs counts.
    pub(super) fn forget(&mut self, now: Instant, own: Own) {
        self.neighbours.retain(|_, neighbour| neighbour.counts(now, own));
    }

    fn here(&self, now: Instant, own: Own) -> Share {
        let mut here = Share { end: own.congested, own_rtt: own.rtt, ..Share::default() };
        for neighbour in self.neighbours.values() {
            if let Some(link) = neighbour.link_to_us(now, own) {
                here.end |= link.congested;
                here.own_rtt = here.own_rtt.max(link.rtt);
            }
            if neighbour.counts(now, own) {
                here.near |= neighbour.share.end;
                here.learnt_rtt = here.learnt_rtt.max(neighbour.share.own_rtt);
            }
        }
        here.near |= here.end;
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const NODES: usize = 9;

    fn node(at: usize) -> NodeId {
        NodeId(at as u32)
    }

    #[test]
    fn a_share_survives_the_wire() {
        let micros = |micros| Some(Span::from_micros(micros));
        let link = LinkState { congested: true, rtt: micros(1) };
        let share = Share { link, near: true, own_rtt: micros(u64::from(u32::MAX)), ..Share::default() };
        assert_eq!(Share::from_bytes(share.to_bytes().as_slice()), Some(share));
        let share = Share { end: true, learnt_rtt: micros(70_000), ..Share::default() };
        assert_eq!(Share::from_bytes(share.to_bytes().as_slice()), Some(share));
        assert_eq!(Share::from_bytes(&[0; 12]), None);
    }

    proptest! {
        /// Random places in the unit square, links that carry flows, some congested: after a few frames over every link each
        /// node knows of its links exactly what the definition by sets says.
        #[test]
        fn what_nodes_tell_each_other_is_the_definition(
            places in vec((0.0..1.0f64, 0.0..1.0f64), NODES),
            loads in vec((0..NODES, 0..NODES, 1..1_000_000u64, any::<bool>()), 1..6),
        ) {
            let near = |a: usize, b: usize| {
                let ((x, y), (u, v)) = (places[a], places[b]);
                a != b && (x - u).hypot(y - v) < 0.35
            };
            let links: BTreeMap<(usize, usize), LinkState> = loads
                .into_iter()
                .filter(|(a, b, ..)| near(*a, *b))
                .map(|(a, b, rtt, congested)| ((a, b), LinkState { congested, rtt: Some(Span::from_micros(rtt)) }))
                .collect();
            let own = |of: usize| {
                let from = links.iter().filter(|((a, _), _)| *a == of);
                from.fold(Own::default(), |own, (_, link)| Own {
                    congested: own.congested || link.congested,
                    rtt: own.rtt.max(link.rtt),
                })
            };
            let mut nodes = vec![Neighbourhood::default(); NODES];
            let now = Instant::ZERO;
            for _ in 0..3 {
                // Every node broadcasts, and sends over its links.
                for from in 0..NODES {
                    let mut frames = vec![(None, LinkState::default())];
                    for ((a, b), link) in &links {
                        if *a == from {
                            frames.push((Some(*b), *link));
                        }
                    }
                    for (to, link) in frames {
                        let share = nodes[from].share(now, own(from), link);
                        for (hearer, state) in nodes.iter_mut().enumerate() {
                            if near(from, hearer) {
                                state.heard(now, node(from), share, to == Some(hearer));
                            }
                        }
                    }
                }
            }
            for (v, state) in nodes.iter().enumerate() {
                for w in (0..NODES).filter(|w| near(v, *w)) {
                    // schemes.md 13: links at i, at j, at a neighbour of either.
                    let around = |i: usize, j: usize| -> BTreeSet<usize> {
                        (0..NODES).filter(|k| [i, j].contains(k) || near(i, *k) || near(j, *k)).collect()
                    };
                    let congested = links.iter().any(|((i, j), link)| {
                        let around = around(*i, *j);
                        link.congested && (around.contains(&v) || around.contains(&w))
                    });
                    let around = around(v, w);
                    let rtt = links
                        .iter()
                        .filter(|((a, b), _)| around.contains(a) || around.contains(b))
                        .filter_map(|(_, link)| link.rtt)
                        .max();
                    let found = state.of_link(now, own(v), Some(node(w)));
                    prop_assert_eq!(found, LinkState { congested, rtt }, "{} -> {}", v, w);
                }
            }
        }
    }

    #[test]
    fn what_was_learnt_counts_for_two_control_intervals() {
        let mut nodes = Neighbourhood::default();
        let ms = |ms| Instant::ZERO + Span::from_millis(ms);
        let rtt = |ms| Some(Span::from_millis(ms));
        let share = Share { end: true, near: true, own_rtt: rtt(50), ..Share::default() };
        nodes.heard(ms(10), node(1), share, false);
        let own = Own::default();
        let link = |nodes: &Neighbourhood, at, own| {
            let LinkState { congested, rtt } = nodes.of_link(ms(at), own, Some(node(1)));
            (congested, rtt)
        };
        assert_eq!(link(&nodes, 110, own), (true, rtt(50)));
        assert_eq!(link(&nodes, 111, own), (false, None));
        let slower = Own { rtt: rtt(80), ..own };
        assert_eq!(link(&nodes, 170, slower), (true, rtt(80)));
        nodes.forget(ms(111), own);
        assert_eq!(link(&nodes, 111, slower), (false, rtt(80)), "forgotten");
    }
}
