//! What rates are held against: a paper's figures, and the same law in C.
//!
//! One binary a crate: linking is the dearest part of building a test.

mod calm_in_c;
mod ns2_2005;
