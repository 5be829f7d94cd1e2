"""Holds the engine against measurements of ns-2.35 and ns-3.37 (validation/reference) and printed numbers."""
