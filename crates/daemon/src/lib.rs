//! meshpaced: the live side of meshpace.
//!
//! The data path of the gateway is one thread ([`gateway`]) that owns all flow state; everyone else (control socket,
//! metrics) asks it through [`state`].

pub mod cli;
pub mod config;
#[cfg(feature = "ebpf")]
pub mod ebpf;
pub mod endpoint;
pub mod failure;
pub mod gateway;
#[cfg(feature = "ebpf")]
pub mod host;
pub mod hops;
pub mod rules;
pub mod state;
mod text;
mod tool;
pub mod undo;

pub use failure::Failure;
