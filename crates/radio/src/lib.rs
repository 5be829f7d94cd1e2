//! 802.11: propagation, reception, frame times and the DCF.
//!
//! | module | idea |
//! |---|---|
//! | [`standard`] | which 802.11, as data: its times, its modes, its rules |
//! | [`coding`] | error curves: how probably a bit survives noise |
//! | [`phy`] | timing and frame durations |
//! | [`propagation`] | received power against distance, and the thresholds that make ranges of it |
//! | [`building`] | what besides distance makes a link: walls, ceilings, radios that differ |
//! | [`links`] | which nodes hear which, how strongly, how late |
//! | [`loss`] | links that lose frames, one by one or in bursts |
//! | [`frame`] | what is on the air |
//! | [`burst`] | the packets of a frame |
//! | [`category`] | priorities of packets, and what category of access they make |
//! | [`reception`] | what a receiver makes of overlapping frames (`ns2-capture`, `sinr`) |
//! | [`rate_control`] | in which mode each data frame goes |
//! | [`reorder`] | packets of a neighbour in the order of their numbers |
//! | [`station`] | one node's DCF: carrier sense, backoff, RTS/CTS, retries, NAV |
//!
//! A [`Station`] is a state machine without clock or queue: its driver tells it what arrives on the air and
//! when its deadline has come, and carries out the [`Action`]s. Arrivals are *lazy*: [`Station::hear`] only notes
//! that a frame will arrive, and the station catches up when something happens to it. That is exact, because an
//! overheard frame changes nothing but the station's own carrier state, and it is what makes the simulator fast: a
//! frame costs one event at its addressee and a few stores at everybody else in range.

pub mod backoff;
pub mod building;
pub mod burst;
pub mod category;
pub mod coding;
pub mod frame;
pub mod hearers;
pub mod links;
pub mod loss;
pub mod phy;
pub mod propagation;
pub mod rate_control;
pub mod reception;
pub mod reorder;
pub mod standard;
pub mod station;

pub use building::Building;
pub use burst::{Bitmap, Burst, MacPacket, Mpdu};
pub use category::{Categories, Category, Peer, Priority};
pub use coding::Coding;
pub use frame::{BlockAck, Frame, FrameKind, Header};
pub use hearers::{Hearer, Hearers};
pub use links::{Links, Position};
pub use loss::{LinkLoss, Losses};
pub use phy::Phy;
pub use propagation::{Propagation, Thresholds, delay};
pub use rate_control::{Ask, Exchange, RateControl, Series};
pub use reception::{Arrival, Outcome, Reception, Signal};
pub use reorder::{HELD_AT_MOST, Reorder};
pub use standard::{BackoffRange, Mode, Preamble, Standard};
pub use station::{Action, Aggregates, FrameEnd, Sent, Station, StationConfig, StationStats};
