"""Holds the engine against measurements of ns-2.35 (validation/reference) and printed numbers."""
