//! The conversations that packets are accounted under, for relays that ask.

use super::Network;
use meshpace_relay::packet::{Account, Host, PathId};
use meshpace_units::NodeId;
use std::fmt::Debug;

impl<T: Copy + Debug> Network<T> {
    /// Opens an account for a conversation, for both ends' packets to name. It does not go on yet.
    ///
    /// Its way is the path, or else the shortest one between its ends in the mesh, with nodes where they are now.
    ///
    /// # Panics
    /// With more than four billion accounts.
    pub fn open_account(&mut self, from: Host, to: Host, path: Option<PathId>) -> Account {
        let way = if self.accounts.asking().is_empty() { Vec::new() } else { self.way(from, to, path) };
        self.accounts.open(way)
    }

    /// A conversation goes on from now on, or does not any more. Relays that asked for conversations learn of
    /// it.
    #[inline]
    pub fn set_active(&mut self, account: Account, active: bool) {
        if self.accounts.set_active(account, active) {
            self.activity_changed();
        }
    }

    #[cold]
    fn activity_changed(&mut self) {
        for at in self.accounts.asking().to_vec() {
            self.conversations_changed(at);
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
        self.accounts.shortest(from, to)
    }
}
