//! What tests of the control socket and its clients share.

pub(crate) mod example;
