//! The air: who hears whom as nodes move and links fade, at which rate, and the frames on their way.

mod fading;
mod far_frames;
mod movement;
mod rates;

pub(crate) use fading::Fading;
pub(crate) use far_frames::{FarFrames, OnAir};
pub(crate) use movement::Movement;
pub(crate) use rates::RateTable;
