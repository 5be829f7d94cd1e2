//! Identities.

use core::fmt;

/// The index of a mesh node, counted from 0 in file order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The index as a `usize`, to address a slice of nodes.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The node at position `index`.
    ///
    /// # Panics
    /// If the index does not fit 32 bits.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("more than 2^32 nodes"))
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}
