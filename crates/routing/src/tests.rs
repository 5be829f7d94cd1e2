//! What the protocols' tests share, and properties that hold for every protocol.

pub(crate) mod harness;
mod random_graphs;
