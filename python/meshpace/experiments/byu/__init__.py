"""The thesis on WiFu (Lee 2012; docs/experiments/thesis.md)."""
