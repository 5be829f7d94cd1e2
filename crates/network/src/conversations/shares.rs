//! Each flow's max-min share of the air, by what packets took of it in the epoch before (schemes.md 13, `wcpcap-airtime`).
//!
//! A controller that knows the whole mesh works it out: which conversations' packets went over which links, how long a packet was on the air
//! there with all its attempts, and which nodes hear which. Bringing it to the sources costs no air time, as bringing it together does not.

use crate::air::AirId;
use meshpace_explicit::wcpcap::{self, Link};
use meshpace_radio::Phy;
use meshpace_radio::standard::control_sizes::CTS_BYTES;
use meshpace_relay::Exchange;
use meshpace_relay::packet::Account;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What went over a directed link in an epoch.
#[derive(Clone, Debug, Default)]
struct Used {
    packets: u64,
    airtime: Span,
    /// Whose packets, by number of their account from 0.
    flows: BTreeSet<usize>,
}

/// A directed link: an air, and transmitter and receiver there.
pub(crate) type Hop = (AirId, NodeId, NodeId);

type Links = BTreeMap<Hop, Used>;

/// Of all conversations.
#[derive(Debug)]
pub(crate) struct Shares {
    epoch: Span,
    /// Number of the epoch that is being noted.
    present: u64,
    links: Links,
    /// What the last epoch noted, until a node asks for its shares.
    ended: Option<Links>,
    /// Packets/s, by number of the account from 0.
    known: Vec<Option<f64>>,
}

impl Shares {
    /// Anew after each epoch.
    pub(crate) fn new(epoch: Span) -> Self {
        Self { epoch, present: 0, links: Links::new(), ended: None, known: Vec::new() }
    }

    fn go_on(&mut self, now: Instant) {
        let epoch = now.as_nanos() / self.epoch.as_nanos();
        if epoch != self.present {
            self.present = epoch;
            self.ended = Some(std::mem::take(&mut self.links));
        }
    }

    /// A MAC is through with a packet of a conversation: it was on the air for so long.
    pub(crate) fn note(&mut self, now: Instant, hop: Hop, account: Account, airtime: Span) {
        self.go_on(now);
        let used = self.links.entry(hop).or_default();
        used.packets += 1;
        used.airtime += airtime;
        used.flows.insert(number(account));
    }

    /// The share of a conversation, packets/s, if each neighbourhood may be used for `limit` of the time. What went over no link in
    /// the last epoch keeps what it had; `None`: it had nothing.
    pub(crate) fn of<N: Iterator<Item = NodeId>>(
        &mut self,
        now: Instant,
        account: Account,
        limit: f64,
        active: impl Fn(usize) -> bool,
        neighbours: impl Fn(AirId, NodeId) -> N,
    ) -> Option<f64> {
        self.go_on(now);
        if let Some(ended) = self.ended.take() {
            self.work_out(&ended, limit, active, neighbours);
        }
        self.known.get(number(account)).copied().flatten()
    }

    fn work_out<N: Iterator<Item = NodeId>>(
        &mut self,
        used: &Links,
        limit: f64,
        active: impl Fn(usize) -> bool,
        neighbours: impl Fn(AirId, NodeId) -> N,
    ) {
        let flows = used.values().flat_map(|used| &used.flows).max().map_or(0, |last| last + 1);
        let links: Vec<Link> = used
            .iter()
            .map(|(hop, link)| Link {
                airtime: link.airtime.as_secs_f64() / link.packets as f64,
                flows: link.flows.iter().copied().filter(|flow| active(*flow)).collect(),
                near: near(used, *hop, &neighbours),
            })
            .collect();
        let shares = wcpcap::shares(&links, flows, limit);
        if self.known.len() < flows {
            self.known.resize(flows, None);
        }
        for (known, share) in self.known.iter_mut().zip(shares) {
            *known = share.or(*known);
        }
    }
}

/// The neighbourhood of a link among those used: all of its air that begin or end at one of its ends, or at a neighbour of one.
fn near<N: Iterator<Item = NodeId>>(
    used: &Links,
    (air, from, to): Hop,
    neighbours: impl Fn(AirId, NodeId) -> N,
) -> Vec<usize> {
    let nodes: BTreeSet<NodeId> =
        [from, to].into_iter().flat_map(|end| neighbours(air, end).chain([end])).collect();
    let touches = |(on, from, to): &Hop| *on == air && (nodes.contains(from) || nodes.contains(to));
    used.keys().enumerate().filter(|(_, hop)| touches(hop)).map(|(at, _)| at).collect()
}

/// How long a packet kept the medium, with others in its frame each an equal part: the frames of all its attempts with the spaces
/// between them, the DIFS before each included. Backoff counts for no station: neighbours count theirs down at the same time.
pub(crate) fn airtime(exchange: &Exchange, acknowledged: bool, phy: &Phy) -> Span {
    let control = phy.answer(exchange.mode);
    let answer = |size| phy.sifs() + phy.airtime(size, control);
    let mut whole = exchange.airtime + phy.difs() * u64::from(exchange.attempts);
    if exchange.cts_ended.is_some() {
        whole += (answer(CTS_BYTES) + phy.sifs()) * u64::from(exchange.data_frames);
    }
    if acknowledged {
        whole += answer(phy.ack_bytes(exchange.packets > 1));
    }
    whole / u64::from(exchange.packets)
}

fn number(account: Account) -> usize {
    account.0.get() as usize - 1
}
