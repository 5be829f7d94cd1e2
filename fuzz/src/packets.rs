//! The tests' reference for the bytes of packets.

#[path = "../../crates/wire/tests/wire/judge.rs"]
pub mod judge;
#[path = "../../crates/wire/tests/wire/reference.rs"]
mod reference;
