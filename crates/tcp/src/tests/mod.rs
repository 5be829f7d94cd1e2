//! Scripted exchanges: every rule that the documents name, by its visible effect.

mod acknowledging;
mod agent;
mod ecn;
mod handshake;
mod lifetime;
mod ns2;
mod pacing;
mod random;
mod receiving;
mod rfc;
mod sack;
mod script;
mod wifu;
