//! The bytes of packets, from outside.

mod icmp;
mod judge;
mod packets;
mod parse;
mod reference;
mod rewrite;
mod vectors;
