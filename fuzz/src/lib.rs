//! What the fuzz targets share: judging a scenario file, and segments made of arbitrary numbers.

pub mod fields;
pub mod scenario;
pub mod trial_run;
