//! The scenario file: parsing, checking, topologies, schemes, JSON Schema.
