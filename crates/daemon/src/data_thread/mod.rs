//! The thread that has the packets, whichever data path it drives: how it is started, asked and ended, how it shows that it gets on,
//! and how it asks hosts for echoes.

mod echoes;
mod heartbeat;
mod worker;

pub use echoes::{Asking, Request};
pub use heartbeat::Heartbeat;
pub use worker::{Channel, Worker};
