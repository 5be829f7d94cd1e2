//! receiving
