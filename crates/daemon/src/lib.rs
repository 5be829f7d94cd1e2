//! meshpaced: the live side of meshpace.
//!
//! The data path of the gateway is one thread ([`data_thread`]) that owns all flow state; everyone else (control socket,
//! metrics) asks it through [`state`].

pub mod cli;
pub mod config;
#[cfg(feature = "ebpf")]
pub mod congestion;
pub mod control;
pub mod data_thread;
pub mod doctor;
#[cfg(feature = "ebpf")]
pub mod ebpf;
pub mod edge;
pub mod endpoint;
pub mod events;
pub mod explain;
pub mod failure;
pub mod flow_name;
pub mod flows;
#[cfg(feature = "foreign")]
pub mod foreign;
pub mod foresight;
pub mod gateway;
pub mod guard;
pub mod hops;
#[cfg(feature = "ebpf")]
pub mod host;
pub mod init;
pub mod lease;
#[cfg(feature = "manual")]
pub mod manual;
pub mod metrics;
pub mod plausible;
pub mod rights;
pub mod rules;
pub mod service_manager;
#[cfg(feature = "ebpf")]
pub mod shared;
pub mod state;
pub mod status;
mod status_socket;
mod text;
mod tool;
#[cfg(feature = "top")]
pub mod top;
pub mod treatment;
pub mod trial;
pub mod undo;

pub use failure::Failure;
