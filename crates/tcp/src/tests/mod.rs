//! Scripted exchanges.
