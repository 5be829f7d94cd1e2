//! lifetime
