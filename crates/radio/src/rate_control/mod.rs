//! Rate control: in which mode each data frame goes.
//!
//! A rate control is a file of this folder and a row of [`RATE_CONTROLS`]. It belongs to one station. Before a data frame goes out it
//! is [asked](RateControl::series) for the modes of the frame's attempts, and it is [told](RateControl::ended) how each exchange ended. It has
//! no clock: `now` is an argument; what it draws comes from a stream of its own, which [`Site`] gives it.
//!
//! Broadcasts and control frames do not ask: they go in the basic mode, or as the data's mode says.

mod series;

use crate::category::Peer;
use crate::standard::{Mode, Refused, Standard};
use core::fmt::Debug;
use meshpace_keys::{Key, Part, Values, table};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, NodeId};

pub use series::{Series, Stage};

meshpace_keys::parts! {
    /// The rate controls; the first one is the default.
    pub static RATE_CONTROLS: RateControlPart = [fixed, ideal, minstrel_ht];
}

/// A rate control as it describes itself: where it works, and what makes it.
pub type RateControlPart = Part<Maker>;

/// The key of `[radio]` that chooses one.
pub const KEY: &str = "rate_control";

/// The words that choose one, in the order of the table.
pub const WORDS: &[&str] = &table::words::<_, { RATE_CONTROLS.len() }>(RATE_CONTROLS);

/// The keys that rate controls have: keys of `[radio]` that apply to theirs alone ([`Key::only`]`("rate_control", &["its word"])`).
pub const KEYS: &[&Key] = &table::keys::<_, { table::key_count(RATE_CONTROLS) }>(RATE_CONTROLS);

/// Where a rate control works, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Refuses what it does not work with.
    pub suits: fn(&Surroundings) -> Result<(), Refused>,
    /// Makes that of one station; `None`: the mode of each link is given, and nothing is asked.
    pub make: fn(Site<'_>) -> Option<Box<dyn RateControl>>,
}

/// What a rate control would work with.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The standard.
    pub standard: &'a Standard,
    /// True if frames are lost by their modes' error curves.
    pub curve: bool,
}

/// What the rate control of a station is made of.
#[derive(Debug)]
pub struct Site<'a> {
    /// The values of its own keys.
    pub values: &'a Values,
    /// The modes that it may choose from, as the standard's table has them.
    pub modes: Vec<&'static Mode>,
    /// Attempts of a data frame at the most.
    pub tries: u32,
    /// For what it draws.
    pub stream: Stream,
}

/// A frame is about to go out.
pub struct Ask<'a> {
    /// The neighbour that it is for.
    pub to: NodeId,
    /// Size of its first MPDU.
    pub mpdu: Bytes,
    /// How strong it will be there over the noise, as a ratio, with no other frame on the air; `None`: the neighbour does not hear it.
    pub ratio: &'a dyn Fn() -> Option<f64>,
}

/// An exchange has ended: one data frame has gone out, and what came of it is known, or nothing will be. A frame that had no turn since its
/// RTS got no answer is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The neighbour that the frame was for.
    pub to: Peer,
    /// How it went.
    pub mode: &'static Mode,
    /// MPDUs in it.
    pub sent: u16,
    /// Of these the ones that arrived.
    pub acknowledged: u16,
}

/// A station's rate control.
pub trait RateControl: Debug + Send {
    /// The modes of a new frame's attempts. A frame is new after an exchange that brought something over, and after one that was given up.
    fn series(&mut self, now: Instant, ask: &Ask<'_>) -> Series;

    /// An exchange has ended.
    fn ended(&mut self, now: Instant, exchange: &Exchange);

    /// The mode in which most of what is for a neighbour will go; `None`: nothing is known.
    fn expects(&self, to: NodeId) -> Option<&'static Mode>;
}

/// The rate control of that name.
#[must_use]
pub fn named(word: &str) -> Option<&'static RateControlPart> {
    RATE_CONTROLS.iter().find(|part| part.about.word == word).copied()
}

/// The modes that a rate control may choose from where data goes in `mode` by default: those of as many streams at the most.
#[must_use]
pub fn usable(standard: &Standard, mode: &Mode) -> Vec<&'static Mode> {
    standard.data.iter().filter(|other| other.streams() <= mode.streams()).collect()
}
