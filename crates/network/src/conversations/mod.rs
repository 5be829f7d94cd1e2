//! The conversations of the network's user, for relays that ask: which of them share the air, by an oracle, by what
//! nodes hear, and how it is shared fairly.
//!
//! The network knows no flow; a conversation is an [`Account`] that packets name.

mod heard;
mod shares;

pub(crate) use shares::{Hop, airtime};

use crate::air::AirId;
use crate::event::InterfaceId;
use heard::HeardConversations;
use meshpace_relay::packet::{Account, Class};
use meshpace_routing::ShortestPaths;
use meshpace_units::{Instant, NodeId, Span};
use shares::Shares;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A conversation.
#[derive(Clone, Debug)]
struct Conversation {
    /// The mesh nodes that it passes.
    way: Vec<NodeId>,
    active: bool,
    /// The other ones with a node on their way that is, or hears, one on the way of this one.
    beside: Vec<u32>,
}

/// All conversations.
#[derive(Debug)]
pub(crate) struct Accounts {
    /// By number of their account from 1.
    all: Vec<Conversation>,
    /// Interfaces whose relays ask for them.
    asking: Vec<InterfaceId>,
    /// Which node could decode which at the start, if a relay asks.
    graph: Arc<ShortestPaths>,
    /// What nodes hear of the conversations, if a relay asks for it.
    heard: Option<Box<HeardConversations>>,
    /// The conversations' shares of the air, if a relay asks for them.
    shares: Option<Box<Shares>>,
}

impl Accounts {
    /// None yet. `asking` are the interfaces whose relays ask for them, and `graph` says then which are near; with a number of nodes
    /// they count what they hear, with an epoch each has a share of the air.
    pub(crate) fn new(
        asking: Vec<InterfaceId>,
        graph: Arc<ShortestPaths>,
        counting: Option<usize>,
        epoch: Option<Span>,
    ) -> Self {
        Self {
            all: Vec::new(),
            asking,
            graph,
            heard: counting.map(|nodes| Box::new(HeardConversations::new(nodes))),
            shares: epoch.map(|epoch| Box::new(Shares::new(epoch))),
        }
    }

    /// Interfaces whose relays learn when a conversation begins or ends.
    pub(crate) fn asking(&self) -> &[InterfaceId] {
        &self.asking
    }

    /// The shortest way between two nodes, where they were at the start.
    pub(crate) fn shortest(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        std::iter::successors(Some(from), |here| self.graph.next_hop(*here, to)).collect()
    }

    /// Opens an account for a conversation on a way, which does not go on yet.
    ///
    /// # Panics
    /// With more than four billion accounts.
    pub(crate) fn open(&mut self, way: Vec<NodeId>) -> Account {
        let number = self.all.len();
        let beside: Vec<u32> = (0..number as u32)
            .filter(|other| near(&self.graph, &way, &self.all[*other as usize].way))
            .collect();
        for other in &beside {
            self.all[*other as usize].beside.push(number as u32);
        }
        self.all.push(Conversation { way, active: false, beside });
        let number = u32::try_from(number + 1).ok().and_then(NonZeroU32::new);
        Account(number.unwrap_or_else(|| panic!("{} accounts", self.all.len())))
    }

    /// A conversation goes on from now on, or does not any more; false if that is nothing new.
    #[inline]
    pub(crate) fn set_active(&mut self, account: Account, active: bool) -> bool {
        std::mem::replace(&mut self.all[index(account)].active, active) != active
    }

    /// True if nodes count what they hear.
    #[inline]
    pub(crate) const fn counts(&self) -> bool {
        self.heard.is_some()
    }

    /// This conversation and others that its way knew of in the last whole period; `None`: it had no way.
    pub(crate) fn counted(&mut self, now: Instant, account: Account) -> Option<u32> {
        let heard = self.heard.as_mut();
        heard.unwrap_or_else(|| panic!("no relay asks for what is counted")).along(now, account)
    }

    /// A node sends a frame of a conversation, which `neighbours` can decode.
    #[cold]
    pub(crate) fn note_frame(
        &mut self,
        now: Instant,
        (node, to): (NodeId, Option<NodeId>),
        (account, class): (Account, Class),
        neighbours: impl Iterator<Item = NodeId>,
    ) {
        let Some(heard) = &mut self.heard else { return };
        for end in [Some(node), to].into_iter().flatten() {
            heard.pass(now, end.index(), account);
        }
        if class == Class::Data {
            heard.hear(now, node.index(), account);
            for neighbour in neighbours {
                heard.hear(now, neighbour.index(), account);
            }
        }
    }

    /// True if each has a share of the air.
    pub(crate) const fn shared(&self) -> bool {
        self.shares.is_some()
    }

    /// A MAC is through with a packet of a conversation: it was on the air for so long.
    pub(crate) fn note_airtime(&mut self, now: Instant, hop: Hop, account: Account, airtime: Span) {
        if let Some(shares) = &mut self.shares {
            shares.note(now, hop, account, airtime);
        }
    }

    /// The share of a conversation, packets/s, with each neighbourhood used for `limit` of the time; `None`: not known yet.
    /// `neighbours` are the nodes that can decode what one sends on an air.
    pub(crate) fn share<N: Iterator<Item = NodeId>>(
        &mut self,
        now: Instant,
        account: Account,
        limit: f64,
        neighbours: impl Fn(AirId, NodeId) -> N,
    ) -> Option<f64> {
        let Self { all, shares, .. } = self;
        let shares = shares.as_mut().unwrap_or_else(|| panic!("no relay asks for shares"));
        shares.of(now, account, limit, |flow| all[flow].active, neighbours)
    }

    /// This one and those beside it that go on; `None` if it does not go on itself.
    pub(crate) fn beside(&self, account: Account) -> Option<u32> {
        let this = &self.all[index(account)];
        let others = this.beside.iter().filter(|other| self.all[**other as usize].active);
        this.active.then(|| 1 + others.count() as u32)
    }
}

fn index(account: Account) -> usize {
    account.0.get() as usize - 1
}

/// Whether a node of one way is, or hears, one of the other.
fn near(graph: &ShortestPaths, one: &[NodeId], other: &[NodeId]) -> bool {
    let hear = |a: NodeId, b: NodeId| a == b || graph.neighbours(a).binary_search(&b).is_ok();
    one.iter().any(|a| other.iter().any(|b| hear(*a, *b)))
}
