//! The wired part: its links, the ways through them, and what drives both.

mod link;
mod routes;

pub use link::{WiredCount, WiredLink};
pub(crate) use routes::WiredRoutes;
