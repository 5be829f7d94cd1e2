//! `meshpaced top`: the flows on a terminal, live, below the hosts where those are shaped.
//!
//! [`model`] knows what is shown and what keys do, [`draw`] puts it on a screen of any size, `terminal` has the real
//! screen, the keyboard and the daemon.

pub mod draw;
mod hosts;
pub mod model;
mod terminal;

pub use terminal::{Args, run};
