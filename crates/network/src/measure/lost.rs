//! Where packets end that do not arrive: by account, place and cause.

use super::by_account::ByAccount;
use meshpace_relay::packet::{Account, Class};
use meshpace_units::NodeId;
use std::collections::BTreeMap;

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossCause {
    /// The MAC gave it up after all its attempts, and routing had no other way for it.
    GivenUp,
    /// A queue had no room for it, or its discipline dropped it.
    Queue,
    /// It waited in a queue for a neighbour that routing took for gone.
    RouteBroke,
    /// There was no route, or none was found in time.
    NoRoute,
    /// Its time to live was used up, or it came back to its source.
    Loop,
    /// The neighbour's address was not told, or a later packet took its place meanwhile.
    NoAddress,
    /// The gateway did not take it.
    Gateway,
    /// It was lost on a wired link, whose `loss` says how likely that is.
    Wire,
}

impl LossCause {
    /// The name in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::GivenUp => "given-up",
            Self::Queue => "queue",
            Self::RouteBroke => "route-broke",
            Self::NoRoute => "no-route",
            Self::Loop => "loop",
            Self::NoAddress => "no-address",
            Self::Gateway => "gateway",
            Self::Wire => "wire",
        }
    }
}

/// Where a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossPlace {
    /// In a mesh node, on the way to that neighbour if one was chosen.
    Mesh(NodeId, Option<NodeId>),
    /// At a directed wired link, by its index.
    Wired(u32),
}

/// What of an account's packets was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Whose.
    pub account: Account,
    /// True for packets that carry data, false for acknowledgements.
    pub data: bool,
    /// Where.
    pub place: LossPlace,
    /// Why.
    pub cause: LossCause,
    /// How many.
    pub packets: u64,
}

/// Counted losses.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostPackets {
    counted: BTreeMap<(Account, bool, LossPlace, LossCause), u64>,
    /// Since time 0.
    all: ByAccount<u64>,
}

impl LostPackets {
    /// A packet goes no further.
    pub(crate) fn count(
        &mut self,
        account: Option<Account>,
        class: Class,
        place: LossPlace,
        cause: LossCause,
    ) {
        let Some(account) = account else { return };
        if let Some(all) = self.all.of(account, class, || 0) {
            *all += 1;
            *self.counted.entry((account, class == Class::Data, place, cause)).or_default() += 1;
        }
    }

    /// Those since counting began, in the order of accounts, places and causes.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Loss> + '_ {
        let loss = |(&(account, data, place, cause), &packets)| Loss { account, data, place, cause, packets };
        self.counted.iter().map(loss)
    }

    /// Data packets and acknowledgements of an account since time 0.
    pub(crate) fn of(&self, account: Account) -> [u64; 2] {
        self.all.get(account).copied().unwrap_or_default()
    }

    pub(crate) fn reset(&mut self) {
        self.counted.clear();
    }
}
