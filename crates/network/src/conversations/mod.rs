//! The conversations of whoever hangs on the network, for relays that ask: which of them share the air, by an oracle, by what
//! nodes hear, and how it is shared fairly.
//!
//! The network knows no flow; a conversation is an [`Account`] that packets name.

mod heard;
mod shares;

pub(crate) use shares::airtime;

use crate::network::Network;
use heard::HeardConversations;
use meshpace_packet::{Account, Class, Host, PathId};
use meshpace_radio::Hearers;
use meshpace_routing::ShortestPaths;
use meshpace_units::{Instant, NodeId, Span};
use shares::Shares;
use std::fmt::Debug;
use std::num::NonZeroU32;

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
    /// What nodes hear of them, if a relay asks.
    pub heard: Option<Box<HeardConversations>>,
    /// What they take of the air, if a relay asks for their shares of it.
    pub shares: Option<Box<Shares>>,
}

impl Accounts {
    /// None yet; with a number of nodes they count what they hear, with an epoch each has a share of the air.
    pub(crate) fn new(counting: Option<usize>, epoch: Option<Span>) -> Self {
        Self {
            all: Vec::new(),
            heard: counting.map(|nodes| Box::new(HeardConversations::new(nodes))),
            shares: epoch.map(|epoch| Box::new(Shares::new(epoch))),
        }
    }

    /// The share of a conversation, packets/s, with each neighbourhood used for `limit` of the time; `None`: not known yet.
    pub(crate) fn share(
        &mut self,
        now: Instant,
        account: Account,
        limit: f64,
        hearers: &Hearers,
    ) -> Option<f64> {
        let Self { all, shares, .. } = self;
        let shares = shares.as_mut().unwrap_or_else(|| panic!("no relay asks for shares"));
        shares.of(now, account, limit, |flow| all[flow].active, hearers)
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

impl<T: Copy + Debug> Network<T> {
    /// Opens an account for a conversation, for both ends' packets to name. It does not go on yet.
    ///
    /// Its way is the path, or else the shortest one between its ends in the mesh, with nodes where they are now.
    ///
    /// # Panics
    /// With more than four billion accounts.
    pub fn open_account(&mut self, from: Host, to: Host, path: Option<PathId>) -> Account {
        let number = self.accounts.all.len();
        let way = if self.watching_conversations.is_empty() { Vec::new() } else { self.way(from, to, path) };
        let beside: Vec<u32> = (0..number as u32)
            .filter(|other| near(&self.graph, &way, &self.accounts.all[*other as usize].way))
            .collect();
        for other in &beside {
            self.accounts.all[*other as usize].beside.push(number as u32);
        }
        self.accounts.all.push(Conversation { way, active: false, beside });
        let number = u32::try_from(number + 1).ok().and_then(NonZeroU32::new);
        Account(number.unwrap_or_else(|| panic!("{} accounts", self.accounts.all.len())))
    }

    /// A conversation goes on from now on, or does not any more. Relays that ask for it are told.
    pub fn set_active(&mut self, account: Account, active: bool) {
        let conversation = &mut self.accounts.all[index(account)];
        if conversation.active == active {
            return;
        }
        conversation.active = active;
        for node in self.watching_conversations.clone() {
            self.conversations_changed(node);
        }
    }

    fn way(&self, from: Host, to: Host, path: Option<PathId>) -> Vec<NodeId> {
        if let Some(path) = path {
            return self.paths.nodes(path).to_vec();
        }
        let (from, to) = match (from, to) {
            (Host::Mesh(from), Host::Mesh(to)) => (Some(from), Some(to)),
            (Host::Mesh(from), Host::Wired(_)) => (Some(from), self.gateway_for(from)),
            (Host::Wired(_), Host::Mesh(to)) => (self.gateway_for(to), Some(to)),
            (Host::Wired(_), Host::Wired(_)) => (None, None),
        };
        let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
        std::iter::successors(Some(from), |here| self.graph.next_hop(*here, to)).collect()
    }

    /// For relays that ask how many conversations the nodes of a way hear of.
    #[cold]
    pub(crate) fn note_conversation(
        &mut self,
        node: u32,
        to: Option<NodeId>,
        account: Account,
        class: Class,
    ) {
        let now = self.now();
        let Some(heard) = &mut self.accounts.heard else { return };
        for end in [Some(NodeId(node)), to].into_iter().flatten() {
            heard.pass(now, end.0 as usize, account);
        }
        if class == Class::Data {
            heard.hear(now, node as usize, account);
            for hearer in self.hearers.of(NodeId(node)).filter(|hearer| hearer.decodable) {
                heard.hear(now, hearer.node.0 as usize, account);
            }
        }
    }
}

/// Whether a node of one way is, or hears, one of the other.
fn near(graph: &ShortestPaths, one: &[NodeId], other: &[NodeId]) -> bool {
    let hear = |a: NodeId, b: NodeId| a == b || graph.neighbours(a).binary_search(&b).is_ok();
    one.iter().any(|a| other.iter().any(|b| hear(*a, *b)))
}
