//! What tests of the control socket, and of those who ask over it, share.

pub(crate) mod example;
