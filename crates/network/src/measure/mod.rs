//! What the network counts, from a moment on that its user chooses.

mod by_account;
mod hop_delays;
mod link_counters;
mod load;
mod lost;
mod queue_levels;
mod statistics;

pub use hop_delays::{HopDelay, HopDelays, Second};
pub use link_counters::{LinkCount, LinkCounters};
pub use load::{Load, Loads};
pub use lost::{Loss, LossCause, LossPlace};
pub use queue_levels::{Level, QueueLevels, Queues};
pub(crate) use statistics::Statistics;
