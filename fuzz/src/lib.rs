//! What the fuzz targets share: judging scenario files and packets, and segments made of arbitrary numbers.

pub mod fields;
pub mod packets;
pub mod plausible;
pub mod scenario;
pub mod streams;
pub mod trial_run;
