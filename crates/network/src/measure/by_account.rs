//! Something of every account that has it, for packets that carry data and for acknowledgements.

use meshpace_relay::packet::{Account, Class};

/// Two of `T` an account: of packets that carry data, and of acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct ByAccount<T> {
    /// Sorted by account.
    entries: Vec<(Account, [T; 2])>,
    /// Where the account stands that was asked for last: mostly it is asked for again.
    latest: usize,
}

impl<T> Default for ByAccount<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), latest: 0 }
    }
}

impl<T: Copy> ByAccount<T> {
    /// What packets of a class have, `first` to begin with; `None`: routing and address resolution have no account.
    #[inline]
    pub(crate) fn of(&mut self, account: Account, class: Class, first: impl FnOnce() -> T) -> Option<&mut T> {
        let kind = match class {
            Class::Data => 0,
            Class::Ack => 1,
            Class::Control | Class::Arp => return None,
        };
        if self.entries.get(self.latest).is_none_or(|(latest, _)| *latest != account) {
            self.find(account, first);
        }
        Some(&mut self.entries[self.latest].1[kind])
    }

    #[inline(never)]
    fn find(&mut self, account: Account, first: impl FnOnce() -> T) {
        self.latest = self.place(account).unwrap_or_else(|place| {
            if self.entries.len() == self.entries.capacity() {
                // Every node has such a list, mostly short: doubling would leave half of it empty.
                self.entries.reserve_exact(2);
            }
            self.entries.insert(place, (account, [first(); 2]));
            place
        });
    }

    /// Both; `None`: the account has none.
    pub(crate) fn get(&self, account: Account) -> Option<&[T; 2]> {
        self.place(account).ok().map(|index| &self.entries[index].1)
    }

    /// Those of all accounts.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().flat_map(|(_, both)| both)
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    fn place(&self, account: Account) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&account, |entry| entry.0)
    }
}
